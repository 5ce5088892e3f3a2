/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up: checks before anything is started. */

#include "lab_up.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "experiment/lab/lab_config.h"
#include "experiment/lab/lab_security.h"
#include "experiment/run/run_config.h"
#include "experiment/workload/run_hosts.h"
#include "lab_snapshot.h"
#include "lab_spawn.h"
#include "lab_state.h"
#include "mapper/mapper_frame.h"
#include "os/netns.h"
#include "os/private_dir.h"
#include "os/telemetry_client.h"
#include "route/formats/route_file.h"

static int check_privileges(const struct lab *lab, struct error *error)
{
	if (geteuid() == 0)
		return 0;
	if (lab->plan->veth)
		return error_set(error, EPERM, "%s: veth links require root", lab->path);
	if (lab->config->run.edges.count > 0)
		return error_set(error, EPERM, "%s: TAP edges require root", lab->path);
	return 0;
}

/* Checks path lengths: DPDK creates a socket in a folder named after the lab and the process. */
static int check_sockets(const struct lab_up *up, struct error *error)
{
	const struct lab *lab = &up->lab;
	struct sockaddr_un address;

	for (unsigned i = 0; i < lab->plan->processes; i++) {
		const struct lab_plan_process *process = &lab->plan->process[i];
		char dir[RUNTIME_DIR_MAX];
		size_t length, max = sizeof(address.sun_path) - 1;

		runtime_dir_path(process->prefix, dir);
		length = strlen(dir) + strlen(TELEMETRY_SOCKET);
		if (length > max && lab_up_wants(up, i))
			return error_set(error, EINVAL,
				"%s: device %s: the socket %s" TELEMETRY_SOCKET
				" has a path of %zu characters; at most %zu are allowed, so use shorter names for the lab and the device",
				lab->path, process->name, dir, length, max);
	}
	return 0;
}

/* Reports errors that every process would otherwise report in its own log. */
static int check_mapper_files(const struct lab *lab, struct error *error)
{
	const struct run_config_mapper *mapper = &lab->config->run.mapper;
	struct topology *expect;
	struct fabric_key key;
	int result;

	if (mapper->routes != RUN_ROUTES_MAPPER)
		return 0;
	result = mapper->key != NULL ? fabric_key_load(&key, mapper->key, error) : 0;
	fabric_key_wipe(&key);
	if (result < 0 || mapper->expect == NULL)
		return result;
	expect = topology_open(mapper->expect, error);
	topology_destroy(expect);
	return expect != NULL ? 0 : -EINVAL;
}

/* Likewise. */
static int check_security(const struct lab *lab, struct error *error)
{
	struct lab_security security;
	int result = lab_security_load(lab, &security, error);

	lab_security_wipe(&security);
	return result;
}

/* Likewise. */
static int check_route_file(const struct lab *lab, struct error *error)
{
	struct route_file file;
	int result;

	if (lab->config->run.routing.file == NULL)
		return 0;
	result = run_routes_load(&lab->config->run, lab->topology, &file, error);
	if (result == 0)
		route_file_close(&file);
	return result;
}

/* Checks the senders, the destinations and the hosts of edges. */
static int check_hosts(const struct lab *lab, struct error *error)
{
	struct run_hosts *hosts = run_config_resolve(&lab->config->run, lab->topology, error);

	run_hosts_destroy(hosts);
	return hosts != NULL ? 0 : -EINVAL;
}

static uint32_t mask_of(const char *address)
{
	unsigned long bits = strtoul(strchr(address, '/') + 1, NULL, 10);

	return bits == 0 ? 0 : UINT32_MAX << (32 - bits);
}

/* Refuses an edge whose address is in the interface's network, or vice versa. */
static int check_network(
	const struct run_config_edge *edge, const struct ifaddrs *other, struct error *error)
{
	char text[RUN_ADDRESS_MAX], theirs[INET_ADDRSTRLEN];
	const struct sockaddr_in *in = (const void *)other->ifa_addr;
	const struct sockaddr_in *in_mask = (const void *)other->ifa_netmask;
	struct in_addr own = {0};
	uint32_t mask;

	if (edge->address[0] == '\0' || in == NULL || in_mask == NULL || in->sin_family != AF_INET)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(edge->address, "/"), edge->address);
	inet_pton(AF_INET, text, &own);
	mask = mask_of(edge->address) & ntohl(in_mask->sin_addr.s_addr);
	if (((ntohl(own.s_addr) ^ ntohl(in->sin_addr.s_addr)) & mask) != 0)
		return 0;
	inet_ntop(AF_INET, &in->sin_addr, theirs, sizeof(theirs));
	return error_set(error, EINVAL,
		"address %s of host %s is in the network of interface %s (%s); use an unused "
		"network, or a 'namespace'",
		edge->address, edge->host, other->ifa_name, theirs);
}

/* Runs in the namespace of the edge. */
static int check_edge_there(void *ctx, struct error *error)
{
	const struct run_config_edge *edge = ctx;
	struct ifaddrs *all;
	int result = 0;

	if (if_nametoindex(edge->tap) != 0)
		return error_set(error, EINVAL, "host %s: interface '%s' already exists in %s%s",
			edge->host, edge->tap,
			edge->netns[0] != '\0' ? "namespace " : "this network namespace",
			edge->netns);
	if (getifaddrs(&all) != 0)
		return 0;
	for (const struct ifaddrs *one = all; one != NULL && result == 0; one = one->ifa_next)
		result = check_network(edge, one, error);
	freeifaddrs(all);
	return result;
}

bool lab_up_wants_edge(const struct lab_up *up, const struct run_config_edge *edge)
{
	int32_t host = topology_find_host(up->lab.topology, edge->host);

	return host >= 0 && lab_up_wants(up, up->lab.plan->host_process[host]);
}

int lab_up_check_edges(const struct lab_up *up, struct error *error)
{
	const struct run_config *run = &up->lab.config->run;
	int result = 0;

	for (uint32_t i = 0; i < run->edges.count && result == 0; i++) {
		struct run_config_edge *edge = &run->edges.at[i];
		const char *netns = edge->netns[0] != '\0' ? edge->netns : NULL;
		char path[sizeof(edge->netns) + 16];
		struct error why;

		if (!lab_up_wants_edge(up, edge))
			continue;
		for (uint32_t k = 0; k < i && result == 0; k++)
			if (lab_up_wants_edge(up, &run->edges.at[k]))
				result =
					run_config_check_edges(run, edge, &run->edges.at[k], error);
		snprintf(path, sizeof(path), "/run/netns/%s", edge->netns);
		/* A namespace that does not exist yet has no interfaces. */
		if (result < 0 || (netns == NULL ? up->lab.plan->veth : access(path, F_OK) != 0))
			continue;
		result = netns_run(netns, check_edge_there, edge, &why);
		if (result == -EINVAL)
			run_config_refuse(run, &edge->place, error, "%s", why.text);
		else if (result < 0)
			*error = why;
	}
	return result;
}

static int check_machine(const struct lab_up *up, struct error *error)
{
	const struct lab_arguments *arguments = up->arguments;

	if (arguments->machine == NULL)
		return arguments->alone ? error_set(error, EINVAL, "--alone: requires --machine")
					: 0;
	if (arguments->only_count > 0 && !arguments->again)
		return error_set(error, EINVAL, "--machine and --process cannot be combined");
	if (lab_machine_find(up->lab.config, arguments->machine) < 0)
		return error_set(error, EINVAL, "--machine %s: no such machine in %s",
			arguments->machine, up->lab.path);
	return 0;
}

static int check_only(const struct lab_up *up, struct error *error)
{
	for (unsigned i = 0; i < up->arguments->only_count; i++)
		if (lab_plan_find(up->lab.plan, up->arguments->only[i]) < 0)
			return error_set(error, EINVAL,
				"--process %s: no such switch or host in %s",
				up->arguments->only[i], up->lab.path);
	return 0;
}

int lab_up_check_files(const struct lab *lab, struct error *error)
{
	int result = check_security(lab, error);

	if (result == 0)
		result = check_route_file(lab, error);
	return result == 0 ? check_mapper_files(lab, error) : result;
}

int lab_up_check_request(const struct lab_up *up, struct error *error)
{
	int result = check_machine(up, error);

	if (result == 0)
		result = check_only(up, error);
	if (result == 0)
		result = check_hosts(&up->lab, error);
	if (result == 0)
		result = check_privileges(&up->lab, error);
	if (result == 0)
		result = check_sockets(up, error);
	return result == 0 ? lab_up_check_files(&up->lab, error) : result;
}

bool lab_up_wants(const struct lab_up *up, unsigned process)
{
	const char *machine = up->arguments->machine;
	const struct lab_config *config = up->lab.config;

	for (unsigned i = 0; i < up->arguments->only_count; i++)
		if (lab_plan_find(up->lab.plan, up->arguments->only[i]) == (int)process)
			return true;
	if (machine != NULL && lab_machine_of(config, up->lab.plan->process[process].name) !=
				       lab_machine_find(config, machine))
		return false;
	return up->arguments->only_count == 0 && (up->ended == NULL || up->ended[process]);
}

/* Returns the first process that is alive, or NULL. 'all': considers every process; otherwise only
 * those that --process does not name. */
static const struct lab_record *find_alive(
	const struct lab_up *up, const struct lab_state *former, bool all)
{
	for (unsigned i = 0; i < former->processes; i++) {
		const struct lab_record *record = &former->process[i];
		int number = lab_plan_find(up->lab.plan, record->name);

		if (lab_record_alive(record) &&
			(all || (number >= 0 && lab_up_wants(up, (unsigned)number))))
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

unsigned lab_up_server(const struct lab_plan_link *link)
{
	return link->process[0] < link->process[1] ? link->process[0] : link->process[1];
}

/* Refuses processes that could not reconnect. A memif client connects only once, and a server may
 * have died with its client or may hang, because net_memif unmaps a dead peer's memory during
 * use. */
static int check_comes_back(
	const struct lab_up *up, const struct lab_state *former, struct error *error)
{
	const struct lab_plan *plan = up->lab.plan;

	for (uint32_t i = 0; i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];

		for (unsigned side = 0; side < 2 && link->kind == LAB_LINK_MEMIF; side++) {
			const char *other = plan->process[link->process[1 - side]].name;

			if (lab_up_wants(up, link->process[side]) && runs(former, other))
				return error_set(error, EINVAL,
					"cannot restart only %s: its memif links to %s, which is running, would not survive; restart the whole lab, or use 'links: shared'",
					plan->process[link->process[side]].name, other);
		}
	}
	return 0;
}

/* Without --process, if some processes of the lab are running: selects the processes on this
 * machine that are not running. */
static int choose_ended(struct lab_up *up, const struct lab_state *former, struct error *error)
{
	unsigned alive = lab_state_count_alive(former);

	if (up->arguments->only_count > 0 || alive == 0 || alive == former->processes)
		return 0;
	up->ended = calloc(up->lab.plan->processes, sizeof(*up->ended));
	if (up->ended == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < former->processes; i++) {
		int number = lab_plan_find(up->lab.plan, former->process[i].name);

		if (number >= 0)
			up->ended[number] = !lab_record_alive(&former->process[i]);
	}
	return 0;
}

/* Checks a lab of which some processes are running. */
static int check_rest(struct lab_up *up, const struct lab_state *former, struct error *error)
{
	const struct lab_record *alive = find_alive(up, former, false);
	char source[PATH_MAX];

	up->nothing = alive != NULL && up->arguments->alone;
	if (up->nothing)
		return 0;
	if (alive == NULL)
		return check_comes_back(up, former, error);
	lab_snapshot_source(former->dir, source, sizeof(source));
	return error_set(error, EINVAL,
		"lab %s is already up (%s is process %ld)%s%s; 'weft lab down %s' ends it",
		up->lab.plan->lab, alive->name, (long)alive->pid,
		source[0] != '\0' ? ", started from " : "", source, up->lab.plan->lab);
}

/* Returns the records of the wanted processes; 'former' still owns what they point to. */
static struct lab_state choose_wanted(const struct lab_up *up, const struct lab_state *former)
{
	struct lab_state wanted = {
		.process = calloc(former->processes + 1u, sizeof(*wanted.process))};

	for (unsigned i = 0; i < former->processes && wanted.process != NULL; i++) {
		int number = lab_plan_find(up->lab.plan, former->process[i].name);

		if (number >= 0 && lab_up_wants(up, (unsigned)number))
			wanted.process[wanted.processes++] = former->process[i];
	}
	return wanted;
}

/* Adds the namespaces that the process created to the lab's state. */
static void keep_namespaces(
	const struct lab_up *up, const struct lab_record *record, struct lab_state *former)
{
	const struct run_config_edge_list *edges = &up->lab.config->run.edges;
	char dir[RUNTIME_DIR_MAX];

	runtime_dir_path(record->prefix, dir);
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->at[i].netns[0] != '\0' &&
			runtime_dir_keep_netns(dir, edges->at[i].netns))
			lab_state_add_netns(former, edges->at[i].netns);
	lab_state_save(former, NULL);
}

/* Keeps the TAPs of the processes, which must then be killed, because they would remove the TAPs'
 * namespaces if they ended normally. */
static void keep_taps(struct lab_up *up, const struct lab_state *wanted, struct lab_state *former)
{
	struct error why;

	for (unsigned i = 0; i < wanted->processes; i++) {
		const struct lab_record *record = &wanted->process[i];
		int process = lab_plan_find(up->lab.plan, record->name), taps;

		if (!lab_record_alive(record))
			continue;
		taps = held_taps_take(&up->taps, (unsigned)process, record->pid, &why);
		if (taps > 0) {
			keep_namespaces(up, record, former);
			kill(record->pid, SIGKILL);
		} else if (taps < 0) {
			fprintf(stderr, "weft lab restart: warning: %s: %s\n", record->name,
				why.text);
		}
	}
}

int lab_up_end_wanted(struct lab_up *up, struct error *error)
{
	struct lab_state former, wanted;
	int result = lab_state_load(&former, up->lab.plan->run_dir, error);

	if (result == -ENOENT)
		return error_set(error, ENOENT, "lab %s is not up", up->lab.plan->lab);
	if (result < 0)
		return result;
	result = former.starting ? error_set(error, ENOENT, "lab %s is not up", up->lab.plan->lab)
				 : check_comes_back(up, &former, error);
	wanted = choose_wanted(up, &former);
	if (result == 0) {
		keep_taps(up, &wanted, &former);
		lab_end_processes(&wanted, LAB_END_MS);
	}
	free(wanted.process);
	lab_state_free(&former);
	return result;
}

int lab_up_check_not_up(struct lab_up *up, struct error *error)
{
	struct lab_state former;
	int result = lab_state_load(&former, up->lab.plan->run_dir, error);

	if (result == -ENOENT) {
		lab_state_remove_empty(up->lab.plan->run_dir);
		return 0;
	}
	if (result < 0)
		return result;
	result = former.starting ? 0 : choose_ended(up, &former, error);
	up->again = result == 0 && !former.starting &&
		    (up->arguments->again || find_alive(up, &former, true) != NULL);
	if (up->again)
		result = check_rest(up, &former, error);
	if (result < 0) {
		lab_state_free(&former);
		return result;
	}
	if (up->again) {
		up->state = former;
		return 0;
	}
	fprintf(stderr, "weft lab up: removing what an earlier lab left in %s\n", former.dir);
	result = lab_take_down(&former, error);
	return result < 0 ? result : 0;
}
