/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_routes.h"

#include <errno.h>
#include <stdarg.h>

#include "route/verify/route_verify.h"

static int refuse(const struct run_config *run, struct error *error, int code, const char *format,
	...) __attribute__((format(printf, 4, 5)));

static int refuse(
	const struct run_config *run, struct error *error, int code, const char *format, ...)
{
	char text[ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	run_config_refuse(run, &run->routing.file_place, error, "routing.file: %s", text);
	return -code;
}

/* The header decided 'routing.mode', and adaptive switches count on what it implies; the file may
 * have changed since. */
static int check_contents(
	const struct run_config *run, const struct route_file *file, struct error *error)
{
	bool tables = run->routing.mode == RUN_ROUTING_TABLE;

	if (tables != (file->table != NULL))
		return refuse(run, error, EINVAL, "%s holds %s, expected %s with routing.mode: %s",
			run->routing.file, tables ? "source routes" : "tables",
			tables ? "tables" : "source routes", tables ? "table" : "source");
	if (run_config_is_adaptive(run) && file->table->vc_rule != NULL)
		return refuse(run, error, EINVAL,
			"%s holds tables with VC classes, which rely on their own paths; expected "
			"'adaptive: none'",
			run->routing.file);
	return 0;
}

static int check_report(
	const struct run_config *run, const struct route_report *report, struct error *error)
{
	if (!report->connected || report->invalid > 0)
		return refuse(run, error, EINVAL,
			"%s: %s; expected routes that connect all pairs of hosts",
			run->routing.file, report->evidence);
	if (!report->deadlock_free && !run->routing.may_deadlock)
		return refuse(run, error, EINVAL,
			"%s: %s; expected routes that cannot deadlock, or routing.may-deadlock: "
			"true",
			run->routing.file, report->evidence);
	return 0;
}

static int verify(const struct run_config *run, const struct topology *topology,
	const struct route_file *file, struct error *error)
{
	const struct route_subject subject = {.set = file->set, .table = file->table};
	struct route_report report;
	struct error why;
	int result = route_verify(topology, &subject, 1, &report, &why);

	if (result < 0)
		return refuse(run, error, -result, "%s: %s", run->routing.file, why.text);
	result = check_report(run, &report, error);
	route_report_free(&report);
	return result;
}

int run_routes_load(const struct run_config *run, const struct topology *topology,
	struct route_file *file, struct error *error)
{
	struct error why;
	int result = route_file_load(topology, run->routing.file, file, &why);

	if (result < 0)
		return refuse(run, error, -result, "%s", why.text);
	result = check_contents(run, file, error);
	if (result == 0)
		result = verify(run, topology, file, error);
	if (result < 0)
		route_file_close(file);
	return result;
}
