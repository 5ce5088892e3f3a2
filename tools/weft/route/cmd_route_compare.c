/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route compare: compares two route files for the same topology, side by side. */

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "route/verify/route_verify.h"
#include "route_subject.h"

#define NAME "route compare"

static json_t *report_json(const struct topology *topology, const struct route_file *file,
	const struct route_report *report)
{
	char full[2 * TOPOLOGY_NAME_MAX];
	json_t *bound = json_null(), *first = json_null();

	if (report->uniform.known) {
		topology_port_name(topology, report->uniform.full, full, sizeof(full));
		bound = json_real(report->uniform.bound);
		first = json_string(full);
	}
	return json_pack("{s:s, s:b, s:b, s:I, s:o, s:i, s:I, s:f, s:o, s:o}", "algorithm",
		route_file_origin(file)->algorithm, "connected", report->connected, "deadlock_free",
		report->deadlock_free, "routes", (json_int_t)report->routes, "mean_switch_links",
		report->far_routes > 0 ? json_real(report->mean_switch_links) : json_null(),
		"max_switch_links", (int)report->max_switch_links, "max_link_load",
		(json_int_t)report->link_load.max, "link_load_stddev", report->link_load.stddev,
		"uniform_bound", bound, "full_first", first);
}

static void print_text(const struct subject *subject, const struct route_report report[2])
{
	const struct route_report *a = &report[0], *b = &report[1];
	char full[2][2 * TOPOLOGY_NAME_MAX];

	for (unsigned i = 0; i < 2; i++)
		topology_port_name(
			subject->topology, report[i].uniform.full, full[i], sizeof(full[i]));
	printf("%-22s %20s %20s\n", "", route_file_origin(&subject->file[0])->algorithm,
		route_file_origin(&subject->file[1])->algorithm);
	printf("%-22s %20s %20s\n", "connected", a->connected ? "yes" : "NO",
		b->connected ? "yes" : "NO");
	printf("%-22s %20s %20s\n", "free of deadlock", a->deadlock_free ? "yes" : "NO",
		b->deadlock_free ? "yes" : "NO");
	printf("%-22s %20.4f %20.4f\n", "links, mean", a->mean_switch_links, b->mean_switch_links);
	printf("%-22s %20u %20u\n", "links, max", a->max_switch_links, b->max_switch_links);
	printf("%-22s %20" PRIu64 " %20" PRIu64 "\n", "routes per link, max", a->link_load.max,
		b->link_load.max);
	if (!a->uniform.known || !b->uniform.known)
		return;
	printf("%-22s %18.1f %% %18.1f %%\n", "uniform traffic, max", 100 * a->uniform.bound,
		100 * b->uniform.bound);
	printf("%-22s %20s %20s\n", "full first", full[0], full[1]);
}

static int compare(const struct subject *subject, bool json)
{
	struct route_report report[2];
	struct error error;
	bool good = true;

	for (unsigned i = 0; i < 2; i++) {
		struct route_subject routes = {subject->file[i].set, subject->file[i].table};
		int result = route_verify(subject->topology, &routes, 1, &report[i], &error);

		if (result < 0) {
			if (i > 0)
				route_report_free(&report[0]);
			return command_error(NAME, result, &error);
		}
		good = good && route_report_good(&report[i]);
	}
	if (json)
		command_print_json(
			json_pack("{s:o, s:o}", "a",
				report_json(subject->topology, &subject->file[0], &report[0]), "b",
				report_json(subject->topology, &subject->file[1], &report[1])),
			0);
	else
		print_text(subject, report);
	route_report_free(&report[0]);
	route_report_free(&report[1]);
	return good ? EXIT_DONE : EXIT_BAD_ANSWER;
}

int cmd_route_compare(int argc, char **argv)
{
	struct subject_request request = {.command = NAME, .files_max = 2};
	struct subject subject;
	int result = EXIT_DONE;
	bool json = false;

	for (int i = 1; i < argc && result == EXIT_DONE; i++) {
		if (strcmp(argv[i], "--json") == 0)
			json = true;
		else
			result = subject_argument(&request, &i, argc, argv);
	}
	if (result == EXIT_DONE && request.files != 2)
		return command_fail(
			NAME, EXIT_BAD_REQUEST, "expected two files of routes: TOPO A B [--json]");
	if (result == EXIT_DONE)
		result = subject_open(&subject, &request);
	if (result != EXIT_DONE)
		return result;
	result = compare(&subject, json);
	subject_close(&subject);
	return result;
}
