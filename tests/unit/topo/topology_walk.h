/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Properties of topologies for tests, computed exhaustively. */

#include "topo/topology.h"
#include "unit.h"

static inline struct topology *walk_generate(const char *spec)
{
	struct error error = {""};
	struct topology *topology = topology_generate(spec, &error);

	assert_string_equal(error.text, "");
	assert_non_null(topology);
	return topology;
}

static inline struct topology_port walk_switch(uint32_t device, unsigned port)
{
	return (struct topology_port){DEVICE_SWITCH, device, (uint8_t)port};
}

/* The far end of a port of a switch. */
static inline struct topology_port walk_far_end(
	const struct topology *topology, uint32_t device, unsigned port)
{
	struct topology_port peer = {0};

	assert_true(topology_peer(topology, walk_switch(device, port), &peer));
	return peer;
}

/* Links of a switch to devices of one kind. */
static inline unsigned walk_degree(
	const struct topology *topology, uint32_t device, enum device_kind kind)
{
	struct topology_port peer;
	unsigned degree = 0;

	for (unsigned port = 0; port < TOPOLOGY_PORTS_MAX; port++)
		degree += topology_peer(topology, walk_switch(device, port), &peer) &&
			  peer.kind == kind;
	return degree;
}

/* Links between two switches. */
static inline unsigned walk_links(const struct topology *topology, uint32_t a, uint32_t b)
{
	struct topology_port peer;
	unsigned links = 0;

	for (unsigned port = 0; port < TOPOLOGY_PORTS_MAX; port++)
		links += topology_peer(topology, walk_switch(a, port), &peer) &&
			 peer.kind == DEVICE_SWITCH && peer.device == b;
	return links;
}

/* Fills 'distance' with the links from switch 'from' to each, UINT32_MAX if unreachable. Returns
 * the maximum. */
static inline uint32_t walk_distances(
	const struct topology *topology, uint32_t from, uint32_t *distance)
{
	uint32_t *queue = calloc(topology->switches, sizeof(*queue));
	uint32_t head = 0, tail = 0, last;
	struct topology_port peer;

	assert_non_null(queue);
	for (uint32_t i = 0; i < topology->switches; i++)
		distance[i] = UINT32_MAX;
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (unsigned port = 0; port < topology->switch_at[at].ports; port++)
			if (topology_peer(topology, walk_switch(at, port), &peer) &&
				peer.kind == DEVICE_SWITCH && distance[peer.device] == UINT32_MAX) {
				distance[peer.device] = distance[at] + 1;
				queue[tail++] = peer.device;
			}
	}
	last = distance[queue[tail - 1]];
	free(queue);
	return tail == topology->switches ? last : UINT32_MAX;
}

/* Returns the maximum distance of two switches, UINT32_MAX if some are not connected. */
static inline uint32_t walk_diameter(const struct topology *topology)
{
	uint32_t *distance = calloc(topology->switches, sizeof(*distance)), max = 0;

	assert_non_null(distance);
	for (uint32_t from = 0; from < topology->switches; from++) {
		uint32_t far = walk_distances(topology, from, distance);

		max = far > max ? far : max;
	}
	free(distance);
	return max;
}
