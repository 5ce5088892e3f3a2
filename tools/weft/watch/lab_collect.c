/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lab/lab_mapping.h"
#include "lab/lab_spawn.h"
#include "link/link_end.h"
#include "metrics_text.h"
#include "topo/topology_hosts.h"

/* How long other processes are still queried after one did not answer in time (lab_query.c). */
#define PATIENCE_MS 4000u

/* --- asking --- */

static int add_links(struct lab_connection *connection, json_t *into, struct error *error)
{
	json_t *links = lab_ask_links(connection, error);

	if (links == NULL)
		return -EPROTO;
	json_array_extend(into, links);
	json_decref(links);
	return 0;
}

/* Loops only have numbers, so the name of the process precedes them: "s0/0". */
static int add_loops(struct lab_connection *connection, const struct lab_record *record,
	json_t *into, struct error *error)
{
	json_t *loops = json_object(), *counters;
	char name[sizeof(record->name) + 16];
	const char *number;
	int result = lab_ask_class(connection, "loop", loops, error);

	json_object_foreach(loops, number, counters) {
		snprintf(name, sizeof(name), "%s/%s", record->name, number);
		json_object_set(into, name, counters);
	}
	json_decref(loops);
	return result;
}

static int add_process(
	const struct lab_record *record, const char *dir, json_t *into, struct error *error)
{
	static const char *const classes[][2] = {{"switch", "switches"}, {"nic", "nics"},
		{"port", "ports"}, {"congestion", "congestion"}};
	json_t *mapping = json_object_get(into, "mapping");
	struct lab_connection connection;
	int result = lab_connect(&connection, record, error);

	if (result < 0)
		return result;
	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]) && result == 0; i++)
		result = lab_ask_class(
			&connection, classes[i][0], json_object_get(into, classes[i][1]), error);
	if (result == 0)
		result = add_links(&connection, json_object_get(into, "links"), error);
	if (result == 0)
		result = lab_clocks_add(into, &connection, error);
	if (result == 0)
		result = add_loops(&connection, record, json_object_get(into, "loops"), error);
	lab_disconnect(&connection);
	if (result == 0 && mapping != NULL)
		result = lab_mapping_add(mapping, record, dir, error);
	return result;
}

static json_t *begin(const struct lab *lab, const struct lab_state *state, bool pairs)
{
	json_t *all = json_pack("{s:s,s:s,s:i,s:b,s:[],s:{},s:{},s:{},s:{},s:{},s:[],s:o,s:o}",
		"lab", lab->plan->lab, "run_dir", state->dir, "dilation",
		(int)lab->config->run.dilation, "up", 1, "processes", "switches", "nics", "ports",
		"congestion", "loops", "links", "clocks_total", lab_clocks_create(), "elsewhere",
		lab_elsewhere(lab->plan, state));

	if (pairs)
		json_object_set_new(all, "clocks", json_array());

	if (lab->config->run.mapper.routes == RUN_ROUTES_MAPPER)
		json_object_set_new(all, "mapping", lab_mapping_create());
	return all;
}

static void add_record(json_t *all, const struct lab_record *record, const char *is,
	const char *fault, pid_t pid, uint64_t cpu_ns)
{
	json_array_append_new(json_object_get(all, "processes"),
		json_pack("{s:s,s:s,s:I,s:s,s:s,s:s,s:I}", "name", record->name, "program",
			record->program, "pid", (json_int_t)pid, "state", is, "prefix",
			record->prefix, "fault", fault, "cpu_ns", (json_int_t)cpu_ns));
}

static void collect_here(json_t *all, const struct lab_state *state)
{
	uint64_t until = lab_now_ms() + PATIENCE_MS;
	bool waited = false;

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		const char *is = "running";
		struct error error = {""};

		if (!lab_record_alive(record)) {
			is = "gone";
			if (lab_ending_in_log(record))
				lab_ending_describe(SIGKILL, true, error.text);
		} else if (waited && (lab_interrupted() || lab_now_ms() > until)) {
			is = "silent";
			error_set(&error, ETIMEDOUT,
				"not queried, because another process did not answer in time");
		} else if (add_process(record, state->dir, all, &error) < 0) {
			is = "silent";
			waited = true;
		}
		add_record(all, record, is, error.text, record->pid, lab_record_cpu_ns(record));
	}
}

/* --- other machines --- */

/* Adds the processes planned for the machine. 'part' NULL: the machine reported nothing. */
static void add_machine_processes(json_t *all, const struct lab_state *state,
	const struct lab_remote *remote, const json_t *part)
{
	json_t *list = json_object_get(all, "processes");

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		json_t *process = lab_row(json_object_get(part, "processes"), "name", record->name);

		if (record->remote != remote)
			continue;
		if (process != NULL)
			json_array_append(list, process);
		else
			add_record(all, record, part == NULL ? "unreachable" : "gone",
				part == NULL ? remote->why : "", 0, 0);
		json_object_set_new(json_array_get(list, json_array_size(list) - 1), "machine",
			json_string(remote->target.name));
	}
}

static void merge(json_t *all, const json_t *part)
{
	static const char *const objects[] = {"switches", "nics", "ports", "congestion", "loops"};
	static const char *const lists[] = {"mappers", "agents"};
	json_t *mapping = json_object_get(all, "mapping"), *theirs;

	for (unsigned i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		json_object_update(
			json_object_get(all, objects[i]), json_object_get(part, objects[i]));
	json_array_extend(json_object_get(all, "links"), json_object_get(part, "links"));
	lab_clocks_merge(all, part);
	theirs = json_object_get(part, "mapping");
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		json_array_extend(
			json_object_get(mapping, lists[i]), json_object_get(theirs, lists[i]));
}

/* All machines are queried at the same time. */
static void collect_there(json_t *all, const struct lab_state *state)
{
	struct error ignored;

	for (unsigned i = 0; i < state->remotes; i++)
		if (!lab_remote_is_broken(&state->remote[i]))
			lab_remote_send(&state->remote[i],
				json_pack("{s:s,s:b}", "op", "collect", "clocks",
					json_object_get(all, "clocks") != NULL),
				&ignored);
	for (unsigned i = 0; i < state->remotes; i++) {
		struct lab_remote *remote = &state->remote[i];
		json_t *part =
			lab_remote_is_broken(remote)
				? NULL
				: lab_remote_receive(remote, LAB_REMOTE_CALL_MS, NULL, &ignored);

		add_machine_processes(all, state, remote, part);
		merge(all, part);
		json_decref(part);
	}
}

/* --- checks --- */

/* Checks whether routes are in use everywhere, and adds the answer to the document. */
static bool check_mapping(const struct lab *lab, const struct lab_state *state, json_t *all)
{
	json_t *mapping = json_object_get(all, "mapping");
	struct error why = {""};
	struct lab_lead lead;
	json_t *leader;
	bool done;

	if (mapping == NULL)
		return true;
	lead = lab_mapping_lead(mapping, json_object_get(all, "elsewhere"));
	done = lab_mapping_done(mapping, state->processes == lab->plan->processes,
		       topology_plane_count(lab->topology), &why) &&
	       lab_lead_lives(&lead, &why);
	/* the leading mapper, even if it is on another machine */
	json_object_set_new(
		mapping, "mapper", lead.host != NULL ? json_string(lead.host) : json_null());
	json_object_set_new(mapping, "mapper_elsewhere", json_boolean(lead.elsewhere));
	json_object_set_new(mapping, "mapper_silent", json_boolean(lead.silent));
	json_object_set_new(mapping, "mapper_epoch",
		lead.host != NULL ? json_integer(lead.epoch) : json_null());
	json_object_set_new(mapping, "mapper_heard_ns",
		lead.elsewhere ? json_integer(lead.heard_ns) : json_null());
	leader = lab_mapping_leader(mapping);
	json_object_set_new(mapping, "done", json_boolean(done));
	json_object_set_new(mapping, "why", json_string(done ? "" : why.text));
	json_object_set_new(mapping, "leader",
		leader != NULL ? json_incref(json_object_get(leader, "host")) : json_null());
	return done;
}

/* Removes latencies that nothing measured, because all frames carried programs' packets or came
 * from hosts with unknown clocks. */
static void forget_latencies(json_t *all)
{
	static const char *const names[] = {"network_latency_p50_ns", "network_latency_p99_ns"};
	const char *host;
	json_t *counters;

	json_object_foreach(json_object_get(all, "nics"), host, counters) {
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (json_count_of(counters, names[i]) == 0)
				json_object_set_new(counters, names[i], json_null());
	}
}

unsigned lab_count_not(const json_t *list, const char *wanted)
{
	unsigned count = 0;
	json_t *entry;

	for (size_t i = 0; (entry = json_array_get(list, i)) != NULL; i++) {
		count += strcmp(lab_text(entry, "state"), wanted) != 0;
	}
	return count;
}

/* Returns the program packets lost at the edge; null: the host's process does not answer. */
static json_t *edge_drops(const json_t *nic)
{
	json_t *value;
	const char *name;
	json_int_t sum = 0;

	if (nic == NULL)
		return json_null();
	json_object_foreach((json_t *)nic, name, value) {
		const struct counter_info *info = counter_info_find(name);

		if (strncmp(name, "tap_drop_", 9) == 0 && info != NULL && info->good_is_zero)
			sum += json_integer_value(value);
	}
	return json_integer(sum);
}

static json_t *list_edges(const struct lab *lab, const json_t *all)
{
	const struct run_config_edge_list *edges = &lab->config->run.edges;
	json_t *list = json_array();

	for (uint32_t i = 0; i < edges->count; i++) {
		const struct run_config_edge *edge = &edges->at[i];
		const json_t *nic = json_object_get(json_object_get(all, "nics"), edge->host);

		json_array_append_new(list,
			json_pack("{s:s,s:s,s:s?,s:s?,s:o}", "host", edge->host, "interface",
				edge->tap, "namespace", edge->netns[0] != '\0' ? edge->netns : NULL,
				"address", edge->address[0] != '\0' ? edge->address : NULL, "drops",
				edge_drops(nic)));
	}
	return list;
}

static void forget_device(json_t *all, const char *name)
{
	static const char *const classes[] = {"switches", "nics", "congestion"};
	json_t *ports = json_object_get(all, "ports"), *counters;
	size_t length = strlen(name);
	const char *port;
	void *next;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		json_object_del(json_object_get(all, classes[i]), name);
	json_object_foreach_safe(ports, next, port, counters)
	{
		if (strncmp(port, name, length) == 0 && port[length] == ':')
			json_object_del(ports, port);
	}
}

/* Removes devices that 'weft lab apply' removed from a process that keeps running. */
static void forget_absent(const struct lab *lab, json_t *all)
{
	const struct topology *topology = lab->topology;

	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].absent)
			forget_device(all, topology->switch_at[i].name);
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (topology->host_at[i].absent)
			forget_device(all, topology->host_at[i].name);
}

json_t *lab_collect_raw(const struct lab *lab, const struct lab_state *state)
{
	json_t *all = begin(lab, state, false);

	collect_here(all, state);
	return all;
}

static uint64_t sum_refused(const json_t *all)
{
	json_t *nics = json_object_get(all, "nics"), *nic;
	const char *host;
	uint64_t refused = 0;

	json_object_foreach(nics, host, nic)
		refused += json_count_of(nic, "messages_unreachable") +
			   json_count_of(nic, "messages_silent");
	return refused;
}

/* Returns true if the link went down without a command while the process at its other end kept
 * running. */
static bool fell(const struct lab *lab, const struct lab_state *state, const json_t *link)
{
	const char *peer = lab_text(link, "peer");
	char device[TOPOLOGY_NAME_MAX];
	const struct lab_record *record;

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(peer, ":"), peer);
	record = lab_record_of(lab, state, device);
	if (record != NULL && record->remote == NULL &&
		(record->restarts > 0 || !lab_record_alive(record)))
		return false;
	return json_count_of(link, "link_downs") > json_count_of(link, "link_downs_ordered");
}

/* Returns true if links went down without a command, or messages were refused. If a cable was ever
 * cut, refused messages do not count, because the cut may be the cause. */
static bool suffers(const struct lab *lab, const struct lab_state *state, const json_t *all)
{
	bool cut = false;
	json_t *link;

	for (size_t i = 0; (link = json_array_get(json_object_get(all, "links"), i)) != NULL; i++) {
		uint64_t ordered = json_count_of(link, "link_downs_ordered");

		if (fell(lab, state, link))
			return true;
		cut = cut || ordered > 0 || strcmp(lab_text(link, "state"), "cut") == 0;
	}
	return !cut && sum_refused(all) > 0;
}

/* Returns a text such as "s3's loop stalled for 410 ms" if a loop stalled for more than three
 * hellos and, for a reason other than a cable that a command cut, links went down or messages were
 * refused; otherwise "". 'all': a document of lab_collect(). The caller's reference. */
static json_t *lab_starved(const struct lab *lab, const struct lab_state *state, const json_t *all)
{
	json_t *loops = json_object_get(all, "loops"), *loop;
	const char *name, *who = "";
	uint64_t stall_ns = 0;

	/* A loop's name is PROCESS/NUMBER. */
	json_object_foreach(loops, name, loop) {
		if (json_count_of(loop, "loop_stall_ns") <= stall_ns)
			continue;
		stall_ns = json_count_of(loop, "loop_stall_ns");
		who = name;
	}
	if (stall_ns <= LINK_HELLOS_MISSED * lab->config->run.hello_ps / PS_PER_NS ||
		!suffers(lab, state, all))
		return json_string("");
	return json_sprintf("%.*s's loop stalled for %.0f ms", (int)strcspn(who, "/"), who,
		(double)stall_ns / 1e6);
}

json_t *lab_collect(const struct lab *lab, const struct lab_state *state, bool pairs)
{
	json_t *all = begin(lab, state, pairs);
	bool up;

	if (state->remotes > 0)
		collect_there(all, state);
	else
		collect_here(all, state);
	forget_absent(lab, all);
	lab_cleared_subtract(lab, state, all);
	up = check_mapping(lab, state, all);
	up &= lab_count_not(json_object_get(all, "processes"), "running") == 0;
	up &= lab_count_not(json_object_get(all, "links"), "up") == 0;
	json_object_set_new(all, "up", json_boolean(up));
	forget_latencies(all);
	json_object_set_new(all, "edges", list_edges(lab, all));
	json_object_set_new(all, "starved", lab_starved(lab, state, all));
	return all;
}

/* --- lab starved --- */
