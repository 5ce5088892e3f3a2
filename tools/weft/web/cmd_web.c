/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_web.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* weft web: the page of a result. */

static const char usage[] =
	"usage: weft web RESULT.json [--why FILE] [--listen ADDRESS:PORT]\n"
	"\n"
	"Serves a page on this machine that draws the fabric of a result of 'weft run':\n"
	"the load of its links (measure.links; for each sample, measure.link-series), the\n"
	"waiting times of its switches as a map (measure.switches), and its samples\n"
	"(measure.sample). Ctrl-C ends the command.\n"
	"  --why FILE              output of 'weft why --json', shown as waterfalls of\n"
	"                          packets\n"
	"  --listen ADDRESS:PORT   address of the page (" WEB_RUN_LISTEN ")\n"
	"Exit: 0 ended by Ctrl-C, 2 invalid request, 3 not possible on this machine.\n";

static enum weft_exit show_result(const char *path, const char *why, const char *listen)
{
	struct web_show show;
	struct error error;
	struct web_run *run = web_run_read(path, &error);
	enum weft_exit exit;

	if (run == NULL)
		return command_fail("web", error_exit_code(-errno), "%s", error.text);
	exit = web_show_open(&show, "web", "--listen", listen);
	if (exit == EXIT_DONE)
		exit = web_show_start(&show, run, why);
	while (exit == EXIT_DONE) {
		int number = web_show_wait(&show);

		if (number != 0 && number != SIGCHLD)
			break;
	}
	web_show_close(&show);
	web_run_destroy(run);
	return exit;
}

int cmd_web(int argc, char **argv)
{
	struct request {
		const char *listen, *why;
	} request = {NULL};
	static const struct command_option options[] = {
		{"listen", 'l', OPTION_TEXT(struct request, listen)},
		{"why", 0, OPTION_TEXT(struct request, why)},
		{NULL},
	};
	struct error error;
	char *text = NULL;
	int code;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	code = command_options("web", options, &request, &argc, &argv);
	if (code != EXIT_DONE)
		return code;
	if (argc != 1) {
		fputs(usage, stderr);
		return EXIT_BAD_REQUEST;
	}
	if (request.why != NULL) {
		int result = web_why_read(request.why, &text, &error);

		if (result < 0)
			return command_error("web", result, &error);
	}
	code = show_result(argv[0], text, request.listen);
	free(text);
	return code;
}

#define SERIES_MAX 4096 /* samples in an answer */
#define FOLLOW_MAX 4096 /* samples per call, so that the server need not wait */
#define NS_PER_S   UINT64_C(1000000000)
#define DIGITS     12 /* digits of numbers: enough for millionths */

/* --- samples --- */

static uint64_t count_samples(const struct web_run *run)
{
	return run->series != NULL ? json_array_size(run->series) : run->live->samples;
}

json_t *web_run_empty_sample(const struct web_run *run)
{
	json_t *sample = json_pack(
		"{s:i,s:b,s:[],s:{},s:{},s:{},s:{},s:{},s:{},s:{},s:[],s:{},s:{},s:n,s:[],s:[],s:i}",
		"seconds", 1, "up", 1, "utilisation", "state", "blocked", "stalls", "drops",
		"retransmissions", "rate", "fill", "roots", "switches", "hosts", "mapper",
		"processes", "errors", "errors_count", 0);

	for (uint32_t way = 0; way < 2 * run->topology->links; way++)
		json_array_append_new(json_object_get(sample, "utilisation"), json_null());
	return sample;
}

static json_t *share_json(uint32_t value)
{
	return json_real((double)value / RUN_LINK_SHARE_ONE);
}

static void add_fill(const struct web_run *run, json_t *sample, const char *key, const uint32_t *at)
{
	json_t *fill = json_array();
	uint32_t any = 0;

	for (unsigned vc = 0; vc < run->links.vcs; vc++) {
		any |= at[RUN_LINK_FILL + vc];
		json_array_append_new(fill, share_json(at[RUN_LINK_FILL + vc]));
	}
	if (any != 0)
		json_object_set(json_object_get(sample, "fill"), key, fill);
	json_decref(fill);
}

static void add_root(const struct web_run *run, json_t *sample, uint32_t way)
{
	const struct topology_link *link = &run->topology->link_at[way / 2];
	char name[2 * TOPOLOGY_NAME_MAX];

	topology_port_name(run->topology, way % 2 == 0 ? link->a : link->b, name, sizeof(name));
	json_array_append_new(json_object_get(sample, "roots"), json_string(name));
}

static void add_way(const struct web_run *run, json_t *sample, uint32_t number, uint32_t way)
{
	const uint32_t *at = run_link_series_at(&run->links, number, way);
	char key[24];

	snprintf(key, sizeof(key), "%u", way);
	json_array_set_new(
		json_object_get(sample, "utilisation"), way, share_json(at[RUN_LINK_UTILISATION]));
	if (at[RUN_LINK_BLOCKED] != 0)
		json_object_set_new(
			json_object_get(sample, "blocked"), key, share_json(at[RUN_LINK_BLOCKED]));
	if (at[RUN_LINK_STALLS] != 0)
		json_object_set_new(
			json_object_get(sample, "stalls"), key, json_integer(at[RUN_LINK_STALLS]));
	if (at[RUN_LINK_ROOT] != 0)
		add_root(run, sample, way);
	add_fill(run, sample, key, at);
}

static json_t *sample_json(const struct web_run *run, uint64_t number)
{
	bool known = number < run->links.samples;
	json_t *sample;

	if (run->links.ways == 0 || number >= count_samples(run))
		return NULL;
	sample = web_run_empty_sample(run);
	for (uint32_t way = 0; way < run->links.ways; way++)
		if (known && run->known[way])
			add_way(run, sample, (uint32_t)number, way);
	return sample;
}

/* Returns one value of the direction in all samples from 'from' on. */
static json_t *way_json(const struct web_run *run, uint32_t way, unsigned value, uint64_t from)
{
	json_t *list = json_array();

	for (uint64_t i = from; i < run->links.samples && i - from < SERIES_MAX && run->known[way];
		i++)
		json_array_append_new(
			list, share_json(run_link_series_at(&run->links, (uint32_t)i, way)[value]));
	return list;
}

static json_t *link_json(const struct web_run *run, uint64_t link, uint64_t from)
{
	uint32_t way = 2 * (uint32_t)link;

	if (link >= run->links.ways / 2)
		return NULL;
	return json_pack("{s:[o,o],s:[o,o]}", "utilisation",
		way_json(run, way, RUN_LINK_UTILISATION, from),
		way_json(run, way + 1, RUN_LINK_UTILISATION, from), "blocked",
		way_json(run, way, RUN_LINK_BLOCKED, from),
		way_json(run, way + 1, RUN_LINK_BLOCKED, from));
}

/* --- documents --- */

static const char *state_of(const struct web_run *run)
{
	return run->running ? "running" : "result";
}

static json_t *topology_json(const struct web_run *run)
{
	json_t *document = web_topology(run->topology, run->name, run->vcs);
	json_t *about = json_copy(run->about);

	json_object_set_new(about, "id", json_string(run->id));
	json_object_set_new(about, "state", json_string(state_of(run)));
	json_object_set_new(about, "samples", json_integer((json_int_t)count_samples(run)));
	json_object_set_new(about, "link_series", json_boolean(run->links.ways > 0));
	json_object_set_new(document, "run", about);
	return document;
}

static json_t *series_json(const struct web_run *run, uint64_t from)
{
	uint64_t samples = count_samples(run);
	json_t *list = json_array();

	for (uint64_t i = from; i < samples && i - from < SERIES_MAX; i++) {
		if (run->series != NULL)
			json_array_append(list, json_array_get(run->series, i));
		else
			json_array_append_new(
				list, run_sample_json(&run->live->sample[i], true, false));
	}
	return list;
}

static json_t *document_of(
	const struct web_run *run, const char *path, uint64_t number, uint64_t from)
{
	if (strcmp(path, "/topology") == 0)
		return topology_json(run);
	if (strcmp(path, "/series") == 0)
		return series_json(run, number);
	if (strcmp(path, "/sample") == 0)
		return sample_json(run, number);
	if (strcmp(path, "/mean") == 0)
		return run->mean != NULL ? json_incref(run->mean) : web_run_empty_sample(run);
	if (strcmp(path, "/link") == 0)
		return link_json(run, number, from);
	return NULL;
}

char *web_run_document(void *ctx, const char *path, uint64_t number, uint64_t from)
{
	struct web_run *run = ctx;
	json_t *document;
	char *text;

	pthread_mutex_lock(&run->lock);
	document = document_of(run, path, number, from);
	text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
	json_decref(document);
	pthread_mutex_unlock(&run->lock);
	return text;
}

char *web_run_event(struct web_run *run)
{
	json_t *event;
	char *text;

	pthread_mutex_lock(&run->lock);
	event = json_pack("{s:s,s:s,s:I}", "id", run->id, "state", state_of(run), "samples",
		(json_int_t)count_samples(run));
	pthread_mutex_unlock(&run->lock);
	text = json_dumps(event, JSON_COMPACT);
	json_decref(event);
	return text;
}

uint64_t web_run_version(struct web_run *run)
{
	uint64_t version;

	pthread_mutex_lock(&run->lock);
	version = run->version;
	pthread_mutex_unlock(&run->lock);
	return version;
}

/* --- during the run --- */

struct web_run *web_run_make(void)
{
	struct web_run *run = calloc(1, sizeof(*run));
	struct timespec now;

	if (run == NULL)
		return NULL;
	pthread_mutex_init(&run->lock, NULL);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(run->id, sizeof(run->id), "%" PRIx64,
		(uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec);
	run->live = calloc(1, sizeof(*run->live));
	if (run->live != NULL)
		return run;
	web_run_destroy(run);
	return NULL;
}

void web_run_forget(struct web_run *run)
{
	json_decref(run->about);
	json_decref(run->mean);
	json_decref(run->series);
	run_link_series_free(&run->links);
	free(run->known);
	topology_destroy(run->own);
	if (run->live != NULL)
		run_result_free(run->live);
	free(run->live);
}

void web_run_destroy(struct web_run *run)
{
	if (run == NULL)
		return;
	web_run_forget(run);
	pthread_mutex_destroy(&run->lock);
	free(run);
}

/* Describes the run as far as it is known before there is a result. */
static json_t *announce(const struct run_config *config)
{
	const struct run_config_measure *measure = &config->measure;
	json_t *about = json_pack("{s:s,s:I}", "clock",
		config->clock == RUN_CLOCK_VIRTUAL ? "virtual" : "real", "seed",
		(json_int_t)config->seed);

	if (measure->messages > 0)
		json_object_set_new(about, "counts",
			json_pack("{s:I,s:I}", "warmup", (json_int_t)measure->warmup_messages,
				"messages", (json_int_t)measure->messages));
	else
		json_object_set_new(about, "measured_ns",
			json_pack("{s:I,s:I}", "from", (json_int_t)(measure->warmup_ps / PS_PER_NS),
				"to", (json_int_t)(measure->duration_ps / PS_PER_NS)));
	return about;
}

struct web_run *web_run_create(
	const struct run_config *config, const struct topology *topology, const char *name, int fd)
{
	struct web_run *run = web_run_make();
	char path[PATH_MAX];

	if (run == NULL)
		return NULL;
	snprintf(path, sizeof(path), "%s", name);
	snprintf(run->name, sizeof(run->name), "%s", basename(path));
	run->topology = topology;
	run->vcs = run_config_vcs(config);
	run->running = true;
	run->fd = fd;
	run->about = announce(config);
	return run;
}

static bool open_links(struct web_run *run)
{
	run->links = (struct run_link_series){
		.ways = run->stream.links.ways, .vcs = run->stream.links.vcs};
	run->known = malloc(run->links.ways + 1u);
	if (run->known == NULL || run->links.ways > 2 * run->topology->links)
		return false;
	memset(run->known, true, run->links.ways + 1u);
	return true;
}

static bool take_sample(struct web_run *run)
{
	struct run_sample sample, *kept;
	uint32_t *values = NULL;

	if (run_stream_has_values(&run->stream) &&
		(values = run_link_series_add(&run->links)) == NULL)
		return false;
	if (run_stream_next(&run->stream, &sample, values) &&
		(kept = run_result_add_sample(run->live)) != NULL) {
		*kept = sample;
		return true;
	}
	run->links.samples -= values != NULL;
	return false;
}

int web_run_follow(struct web_run *run)
{
	int result = 1;

	pthread_mutex_lock(&run->lock);
	if (!run->begun) {
		result = run_stream_open(&run->stream, run->fd);
		if (result == 1 && !open_links(run))
			result = -EINVAL;
		run->begun = result == 1;
	}
	for (unsigned i = 0; i < FOLLOW_MAX && run->begun && run->running && take_sample(run); i++)
		run->version++;
	pthread_mutex_unlock(&run->lock);
	return result;
}
