/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Writes the steps of a rank. Private to goal_generate.c, goal_grid.c and goal_collectives.c. */

#include "goal_generate.h"

/* Maximum sends, and receives, of a rank in one step: six neighbours in three dimensions. */
#define GOAL_NEIGHBOURS_MAX 6
#define GOAL_STEP_MAX       (2 * GOAL_NEIGHBOURS_MAX)

struct goal_writer {
	const struct goal_generate_config *config;
	FILE *out;
	uint32_t rank, label;
	uint64_t send_bytes, receive_bytes; /* sizes of the next step's messages */
	uint32_t tag; /* tag of the next step; advances equally at all ranks, including idle ones */
	uint32_t before[GOAL_STEP_MAX]; /* labels of the previous step's operations */
	unsigned before_count;
};

struct goal_partner {
	uint32_t rank, tag;
};

struct goal_step {
	unsigned sends, receives;
	struct goal_partner to[GOAL_NEIGHBOURS_MAX], from[GOAL_NEIGHBOURS_MAX];
};

/* Writes sends and receives that run concurrently once the previous step has ended. If the step has
 * no operations, the next one waits for the step before it. */
void goal_writer_put(struct goal_writer *writer, const struct goal_step *step);

#define GOAL_NO_RANK UINT32_MAX

/* Writes a step with at most one send and one receive (GOAL_NO_RANK: none). Its tag counts the
 * steps, including those in which the rank is idle. */
void goal_writer_exchange(struct goal_writer *writer, uint32_t to, uint32_t from);
/* Writes a step that computes, or nothing for 0 ns. */
void goal_writer_compute(struct goal_writer *writer, uint64_t calc_ns);

/* Returns the number of rows in the grid of these ranks that is nearest to a square. */
uint32_t goal_square_rows(uint32_t ranks);

/* goal_grid.c */
void goal_halo(struct goal_writer *writer);
uint64_t goal_halo_ops(const struct goal_generate_config *config);
void goal_sweep(struct goal_writer *writer);
uint64_t goal_sweep_ops(const struct goal_generate_config *config);
void goal_multigrid(struct goal_writer *writer);
uint64_t goal_multigrid_ops(const struct goal_generate_config *config);
int goal_grid_check(const struct goal_generate_config *config, struct error *error);
int goal_sweep_check(const struct goal_generate_config *config, struct error *error);

/* goal_collectives.c */
void goal_allreduce(struct goal_writer *writer);
uint64_t goal_allreduce_ops(const struct goal_generate_config *config);
void goal_allreduce_rabenseifner(struct goal_writer *writer);
uint64_t goal_allreduce_rabenseifner_ops(const struct goal_generate_config *config);
void goal_allreduce_ring(struct goal_writer *writer);
uint64_t goal_allreduce_ring_ops(const struct goal_generate_config *config);
void goal_allreduce_tree(struct goal_writer *writer);
uint64_t goal_allreduce_tree_ops(const struct goal_generate_config *config);
void goal_allreduce_two_level(struct goal_writer *writer);
uint64_t goal_allreduce_two_level_ops(const struct goal_generate_config *config);
int goal_two_level_check(const struct goal_generate_config *config, struct error *error);
void goal_bcast(struct goal_writer *writer);
uint64_t goal_bcast_ops(const struct goal_generate_config *config);
void goal_allgather(struct goal_writer *writer);
void goal_reduce_scatter(struct goal_writer *writer);
uint64_t goal_allgather_ops(const struct goal_generate_config *config);
void goal_alltoallv(struct goal_writer *writer);
uint64_t goal_alltoallv_ops(const struct goal_generate_config *config);
int goal_alltoallv_check(const struct goal_generate_config *config, struct error *error);
void goal_pipeline(struct goal_writer *writer);
uint64_t goal_pipeline_ops(const struct goal_generate_config *config);
int goal_pipeline_check(const struct goal_generate_config *config, struct error *error);
int goal_training_check(const struct goal_generate_config *config, struct error *error);
