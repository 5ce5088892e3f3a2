/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Exchanges between neighbours in a grid of ranks. */

#include <inttypes.h>
#include <stdbool.h>

#include "goal_generate_private.h"

#define DIMS 3

/* Ranks are numbered along the last dimension first. A grid of two dimensions has one layer. */
struct grid {
	uint32_t size[DIMS];
	uint32_t place[DIMS]; /* the rank's coordinates */
	bool periodic;
};

static struct grid grid_of(const struct goal_generate_config *config, uint32_t rank)
{
	struct grid grid = {.size = {config->rows, config->columns, config->layers},
		.periodic = config->periodic};

	if (grid.size[0] == 0) {
		grid.size[0] = goal_square_rows(config->ranks);
		grid.size[1] = config->ranks / grid.size[0];
	}
	grid.size[2] = grid.size[2] == 0 ? 1 : grid.size[2];
	for (unsigned dim = DIMS; dim-- > 0; rank /= grid.size[dim])
		grid.place[dim] = rank % grid.size[dim];
	return grid;
}

/* Returns the number of ranks along a dimension, counting every 'stride'-th one. */
static uint32_t count_along(const struct grid *grid, unsigned dim, uint32_t stride)
{
	return (grid->size[dim] - 1) / stride + 1;
}

/* Finds the neighbour 'stride' ranks forwards or backwards in a dimension. Returns false if there
 * is none, or if it is the rank itself. */
static bool find_neighbour(
	const struct grid *grid, unsigned dim, bool back, uint32_t stride, uint32_t *rank)
{
	uint32_t count = count_along(grid, dim, stride), at = grid->place[dim] / stride;
	uint32_t next = back ? (at + count - 1) % count : (at + 1) % count;

	if (count < 2 || (!grid->periodic && at == (back ? 0 : count - 1)))
		return false;
	*rank = 0;
	for (unsigned i = 0; i < DIMS; i++)
		*rank = *rank * grid->size[i] + (i == dim ? next * stride : grid->place[i]);
	return true;
}

static bool takes_part(const struct grid *grid, uint32_t stride)
{
	for (unsigned dim = 0; dim < DIMS; dim++)
		if (grid->place[dim] % stride != 0)
			return false;
	return true;
}

/* Exchanges with all neighbours concurrently. The tag distinguishes directions, because with two
 * ranks in a ring both neighbours are the same rank. */
static void exchange(struct goal_writer *writer, const struct grid *grid, uint32_t stride)
{
	struct goal_step step = {.sends = 0};

	for (unsigned i = 0; i < 2 * DIMS && takes_part(grid, stride); i++) {
		struct goal_partner *to = &step.to[step.sends], *from = &step.from[step.receives];

		to->tag = from->tag = writer->tag + i;
		step.sends += find_neighbour(grid, i / 2, i % 2, stride, &to->rank);
		step.receives += find_neighbour(grid, i / 2, i % 2 == 0, stride, &from->rank);
	}
	goal_writer_put(writer, &step);
	writer->tag += 2 * DIMS;
}

void goal_halo(struct goal_writer *writer)
{
	struct grid grid = grid_of(writer->config, writer->rank);

	exchange(writer, &grid, 1);
}

static uint64_t exchange_ops(const struct grid *grid, uint32_t stride)
{
	uint64_t ranks = 1, ops = 0;

	for (unsigned dim = 0; dim < DIMS; dim++)
		ranks *= count_along(grid, dim, stride);
	for (unsigned dim = 0; dim < DIMS; dim++) {
		uint32_t count = count_along(grid, dim, stride);
		uint32_t links = count < 2 ? 0 : grid->periodic ? count : count - 1;

		ops += 4 * (ranks / count) * links; /* two directions, send and receive */
	}
	return ops;
}

uint64_t goal_halo_ops(const struct goal_generate_config *config)
{
	struct grid grid = grid_of(config, 0);

	return exchange_ops(&grid, 1);
}

/* Receives from the neighbours on one side in all dimensions, then sends to those on the other. */
static void sweep(struct goal_writer *writer, const struct grid *grid, bool back)
{
	struct goal_step in = {.sends = 0}, out = {.sends = 0};

	for (unsigned dim = 0; dim < DIMS; dim++) {
		struct goal_partner *from = &in.from[in.receives], *to = &out.to[out.sends];

		from->tag = to->tag = writer->tag + dim;
		in.receives += find_neighbour(grid, dim, !back, 1, &from->rank);
		out.sends += find_neighbour(grid, dim, back, 1, &to->rank);
	}
	goal_writer_put(writer, &in);
	goal_writer_put(writer, &out);
	writer->tag += DIMS;
}

void goal_sweep(struct goal_writer *writer)
{
	struct grid grid = grid_of(writer->config, writer->rank);

	sweep(writer, &grid, false);
	sweep(writer, &grid, true);
}

/* As many as in a halo that is not periodic: one per link and direction. */
uint64_t goal_sweep_ops(const struct goal_generate_config *config)
{
	return goal_halo_ops(config);
}

/* Returns the stride of the coarsest level with two ranks left in some dimension. */
static uint32_t coarsest(const struct grid *grid)
{
	uint32_t max = 0, stride = 1;

	for (unsigned dim = 0; dim < DIMS; dim++)
		max = grid->size[dim] > max ? grid->size[dim] : max;
	while (stride * 2 < max)
		stride *= 2;
	return stride;
}

void goal_multigrid(struct goal_writer *writer)
{
	struct grid grid = grid_of(writer->config, writer->rank);
	uint32_t last = coarsest(&grid);

	for (uint32_t stride = 1; stride <= last; stride *= 2)
		exchange(writer, &grid, stride);
	for (uint32_t stride = last / 2; stride > 0; stride /= 2)
		exchange(writer, &grid, stride);
}

uint64_t goal_multigrid_ops(const struct goal_generate_config *config)
{
	struct grid grid = grid_of(config, 0);
	uint32_t last = coarsest(&grid);
	uint64_t ops = 0;

	for (uint32_t stride = 1; stride <= last; stride *= 2)
		ops += exchange_ops(&grid, stride) * (stride < last ? 2 : 1);
	return ops;
}

int goal_grid_check(const struct goal_generate_config *config, struct error *error)
{
	uint64_t ranks = (uint64_t)config->rows * config->columns;

	if (config->rows == 0)
		return 0;
	if (config->layers == 0 && ranks != config->ranks)
		return error_set(error, EINVAL,
			"a grid of %" PRIu32 "x%" PRIu32 " has %" PRIu64
			" ranks; expected %" PRIu32,
			config->rows, config->columns, ranks, config->ranks);
	if (config->layers != 0 && ranks * config->layers != config->ranks)
		return error_set(error, EINVAL,
			"a grid of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " has %" PRIu64
			" ranks; expected %" PRIu32,
			config->rows, config->columns, config->layers, ranks * config->layers,
			config->ranks);
	return 0;
}

int goal_sweep_check(const struct goal_generate_config *config, struct error *error)
{
	if (config->periodic)
		return error_set(error, EINVAL,
			"a sweep has a first and a last rank, so the grid must not be periodic");
	return goal_grid_check(config, error);
}
