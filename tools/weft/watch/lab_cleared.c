/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lab/cmd_lab.h"
#include "lab/lab_query.h"
#include "lab_collect.h"
#include "metrics_text.h"
#include "os/atomic_file.h"

static const char *const classes[] = {"switches", "nics", "ports", "congestion", "loops"};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

static void file_path(const char *dir, char path[300])
{
	snprintf(path, 300, "%s/" LAB_CLEARED_FILE, dir);
}

static json_t *by_port(const json_t *links)
{
	json_t *ports = json_object(), *link;

	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		json_object_set(ports, lab_text(link, "port"), link);
	}
	return ports;
}

/* Returns true if the device's process has not been restarted since 'clear'; a new process counts
 * from 0. 'name' is or starts with a device name. */
static bool still_runs(const struct lab *lab, const struct lab_state *state, const json_t *cleared,
	const char *name)
{
	char device[TOPOLOGY_NAME_MAX];
	const struct lab_record *record;

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(name, ":/"), name);
	record = lab_record_of(lab, state, device);
	return record != NULL &&
	       json_integer_value(json_object_get(json_object_get(cleared, "processes"),
		       record->name)) == (json_int_t)record->pid;
}

static void subtract_one(json_t *counters, const json_t *before)
{
	json_t *value;
	const char *name;

	json_object_foreach(counters, name, value) {
		const struct counter_info *info = counter_info_find(name);
		const json_t *old = json_object_get(before, name);

		if (info != NULL && !info->gauge && old != NULL && json_is_integer(value))
			json_integer_set(
				value, json_integer_value(value) - json_integer_value(old));
	}
}

static void subtract_all(const struct lab *lab, const struct lab_state *state, json_t *objects,
	const json_t *cleared, const char *class)
{
	json_t *counters;
	const char *name;

	json_object_foreach(objects, name, counters) {
		if (still_runs(lab, state, cleared, name))
			subtract_one(
				counters, json_object_get(json_object_get(cleared, class), name));
	}
}

void lab_cleared_subtract(const struct lab *lab, const struct lab_state *state, json_t *all)
{
	json_t *cleared, *links;
	char path[300];

	file_path(state->dir, path);
	cleared = json_load_file(path, 0, NULL);
	if (cleared == NULL)
		return;
	for (unsigned i = 0; i < CLASSES; i++)
		subtract_all(lab, state, json_object_get(all, classes[i]), cleared, classes[i]);
	links = by_port(json_object_get(all, "links"));
	subtract_all(lab, state, links, cleared, "links");
	json_decref(links);
	json_decref(cleared);
}

/* Writes 'all', a document of lab_collect_raw(). Returns 0, or -errno with error set. */
static int lab_cleared_write(const struct lab_state *state, const json_t *all, struct error *error)
{
	json_t *cleared = json_object(), *pids = json_object();
	char path[300];
	struct atomic_file file = {.path = path};
	int result;

	for (unsigned i = 0; i < CLASSES; i++)
		json_object_set(cleared, classes[i], json_object_get(all, classes[i]));
	json_object_set_new(cleared, "links", by_port(json_object_get(all, "links")));
	for (unsigned i = 0; i < state->processes; i++)
		json_object_set_new(
			pids, state->process[i].name, json_integer(state->process[i].pid));
	json_object_set_new(cleared, "processes", pids);
	file_path(state->dir, path);
	result = atomic_file_open(&file, error);
	if (result == 0) {
		json_dumpf(cleared, file.file, JSON_COMPACT);
		result = atomic_file_close(&file, error);
	}
	json_decref(cleared);
	return result;
}

/* weft lab clear */

#define COMMAND "lab clear"

static enum weft_exit clear(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	struct error error;
	json_t *all;
	unsigned silent;
	int result = lab_expect_one_machine(lab, state, &error);

	if (result < 0)
		return command_error(COMMAND, result, &error);
	all = lab_collect_raw(lab, state);
	silent = lab_count_not(json_object_get(all, "processes"), "running");
	result = silent > 0 ? error_set(&error, ETIMEDOUT,
				      "%u process%s did not answer; no counters were reset", silent,
				      silent == 1 ? "" : "es")
			    : lab_cleared_write(state, all, &error);
	json_decref(all);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	printf("%s: counters reset to 0\n", lab->plan->lab);
	return EXIT_DONE;
}

enum weft_exit cmd_lab_clear(const struct lab_arguments *arguments)
{
	return lab_with_running(arguments, COMMAND, clear);
}

struct errors {
	json_t *grown, *stood;
};

static void add(struct errors *errors, const char *device, const char *name, json_int_t value,
	json_int_t before)
{
	const struct counter_info *info = counter_info_find(name);
	json_int_t grown = value > before ? value - before : 0;

	if (info == NULL || !info->good_is_zero || value == 0)
		return;
	json_array_append_new(grown > 0 ? errors->grown : errors->stood,
		json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "device", device, "counter", name, "unit",
			info->unit, "meaning", info->meaning, "value", value, "grown", grown));
}

static void add_class(
	struct errors *errors, const json_t *all, const json_t *before, const char *class)
{
	json_t *devices = json_object_get(all, class), *counters, *value;
	const char *device, *name;

	json_object_foreach(devices, device, counters) {
		const json_t *old = json_object_get(json_object_get(before, class), device);

		json_object_foreach(counters, name, value)
			add(errors, device, name, json_integer_value(value),
				json_integer_value(
					old != NULL ? json_object_get(old, name) : value));
	}
}

/* Most counters of a link are also counted by the switch port or the host interface. */
static bool is_counted(const json_t *all, const char *port, const char *name)
{
	char host[64] = "";
	const json_t *nics = json_object_get(all, "nics");

	strncat(host, port, strcspn(port, ":") < sizeof(host) ? strcspn(port, ":") : 0);
	return json_object_get(json_object_get(json_object_get(all, "ports"), port), name) !=
		       NULL ||
	       json_object_get(json_object_get(nics, host), name) != NULL ||
	       json_object_get(json_object_get(nics, port), name) != NULL;
}

static void add_links(struct errors *errors, const json_t *all, const json_t *before)
{
	json_t *link, *value;
	const char *name;

	for (size_t i = 0; (link = json_array_get(json_object_get(all, "links"), i)) != NULL; i++) {
		const char *port = lab_text(link, "port");
		const json_t *old = lab_row(json_object_get(before, "links"), "port", port);

		json_object_foreach(link, name, value) {
			if (is_counted(all, port, name))
				continue;
			add(errors, port, name, json_integer_value(value),
				json_integer_value(
					old != NULL ? json_object_get(old, name) : value));
		}
	}
}

json_t *lab_errors(const json_t *all, const json_t *before)
{
	static const char *const error_classes[] = {"nics", "ports", "congestion"};
	struct errors errors = {json_array(), json_array()};

	for (unsigned i = 0; i < sizeof(error_classes) / sizeof(error_classes[0]); i++)
		add_class(&errors, all, before, error_classes[i]);
	add_links(&errors, all, before);
	json_array_extend(errors.grown, errors.stood);
	json_decref(errors.stood);
	return errors.grown;
}
