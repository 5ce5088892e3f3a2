/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "goal_generate.h"

#include <inttypes.h>
#include <string.h>

#include "base/name_table.h"
#include "goal.h"
#include "goal_generate_private.h"

struct kind {
	const char *name;
	void (*round)(struct goal_writer *writer);
	/* Returns the number of operations that 'round' writes for all ranks. */
	uint64_t (*ops)(const struct goal_generate_config *config);
	int (*check)(const struct goal_generate_config *config, struct error *error); /* or NULL */
	unsigned takes; /* set of enum takes */
};

/* Configuration members that a kind accepts. */
enum takes {
	GRID = 1,
	NEIGHBOURS = 2, /* up to three dimensions, perhaps periodic */
	GROUP = 4,
	MICROBATCHES = 8, /* writes its own calcs */
	GRADIENT = 16,
	MATRIX = 32,
};

static void require_before(const struct goal_writer *writer, uint32_t label)
{
	for (unsigned i = 0; i < writer->before_count; i++)
		fprintf(writer->out, "l%" PRIu32 " requires l%" PRIu32 "\n", label,
			writer->before[i]);
}

static uint32_t put(struct goal_writer *writer, bool send, const struct goal_partner *partner)
{
	fprintf(writer->out, "l%" PRIu32 ": %s %" PRIu64 "b %s %" PRIu32 " tag %" PRIu32 "\n",
		++writer->label, send ? "send" : "recv",
		send ? writer->send_bytes : writer->receive_bytes, send ? "to" : "from",
		partner->rank, partner->tag);
	require_before(writer, writer->label);
	return writer->label;
}

void goal_writer_put(struct goal_writer *writer, const struct goal_step *step)
{
	uint32_t after[GOAL_STEP_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < step->sends; i++)
		after[count++] = put(writer, true, &step->to[i]);
	for (unsigned i = 0; i < step->receives; i++)
		after[count++] = put(writer, false, &step->from[i]);
	if (count == 0)
		return;
	memcpy(writer->before, after, count * sizeof(*after));
	writer->before_count = count;
}

void goal_writer_exchange(struct goal_writer *writer, uint32_t to, uint32_t from)
{
	const struct goal_step step = {.sends = to != GOAL_NO_RANK,
		.receives = from != GOAL_NO_RANK,
		.to = {{to, writer->tag}},
		.from = {{from, writer->tag}}};

	goal_writer_put(writer, &step);
	writer->tag++;
}

void goal_writer_compute(struct goal_writer *writer, uint64_t calc_ns)
{
	if (calc_ns == 0)
		return;
	writer->label++;
	fprintf(writer->out, "l%" PRIu32 ": calc %" PRIu64 "\n", writer->label, calc_ns);
	require_before(writer, writer->label);
	writer->before[0] = writer->label;
	writer->before_count = 1;
}

static void alltoall(struct goal_writer *writer)
{
	uint32_t ranks = writer->config->ranks;

	for (uint32_t i = 1; i < ranks; i++)
		goal_writer_exchange(
			writer, (writer->rank + i) % ranks, (writer->rank + ranks - i) % ranks);
}

static uint64_t alltoall_ops(const struct goal_generate_config *config)
{
	return (uint64_t)2 * config->ranks * (config->ranks - 1);
}

/* The process grid of a matrix. 'common' is the largest common divisor of rows and columns. */
struct grid {
	uint32_t rows, columns, common;
};

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b == 0 ? a : common_divisor(b, a % b);
}

uint32_t goal_square_rows(uint32_t ranks)
{
	uint32_t rows = 1;

	for (uint32_t i = 2; (uint64_t)i * i <= ranks; i++)
		if (ranks % i == 0)
			rows = i;
	return rows;
}

/* Returns the configured grid, or the grid of these ranks that is nearest to a square. */
static struct grid grid_of(const struct goal_generate_config *config)
{
	struct grid grid = {config->rows, config->columns, 1};

	if (grid.rows == 0) {
		grid.rows = goal_square_rows(config->ranks);
		grid.columns = config->ranks / grid.rows;
	}
	grid.common = common_divisor(grid.rows, grid.columns);
	return grid;
}

static int check_grid(const struct goal_generate_config *config, struct error *error)
{
	if (config->layers != 0)
		return error_set(error, EINVAL, "a transpose requires a two-dimensional grid");
	if ((uint64_t)config->rows * config->columns == config->ranks || config->rows == 0)
		return 0;
	return error_set(error, EINVAL,
		"a grid of %" PRIu32 "x%" PRIu32 " has %" PRIu64 " ranks; expected %" PRIu32,
		config->rows, config->columns, (uint64_t)config->rows * config->columns,
		config->ranks);
}

/* Block (I, J) of the matrix is at (I mod rows, J mod columns), and its transpose belongs to (J mod
 * rows, I mod columns). Rank (i, j) therefore sends to all (p, q) with p = j and q = i modulo
 * 'common'. In each step, every rank sends to one rank and receives from one. */
static void transpose(struct goal_writer *writer)
{
	struct grid grid = grid_of(writer->config);
	uint32_t common = grid.common, tall = grid.rows / common, wide = grid.columns / common;
	uint32_t i = writer->rank / grid.columns, j = writer->rank % grid.columns;

	for (uint32_t step = 0; step < tall * wide; step++) {
		uint32_t down = step / wide, right = step % wide;
		uint32_t to_row = (i / common + down) % tall * common + j % common;
		uint32_t to_column = (j / common + right) % wide * common + i % common;
		uint32_t from_row = (i / common + tall - down) % tall * common + j % common;
		uint32_t from_column = (j / common + wide - right) % wide * common + i % common;
		uint32_t to = to_row * grid.columns + to_column;
		uint32_t from = from_row * grid.columns + from_column;

		goal_writer_exchange(writer, to == writer->rank ? GOAL_NO_RANK : to,
			from == writer->rank ? GOAL_NO_RANK : from);
	}
}

/* One in 'common' ranks has a block that stays. */
static uint64_t transpose_ops(const struct goal_generate_config *config)
{
	struct grid grid = grid_of(config);
	uint64_t steps = (uint64_t)(grid.rows / grid.common) * (grid.columns / grid.common);

	return 2 * (steps * config->ranks - config->ranks / grid.common);
}

static void ring(struct goal_writer *writer)
{
	uint32_t ranks = writer->config->ranks;

	goal_writer_exchange(
		writer, (writer->rank + 1) % ranks, (writer->rank + ranks - 1) % ranks);
}

static uint64_t ring_ops(const struct goal_generate_config *config)
{
	return 2 * (uint64_t)config->ranks;
}

static const struct kind kinds[] = {
	{"allreduce", goal_allreduce, goal_allreduce_ops, NULL, 0},
	{"allreduce-ring", goal_allreduce_ring, goal_allreduce_ring_ops, NULL, 0},
	{"allreduce-rabenseifner", goal_allreduce_rabenseifner, goal_allreduce_rabenseifner_ops,
		NULL, 0},
	{"allreduce-tree", goal_allreduce_tree, goal_allreduce_tree_ops, NULL, 0},
	{"allreduce-two-level", goal_allreduce_two_level, goal_allreduce_two_level_ops,
		goal_two_level_check, GROUP},
	{"allgather", goal_allgather, goal_allgather_ops, NULL, 0},
	{"reduce-scatter", goal_reduce_scatter, goal_allgather_ops, NULL, 0},
	{"bcast", goal_bcast, goal_bcast_ops, NULL, 0},
	{"alltoall", alltoall, alltoall_ops, NULL, 0},
	{"alltoallv", goal_alltoallv, goal_alltoallv_ops, goal_alltoallv_check, MATRIX},
	{"pipeline", goal_pipeline, goal_pipeline_ops, goal_pipeline_check, MICROBATCHES},
	{"training", goal_pipeline, goal_pipeline_ops, goal_training_check,
		GRID | MICROBATCHES | GRADIENT},
	{"transpose", transpose, transpose_ops, check_grid, GRID},
	{"ring", ring, ring_ops, NULL, 0},
	{"halo", goal_halo, goal_halo_ops, goal_grid_check, GRID | NEIGHBOURS},
	{"sweep", goal_sweep, goal_sweep_ops, goal_sweep_check, GRID | NEIGHBOURS},
	{"multigrid", goal_multigrid, goal_multigrid_ops, goal_grid_check, GRID | NEIGHBOURS},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Other names that are common for these kinds. */
static const char *const aliases[][2] = {{"all-to-all", "alltoall"}, {"all-to-allv", "alltoallv"},
	{"allreduce-recursive-doubling", "allreduce"}};

const char *goal_generate_kind(unsigned i)
{
	return i < KINDS ? kinds[i].name : NULL;
}

static const struct kind *find_kind(const char *name, struct error *error)
{
	struct did_you_mean nearest;

	for (unsigned i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(aliases[i][0], name) == 0)
			name = aliases[i][1];
	did_you_mean_init(&nearest, name);
	for (unsigned i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
		did_you_mean_offer(&nearest, kinds[i].name);
	}
	error_set(error, EINVAL, "unknown exchange '%s'; known exchanges: %s%s%s", name,
		nearest.known, nearest.best != NULL ? "; nearest is " : "",
		nearest.best != NULL ? nearest.best : "");
	return NULL;
}

static int check_length(
	const struct goal_generate_config *config, const struct kind *kind, struct error *error)
{
	bool computes = config->calc_ns > 0 && (kind->takes & MICROBATCHES) == 0;
	uint64_t round = kind->ops(config) + (computes ? config->ranks : 0);
	/* Every operation of a step may require every operation of the previous step. */
	unsigned step = (kind->takes & NEIGHBOURS) == 0 ? 2
			: config->layers == 0           ? 8
							: GOAL_STEP_MAX;
	uint64_t max = GOAL_EDGES_MAX / step < GOAL_OPS_MAX ? GOAL_EDGES_MAX / step : GOAL_OPS_MAX;

	if (round == 0 || config->rounds <= max / round)
		return 0;
	return error_set(error, EINVAL,
		"a round has %" PRIu64 " operations, but a schedule has at most %" PRIu64
		"; use fewer ranks or rounds",
		round, max);
}

static int check_members(
	const struct goal_generate_config *config, const struct kind *kind, struct error *error)
{
	const struct {
		unsigned takes;
		bool set;
		const char *what;
	} members[] = {
		{GRID, config->rows != 0, "grid"},
		{NEIGHBOURS, config->periodic, "periodic grid"},
		{GROUP, config->group != 0, "groups"},
		{MICROBATCHES, config->microbatches != 0, "microbatches"},
		{GRADIENT, config->gradient_bytes != 0, "gradient"},
		{MATRIX, config->matrix != NULL, "matrix"},
	};

	for (unsigned i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].set && (kind->takes & members[i].takes) == 0)
			return error_set(
				error, EINVAL, "%s has no %s", kind->name, members[i].what);
	return 0;
}

static int check(const struct goal_generate_config *config, struct error *error)
{
	const struct kind *kind = find_kind(config->kind, error);

	if (kind == NULL)
		return -EINVAL;
	if (config->ranks < 2 || config->ranks > GOAL_RANKS_MAX)
		return error_set(error, EINVAL, "there must be 2 to %u ranks", GOAL_RANKS_MAX);
	if (config->bytes > GOAL_BYTES_MAX || config->gradient_bytes > GOAL_BYTES_MAX)
		return error_set(error, EINVAL, "messages must have at most 1 TiB");
	if (config->rounds == 0)
		return error_set(error, EINVAL, "there must be at least one round");
	if (check_members(config, kind, error) < 0)
		return -EINVAL;
	if (kind->check != NULL && kind->check(config, error) < 0)
		return -EINVAL;
	return check_length(config, kind, error);
}

static void write_rank(const struct goal_generate_config *config, uint32_t rank, FILE *out)
{
	struct goal_writer writer = {.config = config,
		.out = out,
		.rank = rank,
		.send_bytes = config->bytes,
		.receive_bytes = config->bytes};
	const struct kind *kind = find_kind(config->kind, NULL);

	fprintf(out, "rank %" PRIu32 " {\n", rank);
	for (uint32_t round = 0; round < config->rounds; round++) {
		if ((kind->takes & MICROBATCHES) == 0)
			goal_writer_compute(&writer, config->calc_ns);
		kind->round(&writer);
	}
	fputs("}\n", out);
}

int goal_generate(const struct goal_generate_config *config, FILE *out, struct error *error)
{
	int result = check(config, error);

	if (result < 0)
		return result;
	fprintf(out,
		"// %s of %" PRIu32 " ranks, %" PRIu64 " bytes per message, %" PRIu32 " round%s\n",
		config->kind, config->ranks, config->bytes, config->rounds,
		config->rounds == 1 ? "" : "s");
	fprintf(out, "num_ranks %" PRIu32 "\n", config->ranks);
	for (uint32_t rank = 0; rank < config->ranks && !ferror(out); rank++)
		write_rank(config, rank, out);
	return fflush(out) == 0 && !ferror(out)
		       ? 0
		       : error_set(error, EIO, "cannot write the schedule");
}
