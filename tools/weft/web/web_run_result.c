/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The result of a run, for the page. */

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_web.h"
#include "common/result_file.h"
#include "lab/lab_query.h"

static json_t *waiting_of(const json_t *document)
{
	json_t *switches = json_object_get(document, "switches"), *entry, *waiting;

	if (!json_is_array(switches))
		return json_null();
	waiting = json_object();
	for (size_t i = 0; (entry = json_array_get(switches, i)) != NULL; i++) {
		json_object_set(
			waiting, lab_text(entry, "switch"), json_object_get(entry, "waiting_ns"));
	}
	return waiting;
}

static json_t *describe(const json_t *document)
{
	static const char *const names[] = {"messages", "throughput", "latency_ns", "fidelity",
		"checks", "measured_ns", "incomplete", "seed"};
	json_t *about = json_object();

	json_object_set(
		about, "clock", json_object_get(json_object_get(document, "config"), "clock"));
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *value = json_object_get(document, names[i]);

		json_object_set(about, names[i], value != NULL ? value : json_null());
	}
	json_object_set_new(about, "waiting_ns", waiting_of(document));
	return about;
}

static double sum_of(const struct web_run *run, uint32_t way, unsigned value)
{
	double sum = 0;

	for (uint32_t i = 0; i < run->links.samples; i++)
		sum += run_link_series_at(&run->links, i, way)[value];
	return sum;
}

static void add_mean(struct web_run *run, const json_t *link, uint32_t way, bool blocked_is_share)
{
	json_t *stalls = json_object_get(link, "stalls"),
	       *blocked = json_object_get(link, "blocked");
	char key[24];

	snprintf(key, sizeof(key), "%u", way);
	json_array_set(json_object_get(run->mean, "utilisation"), way,
		json_object_get(link, "utilisation"));
	if (json_number_value(stalls) > 0)
		json_object_set(json_object_get(run->mean, "stalls"), key, stalls);
	if (blocked_is_share && json_number_value(blocked) > 0)
		json_object_set(json_object_get(run->mean, "blocked"), key, blocked);
}

/* On the real clock, the result's "links" count from the start of the run, including its warm-up,
 * and "blocked" is stalls per second. Therefore, the mean over the samples is used if there are
 * any. */
static void add_mean_of_clock(struct web_run *run, const json_t *link, uint32_t way, bool virtual)
{
	json_t *mean;
	double all;

	if (virtual || run->links.samples == 0) {
		add_mean(run, link, way, virtual);
		return;
	}
	/* An object like those in "links", but computed from the samples. */
	all = (double)run->links.samples * RUN_LINK_SHARE_ONE;
	mean = json_pack("{s:f,s:f,s:f}", "utilisation",
		sum_of(run, way, RUN_LINK_UTILISATION) / all, "blocked",
		sum_of(run, way, RUN_LINK_BLOCKED) / all, "stalls",
		sum_of(run, way, RUN_LINK_STALLS));
	add_mean(run, mean, way, true);
	json_decref(mean);
}

/* Either all links have a series with the same number of samples, or none has a series. */
static int open_series(struct web_run *run, const json_t *links)
{
	const json_t *series = json_object_get(json_array_get(links, 0), "series");
	size_t samples = json_array_size(json_object_get(series, "utilisation"));

	run->known = calloc(2 * (size_t)run->topology->links + 1, sizeof(*run->known));
	if (run->known == NULL)
		return -ENOMEM;
	if (series == NULL || samples > UINT32_MAX)
		return 0;
	run->links = (struct run_link_series){
		.ways = 2 * run->topology->links, .vcs = run->vcs, .samples = (uint32_t)samples};
	run->links.value = calloc(samples + 1, run_link_series_values(&run->links) * 4);
	return run->links.value != NULL ? 0 : -ENOMEM;
}

static int read_links(struct web_run *run, const json_t *document, struct error *error)
{
	const char *clock = lab_text(json_object_get(document, "config"), "clock");
	json_t *links = json_object_get(document, "links"), *link;
	int result = open_series(run, links);

	if (result < 0)
		return error_set(error, ENOMEM, "out of memory");
	run->mean = web_run_empty_sample(run);
	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		int64_t way = web_way_at(run->topology, lab_text(link, "from"));

		if (way < 0)
			continue;
		run->known[way] = true;
		if (run->links.ways > 0 && run_link_series_parse(&run->links, (uint32_t)way,
						   json_object_get(link, "series")) < 0)
			return error_set(error, EINVAL,
				"%s: links: %s: series: expected lists of %" PRIu32
				" samples, as for the first link",
				run->name, lab_text(link, "from"), run->links.samples);
		add_mean_of_clock(run, link, (uint32_t)way, strcmp(clock, "virtual") == 0);
	}
	return 0;
}

/* JSON is valid YAML, so the result's configuration can be read as a run file. */
static struct run_config *read_config(const char *path, const json_t *document, struct error *error)
{
	char *text = json_dumps(json_object_get(document, "config"), JSON_COMPACT);
	struct run_config *config;

	if (text == NULL) {
		error_set(error, errno = EINVAL, "%s: not a result of 'weft run'", path);
		return NULL;
	}
	config = run_config_parse(text, strlen(text), path, NULL, 0, error);
	free(text);
	return config;
}

static int read_document(
	struct web_run *run, const char *path, const json_t *document, struct error *error)
{
	struct run_config *config = read_config(path, document, error);
	char name[PATH_MAX];

	run->own = config != NULL ? run_config_open_topology(config, error) : NULL;
	run->topology = run->own;
	run->vcs = config != NULL ? run_config_vcs(config) : 0;
	run_config_destroy(config);
	if (run->topology == NULL)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s", path);
	snprintf(run->name, sizeof(run->name), "%s", basename(name));
	run->about = describe(document);
	run->series = json_incref(json_object_get(document, "series"));
	if (run->series == NULL)
		run->series = json_array();
	return read_links(run, document, error);
}

struct web_run *web_run_read(const char *path, struct error *error)
{
	struct web_run *run = web_run_make();
	json_t *document;
	int result;

	if (run == NULL) {
		errno = -error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	document = result_file_load(path, error);
	result = document == NULL ? -errno : read_document(run, path, document, error);
	json_decref(document);
	if (result == 0)
		return run;
	web_run_destroy(run);
	errno = -result;
	return NULL;
}

/* Viewers keep using the name with which they opened the page. */
int web_run_end(struct web_run *run, const char *path, struct error *error)
{
	struct web_run *ended = web_run_read(path, error), old;

	if (ended == NULL)
		return -errno;
	pthread_mutex_lock(&run->lock);
	old = *run;
	run->own = ended->own;
	run->topology = ended->topology;
	run->vcs = ended->vcs;
	run->about = ended->about;
	run->mean = ended->mean;
	run->series = ended->series;
	run->links = ended->links;
	run->known = ended->known;
	run->live = NULL;
	run->running = false;
	run->version++;
	pthread_mutex_unlock(&run->lock);
	web_run_forget(&old);
	ended->own = NULL;
	ended->about = ended->mean = ended->series = NULL;
	ended->links = (struct run_link_series){.ways = 0};
	ended->known = NULL;
	web_run_destroy(ended);
	return 0;
}
