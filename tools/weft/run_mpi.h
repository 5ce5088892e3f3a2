/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* weft run --mpi N: mpirun starts weft-fabric N times on this machine, and the processes run the
 * file together. */

#include "fault.h"

#define RUN_MPI_RANKS_MAX 256u

/* Takes --mpi N out of the words. '*ranks' is 0 without it. EXIT_DONE, or EXIT_BAD_REQUEST and it
 * has said why. */
enum weft_exit run_mpi_take(int *argc, char **argv, unsigned *ranks);

/* Runs weft-fabric with these words behind its name; its exit code. Ctrl-C and SIGTERM end the run,
 * whose result is written; a second one ends the ranks. */
int run_mpi(int argc, char **argv, unsigned ranks);
