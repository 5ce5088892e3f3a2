/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Several schedules as one. */

#include "goal/goal.h"

#include "goal_loop.h"

#define NS PS_PER_NS

static const char ping[] = "num_ranks 2\nrank 1 {\nr: recv 8b from 0 tag 3\n}\n"
			   "rank 0 {\nc: calc 5\ns: send 8b to 1 tag 3\ns requires c\n}\n";
static const char lone[] = "num_ranks 2\nrank 0 {\nw: calc 7\nx: calc 1\nx irequires w\n}\n";

static struct goal *join(struct goal *one, struct goal *other, uint64_t delay_ns)
{
	const struct goal_part part[] = {{one, "one", 0}, {other, "other", delay_ns}};
	struct error error;
	struct goal *joined = goal_join(part, 2, &error);

	assert_non_null(joined);
	return joined;
}

UNIT_TEST(parts_keep_their_ranks_labels_and_dependencies)
{
	struct goal *one = goal_loop_parse(lone), *other = goal_loop_parse(ping);
	OWNED(goal) *joined = join(one, other, 0);
	const struct goal_op *send = &joined->op[joined->rank[2].first + 1];
	char text[GOAL_RANK_TEXT];

	assert_int_equal(joined->ranks, 4);
	assert_int_equal(joined->ops, 5);
	assert_int_equal(joined->edges, 2);
	assert_int_equal(joined->starts, 0);
	assert_int_equal(send->kind, GOAL_SEND);
	assert_int_equal(send->peer, 3);
	assert_int_equal(send->waits, 1);
	assert_string_equal(goal_label(joined, joined->rank[2].first + 1), "s");
	assert_string_equal(goal_label(joined, joined->rank[0].first), "w");
	assert_string_equal(goal_rank_text(joined, 3, text), "other: rank 1");
	assert_int_equal(goal_rank_number(joined, 1), 1);
	goal_destroy(one);
	goal_destroy(other);
}

UNIT_TEST(a_late_part_begins_after_its_delay_and_ranks_without_operations_stay_so)
{
	struct goal *one = goal_loop_parse(ping), *other = goal_loop_parse(lone);
	OWNED(goal) *joined = join(one, other, 100);
	OWNED(goal_replay) *replay =
		goal_replay_create(&(struct goal_replay_config){.goal = joined});

	assert_int_equal(joined->starts, 1);
	assert_int_equal(joined->rank[3].count, 0);
	goal_replay_alone(replay);
	assert_true(goal_replay_done(replay));
	assert_int_equal(goal_replay_end(replay, 1).ended_ps, 5 * NS);
	assert_int_equal(goal_replay_end(replay, 2).ended_ps, 108 * NS);
	goal_destroy(one);
	goal_destroy(other);
}

/* A drawn schedule of a few ranks that compute and exchange in a ring. */
static struct goal *draw(struct rng *rng)
{
	uint32_t ranks = 2 + (uint32_t)rng_below(rng, 4);
	uint32_t steps = 1 + (uint32_t)rng_below(rng, 4);
	char text[4096];
	int length = snprintf(text, sizeof(text), "num_ranks %u\n", ranks);

	for (uint32_t rank = 0; rank < ranks; rank++) {
		length +=
			snprintf(text + length, sizeof(text) - (size_t)length, "rank %u {\n", rank);
		for (uint32_t i = 0; i < steps; i++)
			length += snprintf(text + length, sizeof(text) - (size_t)length,
				"c%u: calc %u cpu %u\ns%u: send 8b to %u tag %u\n"
				"r%u: recv 8b from %u tag %u\ns%u requires c%u\nc%u %s r%u\n",
				i, (unsigned)rng_below(rng, 900), (unsigned)rng_below(rng, 3), i,
				(rank + 1) % ranks, i, i, (rank + ranks - 1) % ranks, i, i, i, i,
				i > 0 && rng_below(rng, 2) ? "irequires" : "requires",
				i > 0 ? i - 1 : i);
		/* The first calc waits for nothing. The line for it would be a cycle. */
		length += snprintf(text + length, sizeof(text) - (size_t)length, "}\n");
	}
	for (char *at = text; (at = strstr(at, "c0 requires r0\n")) != NULL;)
		memset(at, ' ', strlen("c0 requires r0"));
	return goal_loop_parse(text);
}

UNIT_TEST(parts_end_as_they_do_alone)
{
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned trial = 0; trial < 100; trial++) {
		struct goal *one = draw(&rng), *other = draw(&rng), *joined;
		uint64_t delay = rng_below(&rng, 3) * 500;
		struct goal_replay *alone[2], *both;

		joined = join(one, other, delay);
		alone[0] = goal_replay_create(&(struct goal_replay_config){.goal = one});
		alone[1] = goal_replay_create(&(struct goal_replay_config){.goal = other});
		both = goal_replay_create(&(struct goal_replay_config){.goal = joined});
		goal_replay_alone(alone[0]);
		goal_replay_alone(alone[1]);
		goal_replay_alone(both);
		assert_true(goal_replay_done(both));
		for (uint32_t rank = 0; rank < joined->ranks; rank++) {
			bool second = rank >= one->ranks;
			weft_time ended =
				goal_replay_end(alone[second], second ? rank - one->ranks : rank)
					.ended_ps;

			assert_int_equal(goal_replay_end(both, rank).ended_ps,
				ended + (second ? delay * NS : 0));
		}
		goal_replay_destroy(alone[0]);
		goal_replay_destroy(alone[1]);
		goal_replay_destroy(both);
		goal_destroy(joined);
		goal_destroy(one);
		goal_destroy(other);
	}
}

UNIT_TEST(a_schedule_that_does_not_end_is_named_by_its_part)
{
	OWNED(goal) *one = goal_loop_parse(ping);
	OWNED(goal) *other = goal_loop_parse("num_ranks 2\nrank 1 {\nq: recv 8b from 0\n}\n");
	OWNED(goal) *joined = join(one, other, 10);
	OWNED(goal_replay) *replay =
		goal_replay_create(&(struct goal_replay_config){.goal = joined});
	struct error error;

	goal_replay_alone(replay);
	assert_int_equal(goal_replay_diagnose(replay, &error), -EINVAL);
	assert_string_equal(error.text,
		"other: rank 1: recv 'q' (line 3) from 0 tag 0 received no message; 1 operation has "
		"not ended");
}

UNIT_TEST(more_ranks_than_a_schedule_may_have_are_refused)
{
	OWNED(goal) *goal = goal_loop_parse("num_ranks 40000\n");
	const struct goal_part part[] = {{goal, "a", 0}, {goal, "b", 0}};
	struct error error;

	assert_null(goal_join(part, 2, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text,
		"the schedules of all jobs exceed a limit: 80000 of 65534 ranks, 0 of 268435456 "
		"operations, 0 of 536870912 dependencies");
}
