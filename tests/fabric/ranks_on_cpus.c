/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Preloaded into the ranks of a run: each believes that it is on the CPU that WEFT_RANKS_CPUS has
 * for it ("0,0": both on CPU 0), and waits in each exchange for longer than a rank does before it
 * looks at the CPUs of others. Writes a line for each set of CPUs that a rank is moved to, its mask
 * in hexadecimal, into the file $WEFT_RANKS_LOG.RANK. */

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define TESTS 600 /* in vain; TESTS_PART of ranks_mpi.c is 500 */

static unsigned tests, exchanges; /* Before the first one, Open MPI moves to each CPU. */

static int own_rank(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	return rank != NULL ? atoi(rank) : -1;
}

int sched_getcpu(void)
{
	const char *cpus = getenv("WEFT_RANKS_CPUS");

	return own_rank() < 0 ? 0 : cpus[2 * own_rank()] - '0';
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cpus)
{
	int (*real)(pid_t, size_t, const cpu_set_t *) = dlsym(RTLD_NEXT, "sched_setaffinity");
	const char *log = getenv("WEFT_RANKS_LOG");
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d", log, own_rank());
	file = exchanges > 0 ? fopen(path, "a") : NULL;
	if (file != NULL) {
		fprintf(file, "%lx\n", *(const unsigned long *)cpus);
		fclose(file);
	}
	return real(pid, size, cpus);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
	static int (*real)(int, MPI_Request[], int *, MPI_Status[]);
	int code = MPI_SUCCESS;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "MPI_Testall");
	*done = 0;
	exchanges += tests == 0;
	if (tests++ >= TESTS)
		code = real(count, requests, done, statuses);
	if (*done)
		tests = 0;
	return code;
}
