/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Writes schedules of well-known exchanges in GOAL text (goal.h):
 *
 *     allreduce  recursive doubling in log2(ranks) steps; in each, rank r exchanges all bytes with
 *                rank r xor 2^step. If the number of ranks is not a power of two, the first ranks
 *                pair up before and after, and one of each pair is idle in between (as in MPICH;
 *                Thakur, Rabenseifner, Gropp, IJHPCA 2005)
 *     allreduce-ring, -rabenseifner, -tree, -two-level
 *                2 (ranks - 1) steps round a ring, each with a part of the vector; recursive
 *                halving and doubling (Thakur et al.); a binomial tree to rank 0 and back; rings in
 *                groups of 'group' ranks and, with each member's part, across the groups
 *     allgather, reduce-scatter
 *                ranks - 1 steps round a ring, with a rank's bytes, or with a part of the vector
 *     bcast      a binomial tree from rank 0
 *     alltoallv  as alltoall, with lengths from a matrix (the load of a model's experts)
 *     pipeline   passes 'microbatches' forwards through the ranks as stages, each of which computes
 *                'calc_ns' and sends 'bytes'; then backwards, with twice the computation (GPipe)
 *     training   such pipelines on a grid of data x tensor x pipeline ranks: in each microbatch an
 *                allreduce of 'bytes' among the tensor ranks, and finally one of 'gradient_bytes'
 *                among the data ranks
 *     alltoall   pairwise: in step i of ranks - 1, rank r sends to r + i and receives from r - i
 *     transpose  transposes a matrix as HPCC's PTRANS does. Its blocks are distributed cyclically,
 *                in rows and columns, over a grid of R x C ranks. On a square grid, rank (i, j)
 *                exchanges its blocks with rank (j, i), all concurrently; the diagonal stays. In
 *                general, each rank exchanges a part of its blocks with R C / g^2 ranks in turn,
 *                where g is the largest common divisor of R and C (Choi, Dongarra, Walker, Parallel
 *                Computing 21, 1995)
 *     ring       rank r sends to r + 1 and receives from r - 1
 *     halo       on a grid of two or three dimensions, periodic or not: each rank exchanges with
 *                all its neighbours concurrently (the borders of POP and LAMMPS)
 *     sweep      on such a grid, not periodic: a rank receives from its neighbours with lower
 *                coordinates, then sends to those with higher ones, so a wave travels from the
 *                first corner to the last; then back (Sweep3D, LU)
 *     multigrid  a halo exchange at each level. At level l, every 2^l-th rank of each dimension
 *                exchanges with those 2^l positions away, while some dimension has two ranks left;
 *                then the levels in reverse (a V cycle as in MG), the coarsest only once
 *
 * A rank starts a step when its sends and receives of the previous step have ended. There is no
 * other synchronisation. Further rounds repeat the exchange. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

struct goal_generate_config {
	const char *kind; /* one of the kinds above */
	uint32_t ranks;   /* 2 to GOAL_RANKS_MAX */
	/* Size of each message, or of the vector that a collective divides into parts (rounded up).
	 * At most GOAL_BYTES_MAX. */
	uint64_t bytes;
	uint32_t rounds;  /* 1 or more */
	uint64_t calc_ns; /* computation of a rank before each round or per microbatch; 0: none */
	/* For kinds with a grid: their product must be 'ranks'; 0: the grid nearest to a square. */
	uint32_t rows, columns;
	uint32_t layers;         /* third dimension of halo, sweep, multigrid; 0: none */
	bool periodic;           /* halo and multigrid: each dimension wraps round */
	uint32_t group;          /* allreduce-two-level: ranks per group */
	uint32_t microbatches;   /* pipeline, training */
	uint64_t gradient_bytes; /* training */
	const uint64_t *matrix;  /* alltoallv: bytes by [from * ranks + to] (goal.h) */
};

/* Returns the name of kind i, or NULL after the last. */
const char *goal_generate_kind(unsigned i);

/* Returns 0, -EINVAL with 'error' set (unknown kind, out of range, grid does not fit), or -EIO. */
int goal_generate(const struct goal_generate_config *config, FILE *out, struct error *error);
