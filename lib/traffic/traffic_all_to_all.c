/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message goes to the next host of a list, or of all hosts, starting after the sender. If all
 * hosts have the same list, each host receives one message per round. */

#include <stdlib.h>

#include "traffic_pattern.h"

struct turns {
	uint32_t count, next;
	uint16_t target[]; /* in list order, without the sender */
};

static int refuse(const struct traffic_config *config, struct error *error)
{
	for (unsigned i = 0; i < config->targets_count; i++)
		if (config->targets[i] >= config->hosts ||
			(i > 0 && config->targets[i] <= config->targets[i - 1]))
			return error_set(error, EINVAL,
				"all-to-all traffic: targets must be below %u and in ascending "
				"order",
				config->hosts);
	return 0;
}

static int init(void **state, const struct traffic_config *config, struct error *error)
{
	unsigned count = config->targets_count != 0 ? config->targets_count : config->hosts;
	struct turns *turns;
	int result = refuse(config, error);

	if (result < 0)
		return result;
	turns = malloc(sizeof(*turns) + (size_t)count * sizeof(turns->target[0]));
	if (turns == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for the targets of all-to-all traffic");
	turns->count = turns->next = 0;
	for (unsigned i = 0; i < count; i++) {
		uint16_t to = config->targets_count != 0 ? config->targets[i] : (uint16_t)i;

		if (to < config->host)
			turns->next++;
		if (to != config->host)
			turns->target[turns->count++] = to;
	}
	if (turns->next == turns->count)
		turns->next = 0;
	*state = turns;
	return 0;
}

static bool sends(const void *state, const struct traffic_config *config)
{
	return ((const struct turns *)state)->count > 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	struct turns *turns = state;
	uint16_t to = turns->target[turns->next];

	turns->next = turns->next + 1 == turns->count ? 0 : turns->next + 1;
	return to;
}

const struct traffic_pattern traffic_all_to_all = {.name = "all-to-all",
	.summary = "the hosts of `to` in order, beginning with the one after the sender",
	.keys = TRAFFIC_PEERS,
	.all_without_targets = true,
	.to_suffices = true,
	.init = init,
	.fini = free,
	.sends = sends,
	.destination = destination};
