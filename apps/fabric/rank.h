/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* weft-fabric as one of several ranks of a run (ranks.h). Only rank 0 prints. All functions take
 * NULL, for a run of one process. */

#include <stdio.h>

#include "experiment/run/run_config.h"
#include "options.h"
#include "topo/topology.h"
#include "virtual/parallel/ranks.h"

/* Returns the ranks if this process was started as one of them; otherwise NULL, with '*result' 0 or
 * negative, and then fault set. 'argv' as in main(). */
struct ranks *rank_open(
	const struct options *options, char **argv, struct error *error, int *result);

/* Returns -EINVAL in all ranks if their runs would differ. */
int rank_compare(struct ranks *ranks, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error);

/* True if this process prints messages and writes results. */
static inline bool rank_speaks(const struct ranks *ranks)
{
	return ranks == NULL || ranks->own == 0;
}

/* Returns the exit code of all ranks, which then leave; does not return if a rank is lost. */
int rank_close(struct ranks *ranks, int code);
