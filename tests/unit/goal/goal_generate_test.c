/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal/goal_generate.h"

#include "goal_loop.h"

static struct goal *generate_of(const struct goal_generate_config *config)
{
	struct error error = {""};
	char *text = NULL;
	struct goal *goal;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(goal_generate(config, out, &error), 0);
	fclose(out);
	goal = goal_parse(text, length, config->kind, &error);
	assert_string_equal(error.text, "");
	free(text);
	return goal;
}

static struct goal *generate(const char *kind, uint32_t ranks, uint32_t rounds, uint64_t calc_ns)
{
	const struct goal_generate_config config = {kind, ranks, 1000, rounds, calc_ns};

	return generate_of(&config);
}

/* Runs to the end, whatever the network does with the times. */
static void run(struct goal_loop *loop, const struct goal *goal, uint64_t seed)
{
	struct error error = {""};

	goal_loop_init(loop, goal, seed);
	goal_loop_run(loop);
	goal_replay_diagnose(loop->replay, &error);
	assert_string_equal(error.text, "");
}

UNIT_TEST(an_allreduce_brings_everybodys_part_to_everybody)
{
	for (uint32_t ranks = 2; ranks <= 40; ranks++) {
		OWNED(goal) *goal = generate("allreduce", ranks, 1, 0);
		OWNED(goal_loop) loop;

		run(&loop, goal, ranks);
		for (uint32_t rank = 0; rank < ranks; rank++)
			assert_int_equal(loop.contributions[rank] | ~(((uint64_t)1 << ranks) - 1),
				UINT64_MAX);
	}
}

/* If the number of ranks is a power of two, each rank sends log2(ranks) messages. Every rank beyond
 * a power of two adds two messages. */
UNIT_TEST(an_allreduce_takes_log2_steps)
{
	static const struct {
		uint32_t ranks, messages;
	} wanted[] = {{2, 2}, {4, 8}, {8, 24}, {16, 64}, {5, 8 + 2}, {7, 8 + 6}};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		OWNED(goal) *goal = generate("allreduce", wanted[i].ranks, 1, 0);
		OWNED(goal_loop) loop;

		run(&loop, goal, 1);
		assert_int_equal(loop.sent, wanted[i].messages);
	}
}

static const char *const collectives[] = {"allreduce", "allreduce-ring", "allreduce-rabenseifner",
	"allreduce-tree", "allreduce-two-level", "allgather", "reduce-scatter"};

/* Groups are 1, 2 or 3 of the ranks. */
UNIT_TEST(collectives_bring_the_part_of_each_rank_to_each_rank)
{
	for (unsigned i = 0; i < 7 * 39; i++) {
		uint32_t ranks = 2 + i / 7;
		struct goal_generate_config config = {collectives[i % 7], ranks, 1000, 1, 0};
		OWNED(goal) *goal;
		OWNED(goal_loop) loop;

		if (i % 7 == 4)
			config.group = ranks % 3 == 0 ? 3 : ranks % 2 == 0 ? 2 : 1;
		goal = generate_of(&config);
		run(&loop, goal, ranks);
		for (uint32_t rank = 0; rank < ranks; rank++)
			assert_int_equal(loop.contributions[rank], ((uint64_t)1 << ranks) - 1);
	}
}

UNIT_TEST(a_bcast_reaches_each_rank_once)
{
	for (uint32_t ranks = 2; ranks <= 40; ranks++) {
		OWNED(goal) *goal = generate("bcast", ranks, 1, 0);
		OWNED(goal_loop) loop;

		run(&loop, goal, ranks);
		assert_int_equal(loop.sent, ranks - 1);
		for (uint32_t rank = 0; rank < ranks; rank++)
			assert_true(loop.contributions[rank] & 1);
	}
}

static uint64_t bytes_of(const struct goal *goal)
{
	uint64_t bytes = 0;

	for (uint32_t op = 0; op < goal->ops; op++)
		bytes += goal->op[op].kind == GOAL_SEND ? goal->op[op].amount : 0;
	return bytes;
}

/* Expected values for 8 ranks, 8000 bytes and groups of 4, by hand. */
UNIT_TEST(collectives_send_as_many_bytes_as_their_algorithm_needs)
{
	static const uint64_t bytes[] = {8 * 3 * 8000, 8 * 14 * 1000, 2 * 8 * (4000 + 2000 + 1000),
		14 * 8000, 8 * (6 * 2000 + 2 * 1000), 8 * 7 * 8000, 8 * 7 * 1000};

	for (unsigned i = 0; i < 7; i++) {
		const struct goal_generate_config config = {
			collectives[i], 8, 8000, 1, 0, .group = i == 4 ? 4 : 0};
		OWNED(goal) *goal = generate_of(&config);

		assert_int_equal(bytes_of(goal), bytes[i]);
	}
}

UNIT_TEST(an_alltoallv_sends_the_lengths_of_its_matrix)
{
	static const uint64_t matrix[] = {9, 100, 0, 7, 9, 50, 0, 300, 9};
	const struct goal_generate_config config = {"alltoallv", 3, 0, 2, 0, .matrix = matrix};
	OWNED(goal) *goal = generate_of(&config);
	OWNED(goal_loop) loop;

	run(&loop, goal, 1);
	assert_int_equal(bytes_of(goal), 2 * (100 + 7 + 50 + 300 + 3 * 9));
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(
			loop.received[i % 3 * 3 + i / 3], i % 4 != 0 && matrix[i] > 0 ? 2 : 0);
}

/* Without a network, this takes (microbatches + stages - 1) times forward and backward. */
UNIT_TEST(microbatches_fill_the_pipeline)
{
	static const struct goal_generate_config configs[] = {
		{"pipeline", 4, 1000, 1, 100, .microbatches = 6},
		{"training", 24, 1000, 1, 100, 3, 2, 4, .microbatches = 6, .gradient_bytes = 5000}};

	for (unsigned i = 0; i < 2; i++) {
		OWNED(goal) *goal = generate_of(&configs[i]);
		struct goal_replay *replay =
			goal_replay_create(&(struct goal_replay_config){.goal = goal});

		goal_replay_alone(replay);
		assert_int_equal(goal_replay_diagnose(replay, NULL), 0);
		assert_int_equal(goal_replay_ended(replay), (6 + 4 - 1) * 300 * PS_PER_NS);
		goal_replay_destroy(replay);
	}
}

UNIT_TEST(an_alltoall_sends_one_message_from_each_to_each_other)
{
	for (uint32_t ranks = 2; ranks <= 9; ranks++) {
		OWNED(goal) *goal = generate("alltoall", ranks, 3, 0);
		OWNED(goal_loop) loop;

		run(&loop, goal, ranks);
		for (uint32_t i = 0; i < ranks * ranks; i++)
			assert_int_equal(loop.received[i], i / ranks == i % ranks ? 0 : 3);
	}
}

UNIT_TEST(other_usual_names_of_collectives_make_the_same_schedule)
{
	static const char *const names[][2] = {
		{"all-to-all", "alltoall"}, {"allreduce-recursive-doubling", "allreduce"}};

	for (unsigned i = 0; i < 2; i++) {
		struct goal *also = generate(names[i][0], 8, 1, 0),
			    *usual = generate(names[i][1], 8, 1, 0);

		assert_int_equal(also->ops, usual->ops);
		assert_memory_equal(also->op, usual->op, usual->ops * sizeof(*usual->op));
		goal_destroy(also);
		goal_destroy(usual);
	}
}

UNIT_TEST(a_transpose_exchanges_row_and_column)
{
	OWNED(goal) *goal = generate("transpose", 16, 2, 100);
	OWNED(goal_loop) loop;

	run(&loop, goal, 3);
	for (uint32_t to = 0; to < 16; to++)
		for (uint32_t from = 0; from < 16; from++)
			assert_int_equal(loop.received[to * 16 + from],
				to != from && to / 4 == from % 4 && to % 4 == from / 4 ? 2 : 0);
}

/* Returns whether any block of the first rank belongs to the second in the transposed matrix. */
static bool has_block_for(uint32_t from, uint32_t to, uint32_t rows, uint32_t columns)
{
	for (uint32_t i = from / columns; i < rows * columns; i += rows)
		for (uint32_t j = from % columns; j < rows * columns; j += columns)
			if (j % rows == to / columns && i % columns == to % columns)
				return true;
	return false;
}

UNIT_TEST(each_rank_of_any_grid_sends_once_to_each_owner_of_its_transposed_blocks)
{
	static const uint32_t grid[][2] = {{2, 3}, {4, 6}, {6, 4}, {3, 9}, {1, 5}, {4, 4}};

	for (unsigned k = 0; k < sizeof(grid) / sizeof(grid[0]); k++) {
		uint32_t rows = grid[k][0], columns = grid[k][1], ranks = rows * columns;
		struct goal_generate_config config = {
			"transpose", ranks, 1000, 2, 0, rows, columns};
		OWNED(goal) *goal = generate_of(&config);
		OWNED(goal_loop) loop;

		run(&loop, goal, k);
		for (uint32_t i = 0; i < ranks * ranks; i++) {
			uint32_t to = i / ranks, from = i % ranks;

			assert_int_equal(loop.received[i],
				to != from && has_block_for(from, to, rows, columns) ? 2 : 0);
		}
	}
}

UNIT_TEST(the_grid_of_a_transpose_is_the_one_nearest_to_a_square)
{
	struct goal_generate_config config = {"transpose", 24, 1000, 1, 0, 4, 6};
	OWNED(goal) *asked = generate_of(&config), *own = generate("transpose", 24, 1, 0);

	assert_int_equal(asked->ops, own->ops);
	for (uint32_t i = 0; i < own->ops; i++)
		assert_int_equal(asked->op[i].peer, own->op[i].peer);
}

UNIT_TEST(a_ring_sends_to_the_next_and_goes_round_in_as_many_rounds_as_ranks)
{
	OWNED(goal) *goal = generate("ring", 7, 6, 0);
	OWNED(goal_loop) loop;

	run(&loop, goal, 3);
	for (uint32_t to = 0; to < 7; to++) {
		for (uint32_t from = 0; from < 7; from++)
			assert_int_equal(
				loop.received[to * 7 + from], to == (from + 1) % 7 ? 6 : 0);
		assert_int_equal(loop.contributions[to], 127);
	}
}

/* Grids with the number of messages of a halo, by hand. */
static const struct {
	struct goal_generate_config config;
	uint32_t messages;
} halos[] = {
	{{"halo", 12, 1000, 1, 0, 3, 4}, 2 * (3 * 3 + 4 * 2)},
	{{"halo", 12, 1000, 1, 0, 3, 4, 0, true}, 4 * 12},
	{{"halo", 24, 1000, 1, 0, 2, 3, 4}, 2 * (12 * 1 + 8 * 2 + 6 * 3)},
	{{"halo", 27, 1000, 1, 0, 3, 3, 3, true}, 6 * 27},
	{{"halo", 4, 1000, 1, 0, 2, 2, 0, true}, 4 * 4}, /* both neighbours are the same rank */
	{{"halo", 5, 1000, 1, 0, 1, 5, 0, true}, 2 * 5},
	{{"halo", 16, 1000, 1, 0}, 2 * (4 * 3 + 4 * 3)},
};

/* The distance in one dimension, in the shorter direction if it is periodic. */
static uint32_t apart(uint32_t a, uint32_t b, uint32_t size, bool periodic)
{
	uint32_t on = a < b ? b - a : a - b;

	return periodic && size - on < on ? size - on : on;
}

/* Returns the sum over the dimensions of a grid. */
static uint32_t distance(const struct goal_generate_config *config, uint32_t a, uint32_t b)
{
	uint32_t layers = config->layers == 0 ? 1 : config->layers;
	uint32_t rows = config->rows == 0 ? 4 : config->rows;
	uint32_t columns = config->columns == 0 ? 4 : config->columns;

	return apart(a / layers / columns, b / layers / columns, rows, config->periodic) +
	       apart(a / layers % columns, b / layers % columns, columns, config->periodic) +
	       apart(a % layers, b % layers, layers, config->periodic);
}

UNIT_TEST(a_halo_goes_to_each_neighbour_in_the_grid_and_to_nobody_else)
{
	for (unsigned k = 0; k < sizeof(halos) / sizeof(halos[0]); k++) {
		const struct goal_generate_config *config = &halos[k].config;
		OWNED(goal) *goal = generate_of(config);
		OWNED(goal_loop) loop;

		run(&loop, goal, k);
		assert_int_equal(loop.sent, halos[k].messages);
		for (uint32_t i = 0; i < config->ranks * config->ranks; i++) {
			uint32_t to = i / config->ranks, from = i % config->ranks;

			assert_int_equal(loop.received[i] > 0, distance(config, from, to) == 1);
		}
	}
}

/* All operations in a rank's round can start when the previous round has ended. */
UNIT_TEST(a_rank_exchanges_with_all_neighbours_at_once)
{
	const struct goal_generate_config config = {"halo", 27, 1000, 2, 0, 3, 3, 3, true};
	OWNED(goal) *goal = generate_of(&config);

	for (uint32_t rank = 0; rank < 27; rank++) {
		const struct goal_rank *of = &goal->rank[rank];

		assert_int_equal(of->count, 24);
		for (uint32_t i = 0; i < of->count; i++)
			assert_int_equal(goal->op[of->first + i].waits, i < 12 ? 0 : 12);
	}
}

/* Only the first corner can start by itself. A wave takes one step for each position, there and
 * back. */
UNIT_TEST(a_sweep_is_a_wave_from_the_first_corner_to_the_last_and_back)
{
	static const struct goal_generate_config configs[] = {
		{"sweep", 12, 1000, 1, 0, 3, 4}, {"sweep", 24, 1000, 1, 0, 2, 3, 4}};
	static const uint32_t steps[] = {2 + 3, 1 + 2 + 3};

	for (unsigned k = 0; k < 2; k++) {
		OWNED(goal) *goal = generate_of(&configs[k]);
		OWNED(goal_loop) loop;

		run(&loop, goal, k);
		assert_int_equal(loop.sent, halos[2 * k].messages);
		for (uint32_t rank = 1; rank < goal->ranks; rank++)
			assert_int_equal(goal->op[goal->rank[rank].first].kind, GOAL_RECV);
		for (uint32_t rank = 0; rank < goal->ranks; rank++)
			assert_int_equal(
				loop.contributions[rank], ((uint64_t)1 << goal->ranks) - 1);
		assert_true(goal_replay_ended(loop.replay) >= 2 * steps[k] * 1000);
	}
}

/* 8 x 8: levels of 8, 4 and 2 ranks per row. The coarsest occurs once, the others twice. */
UNIT_TEST(a_multigrid_is_a_halo_at_each_level_and_back)
{
	const struct goal_generate_config config = {"multigrid", 64, 1000, 1, 0, 8, 8};
	OWNED(goal) *goal = generate_of(&config);
	OWNED(goal_loop) loop;

	run(&loop, goal, 1);
	assert_int_equal(loop.sent, 2 * (4 * 8 * 7) + 2 * (4 * 4 * 3) + 4 * 2 * 1);
	assert_int_equal(loop.received[1 * 64 + 0], 2);  /* next to each other */
	assert_int_equal(loop.received[2 * 64 + 0], 2);  /* at level 1 */
	assert_int_equal(loop.received[4 * 64 + 0], 1);  /* at level 2 */
	assert_int_equal(loop.received[16 * 64 + 0], 2); /* two rows on */
	assert_int_equal(loop.received[3 * 64 + 1], 0);  /* odd places are not at level 1 */
}

UNIT_TEST(rounds_of_grids_follow_each_other_and_end)
{
	static const char *const kinds[] = {"halo", "sweep", "multigrid"};

	for (unsigned i = 0; i < 3; i++) {
		OWNED(goal) *one = generate(kinds[i], 30, 1, 0);
		struct goal *goal;
		struct goal_loop loop;

		goal = generate(kinds[i], 30, 3, 50);
		assert_int_equal(goal->ops, 3 * (one->ops + 30));
		run(&loop, goal, i);
		assert_int_equal(loop.sent, 3 * one->ops / 2);
		goal_loop_fini(&loop);
		goal_destroy(goal);
	}
}

/* At a rank, a round starts after its calc, which starts after the previous round. */
UNIT_TEST(a_time_to_compute_stands_before_each_round)
{
	OWNED(goal) *goal = generate("ring", 2, 3, 1000000);
	OWNED(goal_loop) loop;

	run(&loop, goal, 3);
	assert_true(goal_replay_ended(loop.replay) >= 3 * PS_PER_MS);
	assert_true(goal_replay_ended(loop.replay) <
		    3 * PS_PER_MS + 6 * GOAL_LOOP_DELAY_NS * PS_PER_NS);
}

UNIT_TEST(what_makes_no_sense_is_refused_with_a_reason)
{
	static const struct {
		struct goal_generate_config config;
		const char *message;
	} bad[] = {
		{{"alreduce", 4, 8, 1, 0},
			"unknown exchange 'alreduce'; known exchanges: allreduce, allreduce-ring, "
			"allreduce-rabenseifner, allreduce-tree, allreduce-two-level, allgather, "
			"reduce-scatter, bcast, alltoall, alltoallv, pipeline, training, "
			"transpose, ring, halo, sweep, multigrid; nearest is allreduce"},
		{{"ring", 1, 8, 1, 0}, "there must be 2 to 65534 ranks"},
		{{"ring", 2, ((uint64_t)1 << 40) + 1, 1, 0}, "messages must have at most 1 TiB"},
		{{"ring", 2, 8, 0, 0}, "there must be at least one round"},
		{{"transpose", 12, 8, 1, 0, 5, 2}, "a grid of 5x2 has 10 ranks; expected 12"},
		{{"ring", 12, 8, 1, 0, 3, 4}, "ring has no grid"},
		{{"transpose", 12, 8, 1, 0, 3, 2, 2},
			"a transpose requires a two-dimensional grid"},
		{{"halo", 12, 8, 1, 0, 3, 5}, "a grid of 3x5 has 15 ranks; expected 12"},
		{{"sweep", 12, 8, 1, 0, 3, 2, 3}, "a grid of 3x2x3 has 18 ranks; expected 12"},
		{{"sweep", 12, 8, 1, 0, 3, 4, 0, true},
			"a sweep has a first and a last rank, so the grid must not be periodic"},
		{{"ring", 12, 8, 1, 0, 0, 0, 0, true}, "ring has no periodic grid"},
		{{"bcast", 12, 8, 1, 0, .group = 3}, "bcast has no groups"},
		{{"bcast", 12, 8, 1, 0, .microbatches = 3}, "bcast has no microbatches"},
		{{"pipeline", 12, 8, 1, 0, .microbatches = 3, .gradient_bytes = 1},
			"pipeline has no gradient"},
		{{"allreduce-two-level", 12, 8, 1, 0, .group = 5},
			"expected a group size that divides 12 ranks, not 5"},
		{{"allreduce-two-level", 12, 8, 1, 0},
			"expected a group size that divides 12 ranks, not 0"},
		{{"pipeline", 12, 8, 1, 0}, "there must be at least one microbatch"},
		{{"training", 12, 8, 1, 0, 3, 4, .microbatches = 1},
			"a training step requires a grid of data x tensor x pipeline ranks, such as "
			"2x4x8"},
		{{"training", 12, 8, 1, 0, 3, 4, 2, .microbatches = 1},
			"a grid of 3x4x2 has 24 ranks; expected 12"},
		{{"alltoallv", 12, 8, 1, 0}, "alltoallv requires a matrix of message lengths"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_int_equal(goal_generate(&bad[i].config, NULL, &error), -EINVAL);
		assert_string_equal(error.text, bad[i].message);
	}
}

/* With this many rounds, every schedule is refused. The reason states how many of which item. */
UNIT_TEST(a_schedule_is_refused_by_the_operations_that_a_round_has)
{
	static const char *const kinds[] = {"allreduce", "alltoall", "transpose", "ring", "halo",
		"sweep", "multigrid", "allreduce-ring", "allreduce-rabenseifner", "allreduce-tree",
		"allgather", "reduce-scatter", "bcast"};

	for (unsigned i = 0; i < 13 * 2 * 3; i++) {
		const char *kind = kinds[i % 13];
		uint64_t calc_ns = i / 13 % 2;
		uint32_t ranks = strcmp(kind, "transpose") == 0 ? 16 + i : 5 + i / 8;
		OWNED(goal) *round = generate(kind, ranks, 1, calc_ns);
		struct goal_generate_config config = {
			kind, ranks, 1000, GOAL_OPS_MAX / round->ops + 1, calc_ns};
		struct error error = {""};
		char expected[80];

		assert_int_equal(goal_generate(&config, NULL, &error), -EINVAL);
		snprintf(expected, sizeof(expected), "a round has %u operations, ",
			(unsigned)round->ops);
		assert_non_null(strstr(error.text, expected));
	}
}
