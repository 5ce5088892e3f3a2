/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft answer: answers requests of the Python package (tools/python) to the C parsers. Each line of
 * standard input is a request in JSON, and each line of standard output its answer:
 *
 *   {"ask": "about"}                        version, weft-fabric's path and its mark, and the
 * folder of the definitions of 'weft reproduce'
 *   {"ask": "run", "file": F, "overrides": [["--set", ["KEY=VALUE", ...]], ...], "whole": true}
 *                                           a run file after the overrides; "whole": its
 *                                           configuration; otherwise the names and CRCs of its
 *                                           files, if the run is supported
 *   {"ask": "network", "file": F, "overrides": [...], "hosts": true, "places": true}
 *                                           its size; "hosts": how many hosts of each entry of
 *                                           traffic send and receive; "places": the switches of a
 *                                           grid of two dimensions, or null
 *   {"ask": "result", "file": F, "seal": false}
 *                                           checks a result file; "seal" adds its "sum"
 *
 * An answer with "error" also has the exit code of a command. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/child_process.h"
#include "common/commands.h"
#include "common/result_file.h"
#include "experiment/result/run_result.h"
#include "experiment/run/run_config.h"
#include "experiment/workload/run_hosts.h"
#include "route/search/route_grid.h"
#include "wire/crc.h"

#define OVERRIDES_MAX 16u
#define SETS_MAX      64u /* limit of weft-fabric */

static json_t *answer_error(int result, const struct error *error)
{
	bool changed = result == -EBADMSG;

	return json_pack("{s:s,s:i,s:b}", "error", error->text, "code",
		changed ? EXIT_BAD_REQUEST : error_exit_code(result), "changed", changed);
}

static json_t *answer_about(const json_t *request, json_t *sums)
{
	char path[PATH_MAX], mark[24];

	program_path_find("weft-fabric", path, sizeof(path));
	snprintf(mark, sizeof(mark), "%016" PRIx64, child_program_mark("weft-fabric"));
	return json_pack("{s:s,s:s,s:s,s:s}", "version", WEFT_VERSION, "fabric", path, "mark", mark,
		"definitions",
		access(REPRODUCE_SOURCE, R_OK) == 0 ? REPRODUCE_SOURCE : REPRODUCE_INSTALLED);
}

struct overrides {
	struct run_config_overrides by[OVERRIDES_MAX];
	unsigned count;
	const char *set[SETS_MAX];
	unsigned sets;
};

static int read_override(struct overrides *overrides, const json_t *pair)
{
	struct run_config_overrides *by = &overrides->by[overrides->count];
	const json_t *list = json_array_get(pair, 1);
	json_t *text;

	by->option = json_string_value(json_array_get(pair, 0));
	by->set = overrides->set + overrides->sets;
	if (by->option == NULL || overrides->sets + json_array_size(list) > SETS_MAX)
		return -EINVAL;
	for (size_t i = 0; (text = json_array_get((json_t *)list, i)) != NULL; i++) {
		if (!json_is_string(text))
			return -EINVAL;
		overrides->set[overrides->sets++] = json_string_value(text);
	}
	by->sets = (unsigned)json_array_size(list);
	overrides->count++;
	return 0;
}

static int read_overrides(struct overrides *overrides, const json_t *list, struct error *error)
{
	json_t *pair;

	overrides->count = overrides->sets = 0;
	for (size_t i = 0; (pair = json_array_get((json_t *)list, i)) != NULL; i++) {
		if (overrides->count == OVERRIDES_MAX || read_override(overrides, pair) < 0)
			return error_set(
				error, EINVAL, "at most %u overrides are allowed", SETS_MAX);
	}
	return 0;
}

static int sum_file(const char *path, uint32_t *sum, struct error *error)
{
	FILE *in = fopen(path, "re");
	struct stat about;
	char *bytes = NULL;
	size_t length = 0;
	int result = 0;

	if (in == NULL)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if (fstat(fileno(in), &about) == 0)
		length = (size_t)about.st_size;
	bytes = malloc(length + 1);
	if (bytes == NULL || fread(bytes, 1, length, in) != length)
		result = error_set(error, EIO, "%s: cannot be read", path);
	else
		*sum = crc32c(bytes, length);
	free(bytes);
	fclose(in);
	return result;
}

struct files {
	json_t *own;  /* checksums of this configuration's files */
	json_t *sums; /* checksums of all files so far; points of a sweep share files */
};

static int add_file(void *ctx, const char *path, struct error *error)
{
	struct files *files = ctx;
	uint32_t sum = 0;
	int result = 0;

	if (json_object_get(files->sums, path) == NULL) {
		result = sum_file(path, &sum, error);
		if (result == 0)
			json_object_set_new(files->sums, path, json_integer(sum));
	}
	if (result == 0)
		json_object_set(files->own, path, json_object_get(files->sums, path));
	return result;
}

static json_t *whole(const struct run_config *config)
{
	const struct run_config_measure *measure = &config->measure;

	return json_pack("{s:o,s:b,s:I,s:I,s:I,s:I}", "config", run_config_json(config),
		"real_clock", config->clock == RUN_CLOCK_REAL, "dilation",
		(json_int_t)(config->dilation > 1 ? config->dilation : 1), "duration_ps",
		(json_int_t)measure->duration_ps, "messages", (json_int_t)measure->messages,
		"warmup_messages", (json_int_t)measure->warmup_messages);
}

/* Returns the configuration that a request names; NULL with error and 'result' set on failure. */
static struct run_config *load_run(const json_t *request, int *result, struct error *error)
{
	const char *file = json_string_value(json_object_get(request, "file"));
	struct run_config *config = NULL;
	struct overrides overrides;

	*result = file == NULL ? error_set(error, EINVAL, "no file")
			       : read_overrides(
					 &overrides, json_object_get(request, "overrides"), error);
	if (*result < 0)
		return NULL;
	config = run_config_load_with(file, overrides.by, overrides.count, error);
	*result = config == NULL ? -errno : 0;
	return config;
}

/* Returns [senders, destinations] of each traffic entry; NULL with error set on failure. */
static json_t *host_counts(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	struct run_hosts *hosts = run_config_resolve(config, topology, error);
	json_t *counts = hosts == NULL ? NULL : json_array();

	for (uint32_t i = 0; hosts != NULL && i < hosts->entries; i++)
		json_array_append_new(
			counts, json_pack("[I,I]", (json_int_t)hosts->entry[i].from_count,
					(json_int_t)hosts->entry[i].to_count));
	if (hosts != NULL)
		run_hosts_destroy(hosts);
	return counts;
}

/* Returns {switch: [x, y]}; null if the network is not a two-dimensional grid. */
static json_t *places(const struct topology *topology)
{
	struct route_graph *graph = route_graph_create(topology);
	struct route_grid grid;
	json_t *found = NULL;

	if (graph != NULL && route_grid_make(&grid, graph, NULL) == 0) {
		found = grid.dims == 2 ? json_object() : NULL;
		for (uint32_t at = 0; found != NULL && at < topology->switches; at++)
			json_object_set_new(found, topology->switch_at[at].name,
				json_pack("[i,i]", route_grid_place(&grid, at, 0),
					route_grid_place(&grid, at, 1)));
		route_grid_free(&grid);
	}
	route_graph_destroy(graph);
	return found != NULL ? found : json_null();
}

static json_t *network(const json_t *request, const struct run_config *config,
	const struct topology *topology, struct error *error)
{
	const struct run_config_traffic *first = config->traffic.at;
	json_t *answer = json_pack("{s:I,s:I,s:f,s:i,s:f}", "hosts", (json_int_t)topology->nodes,
		"switches", (json_int_t)topology->switches, "bytes_per_s",
		(double)topology->link_at[topology->host_link[0]].rate_bps / 8, "entries",
		(int)config->traffic.count, "message_bytes",
		config->traffic.count > 0 ? run_config_mean_bytes(first) : 0);
	json_t *counts = NULL;

	if (json_is_true(json_object_get(request, "places")))
		json_object_set_new(answer, "places", places(topology));
	if (!json_is_true(json_object_get(request, "hosts")))
		return answer;
	counts = host_counts(config, topology, error);
	if (counts != NULL && json_object_set_new(answer, "counts", counts) == 0)
		return answer;
	json_decref(answer);
	return NULL;
}

static json_t *answer_network(const json_t *request, json_t *sums)
{
	struct topology *topology = NULL;
	struct error error = {.text = ""};
	json_t *answer = NULL;
	int result;
	struct run_config *config = load_run(request, &result, &error);

	if (result == 0)
		result = run_config_supported(config, &error);
	if (result == 0) {
		topology = run_config_open_topology(config, &error);
		result = topology == NULL ? -EINVAL : 0;
	}
	if (result == 0)
		answer = network(request, config, topology, &error);
	topology_destroy(topology);
	run_config_destroy(config);
	return answer != NULL ? answer : answer_error(result < 0 ? result : -EINVAL, &error);
}

static json_t *answer_run(const json_t *request, json_t *sums)
{
	struct files files = {.own = json_object(), .sums = sums};
	struct error error = {.text = ""};
	json_t *answer = NULL;
	int result;
	struct run_config *config = load_run(request, &result, &error);

	if (result == 0 && json_is_true(json_object_get(request, "whole"))) {
		answer = whole(config);
	} else if (result == 0) {
		result = run_config_supported(config, &error);
		if (result == 0)
			result = run_files_each(config, add_file, &files, &error);
		if (result == 0)
			answer = json_pack("{s:b,s:O}", "real_clock",
				config->clock == RUN_CLOCK_REAL, "files", files.own);
	}
	json_decref(files.own);
	run_config_destroy(config);
	return answer != NULL ? answer : answer_error(result, &error);
}

static json_t *answer_result(const json_t *request, json_t *sums)
{
	const char *path = json_string_value(json_object_get(request, "file"));
	struct error error = {.text = "no file"};
	json_t *result = path != NULL ? result_file_load(path, &error) : NULL;
	json_t *answer;
	int code = result != NULL ? 0 : path != NULL ? -errno : -EINVAL;

	if (code == 0 && json_is_true(json_object_get(request, "seal")))
		code = result_file_seal(path, result, &error);
	answer = code < 0 ? answer_error(code, &error)
			  : json_pack("{s:b}", "sum", json_object_get(result, "sum") != NULL);
	json_decref(result);
	return answer;
}

static json_t *answer(const json_t *request, json_t *sums)
{
	static const struct {
		const char *ask;
		json_t *(*answer)(const json_t *request, json_t *sums);
	} kinds[] = {{"about", answer_about}, {"run", answer_run}, {"network", answer_network},
		{"result", answer_result}};
	const char *ask = json_string_value(json_object_get(request, "ask"));
	struct error error = {
		.text = "expected a request from the Python package: one line of JSON"};

	for (size_t i = 0; ask != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].ask, ask) == 0)
			return kinds[i].answer(request, sums);
	return answer_error(-EINVAL, &error);
}

int cmd_answer(int argc, char **argv)
{
	json_t *sums = json_object();
	char *line = NULL;
	size_t size = 0;
	bool good = true;

	while (good && getline(&line, &size, stdin) > 0) {
		json_t *request = json_loads(line, 0, NULL), *reply = answer(request, sums);

		good = json_dumpf(reply, stdout, JSON_COMPACT) == 0 && putchar('\n') == '\n' &&
		       fflush(stdout) == 0;
		json_decref(reply);
		json_decref(request);
	}
	free(line);
	json_decref(sums);
	return good ? EXIT_DONE : EXIT_NOT_ABLE;
}
