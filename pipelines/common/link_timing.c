/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link_timing.h"

static bool has_faster_output(const struct topology *topology, uint32_t at, uint64_t rate_bps)
{
	for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
		const struct topology_port end = {DEVICE_SWITCH, at, (uint8_t)port};
		const struct topology_link *link = topology_link_at(topology, end);

		if (link != NULL && link->rate_bps > rate_bps)
			return true;
	}
	return false;
}

bool link_cuts_through(const struct topology *topology, enum run_switching switching,
	uint64_t rate_bps, struct topology_port to)
{
	return to.kind == DEVICE_SWITCH && switching == RUN_SWITCHING_CUT_THROUGH &&
	       !has_faster_output(topology, to.device, rate_bps);
}
