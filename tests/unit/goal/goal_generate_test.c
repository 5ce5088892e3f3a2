/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal_generate.h"

#include "unit.h"

#include <string.h>

#include "goal_loop.h"

static struct goal *generate_of(const struct goal_generate_config *config)
{
	struct fault fault = {""};
	char *text = NULL;
	struct goal *goal;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(goal_generate(config, out, &fault), 0);
	fclose(out);
	goal = goal_parse(text, length, config->kind, &fault);
	assert_string_equal(fault.text, "");
	free(text);
	return goal;
}

static struct goal *generate(const char *kind, uint32_t ranks, uint32_t rounds, uint64_t calc_ns)
{
	const struct goal_generate_config config = {kind, ranks, 1000, rounds, calc_ns};

	return generate_of(&config);
}

/* To the end, whatever the network does with the time. */
static void run(struct goal_loop *loop, const struct goal *goal, uint64_t seed)
{
	struct fault fault = {""};

	goal_loop_init(loop, goal, seed);
	goal_loop_run(loop);
	goal_replay_diagnose(loop->replay, &fault);
	assert_string_equal(fault.text, "");
}

static void an_allreduce_brings_everybodys_part_to_everybody(void **state)
{
	for (uint32_t ranks = 2; ranks <= 40; ranks++) {
		struct goal *goal = generate("allreduce", ranks, 1, 0);
		struct goal_loop loop;

		run(&loop, goal, ranks);
		for (uint32_t rank = 0; rank < ranks; rank++)
			assert_int_equal(loop.contributions[rank] | ~(((uint64_t)1 << ranks) - 1),
				UINT64_MAX);
		goal_loop_fini(&loop);
		goal_destroy(goal);
	}
}

/* log2 of the ranks messages each, and for other numbers two more for each pair. */
static void an_allreduce_takes_log2_steps(void **state)
{
	static const struct {
		uint32_t ranks, messages;
	} wanted[] = {{2, 2}, {4, 8}, {8, 24}, {16, 64}, {5, 8 + 2}, {7, 8 + 6}};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct goal *goal = generate("allreduce", wanted[i].ranks, 1, 0);
		struct goal_loop loop;

		run(&loop, goal, 1);
		assert_int_equal(loop.sent, wanted[i].messages);
		goal_loop_fini(&loop);
		goal_destroy(goal);
	}
}

static void an_alltoall_sends_one_message_from_each_to_each_other(void **state)
{
	for (uint32_t ranks = 2; ranks <= 9; ranks++) {
		struct goal *goal = generate("alltoall", ranks, 3, 0);
		struct goal_loop loop;

		run(&loop, goal, ranks);
		for (uint32_t i = 0; i < ranks * ranks; i++)
			assert_int_equal(loop.received[i], i / ranks == i % ranks ? 0 : 3);
		goal_loop_fini(&loop);
		goal_destroy(goal);
	}
}

static void a_transpose_exchanges_row_and_column(void **state)
{
	struct goal *goal = generate("transpose", 16, 2, 100);
	struct goal_loop loop;

	run(&loop, goal, 3);
	for (uint32_t to = 0; to < 16; to++)
		for (uint32_t from = 0; from < 16; from++)
			assert_int_equal(loop.received[to * 16 + from],
				to != from && to / 4 == from % 4 && to % 4 == from / 4 ? 2 : 0);
	goal_loop_fini(&loop);
	goal_destroy(goal);
}

/* Whether any block of the first rank's belongs to the second in the transposed matrix. */
static bool has_block_for(uint32_t from, uint32_t to, uint32_t rows, uint32_t columns)
{
	for (uint32_t i = from / columns; i < rows * columns; i += rows)
		for (uint32_t j = from % columns; j < rows * columns; j += columns)
			if (j % rows == to / columns && i % columns == to % columns)
				return true;
	return false;
}

static void each_rank_of_any_grid_sends_once_to_each_owner_of_its_transposed_blocks(void **state)
{
	static const uint32_t grid[][2] = {{2, 3}, {4, 6}, {6, 4}, {3, 9}, {1, 5}, {4, 4}};

	for (unsigned k = 0; k < sizeof(grid) / sizeof(grid[0]); k++) {
		uint32_t rows = grid[k][0], columns = grid[k][1], ranks = rows * columns;
		struct goal_generate_config config = {
			"transpose", ranks, 1000, 2, 0, rows, columns};
		struct goal *goal = generate_of(&config);
		struct goal_loop loop;

		run(&loop, goal, k);
		for (uint32_t i = 0; i < ranks * ranks; i++) {
			uint32_t to = i / ranks, from = i % ranks;

			assert_int_equal(loop.received[i],
				to != from && has_block_for(from, to, rows, columns) ? 2 : 0);
		}
		goal_loop_fini(&loop);
		goal_destroy(goal);
	}
}

static void the_grid_of_a_transpose_is_the_one_nearest_to_a_square(void **state)
{
	struct goal_generate_config config = {"transpose", 24, 1000, 1, 0, 4, 6};
	struct goal *asked = generate_of(&config), *own = generate("transpose", 24, 1, 0);

	assert_int_equal(asked->ops, own->ops);
	for (uint32_t i = 0; i < own->ops; i++)
		assert_int_equal(asked->op[i].peer, own->op[i].peer);
	goal_destroy(asked);
	goal_destroy(own);
}

static void a_ring_sends_to_the_next_and_goes_round_in_as_many_rounds_as_ranks(void **state)
{
	struct goal *goal = generate("ring", 7, 6, 0);
	struct goal_loop loop;

	run(&loop, goal, 3);
	for (uint32_t to = 0; to < 7; to++) {
		for (uint32_t from = 0; from < 7; from++)
			assert_int_equal(
				loop.received[to * 7 + from], to == (from + 1) % 7 ? 6 : 0);
		assert_int_equal(loop.contributions[to], 127);
	}
	goal_loop_fini(&loop);
	goal_destroy(goal);
}

/* A round begins at a rank after its calc, and that after the round before. */
static void a_time_to_compute_stands_before_each_round(void **state)
{
	struct goal *goal = generate("ring", 2, 3, 1000000);
	struct goal_loop loop;

	run(&loop, goal, 3);
	assert_true(goal_replay_ended(loop.replay) >= 3 * PS_PER_MS);
	assert_true(goal_replay_ended(loop.replay) <
		    3 * PS_PER_MS + 6 * GOAL_LOOP_DELAY_NS * PS_PER_NS);
	goal_loop_fini(&loop);
	goal_destroy(goal);
}

static void what_makes_no_sense_is_refused_with_a_reason(void **state)
{
	static const struct {
		struct goal_generate_config config;
		const char *message;
	} bad[] = {
		{{"alreduce", 4, 8, 1, 0}, "no exchange 'alreduce'; there are allreduce, alltoall, "
					   "transpose, ring; nearest is allreduce"},
		{{"ring", 1, 8, 1, 0}, "expected 2 to 65534 ranks"},
		{{"ring", 2, (uint64_t)1 << 32, 1, 0},
			"expected messages of at most 4294967295 bytes"},
		{{"ring", 2, 8, 0, 0}, "expected 1 or more rounds"},
		{{"transpose", 12, 8, 1, 0, 5, 2}, "a grid of 5x2 has 10 ranks, expected 12"},
		{{"ring", 12, 8, 1, 0, 3, 4}, "only a transpose has a grid, not 'ring'"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault fault = {""};

		assert_int_equal(goal_generate(&bad[i].config, NULL, &fault), -EINVAL);
		assert_string_equal(fault.text, bad[i].message);
	}
}

/* So many rounds that a schedule of any length is refused: the reason says how many of how much. */
static void a_schedule_is_refused_by_the_operations_that_a_round_has(void **state)
{
	static const char *const kinds[] = {"allreduce", "alltoall", "transpose", "ring"};

	for (unsigned i = 0; i < 4 * 2 * 3; i++) {
		const char *kind = kinds[i % 4];
		uint64_t calc_ns = i / 4 % 2;
		uint32_t ranks = strcmp(kind, "transpose") == 0 ? 16 + i : 5 + i / 8;
		struct goal *round = generate(kind, ranks, 1, calc_ns);
		struct goal_generate_config config = {
			kind, ranks, 1000, GOAL_OPS_MAX / round->ops + 1, calc_ns};
		struct fault fault = {""};
		char expected[80];

		assert_int_equal(goal_generate(&config, NULL, &fault), -EINVAL);
		snprintf(expected, sizeof(expected), "a round has %u operations, ",
			(unsigned)round->ops);
		assert_non_null(strstr(fault.text, expected));
		goal_destroy(round);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(an_allreduce_brings_everybodys_part_to_everybody),
	cmocka_unit_test(an_allreduce_takes_log2_steps),
	cmocka_unit_test(an_alltoall_sends_one_message_from_each_to_each_other),
	cmocka_unit_test(a_transpose_exchanges_row_and_column),
	cmocka_unit_test(each_rank_of_any_grid_sends_once_to_each_owner_of_its_transposed_blocks),
	cmocka_unit_test(the_grid_of_a_transpose_is_the_one_nearest_to_a_square),
	cmocka_unit_test(a_ring_sends_to_the_next_and_goes_round_in_as_many_rounds_as_ranks),
	cmocka_unit_test(a_time_to_compute_stands_before_each_round),
	cmocka_unit_test(what_makes_no_sense_is_refused_with_a_reason),
	cmocka_unit_test(a_schedule_is_refused_by_the_operations_that_a_round_has),
};

UNIT_MAIN(tests)
