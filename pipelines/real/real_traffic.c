/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/lab/lab_config.h"
#include "experiment/workload/run_source.h"

int real_traffic_open(struct real_fabric *fabric, struct real_traffic *work,
	const struct run_config *run, struct error *error)
{
	work->run = run;
	measure_window_open(&work->window, fabric->options.topology, 0);
	work->hosts = run_config_resolve(run, fabric->options.topology, error);
	if (work->hosts == NULL)
		return -EINVAL;
	work->window.stream = fabric->options.stream;
	/* A lab's result contains no links. */
	if (fabric->options.clock == NULL &&
		measure_links_open(&work->window.links, fabric->options.topology, run,
			real_link_read, fabric) < 0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	if (measure_window_add_entries(
		    &work->window, fabric->options.topology, run, work->hosts, fabric->goal) < 0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	if (run_source_check(run, work->hosts, error) < 0)
		return -EINVAL;
	return real_events_create(fabric, work, error);
}

void real_traffic_close(struct real_traffic *work)
{
	measure_window_close(&work->window);
	run_hosts_destroy(work->hosts);
	free(work->flows);
	real_events_destroy(work->events);
	run_config_destroy(work->own);
	*work = (struct real_traffic){.run = NULL};
}

static void destroy(struct real_fabric *fabric, struct real_traffic **work)
{
	if (*work != NULL && *work != &fabric->given) {
		real_traffic_close(*work);
		free(*work);
	}
	*work = NULL;
}

/* Sinks in other processes distinguish only as many entries, and old messages may still arrive. */
static int check_shape(
	const struct real_fabric *fabric, const struct run_config *run, struct error *error)
{
	uint32_t count = fabric->options.run->traffic.count;

	if (run->traffic.count != count)
		return error_set(error, EINVAL,
			"there are %u traffic entries, but the lab has "
			"%u",
			run->traffic.count, count);
	if (run_config_has_schedule(run) || run_config_has_schedule(fabric->options.run))
		return error_set(error, EINVAL,
			"a schedule (pattern: goal) is fixed when the lab starts, and cannot be set");
	return 0;
}

static int open_file(struct real_fabric *fabric, struct real_traffic *work, const char *path,
	struct error *error)
{
	const struct queuing *queuing = fabric->routes.queuing;
	int result;

	work->own = run_config_load(path, NULL, 0, error);
	if (work->own == NULL)
		return -errno;
	result = check_shape(fabric, work->own, error);
	if (result == 0)
		result = real_traffic_open(fabric, work, work->own, error);
	if (result == 0)
		result = run_source_check_room(work->own, work->hosts,
			queuing != NULL ? queuing->queues : 1, POLL_NIC_SOURCES_MAX, error);
	if (result == 0 && real_flows_create(fabric, work) < 0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	return result;
}

static int load(struct real_fabric *fabric, const char *path, struct error *error)
{
	struct real_traffic *work = calloc(1, sizeof(*work));
	int result;

	if (work == NULL)
		return error_set(error, ENOMEM, "out of memory");
	destroy(fabric, &fabric->former);
	destroy(fabric, &fabric->next);
	fabric->next = work;
	result = open_file(fabric, work, path, error);
	if (result < 0)
		destroy(fabric, &fabric->next);
	return result;
}

void real_traffic_load(struct real_fabric *fabric, const char *path)
{
	char run[TELEMETRY_CONTROL_MAX + sizeof(LAB_RUN_FILE)];
	const char *slash = strrchr(path, '/');
	struct error error = {""};

	if (slash == NULL)
		return;
	snprintf(run, sizeof(run), "%.*s/" LAB_RUN_FILE, (int)(slash - path), path);
	real_answer(path, load(fabric, run, &error) < 0 ? error.text : NULL);
}

bool real_traffic_begin(struct real_fabric *fabric, bool loaded)
{
	if (loaded && fabric->next == NULL)
		return false;
	if (!loaded)
		destroy(fabric, &fabric->next);
	/* Only the last run's sources still exist; frees the traffic of the run before. */
	destroy(fabric, &fabric->former);
	fabric->former = fabric->work;
	fabric->work = loaded ? fabric->next : &fabric->given;
	fabric->next = NULL;
	if (fabric->former == fabric->work)
		fabric->former = NULL;
	return true;
}

void real_traffic_drop(struct real_fabric *fabric)
{
	struct real_traffic *work = fabric->work;

	destroy(fabric, &fabric->former);
	destroy(fabric, &fabric->next);
	destroy(fabric, &work);
	fabric->work = &fabric->given;
}
