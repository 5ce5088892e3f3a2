/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab mpirun: runs Open MPI in the hosts of a lab. mpirun runs in the first host and starts
 * its daemons in the other hosts with 'weft lab exec' instead of ssh. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/lab_slow_time.h"
#include "lab_hosts.h"
#include "os/atomic_file.h"

#define COMMAND "lab mpirun"

#define HOSTFILE    "hostfile"
#define OPTIONS_MAX 16

struct mpirun {
	struct lab_hosts hosts;
	char agent[PATH_MAX + 128], hostfile[PATH_MAX], network[RUN_ADDRESS_MAX];
	char preload[PATH_MAX + 16], record[2 * PATH_MAX + 16]; /* for --record */
	char **argv;
	unsigned count;
};

static void add(struct mpirun *mpi, const char *word)
{
	mpi->argv[mpi->count++] = (char *)word;
}

/* Sets an MCA parameter in the environment. mpirun passes it on to the ranks; the user's --mca
 * options override it. */
static void set(const char *key, const char *value, bool replace)
{
	char name[64];

	snprintf(name, sizeof(name), "OMPI_MCA_%s", key);
	setenv(name, value, replace);
}

static enum weft_exit write_hostfile(struct mpirun *mpi)
{
	struct atomic_file file = {.path = mpi->hostfile};
	struct error error;
	int result;

	snprintf(mpi->hostfile, sizeof(mpi->hostfile), "%s/" HOSTFILE, mpi->hosts.state.dir);
	/* Replaced in one step, because another mpirun in this lab may be reading it. */
	result = atomic_file_open(&file, &error);
	if (result == 0) {
		lab_hosts_print(&mpi->hosts, file.file);
		result = atomic_file_close(&file, &error);
	}
	return result == 0 ? EXIT_DONE : command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
}

/* Fails if a path contains spaces, because Open MPI splits the agent's command line at spaces. */
static enum weft_exit name_agent(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	char program[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *run_dir = arguments->run_dir != NULL ? arguments->run_dir : "";
	bool split = strpbrk(run_dir, " \t") != NULL;

	if (length <= 0)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "/proc/self/exe: %s", strerror(errno));
	if (split || strpbrk(program, " \t") != NULL)
		return command_fail(COMMAND, EXIT_NOT_ABLE,
			"'%s': the paths of weft and --run-dir must not contain spaces, because "
			"mpirun would split them",
			split ? run_dir : program);
	snprintf(mpi->agent, sizeof(mpi->agent), "%s lab exec --joined%s%s%s %s", program,
		arguments->no_faketime ? " --no-faketime" : "",
		arguments->run_dir != NULL ? " --run-dir " : "", run_dir, mpi->hosts.lab.plan->lab);
	return EXIT_DONE;
}

/* For --record: mpirun passes the recording library and the output file name on to the ranks. */
static enum weft_exit add_record(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	char path[PATH_MAX], folder[PATH_MAX] = "";
	struct error error;

	if (arguments->record == NULL)
		return EXIT_DONE;
	if (mpi->hosts.lab.config->run.dilation > 1 && !arguments->no_faketime)
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"--record in a dilated lab requires --no-faketime");
	if (lab_preload_find("weft-record.so", path, &error) < 0)
		return command_fail(COMMAND, EXIT_NOT_ABLE,
			"--record: %s; the library is built only if Open MPI's headers are installed",
			error.text);
	if (arguments->record[0] != '/' && getcwd(folder, sizeof(folder)) == NULL)
		return command_fail(
			COMMAND, EXIT_NOT_ABLE, "--record: cannot find the current folder");
	snprintf(mpi->preload, sizeof(mpi->preload), "LD_PRELOAD=%s", path);
	snprintf(mpi->record, sizeof(mpi->record), "WEFT_RECORD=%s%s%s", folder,
		folder[0] != '\0' ? "/" : "", arguments->record);
	add(mpi, "-x");
	add(mpi, mpi->preload);
	add(mpi, "-x");
	add(mpi, mpi->record);
	return EXIT_DONE;
}

/* Prints the chosen transport, unless the user chose it. */
static bool uses_endpoints(const struct mpirun *mpi, const struct lab_arguments *arguments)
{
	const char *missing = mpi->hosts.lab.config->endpoints == 0 ? "the lab has no endpoints"
			      : !lab_hosts_have_provider() ? "libweft-fi.so is not installed"
							   : NULL;

	if (arguments->fabric != NULL)
		return strcmp(arguments->fabric, "weft") == 0;
	fprintf(stderr, "weft " COMMAND ": ranks use %s%s\n",
		missing == NULL ? "endpoints (--fabric weft)" : "TCP (--fabric tcp): ",
		missing == NULL ? "" : missing);
	return missing == NULL;
}

/* Selects endpoints, or TCP over the TAPs only, because ranks on different hosts must not connect
 * through shared memory. All hosts share the cores of this machine, so ranks are not bound to
 * cores, and waiting ranks yield. */
static enum weft_exit build(struct mpirun *mpi, const struct lab_arguments *arguments)
{
	enum weft_exit code;

	mpi->argv = calloc(arguments->words + OPTIONS_MAX, sizeof(*mpi->argv));
	if (mpi->argv == NULL)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	add(mpi, "mpirun");
	if (geteuid() == 0)
		add(mpi, "--allow-run-as-root");
	add(mpi, "--hostfile");
	add(mpi, mpi->hostfile);
	add(mpi, "--bind-to");
	add(mpi, "none");
	code = add_record(mpi, arguments);
	set("plm_rsh_agent", mpi->agent, true);
	set("plm_rsh_no_tree_spawn", "1", true);
	if (uses_endpoints(mpi, arguments)) {
		set("pml", "cm", false);
		set("mtl", "ofi", false);
		set("mtl_ofi_provider_include", "weft", false);
	} else {
		set("pml", "ob1", false);
		set("btl", "tcp,self", false);
	}
	set("mpi_yield_when_idle", "1", false);
	set("mpi_event_tick_rate", "1", false);
	if (mpi->network[0] != '\0') {
		set("btl_tcp_if_include", mpi->network, true);
		set("oob_tcp_if_include", mpi->network, true);
	}
	for (unsigned i = 0; i < arguments->words; i++)
		add(mpi, arguments->word[i]);
	return code;
}

/* Returns the first host with a namespace, or NULL. */
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
			COMMAND, EXIT_BAD_REQUEST, "none of the lab's 'edges' has a 'namespace'");
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
	enum weft_exit code = lab_hosts_open(&mpi.hosts, arguments, COMMAND, false);

	if (code != EXIT_DONE)
		return code;
	code = run(&mpi, arguments);
	free(mpi.argv);
	lab_hosts_close(&mpi.hosts);
	return code;
}
