/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing.h"

/*
 * Flow2SL (Escudero-Sahuquillo et al., "A new proposal to deal with congestion in InfiniBand-based
 * fat-trees", JPDC 74, 2014): the hosts in Q groups of N / Q consecutive ones, a queue for each
 * group of destinations, another one from each group of sources: (group(S) + group(D)) mod Q. Where
 * Q does not divide N some groups have one host more.
 */

static uint32_t group(const struct queuing *queuing, uint32_t host)
{
	return (uint32_t)((uint64_t)host * queuing->queues / queuing->hosts);
}

static uint32_t queue(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return (group(queuing, source) + group(queuing, destination)) % queuing->queues;
}

const struct queuing_scheme queuing_flow2sl = {
	.name = "flow2sl",
	.summary = "by groups of N / Q hosts: (group(S) + group(D)) mod Q",
	.queue = queue,
};
