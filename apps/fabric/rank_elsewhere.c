/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In weft-fabric, which does not load MPI's library. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rank.h"

/* In the build folder, from the folder of this program, and where it is installed. */
static const char *const places[] = {"weft-fabric-mpi", MPI_FOLDER "/weft-fabric-mpi"};

int rank_join(char **argv, struct ranks **ranks, struct error *error)
{
	char own[PATH_MAX], path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	*ranks = NULL;
	if (length < 0)
		return error_set(error, errno, "--mpi: /proc/self/exe: %s", strerror(errno));
	while (length > 0 && own[length - 1] != '/')
		length--;
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s", places[i][0] == '/' ? 0 : (int)length, own,
			places[i]);
		execv(path, argv);
		if (errno != ENOENT)
			return error_set(error, errno, "--mpi: %s: %s", path, strerror(errno));
	}
	return error_set(error, ENOTSUP,
		"--mpi: this Weft has no MPI: install the package weft-mpi, or libopenmpi-dev and "
		"build it again with -Dmpi=enabled");
}
