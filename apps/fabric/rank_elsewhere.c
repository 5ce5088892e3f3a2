/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* For weft-fabric, which does not load the MPI library. */

#include <errno.h>

#include "os/become.h"
#include "rank.h"

int rank_join(char **argv, struct ranks **ranks, struct error *error)
{
	struct error why;
	int result = become("weft-fabric-mpi", argv, &why);

	*ranks = NULL;
	if (result != -ENOENT)
		return error_set(error, -result, "--mpi: %s", why.text);
	return error_set(error, ENOTSUP,
		"--mpi: this Weft has no MPI: install the package weft-mpi, or libopenmpi-dev and "
		"build it again with -Dmpi=enabled");
}
