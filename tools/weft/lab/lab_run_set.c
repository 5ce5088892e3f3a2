/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_lab.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "experiment/run/run_events.h"
#include "experiment/workload/run_hosts.h"
#include "experiment/workload/run_source.h"

/* Keys of a run; those of the fabric itself are what the lab was started with. */
static int check_key(const struct lab *lab, const char *set, struct error *error)
{
	static const char *const keys[] = {"traffic", "events", "measure", "fidelity", "seed"};
	size_t length = strcspn(set, ".[=");

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i]) == length && strncmp(keys[i], set, length) == 0)
			return 0;
	return error_set(error, EINVAL,
		"--set %s: lab %s is up with its own '%.*s'; expected a key of traffic, events, "
		"measure or fidelity, or seed, since a run can change only these ('weft lab set' changes cables, 'weft "
		"lab up --restart' everything in a lab file)",
		set, lab->plan->lab, (int)strcspn(set, "="), set);
}

/* Counters of the entries are as many as when the lab was started, and so are its schedules. */
static int check_shape(const struct lab *lab, const struct run_config *run, struct error *error)
{
	uint32_t count = lab->config->run.traffic.count;

	if (run->traffic.count != count)
		return error_set(error, EINVAL,
			"--set: %u entries of traffic, expected as many as the lab was started with: "
			"%u",
			run->traffic.count, count);
	if (run_config_has_schedule(run) || run_config_has_schedule(&lab->config->run))
		return error_set(error, EINVAL,
			"--set: a schedule (pattern: goal) is the one that the lab was started with");
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
