/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab mpirun: Open MPI in the hosts of a lab. mpirun runs in the first host and starts its
 * daemons in the others by 'weft lab exec' instead of ssh. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "lab_hosts.h"

#define COMMAND "lab mpirun"

#define HOSTFILE    "hostfile"
#define OPTIONS_MAX 40

struct mpirun {
	struct lab_hosts hosts;
	char agent[PATH_MAX + 128], hostfile[PATH_MAX], network[RUN_ADDRESS_MAX];
	char **argv;
	unsigned count;
};

static void add(struct mpirun *mpi, const char *word)
{
	mpi->argv[mpi->count++] = (char *)word;
}

static void set(struct mpirun *mpi, const char *key, const char *value)
{
	add(mpi, "--mca");
	add(mpi, key);
	add(mpi, value);
}

static enum weft_exit write_hostfile(struct mpirun *mpi)
{
	struct atomic_file file = {.path = mpi->hostfile};
	struct fault fault;
	int result;

	snprintf(mpi->hostfile, sizeof(mpi->hostfile), "%s/" HOSTFILE, mpi->hosts.state.dir);
	/* Another mpirun of this lab may be reading it. */
	result = atomic_file_open(&file, &fault);
	if (result == 0) {
		lab_hosts_print(&mpi->hosts, file.file);
		result = atomic_file_close(&file, &fault);
	}
	return result == 0 ? EXIT_DONE : command_fail(COMMAND, EXIT_NOT_ABLE, "%s", fault.text);
}

/* Open MPI splits the agent at blanks. */
static enum weft_exit name_agent(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	char program[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length <= 0 || strpbrk(program, " \t") != NULL ||
		(arguments->run_dir != NULL && strpbrk(arguments->run_dir, " \t") != NULL))
		return command_fail(COMMAND, EXIT_NOT_ABLE,
			"'%s': mpirun needs paths of weft and --run-dir without blanks", program);
	snprintf(mpi->agent, sizeof(mpi->agent), "%s lab exec --joined%s%s%s %s", program,
		arguments->no_faketime ? " --no-faketime" : "",
		arguments->run_dir != NULL ? " --run-dir " : "",
		arguments->run_dir != NULL ? arguments->run_dir : "", mpi->hosts.lab.plan->lab);
	return EXIT_DONE;
}

/* TCP over the TAPs only: ranks of different hosts must not find each other by shared memory. All
 * hosts share the cores of this machine, so nothing is bound, and a rank that waits yields. */
static enum weft_exit build(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	mpi->argv = calloc(arguments->words + OPTIONS_MAX, sizeof(*mpi->argv));
	if (mpi->argv == NULL)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "no memory");
	add(mpi, "mpirun");
	if (geteuid() == 0)
		add(mpi, "--allow-run-as-root");
	add(mpi, "--hostfile");
	add(mpi, mpi->hostfile);
	add(mpi, "--bind-to");
	add(mpi, "none");
	set(mpi, "plm_rsh_agent", mpi->agent);
	set(mpi, "plm_rsh_no_tree_spawn", "1");
	set(mpi, "pml", "ob1");
	set(mpi, "btl", "tcp,self");
	set(mpi, "mpi_yield_when_idle", "1");
	if (mpi->network[0] != '\0') {
		set(mpi, "btl_tcp_if_include", mpi->network);
		set(mpi, "oob_tcp_if_include", mpi->network);
	}
	for (unsigned i = 0; i < arguments->words; i++)
		add(mpi, arguments->word[i]);
	return EXIT_DONE;
}

/* The first host with a namespace. */
static const struct run_config_edge *first_host(const struct mpirun *mpi)
{
	const struct run_config_edge_list *edges = &mpi->hosts.lab.config->run.edges;

	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->at[i].netns[0] != '\0')
			return &edges->at[i];
	return NULL;
}

static enum weft_exit run(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	const struct run_config_edge *first = first_host(mpi);
	enum weft_exit code;

	if (first == NULL)
		return command_fail(
			COMMAND, EXIT_BAD_REQUEST, "no edge of the lab has a 'namespace'");
	snprintf(mpi->network, sizeof(mpi->network), "%s", first->address);
	code = write_hostfile(mpi);
	if (code == EXIT_DONE)
		code = name_agent(mpi, arguments);
	if (code == EXIT_DONE)
		code = build(mpi, arguments);
	return code == EXIT_DONE ? lab_hosts_exec(&mpi->hosts, first, mpi->argv) : code;
}

enum weft_exit cmd_lab_mpirun(const struct lab_arguments *arguments)
{
	struct mpirun mpi = {.count = 0};
	enum weft_exit code = lab_hosts_open(&mpi.hosts, arguments, COMMAND);

	if (code != EXIT_DONE)
		return code;
	code = run(&mpi, arguments);
	free(mpi.argv);
	lab_hosts_close(&mpi.hosts);
	return code;
}
