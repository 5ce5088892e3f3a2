/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Links that fail, for the tests of routing. */

#include "base/rng.h"
#include "topo/topology.h"
#include "unit.h"

static inline bool failure_possible(const struct topology *topology, uint32_t link)
{
	return topology->link_at[link].a.kind == DEVICE_SWITCH &&
	       topology->link_at[link].b.kind == DEVICE_SWITCH;
}

/* Takes a link between switches away. */
static inline void fail_link(struct topology *topology, uint32_t link)
{
	assert_true(failure_possible(topology, link));
	topology->link_at[link] = topology->link_at[--topology->links];
	assert_int_equal(0, topology_finish(topology, "test", NULL));
}

/* The one at this port. */
static inline void fail_port(struct topology *topology, uint32_t at, uint8_t port)
{
	const struct topology_link *link =
		topology_link_at(topology, (struct topology_port){DEVICE_SWITCH, at, port});

	assert_non_null(link);
	fail_link(topology, (uint32_t)(link - topology->link_at));
}

/* So many links between switches, drawn at random. */
static inline void fail_links(struct topology *topology, struct rng *rng, unsigned count)
{
	while (count > 0) {
		uint32_t link = (uint32_t)rng_below(rng, topology->links);

		if (!failure_possible(topology, link))
			continue;
		fail_link(topology, link);
		count--;
	}
}
