/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_division.h"

#include <errno.h>
#include <stdlib.h>

#include "poll_division_control.h"

struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards)
{
	struct poll_division *division = calloc(1, sizeof(*division));

	if (division == NULL)
		return NULL;
	division->orders = poll_division_control_create();
	if (division->orders != NULL)
		division->division = switch_division_create(config, owner, shards);
	if (division->division != NULL)
		return division;
	free(division->orders);
	free(division);
	return NULL;
}

int poll_division_place(
	struct poll_division *division, unsigned number, struct rte_mempool *pool, weft_time now)
{
	int result = switch_shard_create(division->division, number, now);
	struct switch_shard *shard = division->division->shard[number];
	struct poll_switch *ps;

	if (result < 0)
		return result;
	ps = poll_switch_create(shard->sw, pool);
	if (ps == NULL)
		return -ENOMEM;
	ps->shard = shard;
	ps->shards = division->shard;
	ps->orders = division->orders;
	division->shard[number] = ps;
	return 0;
}

void poll_division_connect(struct poll_division *division)
{
	switch_division_connect(division->division);
}

static bool is_complete(const struct poll_division *division)
{
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		if (division->shard[shard] == NULL)
			return false;
	return true;
}

void poll_division_set_control(
	struct poll_division *division, struct device_control *control, struct rte_mempool *pool)
{
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		poll_switch_set_control(division->shard[shard], control, pool);
}

void poll_division_destroy(struct poll_division *division)
{
	if (division == NULL)
		return;
	if (is_complete(division))
		switch_division_drain(division->division);
	for (unsigned shard = 0; shard < division->division->shards; shard++)
		poll_switch_destroy(division->shard[shard]);
	switch_division_destroy(division->division);
	free(division->orders);
	free(division);
}

/* The shard with the fewest ports, of those on 'socket'; any if it is negative. */
static unsigned min(const unsigned *dealt, const int *part_socket, unsigned shards, int socket)
{
	unsigned found = shards;

	for (unsigned shard = 0; shard < shards; shard++)
		if ((socket < 0 || part_socket[shard] == socket) &&
			(found == shards || dealt[shard] < dealt[found]))
			found = shard;
	return found;
}

/* No shard stays without a port: it gets one from the shard that has most. */
static void fill_empty(uint8_t *owner, unsigned ports, unsigned *dealt, unsigned shards)
{
	for (unsigned shard = 0; shard < shards; shard++) {
		unsigned max = 0, port = ports;

		for (unsigned other = 1; other < shards; other++)
			if (dealt[other] > dealt[max])
				max = other;
		if (dealt[shard] != 0 || dealt[max] < 2)
			continue;
		while (owner[--port] != max)
			;
		owner[port] = (uint8_t)shard;
		dealt[shard]++;
		dealt[max]--;
	}
}

void poll_division_deal(uint8_t *owner, const int *port_socket, unsigned ports,
	const int *part_socket, unsigned shards)
{
	unsigned dealt[SWITCH_SHARDS_MAX] = {0};

	for (unsigned port = 0; port < ports; port++) {
		unsigned shard = min(dealt, part_socket, shards, port_socket[port]);

		if (shard == shards)
			shard = min(dealt, part_socket, shards, -1);
		owner[port] = (uint8_t)shard;
		dealt[shard]++;
	}
	fill_empty(owner, ports, dealt, shards);
}
