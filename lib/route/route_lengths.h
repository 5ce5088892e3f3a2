/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lengths of shortest paths, in links between switches, for switches that weigh paths by length
 * (lib/switch/detour.h). Constant once created; any thread may read it. */

#include <stdint.h>

#include "base/arrays.h"
#include "topo/topology.h"

struct route_lengths {
	uint32_t switches, hosts;
	uint32_t *host_switch; /* [hosts]; 'switches' or above: none */
	uint8_t *links; /* [from * switches + to]; UINT8_MAX: at least that many, or no path */
	struct arrays arrays;
};

/* Returns NULL with errno ENOMEM if out of memory. */
struct route_lengths *route_lengths_create(const struct topology *topology);
void route_lengths_destroy(struct route_lengths *lengths);

/* Returns the length from a switch to a host's switch; UINT8_MAX if the topology lacks either. */
static inline unsigned route_lengths_to(
	const struct route_lengths *lengths, uint32_t from, uint32_t host)
{
	uint32_t to = host < lengths->hosts ? lengths->host_switch[host] : UINT32_MAX;

	return from < lengths->switches && to < lengths->switches
		       ? lengths->links[(size_t)from * lengths->switches + to]
		       : UINT8_MAX;
}
