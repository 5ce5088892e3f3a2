/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_result.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_query.h"
#include "run_config.h"
#include "web_topology.h"

/* --- the run --- */

static json_t *waiting_of(const json_t *document)
{
	json_t *switches = json_object_get(document, "switches"), *entry, *waiting;
	size_t index;

	if (!json_is_array(switches))
		return json_null();
	waiting = json_object();
	json_array_foreach(switches, index, entry)
	{
		json_object_set(
			waiting, lab_text(entry, "switch"), json_object_get(entry, "waiting_ns"));
	}
	return waiting;
}

static json_t *describe_run(const json_t *document)
{
	static const char *const names[] = {"messages", "throughput", "latency_ns", "checks",
		"series", "measured_ns", "incomplete", "seed"};
	json_t *run = json_object();

	json_object_set(
		run, "clock", json_object_get(json_object_get(document, "config"), "clock"));
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_t *value = json_object_get(document, names[i]);

		json_object_set(run, names[i], value != NULL ? value : json_null());
	}
	json_object_set_new(run, "waiting_ns", waiting_of(document));
	return run;
}

/* --- the sample --- */

static void add_link(const struct topology *topology, json_t *sample, const json_t *link)
{
	int64_t way = web_way_at(topology, lab_text(link, "from"));
	char key[24];

	if (way < 0)
		return;
	snprintf(key, sizeof(key), "%lld", (long long)way);
	json_array_set(json_object_get(sample, "utilisation"), (size_t)way,
		json_object_get(link, "utilisation"));
	if (json_number_value(json_object_get(link, "stalls")) == 0)
		return;
	json_object_set(json_object_get(sample, "stalls"), key, json_object_get(link, "stalls"));
	json_object_set(json_object_get(sample, "blocked"), key, json_object_get(link, "blocked"));
}

/* The members of web_sample(); what a result does not know is empty. */
static json_t *make_sample(const struct topology *topology, const json_t *document)
{
	json_t *sample = json_pack(
		"{s:i,s:b,s:[],s:{},s:{},s:{},s:{},s:{},s:{},s:{},s:[],s:{},s:{},s:n,s:[],s:[],s:i}",
		"seconds", 1, "up", 1, "utilisation", "state", "blocked", "stalls", "drops",
		"retransmissions", "rate", "fill", "roots", "switches", "hosts", "mapper",
		"processes", "errors", "errors_count", 0);
	json_t *link;
	size_t index;

	for (uint32_t i = 0; i < 2 * topology->links; i++)
		json_array_append_new(json_object_get(sample, "utilisation"), json_null());
	json_array_foreach(json_object_get(document, "links"), index, link)
	{
		add_link(topology, sample, link);
	}
	return sample;
}

/* --- reading --- */

/* JSON is YAML, so the result's configuration is a run file. */
static struct run_config *read_config(const char *path, const json_t *document, struct fault *fault)
{
	char *text = json_dumps(json_object_get(document, "config"), JSON_COMPACT);
	struct run_config *config;

	if (text == NULL) {
		fault_set(fault, errno = EINVAL, "%s: no result of 'weft run'", path);
		return NULL;
	}
	config = run_config_parse(text, strlen(text), path, NULL, 0, fault);
	free(text);
	return config;
}

static int read_document(
	struct web_result *result, const char *path, const json_t *document, struct fault *fault)
{
	struct run_config *config = read_config(path, document, fault);
	struct topology *topology = config != NULL ? run_config_open_topology(config, fault) : NULL;
	char name[PATH_MAX];

	if (topology == NULL) {
		run_config_destroy(config);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "%s", path);
	result->topology = web_topology(topology, basename(name), run_config_vcs(config));
	json_object_set_new(result->topology, "run", describe_run(document));
	result->sample = make_sample(topology, document);
	topology_destroy(topology);
	run_config_destroy(config);
	return 0;
}

int web_result_read(struct web_result *result, const char *path, struct fault *fault)
{
	json_error_t error;
	json_t *document = json_load_file(path, 0, &error);
	int code;

	*result = (struct web_result){.topology = NULL};
	if (document == NULL)
		return fault_set(fault, EINVAL, "%s: %s", path, error.text);
	code = read_document(result, path, document, fault);
	json_decref(document);
	return code;
}

void web_result_free(struct web_result *result)
{
	json_decref(result->topology);
	json_decref(result->sample);
}
