/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up */

#include "cmd_lab.h"
#include "lab_control.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric_key.h"
#include "lab_fanout.h"
#include "lab_lock.h"
#include "lab_spawn.h"
#include "lab_veth.h"
#include "lab_wait.h"

#define STEP_MS   20
#define LOG_LINES 10

struct up {
	const struct lab_arguments *arguments;
	struct lab lab;
	struct lab_state state;
	bool *ready; /* [process of the state]: all its links are up */
	bool again;  /* the lab is up, but for processes that have ended */
	struct lab_mapper mapper;
	uint64_t mapped_ms; /* after the links were up */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- before anything is started --- */

static int check_privileges(const struct lab *lab, struct fault *fault)
{
	if (geteuid() == 0)
		return 0;
	if (lab->plan->veth)
		return fault_set(
			fault, EPERM, "%s: its links are veth pairs, expected root", lab->path);
	if (lab->config->run.edges.count > 0)
		return fault_set(fault, EPERM, "%s: it has TAP edges, expected root", lab->path);
	return 0;
}

/* What every process would refuse, each in a log of its own. */
static int check_mapper_files(const struct lab *lab, struct fault *fault)
{
	const struct run_config_mapper *mapper = &lab->config->run.mapper;
	struct topology *expect;
	struct fabric_key key;
	int result;

	if (mapper->routes != RUN_ROUTES_MAPPER)
		return 0;
	result = mapper->key != NULL ? fabric_key_load(&key, mapper->key, fault) : 0;
	fabric_key_wipe(&key);
	if (result < 0 || mapper->expect == NULL)
		return result;
	expect = topology_open(mapper->expect, fault);
	topology_destroy(expect);
	return expect != NULL ? 0 : -EINVAL;
}

static bool wanted(const struct up *up, unsigned process)
{
	for (unsigned i = 0; i < up->arguments->only_count; i++)
		if (lab_plan_find(up->lab.plan, up->arguments->only[i]) == (int)process)
			return true;
	return up->arguments->only_count == 0;
}

/* The first process that is alive; NULL: none. 'all': or one that was not asked for. */
static const struct lab_record *find_alive(
	const struct up *up, const struct lab_state *former, bool all)
{
	for (unsigned i = 0; i < former->processes; i++) {
		const struct lab_record *record = &former->process[i];
		int number = lab_plan_find(up->lab.plan, record->name);

		if (lab_record_alive(record) &&
			(all || (number >= 0 && wanted(up, (unsigned)number))))
			return record;
	}
	return NULL;
}

static bool runs(const struct lab_state *former, const char *process)
{
	for (unsigned i = 0; i < former->processes; i++)
		if (strcmp(former->process[i].name, process) == 0)
			return lab_record_alive(&former->process[i]);
	return false;
}

static unsigned server_of(const struct lab_plan_link *link)
{
	return link->process[0] < link->process[1] ? link->process[0] : link->process[1];
}

/* A memif client connects once: a process that comes back finds the servers of its links, but not
 * the clients. */
static int check_comes_back(
	const struct up *up, const struct lab_state *former, struct fault *fault)
{
	const struct lab_plan *plan = up->lab.plan;

	for (uint32_t i = 0; i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];
		unsigned server = server_of(link);
		unsigned client = (unsigned)link->process[0] + link->process[1] - server;
		const char *other = plan->process[client].name;

		if (link->kind == LAB_LINK_MEMIF && wanted(up, server) && runs(former, other))
			return fault_set(fault, EINVAL,
				"%s cannot come back: %s runs, and a memif client connects only "
				"once; take the lab down and up again, or use 'links: veth'",
				plan->process[server].name, other);
	}
	return 0;
}

/* A lab that is up is refused, unless processes of it that have ended are to be started again; what
 * an earlier one left is removed. */
static int check_not_up(struct up *up, struct fault *fault)
{
	const struct lab_record *alive;
	struct lab_state former;
	int result = lab_state_load(&former, up->lab.plan->run_dir, fault);

	if (result == -ENOENT)
		return 0;
	if (result < 0)
		return result;
	alive = find_alive(up, &former, false);
	if (alive != NULL) {
		result = fault_set(fault, EINVAL,
			"lab %s is up already (%s is process %ld); 'weft lab down %s' ends it",
			up->lab.plan->lab, alive->name, (long)alive->pid, up->arguments->file);
		lab_state_free(&former);
		return result;
	}
	if (find_alive(up, &former, true) != NULL) {
		result = check_comes_back(up, &former, fault);
		if (result < 0) {
			lab_state_free(&former);
			return result;
		}
		up->again = true;
		up->state = former;
		return 0;
	}
	fprintf(stderr, "weft lab up: removing what an earlier lab left in %s\n", former.dir);
	result = lab_take_down(&former, fault);
	return result < 0 ? result : 0;
}

static int write_plan(const struct up *up, struct fault *fault)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/plan.txt", up->state.dir);
	file = fopen(path, "we");
	if (file == NULL)
		return fault_set(fault, errno, "%s: %s", path, strerror(errno));
	lab_plan_write(up->lab.plan, file);
	fclose(file);
	return 0;
}

/* Processes make the namespaces of their edges that are not there, and remove them at their end;
 * one that is killed does not. So 'down' has to know. */
static int note_edges(struct up *up, struct fault *fault)
{
	const struct run_config *run = &up->lab.config->run;

	for (uint32_t i = 0; i < run->edges.count; i++) {
		const char *netns = run->edges.at[i].netns;
		char path[128];

		snprintf(path, sizeof(path), "/run/netns/%s", netns);
		if (netns[0] == '\0' || access(path, F_OK) == 0)
			continue;
		if (lab_state_add_netns(&up->state, netns) < 0)
			return fault_set(fault, ENOMEM, "no memory");
	}
	return lab_state_save(&up->state, fault);
}

static int make_veths(struct up *up, struct fault *fault)
{
	char netns[LAB_NAME_MAX + 8];
	int result;

	if (!up->lab.plan->veth)
		return 0;
	result = lab_veth_create(up->lab.plan, up->lab.frame_bytes, fault);
	if (result < 0)
		return result;
	lab_plan_netns(up->lab.plan, netns);
	if (lab_state_add_netns(&up->state, netns) < 0)
		return fault_set(fault, ENOMEM, "no memory");
	return lab_state_save(&up->state, fault);
}

/* --- starting --- */

/* --lab FILE --run-dir DIR --switch s0 --switch s1 … */
static void fill_arguments(const struct up *up, unsigned process, char *program, char **argv)
{
	const struct topology *topology = up->lab.topology;
	const struct lab_plan *plan = up->lab.plan;
	unsigned count = 0;

	argv[count++] = program;
	argv[count++] = (char *)"--lab";
	argv[count++] = (char *)up->lab.path;
	argv[count++] = (char *)"--run-dir";
	argv[count++] = (char *)plan->run_dir;
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

static pid_t spawn(const struct up *up, unsigned process, char *const argv[], const char *netns,
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

static int start_process(struct up *up, unsigned process, struct fault *fault)
{
	const struct lab_plan_process *planned = &up->lab.plan->process[process];
	char **argv = calloc(2 * (size_t)planned->devices + 6, sizeof(*argv));
	struct lab_record record = {.pid = 0};
	char program[600], log[400], netns[LAB_NAME_MAX + 8] = "";
	int result = 0;

	if (argv == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	snprintf(record.name, sizeof(record.name), "%s", planned->name);
	snprintf(record.prefix, sizeof(record.prefix), "%s", planned->prefix);
	snprintf(record.program, sizeof(record.program), "%s",
		planned->nics ? "weft-nic" : "weft-switch");
	program_path(record.program, program, sizeof(program));
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

static int start_all(struct up *up, struct fault *fault)
{
	int result = 0;

	for (unsigned i = 0; i < up->lab.plan->processes && result == 0; i++)
		if (lab_interrupted())
			result = fault_set(fault, EINTR, "interrupted");
		else if (wanted(up, i))
			result = start_process(up, i, fault);
	up->ready = calloc(up->state.processes + 1, sizeof(*up->ready));
	return result == 0 && up->ready == NULL ? fault_set(fault, ENOMEM, "no memory") : result;
}

/* --- waiting --- */

static void show_log(const struct up *up, const struct lab_record *record)
{
	char path[400], lines[LOG_LINES][512];
	unsigned count = 0;
	FILE *file;

	lab_record_log(&up->state, record, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL)
		return;
	while (fgets(lines[count % LOG_LINES], sizeof(lines[0]), file) != NULL)
		count++;
	fclose(file);
	for (unsigned i = count > LOG_LINES ? count - LOG_LINES : 0; i < count; i++)
		fprintf(stderr, "  %s: %s", record->name, lines[i % LOG_LINES]);
}

static size_t count_up(json_t *links)
{
	size_t index, count = 0;
	json_t *link;

	json_array_foreach(links, index, link)
	{
		const char *state = json_string_value(json_object_get(link, "state"));

		count += state != NULL && strcmp(state, "up") == 0;
	}
	return count;
}

/* 1: its links are up, or, of a process that was started again, any of them: there may be reasons
 * why others are not; 0: not yet. */
static int is_ready(const struct up *up, const struct lab_record *record)
{
	struct lab_connection connection;
	struct fault fault;
	json_t *links;
	int ready = 0;

	if (lab_connect(&connection, record->prefix, &fault) < 0)
		return 0;
	links = lab_ask_links(&connection, &fault);
	if (links != NULL)
		/* None: it is not so far yet to have any. */
		ready = count_up(links) >= (up->again ? 1 : json_array_size(links)) &&
			count_up(links) > 0;
	json_decref(links);
	lab_disconnect(&connection);
	return ready;
}

/* How many are not ready yet, or -errno when one has ended. */
static int look(struct up *up, struct fault *fault)
{
	int missing = 0;

	for (unsigned i = 0; i < up->state.processes; i++) {
		const struct lab_record *record = &up->state.process[i];
		int number = lab_plan_find(up->lab.plan, record->name);

		if (up->again && (number < 0 || !wanted(up, (unsigned)number)))
			continue;
		if (!lab_record_alive(record)) {
			show_log(up, record);
			return fault_set(
				fault, ENODEV, "%s (%s) has ended", record->name, record->program);
		}
		if (!up->ready[i])
			up->ready[i] = is_ready(up, record);
		missing += !up->ready[i];
	}
	return missing;
}

static int fail_not_ready(const struct up *up, struct fault *fault)
{
	unsigned missing = 0;
	const char *first = "";

	for (unsigned i = 0; i < up->state.processes; i++) {
		if (up->ready[i])
			continue;
		if (missing++ == 0)
			first = up->state.process[i].name;
		show_log(up, &up->state.process[i]);
	}
	return fault_set(fault, ETIMEDOUT,
		"after %" PRIu64 " ms the links of %s and %u more processes are not all up; "
		"--wait gives them longer",
		up->arguments->wait_ps / PS_PER_MS, first, missing - 1);
}

static int wait_ready(struct up *up, uint64_t deadline, struct fault *fault)
{
	int missing;

	while ((missing = look(up, fault)) > 0) {
		if (lab_interrupted())
			return fault_set(fault, EINTR, "interrupted");
		if (now_ms() > deadline)
			return fail_not_ready(up, fault);
		lab_sleep_ms(STEP_MS);
	}
	return missing;
}

static int wait_mapped(struct up *up, uint64_t deadline, struct fault *fault)
{
	uint64_t now = now_ms();
	struct fault why;
	int result = lab_wait_mapped(&up->lab, &up->state, false,
		deadline > now ? deadline - now : 0, &up->mapper, &why);

	if (result == -ETIMEDOUT)
		return fault_set(fault, ETIMEDOUT,
			"after %" PRIu64 " ms %s; --wait gives the mapper longer",
			up->arguments->wait_ps / PS_PER_MS, why.text);
	if (result < 0)
		*fault = why;
	return result;
}

static int wait_whole(struct up *up, struct fault *fault)
{
	uint64_t deadline = now_ms() + up->arguments->wait_ps / PS_PER_MS;
	int result = wait_ready(up, deadline, fault);
	uint64_t linked = now_ms();

	if (result == 0)
		result = wait_mapped(up, deadline, fault);
	up->mapped_ms = now_ms() - linked;
	return result;
}

/* --- the whole --- */

static void print_summary(const struct up *up, uint64_t took_ms)
{
	const struct lab_plan *plan = up->lab.plan;
	unsigned count[LAB_LINK_KIND_COUNT] = {0};

	for (uint32_t i = 0; i < up->lab.topology->links; i++)
		count[plan->link[i].kind]++;
	printf("lab %s is up after %" PRIu64 " ms: %u processes, %u switches, %u hosts, %u links",
		plan->lab, took_ms, up->state.processes, up->lab.topology->switches,
		up->lab.topology->hosts, up->lab.topology->links);
	for (unsigned kind = 0; kind < LAB_LINK_KIND_COUNT; kind++)
		if (count[kind] > 0)
			printf(" (%u %s)", count[kind], lab_link_kind_name(kind));
	if (up->mapper.host[0] != '\0')
		printf("\nroutes by the mapper, which is %s, at most %" PRIu64
		       " ms after the links were up",
			up->mapper.host, up->mapped_ms);
	printf("\nlogs and plan: %s\n", plan->run_dir);
	if (plan->veth)
		printf("interfaces: ip netns exec weft-%s ip link\n", plan->lab);
}

static void warn_of_miscabling(const struct up *up)
{
	unsigned count = up->mapper.miscabled;

	if (count > 0)
		fprintf(stderr,
			"weft lab up: warning: the fabric is not as expected: %u difference%s, "
			"which 'weft lab map %s' shows\n",
			count, count == 1 ? "" : "s", up->arguments->file);
}

static int check_only(const struct up *up, struct fault *fault)
{
	for (unsigned i = 0; i < up->arguments->only_count; i++)
		if (lab_plan_find(up->lab.plan, up->arguments->only[i]) < 0)
			return fault_set(fault, EINVAL,
				"--process %s: no such switch or host in %s",
				up->arguments->only[i], up->lab.path);
	return 0;
}

static int bring_up(struct up *up, struct fault *fault)
{
	int result = lab_state_create(&up->state, up->lab.plan->run_dir, fault);

	if (result < 0)
		return result;
	result = write_plan(up, fault);
	if (result == 0)
		result = note_edges(up, fault);
	if (result == 0)
		result = make_veths(up, fault);
	if (result == 0)
		result = start_all(up, fault);
	if (result == 0)
		result = wait_whole(up, fault);
	if (result < 0)
		lab_take_down(&up->state, NULL);
	return result;
}

/* Those that killed servers have left, on which new ones could not listen. */
static void remove_sockets(const struct up *up)
{
	char path[256];

	for (uint32_t i = 0; i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &up->lab.plan->link[i];

		if (link->kind != LAB_LINK_MEMIF || !wanted(up, server_of(link)))
			continue;
		lab_plan_socket(up->lab.plan, i, path, sizeof(path));
		unlink(path);
	}
}

/* Only what has ended; the others go on whatever comes of it. */
static int bring_back(struct up *up, struct fault *fault)
{
	int result;

	remove_sockets(up);
	result = start_all(up, fault);
	return result == 0 ? wait_ready(up, now_ms() + up->arguments->wait_ps / PS_PER_MS, fault)
			   : result;
}

static int bring_up_locked(struct up *up, struct fault *fault)
{
	struct lab_lock lock;
	int result = lab_lock_take(&lock, up->lab.plan->run_dir, "brought up", fault);

	if (result < 0)
		return result;
	result = check_not_up(up, fault);
	if (result == 0)
		result = up->again ? bring_back(up, fault) : bring_up(up, fault);
	lab_lock_release(&lock);
	return result;
}

enum weft_exit cmd_lab_up(const struct lab_arguments *arguments)
{
	struct up up = {.arguments = arguments};
	uint64_t began = now_ms();
	struct fault fault;
	int result = lab_open(&up.lab, arguments->file, arguments->run_dir, &fault);

	if (result < 0)
		return command_fail("lab up", fault_exit_code(result), "%s", fault.text);
	lab_catch_signals();
	result = check_only(&up, &fault);
	if (result == 0)
		result = check_privileges(&up.lab, &fault);
	if (result == 0)
		result = check_mapper_files(&up.lab, &fault);
	if (result == 0)
		result = bring_up_locked(&up, &fault);
	/* The programs that 'up' calls are interrupted with it, and fail. */
	if (result < 0 && lab_interrupted())
		result = fault_set(&fault, EINTR, "interrupted");
	if (result == 0 && up.again)
		printf("lab %s: what had ended runs again after %" PRIu64 " ms\n", up.lab.plan->lab,
			now_ms() - began);
	else if (result == 0) {
		print_summary(&up, now_ms() - began);
		lab_warn_without_key(&up.lab, "weft lab up");
		warn_of_miscabling(&up);
	}
	free(up.ready);
	lab_state_free(&up.state);
	lab_close(&up.lab);
	return result < 0 ? command_fail("lab up", fault_exit_code(result), "%s", fault.text)
			  : EXIT_DONE;
}
