/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run_config_json.h"

static bool on_standard_output(const struct options *options)
{
	return options->json != NULL && strcmp(options->json, "-") == 0;
}

/* A file that is there, or the folder that it would be in. */
static int check_file(const char *path, struct fault *fault)
{
	char folder[PATH_MAX];
	const char *name = path, *slash = strrchr(path, '/');

	if (access(path, F_OK) != 0) {
		size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;

		if (length >= sizeof(folder) - 1)
			return fault_set(
				fault, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
		snprintf(folder, sizeof(folder), "%.*s.", (int)length, path);
		name = folder;
	}
	if (access(name, W_OK) == 0)
		return 0;
	return fault_set(fault, errno, "%s: cannot be written: %s", path, strerror(errno));
}

int report_check(const struct options *options, struct fault *fault)
{
	int result = 0;

	if (options->json != NULL && !on_standard_output(options))
		result = check_file(options->json, fault);
	if (result == 0 && options->csv != NULL && strcmp(options->csv, "-") != 0)
		result = check_file(options->csv, fault);
	return result;
}

static int write_json(const struct options *options, const struct run_result *result,
	const struct run_config *config, struct fault *fault)
{
	json_t *document = run_result_json(result, run_config_json(config));
	int written = -1;

	if (document != NULL && on_standard_output(options)) {
		written = json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (document != NULL) {
		written = json_dump_file(document, options->json, JSON_INDENT(2));
	}
	json_decref(document);
	return written == 0 ? 0
			    : fault_set(fault, EIO, "%s: cannot be written: %s", options->json,
				      strerror(errno));
}

/* The result has all of them. */
#define CYCLE_SHOWN 16

static void tell_deadlock(const struct run_result *result)
{
	if (result->cycles == 0) {
		fprintf(stderr, "weft-fabric: deadlock: packets wait for each other\n");
		return;
	}
	fprintf(stderr, "weft-fabric: deadlock: %u channels wait for each other:", result->cycles);
	for (unsigned i = 0; i < result->cycles && i < CYCLE_SHOWN; i++)
		fprintf(stderr, " %s", result->cycle[i].from);
	fprintf(stderr, "%s\n", result->cycles > CYCLE_SHOWN ? " ..." : "");
}

int report_result(const struct run_result *result, const struct options *options,
	const struct run_config *config, struct fault *fault)
{
	int code = 0;

	if (options->json != NULL)
		code = write_json(options, result, config, fault);
	if (code == 0 && options->csv != NULL)
		code = run_result_write_csv(result, options->csv, fault);
	if (code < 0)
		return code;
	if (!options->quiet && !on_standard_output(options))
		run_result_print(result, stdout);
	if (result->deadlock)
		tell_deadlock(result);
	return (result->lost | result->duplicated | result->out_of_order) != 0 || result->deadlock
		       ? EXIT_BAD_ANSWER
		       : 0;
}
