/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up: starting the processes. */

#include "lab_up.h"

#include <stdio.h>
#include <stdlib.h>

#include "child_process.h"
#include "lab_ending.h"
#include "lab_fanout.h"
#include "lab_spawn.h"
#include "lab_state.h"

/* --lab FILE --run-dir DIR --trust FILE --switch s0 --switch s1 … */
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
	argv[count] = NULL;
	if (plan->process[process].role == LAB_ROLE_WHOLE)
		return;
	for (uint32_t i = 0; i < topology->switches; i++)
		if (plan->switch_process[i] == process) {
			argv[count++] = (char *)"--switch";
			argv[count++] = topology->switch_at[i].name;
		}
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (plan->host_process[i] == process) {
			argv[count++] = (char *)"--host";
			argv[count++] = topology->host_at[i].name;
		}
	argv[count] = NULL;
}

struct start {
	const struct lab_plan *plan;
	unsigned process;
	pid_t *running; /* [process of the plan] */
};

static bool opens_its_interfaces(void *ctx, pid_t pid)
{
	const struct start *start = ctx;

	return !lab_fanout_meets(start->plan, start->running, start->process, pid);
}

static pid_t spawn(const struct lab_up *up, unsigned process, char *const argv[], const char *netns,
	const char *log, struct fault *fault)
{
	struct start start = {.plan = up->lab.plan, .process = process};
	pid_t pid;

	start.running = calloc(start.plan->processes, sizeof(*start.running));
	if (start.running == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	for (unsigned i = 0; i < up->state.processes; i++) {
		const struct lab_record *record = &up->state.process[i];
		int number = lab_plan_find(start.plan, record->name);

		if (number >= 0 && lab_record_alive(record))
			start.running[number] = record->pid;
	}
	pid = lab_spawn(argv, netns, log, opens_its_interfaces, &start, fault);
	free(start.running);
	return pid;
}

static int start_process(struct lab_up *up, unsigned process, struct fault *fault)
{
	const struct lab_plan_process *planned = &up->lab.plan->process[process];
	char **argv = calloc(2 * ((size_t)planned->devices + LAB_TRUST_MAX) + 6, sizeof(*argv));
	struct lab_record record = {.pid = 0};
	char program[600], log[400], netns[LAB_NAME_MAX + 8] = "";
	int result = 0;

	if (argv == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	snprintf(record.name, sizeof(record.name), "%s", planned->name);
	snprintf(record.prefix, sizeof(record.prefix), "%s", planned->prefix);
	snprintf(record.program, sizeof(record.program), "%s", lab_role_program(planned->role));
	program_path_find(record.program, program, sizeof(program));
	fill_arguments(up, process, program, argv);
	lab_record_log(&up->state, &record, log, sizeof(log));
	if (up->lab.plan->veth)
		lab_plan_netns(up->lab.plan, netns);
	record.pid = spawn(up, process, argv, netns, log, fault);
	free(argv);
	if (record.pid < 0)
		return (int)record.pid;
	if (lab_state_add(&up->state, &record) < 0)
		result = fault_set(fault, ENOMEM, "no memory");
	return result < 0 ? result : lab_state_save(&up->state, fault);
}

/* Processes of which this machine has a record share a clock. */
static int write_machine(const struct lab_up *up, struct fault *fault)
{
	const struct lab_plan *plan = up->lab.plan;
	bool *here = calloc(plan->processes, sizeof(*here));
	int result;

	if (here == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	for (unsigned i = 0; i < plan->processes; i++)
		here[i] = lab_up_wants(up, i);
	for (unsigned i = 0; i < up->state.processes; i++) {
		int process = lab_plan_find(plan, up->state.process[i].name);

		if (process >= 0)
			here[process] = true;
	}
	result = lab_machine_write(plan, here, fault);
	free(here);
	return result;
}

int lab_up_start(struct lab_up *up, struct fault *fault)
{
	int result = write_machine(up, fault);

	up->kills = lab_ending_kills();
	for (unsigned i = 0; i < up->lab.plan->processes && result == 0; i++)
		if (lab_interrupted())
			result = fault_set(fault, EINTR, "interrupted");
		else if (lab_up_wants(up, i))
			result = start_process(up, i, fault);
	if (result < 0)
		return result;
	up->ready = calloc(up->state.processes + 1, sizeof(*up->ready));
	up->elsewhere = lab_elsewhere(up->lab.plan, &up->state);
	return up->ready == NULL || up->elsewhere == NULL ? fault_set(fault, ENOMEM, "no memory")
							  : 0;
}
