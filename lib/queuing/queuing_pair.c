/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Schemes that know the source and the destination. */

#include "queuing.h"

/* vFtree (Guay, Bogdanski, Reinemo, Lysne, Skeie, "vFtree: A Fat-Tree Routing Algorithm Using
 * Virtual Lanes to Alleviate Congestion", IPDPS 2011): packets between the same two leaf switches
 * share a queue; seen from one leaf, consecutive destination leaves have consecutive queues.
 *
 * (leaf(D) - leaf(S) - 1) mod Q, the remainder that is never negative: the queues go on in their
 * order across the source's own leaf, which gets Q - 1 like any leaf before its neighbour. So the
 * destinations of one leaf are spread evenly, to one leaf more or less, however the numbers of
 * leaves and queues relate; a remainder in the ring of leaves would break the order at one place.
 */

static uint32_t queue_of_leaves(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	uint32_t queues = queuing->queues, to = queuing->leaf[destination];

	/* The 2Q - 1 keeps what is taken away from below what it is taken from. */
	return (to % queues + 2 * queues - 1 - queuing->leaf[source] % queues) % queues;
}

const struct queuing_scheme queuing_vftree = {
	.name = "vftree",
	.summary = "by source and destination leaf: (leaf(D) - leaf(S) - 1) mod Q",
	.queue = queue_of_leaves,
};

/* Flow2SL (Escudero-Sahuquillo et al., "A new proposal to deal with congestion in InfiniBand-based
 * fat-trees", JPDC 74, 2014): the hosts in Q groups of N / Q consecutive ones, a queue for each
 * group of destinations, another one from each group of sources: (group(S) + group(D)) mod Q. Where
 * Q does not divide N some groups have one host more. */

static uint32_t group(const struct queuing *queuing, uint32_t host)
{
	return (uint32_t)((uint64_t)host * queuing->queues / queuing->hosts);
}

static uint32_t queue_of_groups(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return (group(queuing, source) + group(queuing, destination)) % queuing->queues;
}

const struct queuing_scheme queuing_flow2sl = {
	.name = "flow2sl",
	.summary = "by groups of N / Q hosts: (group(S) + group(D)) mod Q",
	.queue = queue_of_groups,
};
