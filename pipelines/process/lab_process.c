/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_process.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/port_set.h"
#include "host/endpoint_memory.h"
#include "os/private_dir.h"
#include "poll/poll_yield.h"
#include "port/eal.h"
#include "port/port_udp.h"
#include "program.h"
#include "sandbox.h"
#include "topo/topology.h"

/* For memif, which needs the most: listener, connection, memory, interrupts of both rings. */
#define FILES_OF_A_PORT 8
#define FILES_OF_A_LOOP 3 /* see real_fabric_idle.h */
/* For 64 programs at endpoints; further programs wait for free descriptors. */
#define FILES_OF_PROGRAMS 256
#define LOOPS_MAX         64

struct lab_process {
	const struct lab_process_options *options;
	const atomic_bool *stop;
	struct lab lab;
	struct lab_security security;
	int number; /* index in the plan */
	bool *switch_here, *host_here;
	const char **external; /* device for each link to another process */
	uint16_t *vlan;        /* VLAN tag for each such link */
	const char *pci[LAB_PORTS_MAX + 1];
	struct clock clock;
	char orders[300];    /* path of the commands file */
	char endpoints[300]; /* path of the socket */
	struct real_fabric *fabric;
	struct lab_cables cables;
};

/* --- devices and links --- */

static int find_device(const struct lab_process *process, const char *name, struct error *error)
{
	const struct topology *topology = process->lab.topology;
	bool hosts = process->options->role == LAB_ROLE_HOSTS;
	int32_t at =
		hosts ? topology_find_host(topology, name) : topology_find_switch(topology, name);

	if (at >= 0)
		return at;
	return error_set(error, EINVAL, "%s: no %s '%s' in this lab", process->lab.path,
		hosts ? "host" : "switch", name);
}

/* Checks that the given devices are exactly the devices of one process in the plan, because the
 * other processes rely on the plan. */
static int choose_named(struct lab_process *process, struct error *error)
{
	bool *here = process->options->role == LAB_ROLE_HOSTS ? process->host_here
							      : process->switch_here;
	unsigned found = 0;

	process->number = lab_plan_find(process->lab.plan, process->options->device[0]);
	for (unsigned i = 0; i < process->options->devices; i++) {
		const char *name = process->options->device[i];
		int at = find_device(process, name, error);

		if (at < 0)
			return at;
		if (lab_plan_find(process->lab.plan, name) != process->number)
			return error_set(error, EINVAL,
				"%s: %s and %s are in different processes of this lab; put both into one of its 'groups'",
				process->lab.path, process->options->device[0], name);
		found += !here[at];
		here[at] = true;
	}
	if (found == process->lab.plan->process[process->number].devices)
		return 0;
	return error_set(error, EINVAL,
		"%s: the process of %s has %u devices in this lab, but %u were named; name all "
		"of them",
		process->lab.path, process->options->device[0],
		process->lab.plan->process[process->number].devices, found);
}

/* Selects all devices of the process that runs the named device. */
static int choose_devices(struct lab_process *process, struct error *error)
{
	const struct topology *topology = process->lab.topology;
	const struct lab_plan *plan = process->lab.plan;
	const char *first = process->options->device[0];

	if (process->options->role != LAB_ROLE_WHOLE)
		return choose_named(process, error);
	if (plan->process[0].role != LAB_ROLE_WHOLE)
		return error_set(error, EINVAL,
			"%s: this lab consists of %u processes of weft-switch and weft-nic; use "
			"'processes: one'",
			process->lab.path, plan->processes);
	process->number = first == NULL ? 0 : lab_plan_find(plan, first);
	if (process->number < 0 || (first == NULL && plan->processes > 1))
		return error_set(error, EINVAL,
			"%s: --device %s: not a device of one of the lab's %u processes",
			process->lab.path, first == NULL ? "" : first, plan->processes);
	for (uint32_t i = 0; i < topology->switches; i++)
		process->switch_here[i] = plan->switch_process[i] == process->number &&
					  !topology->switch_at[i].absent;
	for (uint32_t i = 0; i < topology->hosts; i++)
		process->host_here[i] =
			plan->host_process[i] == process->number && !topology->host_at[i].absent;
	return 0;
}

static void choose_links(struct lab_process *process)
{
	const struct lab_plan *plan = process->lab.plan;
	unsigned pci = 0;

	for (uint32_t i = 0; i < process->lab.topology->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];
		unsigned side = link->process[0] == process->number ? 0 : 1;

		if (link->kind == LAB_LINK_MEMORY || link->process[side] != process->number)
			continue;
		process->external[i] = link->device[side];
		process->vlan[i] = link->vlan[side];
		if (link->kind == LAB_LINK_BOUND && strncmp(link->device[side], "net_", 4) != 0 &&
			!port_is_udp(link->device[side]))
			process->pci[pci++] = link->device[side];
	}
}

/* --- the mapper --- */

static int change_text(char **member, const char *text, struct error *error)
{
	char *copy = text == NULL ? NULL : strdup(text);

	if (text == NULL)
		return 0;
	if (copy == NULL)
		return error_set(error, ENOMEM, "out of memory");
	free(*member);
	*member = copy;
	return 0;
}

/* Applies options that override the file. */
static int choose_mapper(struct lab_process *process, struct error *error)
{
	const struct lab_process_options *options = process->options;
	struct run_config_mapper *mapper = &process->lab.config->run.mapper;
	int result = 0;

	if ((options->mapper != NULL || options->expect != NULL || options->key != NULL) &&
		mapper->routes != RUN_ROUTES_MAPPER)
		return error_set(error, EINVAL,
			"%s: routes are static; --mapper, --expect and --fabric-key require 'mapper.routes: mapper'",
			process->lab.path);
	if (options->mapper != NULL) {
		result = run_mapper_mode_find(options->mapper, &mapper->mode);
		mapper->hosts.count = 0; /* selects all hosts of this process */
	}
	if (result < 0)
		return error_set(error, EINVAL, "--mapper %s: expected auto, always or never",
			options->mapper);
	result = change_text(&mapper->expect, options->expect, error);
	if (result == 0)
		result = change_text(&mapper->key, options->key, error);
	return result == 0 ? real_fabric_check(&process->lab.config->run, error) : result;
}

static int open_lab(struct lab_process *process, struct error *error)
{
	const struct lab_process_options *options = process->options;
	int result = lab_open(&process->lab, options->lab_file, options->run_dir, error);
	char wide[32];

	if (result == 0)
		result = lab_trust_check(&process->lab, &options->trust, error);
	if (result == 0 && process->lab.config->run.dilation == RUN_DILATION_AUTO &&
		!options->calibrates)
		result = error_set(error, EINVAL,
			"%s: dilation: auto: use a number; 'weft lab up' chooses it",
			process->lab.path);
	if (result == 0 && topology_max_ports(process->lab.topology) > PORT_SET_LIMIT) {
		snprintf(wide, sizeof(wide), "%s-wide", options->program);
		result = program_become(wide, options->argv, error);
	}
	if (result < 0)
		return result;
	process->switch_here = calloc(process->lab.devices_max[DEVICE_SWITCH] + 1, sizeof(bool));
	process->host_here = calloc(process->lab.devices_max[DEVICE_HOST] + 1, sizeof(bool));
	process->external = calloc(process->lab.topology->links + 1, sizeof(char *));
	process->vlan = calloc(process->lab.topology->links + 1, sizeof(*process->vlan));
	if (process->switch_here == NULL || process->host_here == NULL ||
		process->external == NULL || process->vlan == NULL)
		return error_set(error, ENOMEM, "out of memory");
	result = choose_devices(process, error);
	if (result == 0)
		result = choose_mapper(process, error);
	if (result == 0)
		result = lab_security_load(&process->lab, &process->security, error);
	if (result == 0)
		choose_links(process);
	return result;
}

/* --- running --- */

/* Returns a nonzero number that differs for each run of the process. It is random, because frames
 * that contain it are accepted as replies to this process. */
static uint32_t choose_session(void)
{
	uint32_t session = 0;
	struct timespec now;

	while (session == 0)
		if (getentropy(&session, sizeof(session)) < 0) {
			clock_gettime(CLOCK_REALTIME, &now);
			session = (uint32_t)now.tv_sec * 1000 + (uint32_t)(now.tv_nsec / 1000000);
		}
	return session;
}

/* Returns the file's number of lcores, at most one per host, because hosts cannot be divided. */
static unsigned count_lcores(const struct lab_process *process)
{
	unsigned hosts = process->lab.plan->process[process->number].devices;
	unsigned lcores = process->lab.config->lcores;

	return process->options->role == LAB_ROLE_HOSTS && lcores > hosts ? hosts : lcores;
}

/* Returns true if loops get priority: on a dilated clock, programs in the hosts need less CPU time
 * than the loops and wait for them. */
static bool precedes(const struct lab_process *process)
{
	return process->options->role == LAB_ROLE_WHOLE &&
	       (process->lab.dilated || process->lab.config->run.dilation != 1);
}

static unsigned count_loops(const struct lab_process *process)
{
	unsigned loops = process->options->lcores;

	if (loops == 0 && process->options->role != LAB_ROLE_WHOLE)
		loops = count_lcores(process);
	/* The process runs devices that 'weft lab apply' added, and the loops of the other
	 * processes already use the CPUs. */
	if (loops == 0 && process->number > 0)
		loops = 1;
	if (loops != 0 || process->options->role != LAB_ROLE_WHOLE)
		return loops;
	loops = lab_cpus(&process->lab);
	/* Loops with priority must leave a CPU to programs. */
	if (precedes(process) && loops > 1)
		loops--;
	return loops < LOOPS_MAX ? loops : LOOPS_MAX;
}

static struct real_fabric_options fabric_options(const struct lab_process *process)
{
	/* A trial computes its own routes, and only for existing hosts. */
	bool plugs = !process->options->calibrates && lab_check_changes(&process->lab, NULL) == 0;

	return (struct real_fabric_options){
		.topology = process->lab.topology,
		.run = &process->lab.config->run,
		.name = "lab",
		.switch_here = process->switch_here,
		.host_here = process->host_here,
		.external = process->external,
		.vlan = process->vlan,
		.session = choose_session(),
		.fabric = process->security.fabric,
		.link_key = process->security.keyed ? &process->security.key : NULL,
		.data_key = process->security.data_keyed ? &process->security.data_key : NULL,
		.lcores = count_loops(process),
		.divides = process->options->role == LAB_ROLE_SWITCHES,
		.clock = &process->clock,
		.plugs = plugs,
		.hosts_max = plugs ? process->lab.devices_max[DEVICE_HOST] : 0,
		.switches_max = plugs ? process->lab.devices_max[DEVICE_SWITCH] : 0,
		.recable = lab_cables_load,
	};
}

static int create_fabric(struct lab_process *process, struct error *error)
{
	struct real_fabric_options options = fabric_options(process);

	options.orders = process->orders;
	if (process->options->role != LAB_ROLE_SWITCHES)
		options.endpoints = (uint16_t)process->lab.config->endpoints;
	options.endpoint_socket = process->endpoints;
	process->cables = (struct lab_cables){.run_dir = process->lab.plan->run_dir};
	options.recable_ctx = &process->cables;
	snprintf(process->orders, sizeof(process->orders), "%s/orders-%s",
		process->lab.plan->run_dir, process->lab.plan->process[process->number].name);
	snprintf(process->endpoints, sizeof(process->endpoints), "%s/" ENDPOINT_SOCKET "%s",
		process->lab.plan->run_dir, process->lab.plan->process[process->number].name);
	process->fabric = real_fabric_create(&options, error);
	return process->fabric == NULL ? -errno : 0;
}

/* Returns true if this machine runs more of the lab's poll loops than it has CPUs. */
static bool is_crowded(const struct lab_process *process, const bool *here)
{
	unsigned lcores = process->lab.config->lcores, loops = 0;

	for (unsigned i = 0; i < process->lab.plan->processes; i++)
		loops += here[i] ? (lcores > 0 ? lcores : 1) : 0;
	if (process->options->role == LAB_ROLE_WHOLE)
		return process->number > 0;
	return loops > lab_cpus(&process->lab);
}

/* Tells the fabric which hosts and processes are on this machine; all others use different clocks
 * and CPUs. */
static int tell_machine(struct lab_process *process, struct error *error)
{
	const struct lab_plan *plan = process->lab.plan;
	bool *host = calloc(process->lab.topology->hosts + 1, sizeof(*host));
	bool *here = calloc(plan->processes, sizeof(*here));
	int result = host != NULL && here != NULL ? lab_machine_read(plan, here, error)
						  : error_set(error, ENOMEM, "out of memory");

	for (uint32_t i = 0; result == 0 && i < process->lab.topology->hosts; i++)
		host[i] = plan->host_process[i] == LAB_NO_PROCESS || here[plan->host_process[i]];
	if (result == 0)
		result = real_fabric_set_clocks(process->fabric, host, error);
	if (result == 0)
		real_fabric_set_crowded(process->fabric, is_crowded(process, here));
	free(here);
	free(host);
	return result;
}

static int check_run_dir(const char *run_dir, struct error *error)
{
	int result = private_dir_check(run_dir, error);

	if (result == -ENOENT)
		return error_set(error, ENOENT,
			"%s: %s; use a lab's run directory ('weft lab up' creates it)", run_dir,
			strerror(ENOENT));
	return result;
}

/* Returns true if real_fabric_end() will remove network namespaces. */
static bool removes_namespaces(const struct lab_process *process)
{
	const struct run_config_edge_list *edges = &process->lab.config->run.edges;

	for (uint32_t i = 0; i < edges->count; i++) {
		int32_t host = topology_find_host(process->lab.topology, edges->at[i].host);

		if (host >= 0 && process->host_here[host] && edges->at[i].netns[0] != '\0')
			return true;
	}
	return false;
}

/* Returns the root capabilities that the open devices still need, also for closing. */
static uint64_t wanted_privileges(const struct lab_process *process)
{
	const struct lab_plan *plan = process->lab.plan;
	uint64_t wanted = removes_namespaces(process) ? PRIVILEGE(CAP_SYS_ADMIN) : 0;
	bool other = false; /* links other than through memory */

	for (uint32_t i = 0; i < process->lab.topology->links; i++)
		other = other ||
			(process->external[i] != NULL && plan->link[i].kind != LAB_LINK_MEMIF &&
				plan->link[i].kind != LAB_LINK_SHARED);
	if (other)
		wanted |= PRIVILEGE(CAP_NET_ADMIN) | PRIVILEGE(CAP_NET_RAW);
	if (process->pci[0] != NULL)
		wanted |= PRIVILEGE(CAP_SYS_RAWIO) | PRIVILEGE(CAP_IPC_LOCK);
	return wanted;
}

static int confine(const struct lab_process *process, struct error *error)
{
	const struct sandbox_options options = {
		.program = process->options->program,
		.unmounts = removes_namespaces(process),
	};
	int result = privileges_keep(wanted_privileges(process), error);

	if (result < 0 || !process->lab.config->run.security.sandbox)
		return result;
	return sandbox_enter(&options, error);
}

/* Returns true if the process has links in shared memory or may get some. */
static bool has_shared(const struct lab_process *process)
{
	const struct lab_plan *plan = process->lab.plan;

	if (lab_check_changes(&process->lab, NULL) == 0)
		return true;
	for (uint32_t i = 0; i < process->lab.topology->links; i++)
		if (process->external[i] != NULL && plan->link[i].kind == LAB_LINK_SHARED)
			return true;
	return false;
}

static int run(struct lab_process *process, struct error *error)
{
	int result = check_run_dir(process->lab.plan->run_dir, error);

	if (result == 0)
		result = lab_clock(process->lab.plan->run_dir, process->lab.config->run.dilation,
			&process->clock, error);
	if (result == 0 && has_shared(process))
		result = memory_dir_make(process->lab.plan->run_dir, error);
	if (result == 0)
		result = lab_wait_servers(
			process->lab.plan, (unsigned)process->number, process->stop, error);
	if (result == 0)
		result = create_fabric(process, error);
	if (result == 0)
		result = tell_machine(process, error);
	if (result == 0)
		result = confine(process, error);
	if (result < 0)
		return result;
	/* Omits the "PROGRAM: " with which errors start. */
	printf("%s is running: %u devices of lab %s, %u ports to other processes, prefix %s\n",
		process->options->program, process->lab.plan->process[process->number].devices,
		process->lab.plan->lab, process->lab.plan->process[process->number].ports,
		eal_prefix());
	fflush(stdout);
	real_fabric_serve(process->fabric, process->stop);
	lab_wait_peers_gone(process->lab.plan, (unsigned)process->number);
	return 0;
}

static int calibrate(const struct lab_process *process, struct error *error)
{
	const struct real_fabric_options options = fabric_options(process);
	uint32_t dilation;
	int result = real_calibrate(&options, process->stop, stderr, &dilation, error);

	if (result == 0)
		printf("%" PRIu32 "\n", dilation);
	return result;
}

/* Applies the file's 'cores': restricts the process to that many of its CPUs. */
static void limit_cores(unsigned cores)
{
	cpu_set_t all, some;
	unsigned taken = 0;

	if (cores == 0 || sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	CPU_ZERO(&some);
	for (int cpu = 0; cpu < CPU_SETSIZE && taken < cores; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_SET(cpu, &some);
		taken++;
	}
	sched_setaffinity(0, sizeof(some), &some);
}

/* Starts EAL with the arguments from the file, followed by those from the command line. */
static int start_eal(
	struct lab_process *process, const struct eal_options *eal, struct error *error)
{
	const struct lab_process_options *options = process->options;
	const struct lab_config_words *words = &process->lab.config->eal;
	char **argv = calloc((size_t)options->argc + words->count + 2, sizeof(*argv));
	int argc = 0, result, end = program_separator(options->argc, options->argv);

	if (argv == NULL)
		return error_set(error, ENOMEM, "out of memory");
	argv[argc++] = options->argv[0];
	for (uint32_t i = 0; i < words->count; i++)
		argv[argc++] = words->at[i];
	for (int i = 1; i < end; i++)
		argv[argc++] = options->argv[i];
	argv[argc++] = (char *)"--";
	result = eal_start(argc, argv, eal, error);
	free(argv);
	return result;
}

static int run_with_eal(struct lab_process *process, struct error *error)
{
	const struct real_fabric_options options = fabric_options(process);
	unsigned loops = count_loops(process);
	const struct eal_options eal = {
		.prefix = process->lab.plan->process[process->number].prefix,
		.lcores = loops,
		.memory_mib = real_fabric_memory_mib(&options),
		.files = FILES_OF_A_PORT * process->lab.plan->process[process->number].ports +
			 REAL_FILES_OF_EDGE * process->lab.config->run.edges.count +
			 FILES_OF_A_LOOP * loops + FILES_OF_PROGRAMS,
		.pci = process->pci,
	};
	int result;

	lab_warn_without_key(&process->lab, process->options->program, stderr);
	limit_cores(process->lab.config->cores);
	if (precedes(process))
		poll_yield_precede(loops);
	result = start_eal(process, &eal, error);
	if (result < 0)
		return result;
	result = process->options->calibrates ? calibrate(process, error) : run(process, error);
	real_fabric_end(process->fabric);
	eal_stop();
	return result;
}

enum weft_exit lab_process_main(const struct lab_process_options *options)
{
	struct lab_process process = {.options = options};
	struct error error;
	int result;

	process.stop = program_catch_signals();
	result = open_lab(&process, &error);
	if (result == 0)
		result = run_with_eal(&process, &error);
	lab_cables_free(&process.cables);
	free(process.switch_here);
	free(process.host_here);
	free(process.external);
	free(process.vlan);
	lab_security_wipe(&process.security);
	lab_close(&process.lab);
	if (result == 0)
		return EXIT_DONE;
	fprintf(stderr, "%s: %s\n", options->program, error.text);
	return error_exit_code(result);
}
