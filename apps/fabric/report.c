/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "simulated_run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/result/run_result.h"
#include "experiment/run/run_config.h"
#include "os/atomic_file.h"
#include "os/terminal.h"
#include "setup/credit_cover.h"
#include "traffic/traffic_pattern.h"

/* Returns false for NULL, which means no output. */
static bool is_standard_output(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

/* Checks that an existing file, or otherwise its folder, can be written. */
static int check_file(const char *path, struct error *error)
{
	char folder[PATH_MAX];
	const char *name = path, *slash;
	struct stat status;

	if (path == NULL || is_standard_output(path))
		return 0;
	if (path[0] == '\0')
		return error_set(error, EINVAL, "'': the file name is empty");
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return error_set(error, EINVAL, "%s is a folder; use a file name", path);
	slash = strrchr(path, '/');
	if (access(path, F_OK) != 0) {
		size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;

		if (length >= sizeof(folder) - 1)
			return error_set(
				error, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
		snprintf(folder, sizeof(folder), "%.*s.", (int)length, path);
		name = folder;
	}
	if (access(name, W_OK) == 0)
		return 0;
	return error_set(error, errno, "%s: cannot be written: %s", path, strerror(errno));
}

/* Returns true if both paths are one file, so the second output would replace the first. */
static bool are_one_file(const char *one, const char *other)
{
	struct stat a, b;

	if (one == NULL || other == NULL || is_standard_output(one) || is_standard_output(other))
		return false;
	if (stat(one, &a) < 0 || stat(other, &b) < 0)
		return strcmp(one, other) == 0;
	return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* An option and the file that it writes. */
struct output {
	const char *option, *path;
};

static int check_two(const struct output *one, const struct output *other, struct error *error)
{
	if (is_standard_output(one->path) && is_standard_output(other->path))
		return error_set(error, EINVAL, "%s - and %s -: only one can be standard output",
			one->option, other->option);
	if (are_one_file(one->path, other->path))
		return error_set(error, EINVAL, "%s %s and %s %s must be two different files",
			one->option, one->path, other->option, other->path);
	return 0;
}

int report_check(
	const struct options *options, const struct run_config *config, struct error *error)
{
	const struct output output[] = {
		{"--json", options->json}, {"--csv", options->csv}, {"--flows", options->flows}};
	const unsigned outputs = sizeof(output) / sizeof(output[0]);
	int result = 0;

	for (unsigned i = 0; i < outputs && result == 0; i++)
		result = run_files_refuse(config, output[i].path, error);
	for (unsigned i = 0; i < options->captures && result == 0; i++)
		result = run_files_refuse(config, options->capture[i].path, error);
	for (unsigned i = 0; i < outputs && result == 0; i++)
		result = check_file(output[i].path, error);
	for (unsigned i = 0; i < outputs; i++)
		for (unsigned j = i + 1; j < outputs && result == 0; j++)
			result = check_two(&output[i], &output[j], error);
	for (uint32_t i = 0; i < config->traffic.count && options->flows != NULL; i++)
		if (config->traffic.at[i].pattern == &traffic_flows)
			return result;
	if (result == 0 && options->flows != NULL)
		return error_set(
			error, EINVAL, "--flows: the run has no traffic with 'pattern: flows'");
	return result;
}

struct report {
	const struct run_result *result;
	const struct run_config *config;
	const struct topology *topology;
};

/* Each of these returns false if it cannot create its output. The owner of the stream checks for
 * write errors. */
static bool write_json(const struct report *report, FILE *out)
{
	json_t *document = run_result_json(report->result, run_config_json(report->config));
	bool good = document != NULL && run_result_dump(report->result, document, out) == 0;

	json_decref(document);
	return good;
}

static bool write_csv(const struct report *report, FILE *out)
{
	run_result_write_csv(report->result, out);
	return !ferror(out) && !run_result_is_stopped(report->result);
}

static bool write_flows(const struct report *report, FILE *out)
{
	run_result_write_flows(report->result, report->topology, out);
	return !ferror(out) && !run_result_is_stopped(report->result);
}

static int fault_stopped(struct error *error)
{
	return error_set(error, EINTR, "interrupted before the result was written");
}

bool report_reader_is_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* Writes to standard output. It is not an error if the reader stops reading. */
static int write_to_reader(bool (*write)(const struct report *, FILE *),
	const struct report *report, struct error *error)
{
	const atomic_bool *stop = report->result->stop;
	FILE *out = stop != NULL ? stoppable_output_open(STDOUT_FILENO, stop) : stdout;
	bool good, failed;
	int code;

	if (out == NULL)
		return error_set(error, ENOMEM, "not enough memory for the result");
	errno = 0;
	good = write(report, out);
	failed = ferror(out) != 0;
	if (out != stdout && fclose(out) != 0)
		failed = true;
	code = errno;
	if (run_result_is_stopped(report->result) && (failed || !good))
		return fault_stopped(error);
	if (!good && !failed)
		return error_set(error, ENOMEM, "not enough memory for the result");
	if (failed && out != stdout && code != EPIPE && !report_reader_is_gone())
		return error_set(error, EIO, "standard output: cannot be written: %s",
			strerror(code != 0 ? code : EIO));
	return 0;
}

/* Keeps the contents of an existing file unless the whole result can be written. */
static int write_to(const char *path, bool (*write)(const struct report *, FILE *),
	const struct report *report, struct error *error)
{
	struct atomic_file file = {.path = path};
	int result;

	if (path == NULL)
		return 0;
	if (is_standard_output(path))
		return write_to_reader(write, report, error);
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	errno = 0;
	if (write(report, file.file))
		return atomic_file_close(&file, error);
	if (run_result_is_stopped(report->result))
		result = fault_stopped(error);
	else
		result = error_set(error, EIO, "%s: cannot be written: %s", path,
			strerror(errno != 0 ? errno : EIO));
	atomic_file_discard(&file);
	return result;
}

int report_result(struct run_result *result, const struct options *options,
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	const struct report report = {result, config, topology};
	char advice[RUN_ADVICE_MAX], prefix[64];
	int code;

	if (options->jobs != NULL &&
		job_runs_finish(options->jobs, config, topology, result, error) < 0)
		return -ENOMEM;
	run_result_judge_nothing(result, config, topology);
	credit_cover_report(config, topology, run_result_add_warning, result);
	code = write_to(options->json, write_json, &report, error);
	if (code == 0)
		code = write_to(options->csv, write_csv, &report, error);
	if (code == 0)
		code = write_to(options->flows, write_flows, &report, error);
	if (code < 0)
		return code;
	if (!options->quiet && !is_standard_output(options->json) &&
		!is_standard_output(options->csv) && !is_standard_output(options->flows))
		run_result_print(result, config, stdout);
	if (!options->quiet && run_result_advise(result, config, topology, advice))
		fprintf(stderr, "%s: warning: %s\n", PROGRAM, advice);
	snprintf(prefix, sizeof(prefix), "%s: deadlock: ", PROGRAM);
	run_result_print_deadlock(result, prefix, stderr);
	snprintf(prefix, sizeof(prefix), "%s: incomplete: ", PROGRAM);
	run_result_print_reasons(result, prefix, stderr);
	if (result->nothing[0] != '\0')
		fprintf(stderr, "%s: nothing was measured: %s\n", PROGRAM, result->nothing);
	return run_result_exit(result);
}

int report_complete(int code, int complete, const struct error *error)
{
	if (complete == 0)
		return code;
	fprintf(stderr, "%s: %s\n", PROGRAM, error->text);
	return code == EXIT_INTERRUPTED && complete == -EINVAL ? code : EXIT_BAD_ANSWER;
}
