/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Writes schedules of well-known exchanges in GOAL text (goal.h):
 *
 *   allreduce  recursive doubling: log2 of the ranks steps, in each of which rank r exchanges all
 *              bytes with rank r xor 2^step. Other numbers than powers of two: the first ranks pair
 *              up before and after, and one of each pair sits out (MPICH's way; Thakur,
 * Rabenseifner, Gropp, IJHPCA 2005) alltoall   pairwise: in step i of ranks - 1, rank r sends to r
 * + i and receives from r - i transpose  a square matrix, a block on each of P x P ranks,
 * transposed as in HPCC's PTRANS: rank (i, j) exchanges its block with rank (j, i), all at once;
 * the diagonal stays ring       rank r sends to r + 1 and receives from r - 1
 *
 * A step begins at a rank when that rank has sent and received the step before; nothing else holds
 * ranks together. With several rounds, all of it again.
 */

#include <stdint.h>
#include <stdio.h>

#include "fault.h"

struct goal_generate_config {
	const char *kind; /* goal_generate_kind() */
	uint32_t ranks;   /* 2 to GOAL_RANKS_MAX */
	uint64_t bytes;   /* of each message, up to GOAL_BYTES_MAX */
	uint32_t rounds;  /* 1 or more */
	uint64_t calc_ns; /* that each rank computes before each round; 0: nothing */
};

/* 0; -EINVAL with fault (an unknown kind, numbers out of range, ranks that are no square), -EIO. */
int goal_generate(const struct goal_generate_config *config, FILE *out, struct fault *fault);

/* Names of the kinds; NULL past the end. */
const char *goal_generate_kind(unsigned i);
