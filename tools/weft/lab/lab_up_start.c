/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up: starting the processes. */

#include "lab_up.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.h"
#include "lab_spawn.h"
#include "lab_state.h"

/* Writes "--lab FILE --run-dir DIR --trust FILE --switch s0 --switch s1 …". */
static void fill_arguments(const struct lab_up *up, unsigned process, char *program, char **argv)
{
	const struct topology *topology = up->lab.topology;
	const struct lab_plan *plan = up->lab.plan;
	unsigned count = 0;

	argv[count++] = program;
	argv[count++] = (char *)"--lab";
	argv[count++] = (char *)up->lab.path;
	argv[count++] = (char *)"--run-dir";
	argv[count++] = (char *)plan->run_dir;
	for (unsigned i = 0; i < up->arguments->trust.count; i++) {
		argv[count++] = (char *)"--trust";
		argv[count++] = (char *)up->arguments->trust.file[i];
	}
	if (plan->process[process].role == LAB_ROLE_WHOLE) {
		if (plan->processes > 1) {
			argv[count++] = (char *)"--device";
			argv[count++] = (char *)plan->process[process].name;
		}
		argv[count] = NULL;
		return;
	}
	for (uint32_t i = 0; i < topology->switches; i++)
		if (plan->switch_process[i] == process && !topology->switch_at[i].absent) {
			argv[count++] = (char *)"--switch";
			argv[count++] = topology->switch_at[i].name;
		}
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (plan->host_process[i] == process && !topology->host_at[i].absent) {
			argv[count++] = (char *)"--host";
			argv[count++] = topology->host_at[i].name;
		}
	argv[count] = NULL;
}

/* Has room for what fill_arguments() writes: five words, two per device and trusted file, and NULL.
 */
static char **make_arguments(const struct lab_up *up, unsigned process)
{
	size_t devices = up->lab.plan->process[process].devices;

	return calloc(2 * (devices + LAB_TRUST_MAX) + 6, sizeof(char *));
}

struct start {
	struct lab_up *up;
	struct lab_record *record;
};

static int record_process(void *ctx, pid_t pid, struct error *error)
{
	struct start *start = ctx;

	start->record->pid = pid;
	if (lab_state_add(&start->up->state, start->record) < 0)
		return error_set(error, ENOMEM, "out of memory");
	return lab_state_save(&start->up->state, error);
}

static int start_process(struct lab_up *up, unsigned process, struct error *error)
{
	const struct lab_plan_process *planned = &up->lab.plan->process[process];
	char **argv = make_arguments(up, process);
	struct lab_record record = {.pid = 0};
	struct start start = {.up = up, .record = &record};
	char program[600], log[400], netns[LAB_NAME_MAX + 8] = "";
	pid_t pid;

	if (argv == NULL)
		return error_set(error, ENOMEM, "out of memory");
	snprintf(record.name, sizeof(record.name), "%s", planned->name);
	snprintf(record.prefix, sizeof(record.prefix), "%s", planned->prefix);
	snprintf(record.program, sizeof(record.program), "%s", lab_role_program(planned->role));
	program_path_find(record.program, program, sizeof(program));
	fill_arguments(up, process, program, argv);
	if (up->lab.plan->veth)
		lab_plan_netns(up->lab.plan, netns);
	held_taps_pass(&up->taps, process, true);
	lab_record_log(&up->state, &record, log, sizeof(log));
	pid = lab_spawn(argv, netns, log, record_process, &start, error);
	held_taps_pass(&up->taps, process, false);
	free(argv);
	return pid < 0 ? (int)pid : 0;
}

/* --- 'dilation: auto' --- */

/* Runs in the child; does not return. */
static void become(char **argv, const char *program, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* no state names this process */
	dup2(out, STDOUT_FILENO);
	execvp(program, argv);
	_exit(EXIT_NOT_ABLE);
}

/* Returns the exit code. Signals that only this program received are forwarded to the child. */
static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (lab_interrupted())
			kill(pid, SIGTERM);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_ABLE;
}

/* Returns the number that the program prints, or 0 if it printed an error. */
static uint32_t measure_dilation(const struct lab_up *up, int *code)
{
	char **argv = make_arguments(up, 0), program[600], text[16] = "";
	int out = memfd_create("out", MFD_CLOEXEC), count = 0;
	uint32_t dilation = 0;
	pid_t pid = -1;

	program_path_find(lab_role_program(LAB_ROLE_WHOLE), program, sizeof(program));
	if (argv != NULL && out >= 0) {
		fill_arguments(up, 0, program, argv);
		while (argv[count] != NULL)
			count++;
		argv[count] = (char *)"--calibrate";
		pid = fork();
		if (pid == 0)
			become(argv, program, out);
	}
	*code = pid > 0 ? wait_for(pid) : EXIT_NOT_ABLE;
	if (*code == EXIT_DONE && pread(out, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%" SCNu32, &dilation);
	if (out >= 0)
		close(out);
	free(argv);
	return dilation;
}

int lab_up_choose_dilation(struct lab_up *up, struct error *error)
{
	struct run_config *run = &up->lab.config->run;
	int code;

	if (run->dilation != RUN_DILATION_AUTO)
		return 0;
	if (up->lab.config->processes != LAB_CONFIG_PROCESSES_ONE)
		return error_set(error, EINVAL,
			"%s: dilation: auto requires a lab with a single process; use a number, "
			"or 'processes: one'",
			up->lab.path);
	run->dilation = measure_dilation(up, &code);
	up->lab.dilated = true;
	if (run->dilation > 0)
		return 0;
	return error_set(error,
		code == EXIT_INTERRUPTED ? EINTR
		: code == EXIT_NOT_ABLE  ? ENODEV
					 : EINVAL,
		"dilation: auto: no dilation was chosen (see above)");
}

/* Lists the processes that share a clock: the ones recorded on this machine. */
static int write_machine(const struct lab_up *up, struct error *error)
{
	const struct lab_plan *plan = up->lab.plan;
	bool *here = calloc(plan->processes, sizeof(*here));
	int result;

	if (here == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < plan->processes; i++)
		here[i] = lab_up_wants(up, i);
	for (unsigned i = 0; i < up->state.processes; i++) {
		int process = lab_plan_find(plan, up->state.process[i].name);

		if (process >= 0)
			here[process] = true;
	}
	result = lab_machine_write(plan, here, error);
	free(here);
	return result;
}

int lab_up_start(struct lab_up *up, struct error *error)
{
	int result = write_machine(up, error);

	for (unsigned i = 0; i < up->lab.plan->processes && result == 0; i++)
		if (lab_interrupted())
			result = error_set(error, EINTR, "interrupted");
		else if (lab_up_wants(up, i))
			result = start_process(up, i, error);
	if (result < 0)
		return result;
	up->ready = calloc(up->state.processes + 1, sizeof(*up->ready));
	up->elsewhere = lab_elsewhere(up->lab.plan, &up->state);
	return up->ready == NULL || up->elsewhere == NULL
		       ? error_set(error, ENOMEM, "out of memory")
		       : 0;
}
