/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Tests the proof that the adapted-flow channel cannot deadlock, on the graph of buffers. A node is
 * a link with a VC, ordinary or AFC. An edge leads from a position of a packet for some host to its
 * next possible position. In an ordinary VC, a packet continues in an ordinary VC through its
 * table's port, or in the AFC through any alternative. In the AFC, it stays in the AFC, and uses
 * its table's port or, if that link is down, an alternative. Hosts send into both. If the graph has
 * no cycle, some packet can always move. */

#include "route/route_algorithm.h"

#include "failures.h"

#define PORTS 64

struct buffers {
	const struct topology *topology;
	struct route_table *table;
	uint32_t channels;
	/* By node (2 * channel, plus 1 in the AFC): outputs through which packets continue, into an
	 * ordinary VC, and into the AFC. */
	uint64_t (*next)[2];
	uint32_t *waiting, *stack;
};

static uint32_t channel_of(const struct buffers *buffers, struct topology_port from)
{
	return from.kind == DEVICE_SWITCH ? from.device * PORTS + from.port
					  : buffers->topology->switches * PORTS + from.device;
}

/* The switch at the end of a channel; UINT32_MAX: a host, or none. */
static uint32_t end_of(const struct buffers *buffers, uint32_t channel)
{
	uint32_t switches = buffers->topology->switches;
	struct topology_port from = {DEVICE_SWITCH, channel / PORTS, (uint8_t)(channel % PORTS)},
			     to;

	if (channel >= switches * PORTS)
		from = (struct topology_port){DEVICE_HOST, channel - switches * PORTS, 0};
	if (!topology_peer(buffers->topology, from, &to) || to.kind != DEVICE_SWITCH)
		return UINT32_MAX;
	return to.device;
}

/* Fills 'next' with the outputs through which packets for 'host' leave the node, if they may take
 * any alternative. */
static void next_for(const struct buffers *buffers, uint32_t node, uint32_t host, uint64_t next[2])
{
	uint32_t at = end_of(buffers, node / 2);
	uint64_t alternatives = route_table_alternatives(buffers->table, at)[host];
	uint8_t primary = route_table_row(buffers->table, at)[host];

	next[0] = node % 2 == 0 && primary != ROUTE_TABLE_NONE ? UINT64_C(1) << primary : 0;
	next[1] = alternatives | (node % 2 == 0 ? 0 : next[0]);
}

static void visit(struct buffers *buffers, bool *seen, uint32_t node, uint32_t *depth)
{
	if (seen[node] || end_of(buffers, node / 2) == UINT32_MAX)
		return;
	seen[node] = true;
	buffers->stack[(*depth)++] = node;
}

/* All possible moves of packets for one host, from all senders. */
static void follow(struct buffers *buffers, uint32_t host, bool *seen)
{
	uint32_t depth = 0;

	for (uint32_t from = 0; from < buffers->topology->hosts; from++)
		for (unsigned afc = 0; from != host && afc < 2; afc++)
			visit(buffers, seen,
				2 * channel_of(
					    buffers, (struct topology_port){DEVICE_HOST, from, 0}) +
					afc,
				&depth);
	while (depth > 0) {
		uint32_t node = buffers->stack[--depth], at = end_of(buffers, node / 2);
		uint64_t next[2];

		next_for(buffers, node, host, next);
		for (unsigned afc = 0; afc < 2; afc++) {
			buffers->next[node][afc] |= next[afc];
			for (uint64_t set = next[afc]; set != 0; set &= set - 1)
				visit(buffers, seen,
					2 * (at * PORTS + (uint32_t)__builtin_ctzll(set)) + afc,
					&depth);
		}
	}
}

/* Calls 'each' for all following nodes. */
static void for_each_next(struct buffers *buffers, uint32_t node,
	void (*each)(struct buffers *, uint32_t next, uint32_t *depth), uint32_t *depth)
{
	uint32_t at = end_of(buffers, node / 2);

	for (unsigned afc = 0; at != UINT32_MAX && afc < 2; afc++)
		for (uint64_t set = buffers->next[node][afc]; set != 0; set &= set - 1)
			each(buffers, 2 * (at * PORTS + (uint32_t)__builtin_ctzll(set)) + afc,
				depth);
}

static void count_one(struct buffers *buffers, uint32_t next, uint32_t *depth)
{
	(void)depth;
	buffers->waiting[next]++;
}

static void take_one(struct buffers *buffers, uint32_t next, uint32_t *depth)
{
	if (--buffers->waiting[next] == 0)
		buffers->stack[(*depth)++] = next;
}

/* Kahn's algorithm: removes nodes without predecessors until none is left, or only cycles. */
static bool is_acyclic(struct buffers *buffers)
{
	uint32_t nodes = 2 * buffers->channels, depth = 0, taken = 0;

	for (uint32_t node = 0; node < nodes; node++)
		for_each_next(buffers, node, count_one, &depth);
	for (uint32_t node = 0; node < nodes; node++)
		if (buffers->waiting[node] == 0)
			buffers->stack[depth++] = node;
	while (depth > 0) {
		uint32_t node = buffers->stack[--depth];

		taken++;
		for_each_next(buffers, node, take_one, &depth);
	}
	return taken == nodes;
}

/* 'spoil': every port is an alternative, so packets that came down may go up again. */
static bool adapts_without_deadlock(const struct topology *topology, bool spoil)
{
	struct route_options options = {.jobs = 1};
	struct error error = {""};
	struct buffers buffers = {
		.topology = topology, .channels = topology->switches * PORTS + topology->hosts};
	bool *seen = calloc(2 * buffers.channels, sizeof(*seen)), result;

	buffers.table = route_compute_table(topology, &route_dmodk, &options, NULL, &error);
	assert_string_equal(error.text, "");
	buffers.next = calloc(2 * buffers.channels, sizeof(*buffers.next));
	buffers.waiting = calloc(2 * buffers.channels, sizeof(*buffers.waiting));
	buffers.stack = calloc(2 * buffers.channels, sizeof(*buffers.stack));
	for (uint32_t at = 0; spoil && at < topology->switches; at++)
		for (uint32_t host = 0; host < topology->hosts; host++)
			route_table_alternatives(buffers.table, at)[host] =
				UINT64_MAX >> (64 - topology->switch_at[at].ports);
	for (uint32_t host = 0; host < topology->hosts; host++) {
		for (uint32_t i = 0; i < 2 * buffers.channels; i++)
			seen[i] = false;
		follow(&buffers, host, seen);
	}
	result = is_acyclic(&buffers);
	free(seen);
	free(buffers.next);
	free(buffers.waiting);
	free(buffers.stack);
	route_table_destroy(buffers.table);
	return result;
}

static struct topology *fat_tree(unsigned ports, unsigned stages)
{
	char spec[64];
	struct error error = {""};
	struct topology *topology;

	snprintf(spec, sizeof(spec), "rlft:ports=%u,stages=%u", ports, stages);
	topology = topology_generate(spec, &error);
	if (topology == NULL)
		fail_msg("%s", error.text);
	return topology;
}

UNIT_TEST(adapted_packets_and_others_never_wait_in_a_circle)
{
	static const unsigned shapes[][2] = {{4, 2}, {4, 3}, {4, 4}, {6, 3}, {8, 2}, {8, 3}};

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		OWNED(topology) *topology = fat_tree(shapes[i][0], shapes[i][1]);

		assert_true(adapts_without_deadlock(topology, false));
	}
}

UNIT_TEST(nor_do_they_in_damaged_trees)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		OWNED(topology) *topology = fat_tree(seed % 2 == 0 ? 4 : 6, seed % 2 == 0 ? 3 : 2);
		struct rng rng;

		rng_init(&rng, seed, 0, 1);
		fail_links(topology, &rng, 1 + (unsigned)rng_below(&rng, 6));
		assert_true(adapts_without_deadlock(topology, false));
	}
}

UNIT_TEST(if_they_could_go_up_again_after_a_way_down_they_would)
{
	OWNED(topology) *topology = fat_tree(4, 3);

	assert_false(adapts_without_deadlock(topology, true));
}
