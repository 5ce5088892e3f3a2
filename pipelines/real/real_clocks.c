/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_clocks.h"

#include "real_private.h"

void real_clocks_set(struct real_fabric *fabric, const bool *host_has_ours)
{
	for (unsigned i = 0; i < fabric->host_count; i++)
		for (uint32_t from = 0; from < fabric->options.topology->hosts; from++)
			if (!host_has_ours[from])
				measure_sink_set_other_clock(
					fabric->hosts[i].poll->sink, (uint16_t)from);
}
