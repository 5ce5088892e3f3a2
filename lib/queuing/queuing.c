/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/frame.h"

#define NO_LEAF UINT32_MAX

#define X(name) &queuing_##name,
static const void *const schemes[] = {QUEUING_SCHEMES(X)};
#undef X

const struct name_table queuing_schemes = WORD_LIST(schemes);

static int number_leaves(struct queuing *queuing, const struct topology *topology)
{
	uint32_t *number = malloc((topology->switches + 1u) * sizeof(*number));

	if (number == NULL)
		return -ENOMEM;
	for (uint32_t at = 0; at < topology->switches; at++)
		number[at] = NO_LEAF;
	for (uint32_t host = 0; host < topology->hosts; host++) {
		struct topology_port at;

		/* No host sends to a disconnected host. */
		if (!topology_host_switch(topology, host, &at))
			continue;
		if (number[at.device] == NO_LEAF)
			number[at.device] = queuing->leaves++;
		queuing->leaf[host] = number[at.device];
	}
	free(number);
	return 0;
}

static int fill(struct queuing *queuing, const struct topology *topology, struct error *error)
{
	queuing->leaf = calloc(topology->hosts + 1u, sizeof(*queuing->leaf));
	if (queuing->leaf == NULL || number_leaves(queuing, topology) < 0)
		return error_set(error, ENOMEM, "not enough memory for a queuing scheme");
	if (queuing->queues == 0 || queuing->queues > FRAME_VCS_MAX)
		return error_set(error, EINVAL,
			"queuing %s: there are %u VCs, but there must be "
			"1 to %u",
			queuing->scheme->name, queuing->queues, FRAME_VCS_MAX);
	return queuing->scheme->check != NULL ? queuing->scheme->check(queuing, error) : 0;
}

struct queuing *queuing_create(const struct topology *topology, const struct queuing_scheme *scheme,
	uint32_t queues, struct error *error)
{
	struct queuing *queuing = calloc(1, sizeof(*queuing));
	int result;

	if (queuing == NULL) {
		error_set(error, errno = ENOMEM, "not enough memory for a queuing scheme");
		return NULL;
	}
	queuing->scheme = scheme;
	queuing->queues = queues;
	queuing->hosts = topology->hosts;
	result = fill(queuing, topology, error);
	if (result == 0)
		return queuing;
	queuing_destroy(queuing);
	errno = -result;
	return NULL;
}

void queuing_destroy(struct queuing *queuing)
{
	if (queuing == NULL)
		return;
	free(queuing->leaf);
	free(queuing);
}

/* --- schemes that use the source and the destination --- */

/* vFtree (Guay, Bogdanski, Reinemo, Lysne, Skeie, "vFtree: A Fat-Tree Routing Algorithm Using
 * Virtual Lanes to Alleviate Congestion", IPDPS 2011): packets between the same two leaf switches
 * share a queue. Seen from one leaf, consecutive destination leaves have consecutive queues.
 *
 * The queue is (leaf(D) - leaf(S) - 1) mod Q, with a non-negative remainder. The source's own leaf
 * has queue Q - 1, so that the next leaf has queue 0. The destinations seen from one leaf are
 * therefore spread evenly, with a difference of at most one leaf, for any numbers of leaves and
 * queues. A difference modulo the number of leaves would break the order at one point. */

static uint32_t queue_of_leaves(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	uint32_t queues = queuing->queues, to = queuing->leaf[destination];

	/* Adding 2Q - 1 keeps the difference non-negative. */
	return (to % queues + 2 * queues - 1 - queuing->leaf[source] % queues) % queues;
}

const struct queuing_scheme queuing_vftree = {
	.name = "vftree",
	.summary = "(leaf(D) − leaf(S) − 1) mod Q, never negative (Guay et al. 2011)",
	.queue = queue_of_leaves,
};

/* Flow2SL (Escudero-Sahuquillo et al., "A new proposal to deal with congestion in InfiniBand-based
 * fat-trees", JPDC 74, 2014): the hosts form Q groups of N / Q consecutive hosts, and the queue is
 * (group(S) + group(D)) mod Q. The queues of one source group differ by destination group, and vice
 * versa. If Q does not divide N, some groups have one host more. */

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
	.summary =
		"(group(S) + group(D)) mod Q, with the hosts in Q groups of consecutive ones (Escudero-Sahuquillo et al. 2014)",
	.queue = queue_of_groups,
};

/* --- schemes that use only the destination, or no host --- */

/* One queue: the reference for the other schemes. */

static uint32_t queue_zero(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return 0;
}

const struct queuing_scheme queuing_1q = {
	.name = "1q",
	.summary = "VC 0",
	.queue = queue_zero,
};

/* Destination-based buffer management (Nachiondo, Flich, Duato, "Buffer Management Strategies to
 * Reduce HoL Blocking", IEEE TPDS 21, 2010): packets for D use queue D mod Q in any network. */

static uint32_t queue_of_destination(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination % queuing->queues;
}

const struct queuing_scheme queuing_dbbm = {
	.name = "dbbm",
	.summary = "D mod Q (Nachiondo, Flich, Duato 2010)",
	.queue = queue_of_destination,
};

/* Network-level VOQs (Dally, Carvey, Dennison, "Architecture of the Avici Terabit Switch/Router",
 * Hot Interconnects 1998): one queue per destination, so no packet ever waits behind a packet for
 * another host. This is the bound that other schemes approach. A frame can number 16 VCs, so only
 * networks of at most 16 hosts can use it. */

static int check_hosts(const struct queuing *queuing, struct error *error)
{
	if (queuing->hosts <= queuing->queues)
		return 0;
	if (queuing->hosts > FRAME_VCS_MAX)
		return error_set(error, EINVAL,
			"queuing voqnet requires a VC for each of the %u hosts, so at most %u "
			"hosts are allowed",
			queuing->hosts, FRAME_VCS_MAX);
	return error_set(error, EINVAL,
		"queuing voqnet requires one VC per host, but there are %u VCs for %u hosts; use "
		"switch.vcs: %u",
		queuing->queues, queuing->hosts, queuing->hosts);
}

/* No remainder is needed, because there are as many queues as hosts. */
static uint32_t queue_of_host(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination;
}

const struct queuing_scheme queuing_voqnet = {
	.name = "voqnet",
	.summary = "D; the reference: at most 16 hosts, virtual clock only",
	.reference = true,
	.check = check_hosts,
	.queue = queue_of_host,
};
