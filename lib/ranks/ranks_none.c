/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Ranks of a build without MPI: there are none. */

#include "ranks.h"

int ranks_open(struct ranks **ranks, struct fault *fault)
{
	*ranks = NULL;
	return fault_set(fault, ENOTSUP,
		"--mpi: this Weft was built without MPI: install libopenmpi-dev and build it again "
		"with -Dmpi=enabled");
}
