/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Changes made to a lab since it came up that are not in its file. They are included in the
 * result of a run. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmd_lab.h"
#include "experiment/run/run_events.h"
#include "experiment/workload/run_hosts.h"
#include "experiment/workload/run_source.h"
#include "lab_links.h"
#include "lab_run_reports.h"

#define SHOWN_MAX 8

json_t *lab_run_links(struct lab_run *run)
{
	json_t *ends = json_object(), *link;
	struct error ignored;

	for (unsigned i = 0; i < run->state.processes; i++) {
		json_t *links = lab_run_lost(run, i)
					? NULL
					: lab_ask_links(&run->asked[i].connection, &ignored);

		if (links == NULL)
			json_object_set_new(ends, run->state.process[i].name, json_null());
		for (size_t index = 0; (link = json_array_get(links, index)) != NULL; index++) {
			json_object_set(ends, lab_text(link, "port"), link);
		}
		json_decref(links);
	}
	return ends;
}

/* Fills in the values of the knobs in the lab file. */
static void planned(const struct lab *lab, const char *port, uint64_t value[LINK_KNOB_COUNT])
{
	const struct topology_link *link = NULL;
	struct topology_port at;

	memset(value, 0, LINK_KNOB_COUNT * sizeof(*value));
	if (topology_find_port(lab->topology, port, &at) == 0)
		link = topology_link_at(lab->topology, at);
	if (link != NULL)
		lab_links_planned(lab, (uint32_t)(link - lab->topology->link_at), value);
}

static bool differs(const json_t *link, const uint64_t value[LINK_KNOB_COUNT])
{
	for (unsigned i = 0; link != NULL && i < LINK_KNOB_COUNT; i++)
		if (lab_links_knob(link, i) != value[i])
			return true;
	return false;
}

static json_t *describe_set(
	const struct lab *lab, const char *port, const json_t *before, const json_t *now)
{
	uint64_t value[LINK_KNOB_COUNT], start[LINK_KNOB_COUNT];
	json_t *entry;

	planned(lab, port, value);
	if (!differs(before, value) && !differs(now, value))
		return NULL;
	entry = json_pack("{s:s}", "port", port);
	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++) {
		const char *gauge = lab_links_gauge(i);

		start[i] = lab_links_knob(before, i);
		json_object_set(entry, gauge, json_object_get(now, gauge));
	}
	/* A rate of 0 means as fast as the device. */
	if (lab_links_knob(now, LINK_KNOB_RATE) == 0)
		json_object_set_new(entry, lab_links_gauge(LINK_KNOB_RATE), json_null());
	json_object_set_new(
		entry, "during_run", json_boolean(before != NULL && differs(now, start)));
	return entry;
}

static bool is_cut(const json_t *link)
{
	return strcmp(lab_text(link, "state"), "cut") == 0;
}

/* Returns null if a machine does not answer. */
static json_t *list_restarts(const struct lab_state *state)
{
	json_t *list;

	for (unsigned i = 0; i < state->remotes; i++)
		if (lab_remote_is_broken(&state->remote[i]))
			return json_null();
	list = json_array();
	for (unsigned i = 0; i < state->processes; i++)
		if (state->process[i].restarts > 0)
			json_array_append_new(
				list, json_pack("{s:s,s:i}", "process", state->process[i].name,
					      "times", (int)state->process[i].restarts));
	return list;
}

json_t *lab_run_changes(
	const struct lab *lab, const struct lab_state *state, const json_t *before, json_t *now)
{
	json_t *set = json_array(), *cut = json_array(), *unknown = json_array(), *link, *entry;
	const char *port;

	json_object_foreach(now, port, link) {
		const json_t *former = json_object_get(before, port);

		if (json_is_null(link)) {
			json_array_append_new(unknown, json_string(port));
			continue;
		}
		entry = describe_set(lab, port, former, link);
		if (entry != NULL)
			json_array_append_new(set, entry);
		if (is_cut(link) || is_cut(former) ||
			json_count_of(link, "link_downs_ordered") >
				json_count_of(former, "link_downs_ordered"))
			json_array_append_new(
				cut, json_pack("{s:s,s:b,s:b}", "port", port, "at_start",
					     is_cut(former), "at_end", is_cut(link)));
	}
	return json_pack("{s:o,s:o,s:o,s:o}", "links_set", set, "cables_cut", cut, "restarts",
		list_restarts(state), "unknown", unknown);
}

static void print_set(const json_t *entry, FILE *out)
{
	fprintf(out, "%s", lab_text(entry, "port"));
	lab_links_print_knobs(entry, out);
}

void lab_run_changes_print(const json_t *changes, FILE *out)
{
	static const struct {
		const char *list, *title;
	} kinds[] = {{"links_set", "links set"}, {"cables_cut", "cables cut"},
		{"restarts", "restarted"}, {"unknown", "changes unknown for"}};

	for (unsigned kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		json_t *list = json_object_get(changes, kinds[kind].list), *entry;
		size_t index, count = json_array_size(list);

		json_array_foreach(list, index, entry)
		{
			if (index == SHOWN_MAX)
				break;
			if (index == 0)
				fprintf(out, "  %-22s ", kinds[kind].title);
			else
				fputs(", ", out);
			if (kind == 0)
				print_set(entry, out);
			else if (kind == 1)
				fprintf(out, "%s%s", lab_text(entry, "port"),
					json_flag_of(entry, "at_end") ? "" : " (joined again)");
			else if (kind == 3)
				fputs(json_string_value(entry), out);
			else
				fprintf(out, "%s (%" PRIu64 ")", lab_text(entry, "process"),
					json_count_of(entry, "times"));
		}
		if (count > SHOWN_MAX)
			fprintf(out, " and %zu more", count - SHOWN_MAX);
		if (count > 0)
			fputc('\n', out);
	}
}

/* Checks a key that a run may set. Keys of the fabric keep their values from the lab's start. */
static int check_key(const struct lab *lab, const char *set, struct error *error)
{
	static const char *const keys[] = {"traffic", "events", "measure", "fidelity", "seed"};
	size_t length = strcspn(set, ".[=");

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i]) == length && strncmp(keys[i], set, length) == 0)
			return 0;
	return error_set(error, EINVAL,
		"--set %s: '%.*s' cannot change while lab %s is up; a run can only change seed "
		"and keys of traffic, events, measure and fidelity. Use 'weft lab set' for "
		"cables, and 'weft lab up --restart' for the rest of the lab file",
		set, (int)strcspn(set, "="), set, lab->plan->lab);
}

/* Checks that the numbers of entries (and their counters) and schedules are the same as at the
 * lab's start. */
static int check_shape(const struct lab *lab, const struct run_config *run, struct error *error)
{
	uint32_t count = lab->config->run.traffic.count;

	if (run->traffic.count != count)
		return error_set(error, EINVAL,
			"--set: there are %u traffic entries, but the lab has %u",
			run->traffic.count, count);
	if (run_config_has_schedule(run) || run_config_has_schedule(&lab->config->run))
		return error_set(error, EINVAL,
			"--set: a schedule (pattern: goal) cannot be changed while the lab is up");
	return 0;
}

static int check_traffic(const struct lab *lab, const struct run_config *run, struct error *error)
{
	struct run_hosts *hosts = run_config_resolve(run, lab->topology, error);
	int result = hosts != NULL ? run_source_check(run, hosts, error) : -EINVAL;

	run_hosts_destroy(hosts);
	return result;
}

static void take(struct run_config *into, struct run_config *from)
{
	const struct run_config_traffic_list former = into->traffic;

	into->traffic = from->traffic;
	from->traffic = former;
	const struct run_event_list events = into->events;

	into->events = from->events;
	from->events = events;
	into->measure = from->measure;
	into->fidelity = from->fidelity;
	into->seed = from->seed;
}

static int write_file(const struct lab *lab, struct error *error)
{
	char path[PATH_MAX];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/" LAB_RUN_FILE, lab->plan->run_dir);
	file = fopen(path, "we");
	if (file == NULL)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	good = run_config_explain(&lab->config->run, file) == 0;
	good = fclose(file) == 0 && good;
	return good ? 0 : error_set(error, EIO, "%s: cannot be written: %s", path, strerror(errno));
}

int lab_run_set(struct lab *lab, const char *const *set, unsigned sets, struct error *error)
{
	struct lab_config *config;
	int result = 0;

	for (unsigned i = 0; i < sets && result == 0; i++)
		result = check_key(lab, set[i], error);
	if (result < 0)
		return result;
	config = lab_config_load(lab->path, set, sets, error);
	if (config == NULL)
		return -errno;
	result = lab_config_supported(config, error);
	if (result == 0)
		result = lab_check_until(lab, &config->run.measure, error);
	if (result == 0)
		result = check_shape(lab, &config->run, error);
	if (result == 0)
		result = run_config_name_edges(&config->run, lab->topology, lab->plan->lab, error);
	if (result == 0)
		result = check_traffic(lab, &config->run, error);
	if (result == 0)
		result = run_events_check(&config->run, lab->topology, error);
	if (result == 0) {
		take(&lab->config->run, &config->run);
		result = write_file(lab, error);
	}
	lab_config_destroy(config);
	return result;
}
