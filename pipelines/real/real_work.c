/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_config.h"
#include "run_source.h"

int real_work_open(struct real_fabric *fabric, struct real_work *work, const struct run_config *run,
	struct fault *fault)
{
	work->run = run;
	measure_window_open(&work->window, fabric->options.topology, 0);
	work->hosts = run_config_resolve(run, fabric->options.topology, fault);
	if (work->hosts == NULL)
		return -EINVAL;
	work->window.stream = fabric->options.stream;
	/* The result of a lab has no links. */
	if (fabric->options.clock == NULL &&
		measure_links_open(&work->window.links, fabric->options.topology, run,
			real_link_read, fabric) < 0)
		return fault_set(fault, ENOMEM, "no memory for measurements");
	if (measure_window_add_entries(
		    &work->window, fabric->options.topology, run, work->hosts, fabric->goal) < 0)
		return fault_set(fault, ENOMEM, "no memory for measurements");
	return run_source_check(run, work->hosts, fault);
}

void real_work_close(struct real_work *work)
{
	measure_window_close(&work->window);
	run_hosts_destroy(work->hosts);
	free(work->flows);
	run_config_destroy(work->own);
	*work = (struct real_work){.run = NULL};
}

static void destroy(struct real_fabric *fabric, struct real_work **work)
{
	if (*work != NULL && *work != &fabric->given) {
		real_work_close(*work);
		free(*work);
	}
	*work = NULL;
}

/* Sinks of other processes tell so many entries apart, and messages may still come from the run
 * before. */
static int check_shape(
	const struct real_fabric *fabric, const struct run_config *run, struct fault *fault)
{
	uint32_t count = fabric->options.run->traffic.count;

	if (run->traffic.count != count)
		return fault_set(fault, EINVAL, "%u entries of traffic, expected %u as in the lab",
			run->traffic.count, count);
	if (run_config_has_schedule(run) || run_config_has_schedule(fabric->options.run))
		return fault_set(fault, EINVAL,
			"a schedule (pattern: goal) is that of the lab's start, and cannot be set");
	return 0;
}

static int open_file(
	struct real_fabric *fabric, struct real_work *work, const char *path, struct fault *fault)
{
	const struct queuing *queuing = fabric->routes.queuing;
	int result;

	work->own = run_config_load(path, NULL, 0, fault);
	if (work->own == NULL)
		return -errno;
	result = check_shape(fabric, work->own, fault);
	if (result == 0)
		result = real_work_open(fabric, work, work->own, fault);
	if (result == 0)
		result = run_source_check_room(work->own, work->hosts,
			queuing != NULL ? queuing->queues : 1, POLL_NIC_SOURCES_MAX, fault);
	if (result == 0 && real_flows_create(fabric, work) < 0)
		return fault_set(fault, ENOMEM, "no memory for measurements");
	return result;
}

static int load(struct real_fabric *fabric, const char *path, struct fault *fault)
{
	struct real_work *work = calloc(1, sizeof(*work));
	int result;

	if (work == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	destroy(fabric, &fabric->former);
	destroy(fabric, &fabric->next);
	fabric->next = work;
	result = open_file(fabric, work, path, fault);
	if (result < 0)
		destroy(fabric, &fabric->next);
	return result;
}

/* It appears whole or not at all. */
static void answer(const char *path, const char *error)
{
	char part[TELEMETRY_CONTROL_MAX + 8];
	json_t *json = json_object();

	snprintf(part, sizeof(part), "%s.part", path);
	if (error != NULL)
		json_object_set_new(json, "error", json_string(error));
	if (json_dump_file(json, part, JSON_COMPACT) == 0)
		rename(part, path);
	json_decref(json);
}

void real_work_load(struct real_fabric *fabric, const char *path)
{
	char run[TELEMETRY_CONTROL_MAX + sizeof(LAB_RUN_FILE)];
	const char *slash = strrchr(path, '/');
	struct fault fault = {""};

	if (slash == NULL)
		return;
	snprintf(run, sizeof(run), "%.*s/" LAB_RUN_FILE, (int)(slash - path), path);
	answer(path, load(fabric, run, &fault) < 0 ? fault.text : NULL);
}

bool real_work_begin(struct real_fabric *fabric, bool loaded)
{
	if (loaded && fabric->next == NULL)
		return false;
	if (!loaded)
		destroy(fabric, &fabric->next);
	/* Sources of the run before last are gone, those of the last one are still there. */
	destroy(fabric, &fabric->former);
	fabric->former = fabric->work;
	fabric->work = loaded ? fabric->next : &fabric->given;
	fabric->next = NULL;
	if (fabric->former == fabric->work)
		fabric->former = NULL;
	return true;
}

void real_work_drop(struct real_fabric *fabric)
{
	struct real_work *work = fabric->work;

	destroy(fabric, &fabric->former);
	destroy(fabric, &fabric->next);
	destroy(fabric, &work);
	fabric->work = &fabric->given;
}
