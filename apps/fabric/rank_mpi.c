/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In weft-fabric-mpi. */

#include "rank.h"

int rank_join(char **argv, struct ranks **ranks, struct error *error)
{
	return ranks_open(ranks, error);
}
