/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads GOAL schedules. Refused input gives a reason with its position. An accepted schedule is
 * consistent and can be replayed on a network that delivers everything immediately. */

#include "goal/goal_replay.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void check_schedule(const struct goal *goal)
{
	uint32_t edges = 0, waits = 0;

	for (uint32_t op = 0; op < goal->ops; op++) {
		REQUIRE(goal->first_edge[op] <= goal->first_edge[op + 1]);
		edges += goal->first_edge[op + 1] - goal->first_edge[op];
		waits += goal->op[op].waits;
		REQUIRE(goal->op[op].kind == GOAL_CALC || goal->op[op].peer < goal->ranks ||
			(goal->op[op].kind == GOAL_RECV && goal->op[op].peer == GOAL_ANY));
	}
	REQUIRE(edges == goal->edges && waits == goal->edges);
}

/* Sends until nothing is due. Then an operation can only remain if its message is missing. */
static void replay(const struct goal *goal, const struct goal_replay_config *config)
{
	struct goal_replay *replay = goal_replay_create(config);
	uint32_t hosts = config->host_of != NULL ? config->hosts : goal->ranks;
	struct goal_message message;
	uint32_t sent = 0;
	bool more = true;

	REQUIRE(replay != NULL);
	while (more) {
		more = false;
		for (uint32_t host = 0; host < hosts; host++) {
			while (goal_replay_poll(replay, host, WEFT_TIME_NEVER - 1, &message)) {
				goal_replay_accept(replay, host, WEFT_TIME_NEVER - 1);
				REQUIRE(goal_replay_deliver(
					replay, message.to, host, WEFT_TIME_NEVER - 1));
				REQUIRE(!message.first || ++sent <= 3 * (uint64_t)goal->ops);
				more = true;
			}
			REQUIRE(goal_replay_next(replay, host) == WEFT_TIME_NEVER);
		}
	}
	REQUIRE(goal_replay_count(replay) <= goal->ops);
	REQUIRE(goal_replay_diagnose(replay, NULL) == 0 || !goal_replay_done(replay) ||
		goal_replay_count(replay) == goal->ops);
	goal_replay_destroy(replay);
}

/* Each rank on a separate host, and all ranks on three hosts, where long messages have pieces. */
static void replay_both(const struct goal *goal)
{
	struct goal_replay_config config = {.goal = goal};
	uint16_t *host_of = calloc(goal->ranks, sizeof(*host_of));

	REQUIRE(host_of != NULL);
	replay(goal, &config);
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		host_of[rank] = (uint16_t)(rank % 3);
	config = (struct goal_replay_config){.goal = goal,
		.host_of = host_of,
		.hosts = 3,
		.copy_rate_bps = 1000000000,
		.piece_bytes = (uint64_t)1 << 34};
	replay(goal, &config);
	config.rendezvous_bytes = 100;
	replay(goal, &config);
	free(host_of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {""};
	struct goal *goal = goal_parse((const char *)data, size, "fuzz", &error);

	REQUIRE((goal == NULL) == (strncmp(error.text, "fuzz:", 5) == 0));
	if (goal == NULL)
		return 0;
	check_schedule(goal);
	replay_both(goal);
	goal_destroy(goal);
	return 0;
}
