/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Collectives of MPI libraries and of machine learning. */

#include <inttypes.h>

#include "goal.h"
#include "goal_generate_private.h"

/* A ring of ranks that are 'stride' apart. Each sends to the next. */
struct ring {
	uint32_t first, stride, count;
	uint32_t index; /* the rank's index in the ring */
};

static uint64_t part_of(uint64_t bytes, uint32_t parts)
{
	return (bytes + parts - 1) / parts;
}

static uint32_t member(const struct ring *ring, uint32_t index)
{
	return ring->first + index % ring->count * ring->stride;
}

static void go_round(
	struct goal_writer *writer, const struct ring *ring, uint32_t steps, uint64_t bytes)
{
	writer->send_bytes = writer->receive_bytes = bytes;
	for (uint32_t step = 0; step < steps; step++)
		goal_writer_exchange(writer, member(ring, ring->index + 1),
			member(ring, ring->index + ring->count - 1));
}

static struct ring whole_ring(const struct goal_writer *writer)
{
	return (struct ring){0, 1, writer->config->ranks, writer->rank};
}

/* --- allreduce --- */

/* Folds the ranks to the largest power of two. Among the first 2 * 'over' ranks, each even one
 * first sends its data to the next odd one, and finally receives the result from it. */
struct fold {
	uint32_t power, over, place;
	bool paired, out;
};

static struct fold fold_of(const struct goal_writer *writer)
{
	uint32_t ranks = writer->config->ranks, rank = writer->rank;
	struct fold fold = {.power = 1};

	while (fold.power * 2 <= ranks)
		fold.power *= 2;
	fold.over = ranks - fold.power;
	fold.paired = rank < 2 * fold.over;
	fold.out = fold.paired && rank % 2 == 0;
	fold.place = fold.paired ? rank / 2 : rank - fold.over;
	return fold;
}

/* Folds before the steps, or unfolds after them. */
static void fold_pairs(struct goal_writer *writer, const struct fold *fold, bool after)
{
	uint32_t rank = writer->rank;
	uint32_t up = fold->out ? rank + 1 : GOAL_NO_RANK;
	uint32_t down = fold->paired && !fold->out ? rank - 1 : GOAL_NO_RANK;

	writer->send_bytes = writer->receive_bytes = writer->config->bytes;
	goal_writer_exchange(writer, after ? down : up, after ? up : down);
}

static void exchange_across(
	struct goal_writer *writer, const struct fold *fold, uint32_t distance, uint64_t bytes)
{
	uint32_t place = fold->place ^ distance;
	uint32_t peer = place < fold->over ? 2 * place + 1 : place + fold->over;

	peer = fold->out ? GOAL_NO_RANK : peer;
	writer->send_bytes = writer->receive_bytes = bytes;
	goal_writer_exchange(writer, peer, peer);
}

void goal_allreduce(struct goal_writer *writer)
{
	struct fold fold = fold_of(writer);

	fold_pairs(writer, &fold, false);
	for (uint32_t distance = 1; distance < fold.power; distance *= 2)
		exchange_across(writer, &fold, distance, writer->config->bytes);
	fold_pairs(writer, &fold, true);
}

uint64_t goal_allreduce_ops(const struct goal_generate_config *config)
{
	uint32_t ranks = config->ranks;
	uint64_t power = 1, steps = 0;

	for (; power * 2 <= ranks; power *= 2)
		steps++;
	return 2 * power * steps + 4 * (ranks - power);
}

/* Recursive halving, then recursive doubling. */
void goal_allreduce_rabenseifner(struct goal_writer *writer)
{
	struct fold fold = fold_of(writer);

	fold_pairs(writer, &fold, false);
	for (uint32_t distance = fold.power / 2; distance > 0; distance /= 2)
		exchange_across(writer, &fold, distance,
			part_of(writer->config->bytes, fold.power / distance));
	for (uint32_t distance = 1; distance < fold.power; distance *= 2)
		exchange_across(writer, &fold, distance,
			part_of(writer->config->bytes, fold.power / distance));
	fold_pairs(writer, &fold, true);
}

uint64_t goal_allreduce_rabenseifner_ops(const struct goal_generate_config *config)
{
	struct goal_generate_config power = {.ranks = 1};

	while (power.ranks * 2 <= config->ranks)
		power.ranks *= 2;
	return goal_allreduce_ops(config) + goal_allreduce_ops(&power);
}

void goal_allreduce_ring(struct goal_writer *writer)
{
	struct ring ring = whole_ring(writer);

	go_round(writer, &ring, 2 * (ring.count - 1), part_of(writer->config->bytes, ring.count));
}

uint64_t goal_allreduce_ring_ops(const struct goal_generate_config *config)
{
	return (uint64_t)4 * config->ranks * (config->ranks - 1);
}

/* Sends from the leaves of a binomial tree to rank 0. */
static void reduce(struct goal_writer *writer)
{
	uint32_t ranks = writer->config->ranks, rank = writer->rank;

	for (uint32_t bit = 1; bit < ranks; bit *= 2) {
		bool sends = rank % (2 * bit) == bit;
		bool receives = rank % (2 * bit) == 0 && rank + bit < ranks;

		goal_writer_exchange(writer, sends ? rank - bit : GOAL_NO_RANK,
			receives ? rank + bit : GOAL_NO_RANK);
	}
}

void goal_bcast(struct goal_writer *writer)
{
	uint32_t ranks = writer->config->ranks, rank = writer->rank, bit = 1;

	while (bit * 2 < ranks)
		bit *= 2;
	for (; bit > 0; bit /= 2) {
		bool receives = rank % (2 * bit) == bit;
		bool sends = rank % (2 * bit) == 0 && rank + bit < ranks;

		goal_writer_exchange(writer, sends ? rank + bit : GOAL_NO_RANK,
			receives ? rank - bit : GOAL_NO_RANK);
	}
}

uint64_t goal_bcast_ops(const struct goal_generate_config *config)
{
	return (uint64_t)2 * (config->ranks - 1);
}

void goal_allreduce_tree(struct goal_writer *writer)
{
	reduce(writer);
	goal_bcast(writer);
}

uint64_t goal_allreduce_tree_ops(const struct goal_generate_config *config)
{
	return 2 * goal_bcast_ops(config);
}

/* Reduce-scatter in the group, allreduce of each part across the groups, allgather in the group. */
void goal_allreduce_two_level(struct goal_writer *writer)
{
	const struct goal_generate_config *config = writer->config;
	uint32_t group = config->group, groups = config->ranks / group;
	struct ring in = {writer->rank / group * group, 1, group, writer->rank % group};
	struct ring across = {writer->rank % group, group, groups, writer->rank / group};
	uint64_t part = part_of(config->bytes, group);

	go_round(writer, &in, group - 1, part);
	go_round(writer, &across, 2 * (groups - 1), part_of(part, groups));
	go_round(writer, &in, group - 1, part);
}

uint64_t goal_allreduce_two_level_ops(const struct goal_generate_config *config)
{
	uint32_t groups = config->ranks / config->group;

	return (uint64_t)4 * config->ranks * (config->group - 1 + groups - 1);
}

int goal_two_level_check(const struct goal_generate_config *config, struct error *error)
{
	if (config->group > 0 && config->ranks % config->group == 0)
		return 0;
	return error_set(error, EINVAL,
		"expected a group size that divides %" PRIu32 " ranks, not %" PRIu32, config->ranks,
		config->group);
}

/* --- allgather, reduce-scatter, all-to-allv --- */

void goal_allgather(struct goal_writer *writer)
{
	struct ring ring = whole_ring(writer);

	go_round(writer, &ring, ring.count - 1, writer->config->bytes);
}

void goal_reduce_scatter(struct goal_writer *writer)
{
	struct ring ring = whole_ring(writer);

	go_round(writer, &ring, ring.count - 1, part_of(writer->config->bytes, ring.count));
}

uint64_t goal_allgather_ops(const struct goal_generate_config *config)
{
	return (uint64_t)2 * config->ranks * (config->ranks - 1);
}

void goal_alltoallv(struct goal_writer *writer)
{
	const struct goal_generate_config *config = writer->config;
	uint32_t ranks = config->ranks, rank = writer->rank;

	for (uint32_t i = 1; i <= ranks; i++) {
		uint32_t to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;

		writer->send_bytes = config->matrix[(size_t)rank * ranks + to];
		writer->receive_bytes = config->matrix[(size_t)from * ranks + rank];
		goal_writer_exchange(writer, writer->send_bytes > 0 ? to : GOAL_NO_RANK,
			writer->receive_bytes > 0 ? from : GOAL_NO_RANK);
	}
}

uint64_t goal_alltoallv_ops(const struct goal_generate_config *config)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; i < config->ranks; i++)
		for (uint32_t j = 0; j < config->ranks; j++)
			ops += config->matrix[(size_t)i * config->ranks + j] > 0 ? 2 : 0;
	return ops;
}

int goal_alltoallv_check(const struct goal_generate_config *config, struct error *error)
{
	return config->matrix != NULL
		       ? 0
		       : error_set(error, EINVAL, "alltoallv requires a matrix of message lengths");
}

/* --- pipeline, training --- */

/* A rank's place in a training step. Tensor ranks are adjacent, followed by the pipeline stages. */
struct place {
	uint32_t tensors, stages, replicas;
	uint32_t stage;
	struct ring tensor, data;
};

static struct place place_of(const struct goal_writer *writer)
{
	const struct goal_generate_config *config = writer->config;
	uint32_t rank = writer->rank;
	struct place place = {.tensors = 1, .stages = config->ranks, .replicas = 1};

	if (config->rows != 0) {
		place.replicas = config->rows;
		place.tensors = config->columns;
		place.stages = config->layers;
	}
	place.stage = rank / place.tensors % place.stages;
	place.tensor =
		(struct ring){rank - rank % place.tensors, 1, place.tensors, rank % place.tensors};
	place.data.stride = place.tensors * place.stages;
	place.data.first = rank % place.data.stride;
	place.data.count = place.replicas;
	place.data.index = rank / place.data.stride;
	return place;
}

static void send_one(struct goal_writer *writer, uint32_t to, uint32_t tag)
{
	const struct goal_step step = {.sends = 1, .to = {{to, tag}}};

	writer->send_bytes = writer->config->bytes;
	goal_writer_put(writer, &step);
}

static void receive_one(struct goal_writer *writer, uint32_t from, uint32_t tag)
{
	const struct goal_step step = {.receives = 1, .from = {{from, tag}}};

	writer->receive_bytes = writer->config->bytes;
	goal_writer_put(writer, &step);
}

static void allreduce_along(struct goal_writer *writer, const struct ring *ring, uint64_t bytes)
{
	go_round(writer, ring, 2 * (ring->count - 1), part_of(bytes, ring->count));
}

/* Passes all microbatches forwards through the stages, or backwards with twice the computation.
 * Every rank sends a microbatch to its counterpart in the next stage. */
static void pass_stages(struct goal_writer *writer, const struct place *place, bool back)
{
	const struct goal_generate_config *config = writer->config;
	bool first = place->stage == (back ? place->stages - 1 : 0);
	bool last = place->stage == (back ? 0 : place->stages - 1);
	uint32_t up = writer->rank + place->tensors, down = writer->rank - place->tensors;
	uint32_t tag = writer->tag;

	writer->tag += config->microbatches;
	for (uint32_t i = 0; i < config->microbatches; i++) {
		if (!first)
			receive_one(writer, back ? up : down, tag + i);
		goal_writer_compute(writer, back ? 2 * config->calc_ns : config->calc_ns);
		allreduce_along(writer, &place->tensor, config->bytes);
		if (!last)
			send_one(writer, back ? down : up, tag + i);
	}
}

void goal_pipeline(struct goal_writer *writer)
{
	struct place place = place_of(writer);

	pass_stages(writer, &place, false);
	pass_stages(writer, &place, true);
	allreduce_along(writer, &place.data, writer->config->gradient_bytes);
}

uint64_t goal_pipeline_ops(const struct goal_generate_config *config)
{
	const struct goal_writer writer = {.config = config};
	struct place place = place_of(&writer);
	uint64_t batches = config->microbatches, columns = config->ranks / place.stages;

	return 4 * batches * (place.stages - 1) * columns +
	       (config->calc_ns > 0 ? 2 * batches * config->ranks : 0) +
	       8 * batches * (place.tensors - 1) * config->ranks +
	       (uint64_t)4 * (place.replicas - 1) * config->ranks;
}

int goal_pipeline_check(const struct goal_generate_config *config, struct error *error)
{
	if (config->microbatches == 0)
		return error_set(error, EINVAL, "there must be at least one microbatch");
	if (config->calc_ns > GOAL_CALC_MAX_NS / 2)
		return error_set(error, EINVAL, "the computation time is too long");
	return 0;
}

int goal_training_check(const struct goal_generate_config *config, struct error *error)
{
	if (config->layers == 0)
		return error_set(error, EINVAL,
			"a training step requires a grid of data x tensor x pipeline ranks, such as "
			"2x4x8");
	return goal_grid_check(config, error) < 0 ? -EINVAL : goal_pipeline_check(config, error);
}
