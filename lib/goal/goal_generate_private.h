/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by goal_generate.c and goal_grid.c only: how a kind writes the steps of a rank. */

#include "goal_generate.h"

/* Sends and receives of a rank in one step: six neighbours in three dimensions. */
#define GOAL_NEIGHBOURS_MAX 6
#define GOAL_STEP_MAX       (2 * GOAL_NEIGHBOURS_MAX)

struct goal_writer {
	const struct goal_generate_config *config;
	FILE *out;
	uint32_t rank, label;
	uint32_t tag; /* of the next step; counts alike at all ranks, idle ones too */
	uint32_t before[GOAL_STEP_MAX]; /* labels of the previous step */
	unsigned before_count;
};

struct goal_partner {
	uint32_t rank, tag;
};

struct goal_step {
	unsigned sends, receives;
	struct goal_partner to[GOAL_NEIGHBOURS_MAX], from[GOAL_NEIGHBOURS_MAX];
};

/* Sends and receives concurrently, when those of the previous step have ended. A step without any
 * leaves the previous one in place. */
void goal_writer_put(struct goal_writer *writer, const struct goal_step *step);

/* Rows of the matrix of these ranks that is nearest to a square. */
uint32_t goal_square_rows(uint32_t ranks);

/* goal_grid.c */
void goal_halo(struct goal_writer *writer);
uint64_t goal_halo_ops(const struct goal_generate_config *config);
void goal_sweep(struct goal_writer *writer);
uint64_t goal_sweep_ops(const struct goal_generate_config *config);
void goal_multigrid(struct goal_writer *writer);
uint64_t goal_multigrid_ops(const struct goal_generate_config *config);
int goal_grid_check(const struct goal_generate_config *config, struct fault *fault);
int goal_sweep_check(const struct goal_generate_config *config, struct fault *fault);
