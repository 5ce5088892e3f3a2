/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "hosts_within.h"

#include <errno.h>
#include <stdlib.h>

#define FAR UINT32_MAX

/* Breadth first from 'start', as far as 'links'. */
static void spread(const struct topology *topology, uint32_t start, uint32_t links,
	uint32_t *distance, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		distance[i] = FAR;
	distance[start] = 0;
	queue[tail++] = start;
	while (head < tail && distance[queue[head]] < links) {
		struct topology_port at = {DEVICE_SWITCH, queue[head++], 0}, peer;

		for (at.port = 0; at.port < topology->switch_at[at.device].ports; at.port++) {
			if (!topology_peer(topology, at, &peer) || peer.kind != DEVICE_SWITCH ||
				distance[peer.device] != FAR)
				continue;
			distance[peer.device] = distance[at.device] + 1;
			queue[tail++] = peer.device;
		}
	}
}

static bool find_switch(const struct topology *topology, uint32_t host, uint32_t *at)
{
	struct topology_port port = {DEVICE_HOST, host, 0}, peer;

	if (!topology_peer(topology, port, &peer) || peer.kind != DEVICE_SWITCH)
		return false;
	*at = peer.device;
	return true;
}

int hosts_within(const struct topology *topology, uint32_t host, uint32_t links, uint16_t *near,
	uint32_t *count)
{
	uint32_t *distance = calloc((size_t)topology->switches + 1, sizeof(*distance));
	uint32_t *queue = calloc((size_t)topology->switches + 1, sizeof(*queue));
	bool room = distance != NULL && queue != NULL;
	uint32_t at;

	*count = 0;
	if (room && find_switch(topology, host, &at)) {
		spread(topology, at, links, distance, queue);
		for (uint32_t i = 0; i < topology->hosts; i++)
			if (find_switch(topology, i, &at) && distance[at] != FAR)
				near[(*count)++] = (uint16_t)i;
	}
	free(distance);
	free(queue);
	return room ? 0 : -ENOMEM;
}
