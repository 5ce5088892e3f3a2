/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Switches with many ports: modules that keep a set of ports in 64 bits refuse more. */

#include <errno.h>

#include "base/weft_error.h"
#include "topology.h"

static inline unsigned topology_max_ports(const struct topology *topology)
{
	unsigned max = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		max = topology->switch_at[i].ports > max ? topology->switch_at[i].ports : max;
	return max;
}

/* Number of 64-bit words for a set of ports. */
static inline unsigned topology_port_words(const struct topology *topology)
{
	unsigned max = topology_max_ports(topology);

	return max == 0 ? 1 : (max + 63) / 64;
}

/* -EINVAL with 'error': a switch has more than TOPOLOGY_PORTS_RUN ports, too many for 'what'. */
static inline int topology_check_ports(
	const struct topology *topology, const char *what, struct error *error)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].ports > TOPOLOGY_PORTS_RUN)
			return error_set(error, EINVAL,
				"%s: %s has %u ports, expected at most %u for %s", topology->name,
				topology->switch_at[i].name, topology->switch_at[i].ports,
				TOPOLOGY_PORTS_RUN, what);
	return 0;
}
