/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_manifest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_files.h"
#include "crc.h"
#include "run_config_json.h"
#include "same_file.h"

#define RESULT_END   ".json"
#define REASON_SHOWN (FAULT_TEXT - SWEEP_LABEL_MAX - 16)

/* The folder and those above it, as far as they are not there. */
static int make_folder(const char *path, struct fault *fault)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return fault_set(fault, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(part, path, length + 1);
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return fault_set(fault, errno, "%s: the folder cannot be made: %s", part,
				strerror(errno));
		part[i] = path[i];
	}
	return 0;
}

int sweep_folder_open(const struct sweep *sweep, struct fault *fault)
{
	int fd = make_folder(sweep->folder, fault);

	if (fd < 0)
		return fd;
	fd = open(sweep->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_set(fault, errno, "%s: %s", sweep->folder, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return fault_set(fault, EBUSY, "%s: another sweep is running there", sweep->folder);
}

/* Refuses results without a manifest. */
static int refuse_strangers(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	const char *file = sweep_manifest_find_point(sweep, asked);

	if (file == NULL)
		return 0;
	return fault_set(fault, EINVAL,
		"%s has %s, but no %s that says what it is a result of; --restart throws it away",
		sweep->folder, file, SWEEP_MANIFEST_NAME);
}

int sweep_folder_compare(
	const struct sweep *sweep, const json_t *there, const json_t *asked, struct fault *fault)
{
	struct fault why;

	if (sweep_manifest_compare(there, asked, &why) == 0)
		return 0;
	return fault_set(fault, EINVAL, "%s has another sweep: %.300s; --restart throws it away",
		sweep->folder, why.text);
}

/* The run file and the files that it names are not overwritten. */
static int check_outputs(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	static const char *const names[] = {
		SWEEP_MANIFEST_NAME, "sweep.csv", "sweep-mean.csv", "sweep.json"};
	const char *input;
	json_t *sum;
	int result = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && result == 0; i++) {
		char path[PATH_MAX];

		sweep_path(sweep, names[i], path);
		result = same_file_refuse(path, sweep->run_file, fault);
		json_object_foreach(json_object_get(asked, "files"), input, sum)
		{
			if (result == 0)
				result = same_file_refuse(path, input, fault);
		}
	}
	return result;
}

int sweep_folder_settle(const struct sweep *sweep, const json_t *asked, struct fault *fault)
{
	struct fault why = {.text = ""};
	json_t *there;
	int result = check_outputs(sweep, asked, fault);

	if (result < 0)
		return result;
	there = sweep_manifest_read(sweep->folder, &why);
	if (sweep->restart) {
		sweep_manifest_remove_points(sweep, there);
		sweep_manifest_remove_points(sweep, asked);
	} else if (there != NULL) {
		result = sweep_folder_compare(sweep, there, asked, fault);
	} else if (why.text[0] != '\0') {
		result = fault_set(fault, EINVAL, "%.300s; --restart begins anew", why.text);
	} else {
		result = refuse_strangers(sweep, asked, fault);
	}
	json_decref(there);
	return result == 0 ? sweep_write_json(sweep, SWEEP_MANIFEST_NAME, asked, fault) : result;
}

static json_t *vary_json(const struct sweep_plan *plan)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < plan->varies; i++) {
		const struct sweep_vary *vary = &plan->vary[i];
		json_t *values = json_array();

		for (unsigned j = 0; j < vary->count; j++)
			json_array_append_new(values, json_string(vary->value[j]));
		json_array_append_new(
			list, json_pack("{s:s,s:o}", "key", vary->key, "values", values));
	}
	return list;
}

static json_t *seeds_json(const struct sweep_plan *plan)
{
	if (plan->seeds == 0)
		return json_null();
	return json_pack(
		"{s:I,s:i}", "first", (json_int_t)plan->first_seed, "count", (int)plan->seeds);
}

static json_t *points_json(const struct sweep_plan *plan)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < plan->points; i++) {
		char name[SWEEP_NAME_MAX];
		json_t *vary = json_object();

		for (unsigned j = 0; j < plan->varies; j++)
			json_object_set_new(
				vary, plan->vary[j].key, json_string(sweep_plan_value(plan, i, j)));
		sweep_plan_name(plan, i, name);
		json_array_append_new(list,
			json_pack("{s:s+,s:o,s:o}", "file", name, ".json", "vary", vary, "seed",
				plan->seeds > 0 ? json_integer((json_int_t)sweep_plan_seed(plan, i))
						: json_null()));
	}
	return list;
}

/* CRC-32C of a file's bytes. */
static int sum_file(const char *path, uint32_t *sum, struct fault *fault)
{
	FILE *in = fopen(path, "r");
	struct stat about;
	char *bytes = NULL;
	size_t length = 0;
	int result = 0;

	if (in == NULL)
		return fault_set(fault, errno, "%s: %s", path, strerror(errno));
	if (fstat(fileno(in), &about) == 0)
		length = (size_t)about.st_size;
	bytes = malloc(length + 1);
	if (bytes == NULL || fread(bytes, 1, length, in) != length)
		result = fault_set(fault, EIO, "%s: cannot be read", path);
	else
		*sum = crc32c(bytes, length);
	free(bytes);
	fclose(in);
	return result;
}

/* One file that a configuration names. */
static int add_file(void *ctx, const char *path, struct fault *fault)
{
	json_t *files = ctx;
	uint32_t sum = 0;
	int result;

	if (json_object_get(files, path) != NULL)
		return 0;
	result = sum_file(path, &sum, fault);
	if (result == 0)
		json_object_set_new(files, path, json_integer(sum));
	return result;
}

/* Adds the point, unless --set alone is to blame. */
static void name_point(const struct sweep_plan *plan, unsigned point, struct fault *fault)
{
	struct fault why = *fault;
	char label[SWEEP_LABEL_MAX];

	if (plan->varies == 0 || strncmp(why.text, "--set ", 6) == 0)
		return;
	sweep_plan_label(plan, point, label);
	fault_set(fault, EINVAL, "%.*s, at the point %s", REASON_SHOWN, why.text, label);
}

/* Leaves out a point whose configuration is bad, if that is wanted. */
static int settle_point(const struct sweep *sweep, unsigned point, int result, struct fault *fault)
{
	if (result == 0)
		return 0;
	if (sweep->invalid != NULL && fault_exit_code(result) == EXIT_BAD_REQUEST)
		return sweep_skip(sweep, point, fault->text) == 0
			       ? 0
			       : fault_set(fault, ENOMEM, "sweep: no memory");
	name_point(&sweep->plan, point, fault);
	return result;
}

/* Checks the configuration of every point before the first run. */
static int check_points(
	const struct sweep *sweep, json_t *files, bool *real_clock, struct fault *fault)
{
	int result = 0;

	for (unsigned i = 0; i < sweep->plan.points && result == 0; i++) {
		struct run_config *config = sweep_point_config(sweep, i, fault);

		result = config == NULL ? -errno : run_config_supported(config, fault);
		if (result == 0)
			*real_clock = *real_clock || config->clock == RUN_CLOCK_REAL;
		if (result == 0)
			result = run_files_each(config, add_file, files, fault);
		result = settle_point(sweep, i, result, fault);
		run_config_destroy(config);
	}
	if (result == 0 && sweep->invalid != NULL &&
		sweep_count_invalid(sweep) == sweep->plan.points)
		result = fault_set(fault, EINVAL,
			"--skip-invalid: none of %u points is valid: %.300s", sweep->plan.points,
			sweep->invalid[0]);
	return result;
}

json_t *sweep_manifest_make(const struct sweep *sweep, bool *real_clock, struct fault *fault)
{
	struct run_config *config = sweep_base_config(sweep, fault);
	json_t *files = json_object(), *manifest = NULL;
	int result = config == NULL ? -errno : 0;
	char program[24];

	snprintf(program, sizeof(program), "%016" PRIx64, sweep->program);
	*real_clock = false;
	if (result == 0)
		result = check_points(sweep, files, real_clock, fault);
	if (result == 0) {
		manifest = json_pack("{s:s,s:b,s:s,s:s,s:s,s:o,s:o,s:o,s:O,s:o}", "weft",
			SWEEP_MANIFEST_FORMAT, "sums", true, "version", WEFT_VERSION, "program",
			program, "run_file", sweep->run_file, "vary", vary_json(&sweep->plan),
			"seeds", seeds_json(&sweep->plan), "configuration", run_config_json(config),
			"files", files, "points", points_json(&sweep->plan));
		if (sweep->cases.count > 0)
			json_object_set_new(manifest, "cases", sweep_cases_json(&sweep->cases));
		if (manifest == NULL)
			result = fault_set(fault, ENOMEM, "sweep: no memory");
	}
	json_decref(files);
	run_config_destroy(config);
	errno = -result;
	return manifest;
}

json_t *sweep_manifest_read(const char *folder, struct fault *fault)
{
	char path[PATH_MAX];
	const char *format = NULL;
	json_error_t error;
	json_t *manifest;

	snprintf(path, sizeof(path), "%s/%s", folder, SWEEP_MANIFEST_NAME);
	if (access(path, F_OK) != 0)
		return NULL;
	manifest = json_load_file(path, 0, &error);
	if (manifest != NULL && json_unpack(manifest, "{s:s}", "weft", &format) == 0 &&
		strcmp(format, SWEEP_MANIFEST_FORMAT) == 0 &&
		json_is_array(json_object_get(manifest, "points")))
		return manifest;
	fault_set(fault, EINVAL, "%s: no manifest of a sweep (%s)", path,
		manifest == NULL ? error.text : "expected weft: " SWEEP_MANIFEST_FORMAT);
	json_decref(manifest);
	errno = EINVAL;
	return NULL;
}

/* A value for a message, truncated. */
static void show(const json_t *value, char out[64])
{
	char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	snprintf(out, 64, "%.60s", text != NULL ? text : "nothing");
	free(text);
}

/* Finds the first difference of two documents; 'path' is its place. */
static int compare_json(
	const char *path, const json_t *there, const json_t *asked, struct fault *fault)
{
	char deeper[256], before[64], now[64];
	const char *key;
	size_t index;
	json_t *value;
	int result = 0;

	if (json_equal(there, asked))
		return 0;
	if (json_is_object(there) && json_is_object(asked)) {
		for (void *at = json_object_iter((json_t *)asked); at != NULL && result == 0;
			at = json_object_iter_next((json_t *)asked, at)) {
			key = json_object_iter_key(at);
			snprintf(deeper, sizeof(deeper), "%s%s%s", path, *path != '\0' ? "." : "",
				key);
			result = compare_json(deeper, json_object_get(there, key),
				json_object_iter_value(at), fault);
		}
		if (result < 0)
			return result;
	}
	if (json_is_array(there) && json_array_size(there) == json_array_size(asked)) {
		json_array_foreach((json_t *)asked, index, value)
		{
			snprintf(deeper, sizeof(deeper), "%s[%zu]", path, index);
			result = compare_json(deeper, json_array_get(there, index), value, fault);
			if (result < 0)
				return result;
		}
	}
	show(there, before);
	show(asked, now);
	return fault_set(
		fault, EINVAL, "%s is now %s, the sweep there began with %s", path, now, before);
}

/* Results of one build of weft-fabric are not those of another. */
static int compare_programs(const json_t *there, const json_t *asked, struct fault *fault)
{
	const char *before = json_string_value(json_object_get(there, "program"));
	const char *now = json_string_value(json_object_get(asked, "program"));

	if (before == NULL)
		return fault_set(fault, EINVAL,
			"the sweep there does not say which build of weft-fabric it ran");
	if (now == NULL || strcmp(before, now) != 0)
		return fault_set(fault, EINVAL,
			"weft-fabric is another build than the one that the sweep there began with");
	return 0;
}

int sweep_manifest_compare(const json_t *there, const json_t *asked, struct fault *fault)
{
	static const struct {
		const char *key, *path;
	} parts[] = {{"configuration", ""}, {"vary", "--vary"}, {"seeds", "--seeds"}};
	const char *path;
	json_t *sum;
	int result = 0;

	for (unsigned i = 0; i < 3 && result == 0; i++)
		result = compare_json(parts[i].path, json_object_get(there, parts[i].key),
			json_object_get(asked, parts[i].key), fault);
	if (result == 0 && (json_object_get(there, "cases") != NULL ||
				   json_object_get(asked, "cases") != NULL))
		result = compare_json("--cases", json_object_get(there, "cases"),
			json_object_get(asked, "cases"), fault);
	if (result < 0)
		return result;
	json_object_foreach(json_object_get(asked, "files"), path, sum)
	{
		if (!json_equal(sum, json_object_get(json_object_get(there, "files"), path)))
			return fault_set(
				fault, EINVAL, "%s has changed since the sweep there began", path);
	}
	return compare_programs(there, asked, fault);
}

int sweep_write_json(
	const struct sweep *sweep, const char *name, const json_t *document, struct fault *fault)
{
	char path[PATH_MAX], part[PATH_MAX + 8];

	sweep_path(sweep, name, path);
	snprintf(part, sizeof(part), "%s.part", path);
	if (json_dump_file(document, part, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) != 0 ||
		rename(part, path) != 0)
		return fault_set(fault, EIO, "%s: cannot be written: %s", path, strerror(errno));
	return 0;
}

/* The file of a point of a manifest, and its path; NULL if it is no result in the folder. */
static const char *find_file(const struct sweep *sweep, const json_t *point, char path[PATH_MAX])
{
	const char *file = json_string_value(json_object_get(point, "file"));
	size_t length = file != NULL ? strlen(file) : 0;

	if (length <= strlen(RESULT_END) || strchr(file, '/') != NULL ||
		strcmp(file + length - strlen(RESULT_END), RESULT_END) != 0)
		return NULL;
	sweep_path(sweep, file, path);
	return file;
}

void sweep_manifest_remove_points(const struct sweep *sweep, const json_t *manifest)
{
	size_t index;
	json_t *point;

	json_array_foreach(json_object_get(manifest, "points"), index, point)
	{
		char path[PATH_MAX];
		const char *file = find_file(sweep, point, path);

		if (file == NULL)
			continue;
		unlink(path);
		snprintf(path, sizeof(path), "%s/%.*s.log", sweep->folder,
			(int)(strlen(file) - strlen(RESULT_END)), file);
		unlink(path);
	}
}

const char *sweep_manifest_find_point(const struct sweep *sweep, const json_t *manifest)
{
	size_t index;
	json_t *point;

	json_array_foreach(json_object_get(manifest, "points"), index, point)
	{
		char path[PATH_MAX];
		const char *file = find_file(sweep, point, path);

		if (file != NULL && access(path, F_OK) == 0)
			return file;
	}
	return NULL;
}
