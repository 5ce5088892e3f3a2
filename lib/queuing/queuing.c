/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing.h"

#include <errno.h>
#include <stdlib.h>

#include "frame.h"

#define NO_LEAF UINT32_MAX

#define X(name) &queuing_##name,
static const void *const schemes[] = {QUEUING_SCHEMES(X)};
#undef X

const struct word_list queuing_schemes = WORD_LIST(schemes);

static int number_leaves(struct queuing *queuing, const struct topology *topology)
{
	uint32_t *number = malloc((topology->switches + 1u) * sizeof(*number));

	if (number == NULL)
		return -ENOMEM;
	for (uint32_t at = 0; at < topology->switches; at++)
		number[at] = NO_LEAF;
	for (uint32_t host = 0; host < topology->hosts; host++) {
		struct topology_port at;

		/* Nobody sends to a host that is cut off. */
		if (!topology_host_switch(topology, host, &at))
			continue;
		if (number[at.device] == NO_LEAF)
			number[at.device] = queuing->leaves++;
		queuing->leaf[host] = number[at.device];
	}
	free(number);
	return 0;
}

static int fill(struct queuing *queuing, const struct topology *topology, struct fault *fault)
{
	queuing->leaf = calloc(topology->hosts + 1u, sizeof(*queuing->leaf));
	if (queuing->leaf == NULL || number_leaves(queuing, topology) < 0)
		return fault_set(fault, ENOMEM, "no memory for a queuing scheme");
	if (queuing->queues == 0 || queuing->queues > FRAME_VCS_MAX)
		return fault_set(fault, EINVAL, "queuing %s: %u VCs, expected 1 to %u",
			queuing->scheme->name, queuing->queues, FRAME_VCS_MAX);
	return queuing->scheme->check != NULL ? queuing->scheme->check(queuing, fault) : 0;
}

struct queuing *queuing_create(const struct topology *topology, const struct queuing_scheme *scheme,
	uint32_t queues, struct fault *fault)
{
	struct queuing *queuing = calloc(1, sizeof(*queuing));
	int result;

	if (queuing == NULL) {
		fault_set(fault, errno = ENOMEM, "no memory for a queuing scheme");
		return NULL;
	}
	queuing->scheme = scheme;
	queuing->queues = queues;
	queuing->hosts = topology->hosts;
	result = fill(queuing, topology, fault);
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
