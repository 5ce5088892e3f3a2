/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_runs.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result_file.h"
#include "sweep_manifest.h"

static const char *const kind_names[] = {
#define X(id, name) name,
	PLOT_KINDS(X)
#undef X
};

enum plot_kind plot_kind_find(const char *name)
{
	unsigned kind = 0;

	while (kind < PLOT_KIND_COUNT && strcmp(kind_names[kind], name) != 0)
		kind++;
	return (enum plot_kind)kind;
}

void plot_kind_list(char *out, size_t size)
{
	size_t length = 0;

	for (unsigned i = 0; i < PLOT_KIND_COUNT && length < size; i++)
		length += (size_t)snprintf(out + length, size - length, "%s%s",
			i == 0                     ? ""
			: i + 1 == PLOT_KIND_COUNT ? " or "
						   : ", ",
			kind_names[i]);
}

/* NAN if it was not measured. */
static double number_at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Runs with a schedule or with traffic that ends never have an answer, however long they are. */
static bool is_doubtful(const json_t *result)
{
	const json_t *steady = json_object_get(result, "steady_needs");
	const json_t *saturated = json_object_get(result, "saturated_needs");

	return json_is_true(json_object_get(result, "saturated")) ||
	       json_is_false(json_object_get(json_object_get(result, "until"), "reached")) ||
	       json_is_false(json_object_get(result, "steady")) ||
	       json_is_number(json_object_get(steady, "measured_ns")) ||
	       json_is_number(json_object_get(saturated, "measured_ns"));
}

/* Room for the values of a run. */
static int make_room(struct plot_run *run, size_t values, struct fault *fault)
{
	run->value = calloc(values + 1, sizeof(*run->value));
	run->values = (unsigned)values;
	return run->value == NULL ? fault_set(fault, ENOMEM, "plot: no memory") : 0;
}

static const char *latency_key(const struct plot_runs *runs, bool network)
{
	if (runs->released)
		return network ? "network_released" : "total_released";
	return network ? "network" : "total";
}

static int read_point(const struct plot_runs *runs, struct plot_run *run, const json_t *result,
	const char *path, struct fault *fault)
{
	bool flits = runs->flits;
	const json_t *latency = json_object_get(result, "latency_ns");
	const json_t *throughput = json_object_get(result, "throughput");
	const char *key = runs->released ? "released" : "accepted";
	double accepted = number_at(throughput, flits ? "flits_per_ns_per_switch" : key);
	int made = make_room(run, 1, fault);

	if (made < 0)
		return made;
	if (flits && accepted == 0)
		return fault_set(fault, EINVAL,
			"%s: throughput in flits/ns/switch is not in it, as with results of the "
			"real clock",
			path);
	run->value[0] = (struct plot_value){
		.x = accepted,
		.y = runs->latency == PLOT_LATENCY_NETWORK
			     ? NAN
			     : number_at(
				       json_object_get(latency, latency_key(runs, false)), "mean"),
		.y2 = runs->latency == PLOT_LATENCY_TOTAL
			      ? NAN
			      : number_at(
					json_object_get(latency, latency_key(runs, true)), "mean"),
		.doubtful = is_doubtful(result),
	};
	return 0;
}

static int read_series(const struct plot_runs *runs, struct plot_run *run, const json_t *result,
	const char *path, struct fault *fault)
{
	const json_t *series = json_object_get(result, "series");
	size_t index;
	json_t *sample;
	int made;

	if (json_array_size(series) == 0)
		return fault_set(fault, EINVAL,
			"%s: no samples ('series'): expected a measure.sample shorter than the run",
			path);
	made = make_room(run, json_array_size(series), fault);
	if (made < 0)
		return made;
	json_array_foreach((json_t *)series, index, sample)
		run->value[index] = (struct plot_value){.x = number_at(sample, "t_ns"),
		.y = number_at(sample, runs->released ? "released" : "accepted"),
		.y2 = number_at(sample, runs->released ? "released_latency_ns" : "latency_ns")};
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct plot_value *left = a, *right = b;

	return left->y < right->y ? 1 : left->y > right->y ? -1 : 0;
}

static int read_links(struct plot_run *run, const json_t *result, const char *key, const char *path,
	struct fault *fault)
{
	const json_t *links = json_object_get(result, "links");
	size_t index;
	json_t *link;
	int made;

	if (json_array_size(links) == 0)
		return fault_set(fault, EINVAL,
			"%s: nothing about links ('links'): run it with --set measure.links=true",
			path);
	made = make_room(run, json_array_size(links), fault);
	if (made < 0)
		return made;
	json_array_foreach((json_t *)links, index, link) run->value[index].y = number_at(link, key);
	qsort(run->value, run->values, sizeof(*run->value), most_first);
	for (unsigned i = 0; i < run->values; i++)
		run->value[i].x = i + 1;
	return 0;
}

static int read_load(const struct plot_runs *runs, struct plot_run *run, const json_t *result,
	struct fault *fault)
{
	const json_t *throughput = json_object_get(result, "throughput");
	int made = make_room(run, 1, fault);

	if (made == 0) {
		run->value[0] = (struct plot_value){.x = number_at(throughput, "offered"),
			.y = number_at(throughput, runs->released ? "released" : "accepted"),
			.doubtful = is_doubtful(result)};
	}
	return made;
}

/* How many values are in each step of the histogram of a latency. */
static int read_histogram(struct plot_run *run, const json_t *result, const char *latency,
	const char *path, struct fault *fault)
{
	const json_t *steps = json_object_get(
		json_object_get(json_object_get(result, "latency_ns"), latency), "histogram");
	size_t index;
	json_t *step;
	int made;

	if (steps == NULL)
		return fault_set(fault, EINVAL,
			"%s: no histogram of latencies ('latency_ns.%s.histogram'): run it with "
			"--set measure.latencies=true",
			path, latency);
	made = make_room(run, json_array_size(steps), fault);
	if (made < 0)
		return made;
	json_array_foreach((json_t *)steps, index, step) run->value[index] =
		(struct plot_value){.x = json_number_value(json_array_get(step, 0)),
			.y = json_number_value(json_array_get(step, 1))};
	return 0;
}

/* NAN if the schedule did not end. */
static int read_completion(
	struct plot_run *run, const json_t *result, const char *path, struct fault *fault)
{
	const json_t *counters = json_object_get(result, "counters");
	const json_t *completion = json_object_get(counters, "goal_completion_ns");
	int made;

	if (completion == NULL)
		return fault_set(fault, EINVAL,
			"%s: no schedule ('counters.goal_completion_ns'): expected a run whose "
			"traffic is 'pattern: goal'",
			path);
	made = make_room(run, 1, fault);
	if (made == 0)
		run->value[0] = (struct plot_value){.y = number_at(counters, "goal_unfinished") > 0
								 ? NAN
								 : json_number_value(completion),
			.y2 = NAN};
	return made;
}

static int read_values(const struct plot_runs *runs, struct plot_run *run, const json_t *result,
	const char *path, struct fault *fault)
{
	switch (runs->kind) {
	case PLOT_LATENCY_THROUGHPUT:
		return read_point(runs, run, result, path, fault);
	case PLOT_THROUGHPUT_LOAD:
		return read_load(runs, run, result, fault);
	case PLOT_EFFICIENCY_TIME:
		return read_series(runs, run, result, path, fault);
	case PLOT_LINK_LOAD:
		return read_links(run, result, "utilisation", path, fault);
	case PLOT_LATENCY_CDF:
		return read_histogram(run, result,
			latency_key(runs, runs->latency == PLOT_LATENCY_NETWORK), path, fault);
	case PLOT_COMPLETION:
		return read_completion(run, result, path, fault);
	default:
		return read_links(run, result, "blocked", path, fault);
	}
}

/* Adds the run of a result file; 'vary' may be NULL. 'sealed': it must have a sum. */
static int add_run(
	struct plot_runs *runs, const char *path, json_t *vary, bool sealed, struct fault *fault)
{
	struct plot_run *more = realloc(runs->run, (runs->runs + 1) * sizeof(*runs->run)), *run;
	const char *clock = NULL, *topology = NULL;
	json_t *result;
	int read;

	if (more == NULL)
		return fault_set(fault, ENOMEM, "plot: no memory");
	runs->run = more;
	result = result_file_load(path, fault);
	if (result == NULL)
		return -EINVAL;
	if (sealed && json_object_get(result, "sum") == NULL) {
		json_decref(result);
		return fault_set(fault, EINVAL,
			"%s: expected a 'sum', as every result of this sweep has", path);
	}
	run = &runs->run[runs->runs++];
	*run = (struct plot_run){.input = runs->inputs - 1, .vary = json_incref(vary)};
	json_unpack(result, "{s:{s:s}}", "config", "clock", &clock);
	json_unpack(result, "{s:{s:s}}", "topology", "name", &topology);
	run->real_clock = clock != NULL && strcmp(clock, "real") == 0;
	snprintf(run->topology, sizeof(run->topology), "%s", topology != NULL ? topology : "");
	read = read_values(runs, run, result, path, fault);
	json_decref(result);
	return read;
}

/* The name of an input in a legend. */
static int add_input(struct plot_runs *runs, const char *path, struct fault *fault)
{
	char **more = realloc(runs->input, (runs->inputs + 1) * sizeof(*runs->input));
	size_t length = strlen(path), start;
	char *name;

	while (length > 1 && path[length - 1] == '/')
		length--;
	for (start = length; start > 0 && path[start - 1] != '/';)
		start--;
	if (length - start > 5 && strncmp(path + length - 5, ".json", 5) == 0)
		length -= 5;
	if (more != NULL)
		runs->input = more;
	name = more != NULL ? strndup(path + start, length - start) : NULL;
	if (name == NULL)
		return fault_set(fault, ENOMEM, "plot: no memory");
	runs->input[runs->inputs++] = name;
	return 0;
}

bool plot_key_is(const char *asked, size_t length, const char *key)
{
	for (size_t i = 0; i < length; i++) {
		if (asked[i] == ']')
			continue;
		if (*key != (asked[i] == '[' ? '.' : asked[i]))
			return false;
		key++;
	}
	return *key == '\0';
}

/* "KEY=VALUE=TEXT" for this key and value: where TEXT begins; else NULL. */
static const char *text_of_label(const char *label, const char *key, const char *value)
{
	size_t length = strcspn(label, "="), rest = strlen(value);

	if (!plot_key_is(label, length, key) || strncmp(label + length + 1, value, rest) != 0 ||
		label[length + 1 + rest] != '=')
		return NULL;
	return label + length + 1 + rest + 1;
}

const char *plot_label_find(const struct plot_runs *runs, const char *key, const char *value)
{
	for (unsigned i = 0; i < runs->labels; i++) {
		const char *text = text_of_label(runs->label[i], key, value);

		if (text != NULL)
			return text;
	}
	return NULL;
}

/* Marks the labels whose value this point has. */
static void mark_labels(struct plot_runs *runs, json_t *vary)
{
	const char *key;
	json_t *value;

	json_object_foreach(vary, key, value)
	{
		for (unsigned i = 0; i < runs->labels; i++)
			if (text_of_label(runs->label[i], key, json_string_value(value)) != NULL)
				runs->labelled |= 1u << i;
	}
}

/* Whether a point has every requested value of the keys that its sweep varies. */
static bool is_wanted(struct plot_runs *runs, json_t *vary)
{
	bool wanted = true;
	const char *key;
	json_t *value;

	for (unsigned i = 0; i < runs->wheres; i++) {
		size_t length = strcspn(runs->where[i], "=");

		json_object_foreach(vary, key, value)
		{
			if (!plot_key_is(runs->where[i], length, key))
				continue;
			runs->varied |= 1u << i;
			wanted = wanted &&
				 strcmp(json_string_value(value), runs->where[i] + length + 1) == 0;
		}
	}
	return wanted;
}

/* Whether all values are texts, as 'weft sweep' writes them. */
static bool has_texts(json_t *vary)
{
	const char *key;
	json_t *value;

	json_object_foreach(vary, key, value)
	{
		if (!json_is_string(value))
			return false;
	}
	return true;
}

static int add_points(
	struct plot_runs *runs, const char *folder, const json_t *manifest, struct fault *fault)
{
	bool sealed = json_is_true(json_object_get(manifest, "sums"));
	unsigned before = runs->runs;
	size_t index;
	json_t *point;
	int result = 0;

	json_array_foreach(json_object_get(manifest, "points"), index, point)
	{
		json_t *vary = json_object_get(point, "vary");
		const char *file = json_string_value(json_object_get(point, "file"));
		char path[PATH_MAX];

		if (file == NULL || strchr(file, '/') != NULL || !has_texts(vary))
			return fault_set(fault, EINVAL,
				"%s/" SWEEP_MANIFEST_NAME ": points[%zu]: expected a file and "
				"texts in 'vary'",
				folder, index);
		mark_labels(runs, vary);
		if (!is_wanted(runs, vary))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, file);
		if (access(path, F_OK) != 0)
			continue;
		result = add_run(runs, path, vary, sealed, fault);
		if (result < 0)
			return result;
	}
	if (runs->runs == before)
		return fault_set(
			fault, EINVAL, "%s: no results of the points that are asked for", folder);
	return 0;
}

int plot_runs_add(struct plot_runs *runs, const char *path, struct fault *fault)
{
	struct fault why = {.text = ""};
	struct stat about;
	json_t *manifest;
	int result;

	if (stat(path, &about) < 0)
		return fault_set(fault, errno, "%s: %s", path, strerror(errno));
	result = add_input(runs, path, fault);
	if (result < 0)
		return result;
	if (!S_ISDIR(about.st_mode))
		return add_run(runs, path, NULL, false, fault);
	manifest = sweep_manifest_read(path, &why);
	if (manifest == NULL)
		return why.text[0] != '\0'
			       ? fault_set(fault, EINVAL, "%s", why.text)
			       : fault_set(fault, EINVAL,
					 "%s: the folder has no manifest.json of a sweep", path);
	result = add_points(runs, path, manifest, fault);
	json_decref(manifest);
	return result;
}

static bool has_values(const struct plot_runs *runs)
{
	for (unsigned i = 0; i < runs->runs; i++)
		for (unsigned j = 0; j < runs->run[i].values; j++)
			if (!isnan(runs->run[i].value[j].y) || !isnan(runs->run[i].value[j].y2))
				return true;
	return false;
}

int plot_runs_check(const struct plot_runs *runs, struct fault *fault)
{
	for (unsigned i = 0; i < runs->wheres; i++)
		if ((runs->varied >> i & 1) == 0)
			return fault_set(fault, EINVAL, "--where %s: no sweep varies '%.*s'",
				runs->where[i], (int)strcspn(runs->where[i], "="), runs->where[i]);
	for (unsigned i = 0; i < runs->labels; i++)
		if ((runs->labelled >> i & 1) == 0)
			return fault_set(fault, EINVAL,
				"--label %s: no point of a sweep has this value: expected "
				"KEY=VALUE=TEXT with a varied key and one of its values",
				runs->label[i]);
	return has_values(runs)
		       ? 0
		       : fault_set(fault, EINVAL,
				 "nothing to draw: none of the %u results has a value of "
				 "this kind%s",
				 runs->runs,
				 runs->kind == PLOT_COMPLETION ? " (no schedule ended)"
							       : " (nothing was delivered)");
}

void plot_runs_fini(struct plot_runs *runs)
{
	for (unsigned i = 0; i < runs->runs; i++) {
		json_decref(runs->run[i].vary);
		free(runs->run[i].value);
	}
	for (unsigned i = 0; i < runs->inputs; i++)
		free(runs->input[i]);
	free(runs->run);
	free(runs->input);
}
