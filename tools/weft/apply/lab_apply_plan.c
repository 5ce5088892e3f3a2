/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab apply: finds the differences between the lab and the file, and checks them. */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "lab/lab_query.h"
#include "lab/lab_snapshot.h"
#include "lab_apply.h"
#include "os/netns.h"
#include "traffic/traffic_pattern.h"

#define PLACE_MAX (TOPOLOGY_NAME_MAX + 8)

static bool has(const struct lab *lab, enum device_kind kind, uint32_t number)
{
	return number < lab_devices_numbers(lab->topology, kind) &&
	       !topology_device(lab->topology, kind, number)->absent;
}

static const char *process_of(const struct lab *lab, enum device_kind kind, uint32_t number)
{
	uint16_t process = kind == DEVICE_SWITCH ? lab->plan->switch_process[number]
						 : lab->plan->host_process[number];

	return process == LAB_NO_PROCESS ? "" : lab->plan->process[process].name;
}

/* Finds the same cable, with the same rate and delay, in 'lab'. Returns NULL if there is none. Both
 * labs use the same device numbers. */
static const struct topology_link *find_link(
	const struct lab *lab, const struct topology_link *link)
{
	const struct topology_link *other = topology_link_at(lab->topology, link->a);
	struct topology_port peer;

	if (other == NULL || !topology_peer(lab->topology, link->a, &peer) ||
		peer.kind != link->b.kind || peer.device != link->b.device ||
		peer.port != link->b.port || other->rate_bps != link->rate_bps ||
		other->delay_ps != link->delay_ps || other->given != link->given)
		return NULL;
	return other;
}

int lab_apply_find(struct lab_apply *apply, struct error *error)
{
	struct lab file;
	int result = lab_open(&file, apply->arguments->file, apply->arguments->run_dir, error);

	if (result == -ENOENT)
		lab_snapshot_expect_file(apply->arguments, error);
	if (result < 0)
		return result;
	snprintf(apply->dir, sizeof(apply->dir), "%s", file.plan->run_dir);
	lab_close(&file);
	if (lab_state_exists(apply->dir))
		return 0;
	return error_set(error, ESRCH, "no lab is up in %s; 'weft lab up %s' starts it", apply->dir,
		apply->arguments->file);
}

bool lab_apply_runs(const struct lab_apply *apply, const char *process)
{
	const struct lab_state *state = &apply->up.state;

	for (unsigned i = 0; i < state->processes; i++)
		if (strcmp(state->process[i].name, process) == 0)
			return lab_record_alive(&state->process[i]);
	return false;
}

/* Returns whether a running switch lacks ports, so that its process must be restarted. */
static bool lacks_ports(const struct lab_apply *apply, uint32_t number)
{
	const struct lab *to = &apply->up.lab;

	return has(to, DEVICE_SWITCH, number) && has(&apply->from, DEVICE_SWITCH, number) &&
	       to->topology->switch_at[number].ports >
		       apply->from.topology->switch_at[number].ports &&
	       lab_apply_runs(apply, process_of(to, DEVICE_SWITCH, number));
}

void lab_apply_find_restarts(struct lab_apply *apply)
{
	const struct lab *to = &apply->up.lab;

	for (uint32_t i = 0; i < to->topology->switches; i++)
		if (lacks_ports(apply, i))
			apply->restart[to->plan->switch_process[i]] = true;
}

/* --- checks --- */

static int check_numbers(const struct lab_apply *apply, struct error *error)
{
	static const char *const what[] = {[DEVICE_SWITCH] = "switches", [DEVICE_HOST] = "hosts"};
	const struct lab *to = &apply->up.lab;

	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		if (lab_devices_numbers(to->topology, kind) > apply->from.devices_max[kind])
			return error_set(error, EINVAL,
				"%s: including removed ones, lab %s would have %u %s, but its processes have room for %u; 'weft lab up --restart %s' applies the file",
				to->path, to->plan->lab, lab_devices_numbers(to->topology, kind),
				what[kind], apply->from.devices_max[kind], to->path);
	return 0;
}

static const struct run_config_edge *find_edge(const struct lab *lab, const char *host)
{
	const struct run_config_edge_list *edges = &lab->config->run.edges;

	for (uint32_t i = 0; i < edges->count; i++)
		if (strcmp(edges->at[i].host, host) == 0)
			return &edges->at[i];
	return NULL;
}

static bool same_edge(const struct run_config_edge *a, const struct run_config_edge *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a->tap, b->tap) == 0 && strcmp(a->netns, b->netns) == 0 &&
	       strcmp(a->address, b->address) == 0;
}

/* Edges cannot be added to a running process, which opens its edges at the start. */
static int check_edges(const struct lab_apply *apply, struct error *error)
{
	const struct lab *to = &apply->up.lab;

	for (uint32_t i = 0; i < to->topology->hosts; i++) {
		const char *host = to->topology->host_at[i].name;

		if (has(to, DEVICE_HOST, i) && has(&apply->from, DEVICE_HOST, i) &&
			!same_edge(find_edge(&apply->from, host), find_edge(to, host)))
			return error_set(error, EINVAL,
				"%s: edges: the edge of host %s cannot change while the lab is running; 'weft lab up "
				"--restart %s' applies the file",
				to->path, host, to->path);
	}
	return lab_up_check_edges(&apply->up, error);
}

static int look_for_interface(void *tap, struct error *error)
{
	return if_nametoindex(tap) != 0;
}

/* Checks whether a removed device can be added again. If its process runs other devices, the device
 * stays in the process without cables, unless the process was restarted since then. */
static int check_back(
	const struct lab_apply *apply, enum device_kind kind, uint32_t number, struct error *error)
{
	const struct lab *to = &apply->up.lab;
	const char *name = topology_device(to->topology, kind, number)->name;
	const struct run_config_edge *edge = find_edge(to, name);
	const struct lab_record *record = lab_record_of(to, &apply->up.state, name);
	struct lab_connection connection;
	json_t *there = json_object();
	bool same;
	int result = lab_connect(&connection, record, error);

	if (result == 0) {
		result = lab_ask_class(
			&connection, kind == DEVICE_HOST ? "nic" : "switch", there, error);
		lab_disconnect(&connection);
	}
	same = json_object_get(there, name) != NULL;
	json_decref(there);
	if (result < 0)
		return result;
	if (same && edge != NULL)
		same = netns_run(edge->netns[0] != '\0' ? edge->netns : NULL, look_for_interface,
			       (void *)(uintptr_t)edge->tap, NULL) > 0;
	return same ? 0
		    : error_set(error, EINVAL,
			      "%s: %s was removed from process %s and cannot be added to it again; use another name, or run 'weft lab up --restart %s'",
			      to->path, name, record->name, to->path);
}

static int check_all_back(const struct lab_apply *apply, struct error *error)
{
	const struct lab *to = &apply->up.lab;
	int result = 0;

	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < lab_devices_numbers(to->topology, kind) && result == 0;
			i++)
			if (has(to, kind, i) && !has(&apply->from, kind, i) &&
				lab_apply_runs(apply, process_of(to, kind, i)))
				result = check_back(apply, kind, i, error);
	return result;
}

/* A restart would interrupt the other devices of the process. */
static int check_restarts(const struct lab_apply *apply, struct error *error)
{
	const struct lab *to = &apply->up.lab;

	for (uint32_t i = 0; i < to->topology->switches; i++)
		if (lacks_ports(apply, i) &&
			to->plan->process[to->plan->switch_process[i]].devices > 1)
			return error_set(error, EINVAL,
				"%s: switch %s cannot have more than its %u ports because other devices share its process; "
				"'weft lab up --restart %s' applies the file",
				to->path, to->topology->switch_at[i].name,
				apply->from.topology->switch_at[i].ports, to->path);
	return 0;
}

/* Patterns that compute destinations from host numbers need consecutive numbers. */
static int check_traffic(const struct lab_apply *apply, struct error *error)
{
	const struct lab *to = &apply->up.lab;
	const struct run_config *run = &to->config->run;

	if (topology_present_hosts(to->topology) == to->topology->hosts)
		return 0;
	for (uint32_t i = 0; i < run->traffic.count; i++) {
		const struct run_config_traffic *entry = &run->traffic.at[i];
		const struct traffic_pattern *pattern = entry->pattern;

		if (pattern->pairs || ((pattern->keys & TRAFFIC_TO) != 0 && !pattern->anywhere &&
					      entry->value.share_ppm == 0))
			continue;
		return run_config_refuse(run, &entry->place, error,
			"pattern %s computes destinations from host numbers, in which removed hosts leave gaps; 'weft lab up --restart %s' applies the file",
			pattern->name, to->path);
	}
	return 0;
}

int lab_apply_check(const struct lab_apply *apply, struct error *error)
{
	static const char *const free_keys[] = {"topology", "edges", "groups", NULL};
	const struct lab *to = &apply->up.lab;
	int result = lab_check_changes(to, error);

	if (result == 0)
		result = lab_snapshot_check_but(to, free_keys, error);
	if (result == 0)
		result = check_numbers(apply, error);
	if (result == 0)
		result = lab_up_check_files(to, error);
	if (result == 0)
		result = check_restarts(apply, error);
	if (result == 0)
		result = check_all_back(apply, error);
	if (result == 0)
		result = check_traffic(apply, error);
	return result == 0 ? check_edges(apply, error) : result;
}

/* --- printing --- */

static unsigned print_devices(
	const char *what, const struct lab *lab, const struct lab *other, FILE *out)
{
	unsigned count = 0;

	for (enum device_kind kind = DEVICE_SWITCH; kind <= DEVICE_HOST; kind++)
		for (uint32_t i = 0; i < lab_devices_numbers(lab->topology, kind); i++)
			if (has(lab, kind, i) && !has(other, kind, i)) {
				fprintf(out, "%-8s %s %s\n", what,
					kind == DEVICE_SWITCH ? "switch" : "host",
					topology_device(lab->topology, kind, i)->name);
				count++;
			}
	return count;
}

static unsigned print_cables(
	const char *what, const struct lab *lab, const struct lab *other, FILE *out)
{
	char a[PLACE_MAX], b[PLACE_MAX];
	unsigned count = 0;

	for (uint32_t i = 0; i < lab->topology->links; i++) {
		const struct topology_link *link = &lab->topology->link_at[i];

		if (find_link(other, link) != NULL)
			continue;
		topology_port_name(lab->topology, link->a, a, sizeof(a));
		topology_port_name(lab->topology, link->b, b, sizeof(b));
		fprintf(out, "%-8s %s - %s\n", what, a, b);
		count++;
	}
	return count;
}

void lab_apply_print(const struct lab_apply *apply, FILE *out)
{
	const struct lab *to = &apply->up.lab, *from = &apply->from;
	unsigned changes = print_devices("remove", from, to, out);

	changes += print_devices("add", to, from, out);
	changes += print_cables("unplug", from, to, out);
	changes += print_cables("plug", to, from, out);
	for (uint32_t i = 0; i < to->topology->switches; i++)
		if (lacks_ports(apply, i)) {
			fprintf(out, "restart  switch %s, which gets %u ports instead of %u\n",
				to->topology->switch_at[i].name, to->topology->switch_at[i].ports,
				from->topology->switch_at[i].ports);
			changes++;
		}
	for (unsigned i = 0; i < to->plan->processes; i++)
		if (apply->up.ended[i] && !apply->restart[i])
			fprintf(out, "start    %s of %s\n",
				lab_role_program(to->plan->process[i].role),
				to->plan->process[i].name);
	if (changes == 0)
		fprintf(out, "lab %s has the devices and cables of the file\n", to->plan->lab);
}
