/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The list of patterns, and those whose messages come from files. */

#include "traffic_pattern.h"

#include <stdlib.h>

/* Capture: each packet goes to the host that represents its destination address, or to a host drawn
 * from a list. The caller, which knows the addresses, prepares the packets. */

struct replay {
	uint32_t next; /* index of the next packet */
	void *targets; /* state of uniform traffic, for drawn destinations */
};

static void fini(void *state)
{
	struct replay *replay = state;

	traffic_uniform.fini(replay->targets);
	free(replay);
}

static int check(const struct traffic_config *config, struct error *error)
{
	if (config->packets == 0 || config->loops == 0)
		return error_set(error, EINVAL, "pcap traffic needs packets");
	for (uint32_t i = 0; i < config->packets; i++)
		if (!config->packet[i].drawn && config->packet[i].to >= config->hosts)
			return error_set(error, EINVAL,
				"pcap target %u does not exist; there are %u hosts",
				config->packet[i].to, config->hosts);
	return 0;
}

static int init(void **state, const struct traffic_config *config, struct error *error)
{
	int result = check(config, error);
	struct replay *replay = result == 0 ? calloc(1, sizeof(*replay)) : NULL;

	if (result == 0 && replay == NULL)
		return error_set(error, ENOMEM, "not enough memory for pcap traffic");
	if (result == 0)
		result = traffic_uniform.init(&replay->targets, config, error);
	if (result == 0)
		*state = replay;
	else
		free(replay);
	return result;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	struct replay *replay = state;
	const struct traffic_packet *packet = &config->packet[replay->next];

	replay->next = replay->next + 1 == config->packets ? 0 : replay->next + 1;
	return packet->drawn ? traffic_uniform.destination(replay->targets, config, rng)
			     : packet->to;
}

const struct traffic_pattern traffic_pcap = {.name = "pcap",
	.summary =
		"as in a [capture](#packets-of-a-capture): `file`, and `host` or `by`; `to` for other addresses",
	.keys = TRAFFIC_FILE | TRAFFIC_TO | TRAFFIC_PACKETS,
	.all_without_targets = true,
	.packets = true,
	.init = init,
	.fini = fini,
	.destination = destination};

/* Messages between ranks, in schedule order (lib/goal). */
const struct traffic_pattern traffic_goal = {.name = "goal",
	.summary =
		"as in a [schedule](schedule-file.md), with `file`, `ranks` or `ranks-per-host`, and `start`",
	.keys = TRAFFIC_FILE | TRAFFIC_RANKS,
	.schedule = true};

/* Flows, listed or drawn, which become a separate schedule (run_flows.h). */
const struct traffic_pattern traffic_flows = {.name = "flows",
	.summary =
		"as in a [list of flows](schedule-file.md#lists-of-flows), or [drawn](schedule-file.md#drawn-flows) with `sizes`, `load`, `stop` and optionally `matrix`. Does not accept `message` or `arrivals`",
	.keys = TRAFFIC_FROM | TRAFFIC_TO | TRAFFIC_FILE | TRAFFIC_SIZES,
	.schedule = true};

#define X(name) &traffic_##name,
static const void *const patterns[] = {TRAFFIC_PATTERNS(X)};
#undef X

const struct name_table traffic_patterns = WORD_LIST(patterns);
