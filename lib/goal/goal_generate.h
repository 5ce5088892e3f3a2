/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Writes schedules of well-known exchanges in GOAL text (goal.h):
 *
 *     allreduce  recursive doubling: log2 of the ranks steps; in each, rank r exchanges all bytes
 *                with rank r xor 2^step. If the ranks are not a power of two, the first ranks pair
 *                up before and after, and one of each pair is idle in between (as in MPICH; Thakur,
 *                Rabenseifner, Gropp, IJHPCA 2005)
 *     allreduce-ring, -rabenseifner, -tree, -two-level
 *                2 (ranks - 1) steps round a ring with a part of the vector each; recursive halving
 *                and doubling (Thakur et al.); a binomial tree to rank 0 and back; rings in groups
 *                of 'group' ranks and, with the part of each member, across the groups
 *     allgather, reduce-scatter
 *                ranks - 1 steps round a ring, with the bytes of a rank, or a part of the vector
 *     bcast      a binomial tree from rank 0
 *     alltoallv  as alltoall with the lengths of a matrix: what experts of a model get
 *     pipeline   'microbatches' forwards through the ranks as stages, each computed 'calc_ns' and
 *                passed on in 'bytes', then backwards, which computes twice as long (GPipe)
 *     training   such pipelines on a grid of data x tensor x pipeline ranks: in each microbatch an
 *                allreduce of 'bytes' round the tensor ranks, at the end one of 'gradient_bytes'
 *                round the data ranks
 *     alltoall   pairwise: in step i of ranks - 1, rank r sends to r + i and receives from r - i
 *     transpose  a matrix in blocks that are dealt to a grid of R x C ranks cyclically, in rows and
 *                in columns, transposed as in HPCC's PTRANS. On a square rank (i, j) exchanges its
 *                blocks with rank (j, i), all at once; the diagonal stays. In general each rank
 *                exchanges a part of them with each of R C / g^2 ranks, where g is the largest
 *                common divisor of R and C, one after the other (Choi, Dongarra, Walker, Parallel
 *                Computing 21, 1995)
 *     ring       rank r sends to r + 1 and receives from r - 1
 *     halo       on a grid of two or three dimensions, periodic or not: each rank exchanges
 *                with its neighbours, all at once (the borders of POP and LAMMPS)
 *     sweep      on such a grid, not periodic: a rank receives from its neighbours with lower
 *                places, then sends to those with higher ones, so a wave goes from the first
 *                corner to the last; then back (Sweep3D, LU)
 *     multigrid  a halo at each level. At level l every 2^l-th rank of each dimension exchanges
 *                with those 2^l places away, as long as two ranks are left in some dimension;
 *                then the levels back (a V cycle as in MG), the coarsest one once
 *
 * A rank begins a step when its sends and receives of the previous step have ended; there is no
 * other synchronisation. Further rounds repeat the exchange. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

struct goal_generate_config {
	const char *kind; /* one of the kinds above */
	uint32_t ranks;   /* 2 to GOAL_RANKS_MAX */
	/* Size of each message, or of the vector that a collective divides into parts (rounded up);
	 * at most GOAL_BYTES_MAX. */
	uint64_t bytes;
	uint32_t rounds;  /* 1 or more */
	uint64_t calc_ns; /* computation of each rank before each round; 0: none */
	/* For kinds with a grid: their product is ranks; 0: nearest to a square. */
	uint32_t rows, columns;
	uint32_t layers;         /* third dimension of halo, sweep, multigrid; 0: none */
	bool periodic;           /* halo and multigrid: the ends of each dimension are neighbours */
	uint32_t group;          /* allreduce-two-level: ranks of a group */
	uint32_t microbatches;   /* pipeline, training */
	uint64_t gradient_bytes; /* training */
	const uint64_t *matrix;  /* alltoallv: [from * ranks + to] bytes (goal.h) */
};

/* Name of kind i, NULL after the last. */
const char *goal_generate_kind(unsigned i);

/* Returns 0, -EINVAL with error set (unknown kind, numbers out of range, a grid that does not fit),
 * or -EIO. */
int goal_generate(const struct goal_generate_config *config, FILE *out, struct error *error);
