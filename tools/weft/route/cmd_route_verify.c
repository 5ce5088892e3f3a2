/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <string.h>

#include "route/verify/route_verify.h"
#include "route_subject.h"
#include "topo/cmd_topo.h"

/* Writes the label that all files share, or the labels of all files joined with '+'. */
static void join_labels(const struct subject *subject, size_t offset, char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < subject->files && length < size; i++) {
		const char *label = (const char *)route_file_origin(&subject->file[i]) + offset;

		if (i == 0 || strcmp(label, (const char *)route_file_origin(&subject->file[i - 1]) +
						    offset) != 0)
			length += (size_t)snprintf(
				out + length, size - length, "%s%s", length > 0 ? "+" : "", label);
	}
}

/* Returns null if no two hosts are on different switches. */
static json_t *over_far(const struct route_report *report, double value)
{
	return report->far_routes > 0 ? json_real(value) : json_null();
}

static json_t *uniform_json(const struct topology *topology, const struct route_report *report)
{
	char name[2 * TOPOLOGY_NAME_MAX];

	if (!report->uniform.known)
		return json_null();
	topology_port_name(topology, report->uniform.full, name, sizeof(name));
	return json_pack("{s:f, s:s}", "bound", report->uniform.bound, "full_first", name);
}

static void print_json(const struct subject *subject, const struct route_report *report)
{
	char algorithm[2 * ROUTE_LABEL_MAX], root[2 * ROUTE_LABEL_MAX];
	json_t *json = json_pack(
		"{s:I, s:I, s:b, s:I, s:I, s:I, s:o, s:o, s:i, s:o, s:i, s:i, s:b, "
		"s:o, s:{s:I, s:f, s:I, s:f}, s:s}",
		"pairs", (json_int_t)report->pairs, "routes", (json_int_t)report->routes,
		"connected", report->connected, "unconnected", (json_int_t)report->unconnected,
		"unreachable", (json_int_t)report->unreachable, "invalid",
		(json_int_t)report->invalid, "minimal_fraction",
		over_far(report, report->minimal_fraction), "mean_switch_links",
		over_far(report, report->mean_switch_links), "max_switch_links",
		(int)report->max_switch_links, "itbs_mean", over_far(report, report->itbs_mean),
		"itbs_max", (int)report->itbs_max, "vc_classes", (int)report->vc_classes,
		"deadlock_free", report->deadlock_free, "cycle",
		cmd_topo_cycle_json(subject->topology, report), "link_load", "min",
		(json_int_t)report->link_load.min, "mean", report->link_load.mean, "max",
		(json_int_t)report->link_load.max, "stddev", report->link_load.stddev, "evidence",
		report->evidence);

	json_object_set_new(json, "uniform", uniform_json(subject->topology, report));
	join_labels(
		subject, offsetof(struct route_origin, algorithm), algorithm, sizeof(algorithm));
	join_labels(subject, offsetof(struct route_origin, root), root, sizeof(root));
	json_object_set_new(json, "algorithm", json_string(algorithm));
	if (root[0] != '\0')
		json_object_set_new(json, "root", json_string(root));
	command_print_json(json, 0);
}

static void print_cycle(const struct topology *topology, const struct route_report *report)
{
	char name[2 * TOPOLOGY_NAME_MAX];

	fputs("cycle            ", stdout);
	for (uint32_t i = 0; i < report->cycle_length; i++) {
		route_report_channel_name(topology, report, i, name, sizeof(name));
		printf(" %s", name);
	}
	putchar('\n');
}

static void print_uniform(const struct topology *topology, const struct route_report *report)
{
	char name[2 * TOPOLOGY_NAME_MAX];

	if (!report->uniform.known)
		return;
	topology_port_name(topology, report->uniform.full, name, sizeof(name));
	printf("uniform traffic   at most %.1f %% of the hosts' link rate; %s saturates first\n",
		100 * report->uniform.bound, name);
}

static void print_text(const struct subject *subject, const struct route_report *report)
{
	char algorithm[2 * ROUTE_LABEL_MAX], root[2 * ROUTE_LABEL_MAX];

	join_labels(
		subject, offsetof(struct route_origin, algorithm), algorithm, sizeof(algorithm));
	join_labels(subject, offsetof(struct route_origin, root), root, sizeof(root));
	printf("topology          %s, %s computed with %s%s%s\n", subject->topology->name,
		subject->file[0].set != NULL ? "routes" : "tables", algorithm,
		root[0] != '\0' ? " rooted at " : "", root);
	printf("pairs of hosts    %" PRIu64 "\n", report->pairs);
	printf("routes            %" PRIu64 "\n", report->routes);
	printf("connected         %s\n", report->connected ? "yes" : "NO");
	if (report->unconnected > 0)
		printf("without a route   %" PRIu64 " pairs, %" PRIu64
		       " of them because the topology has no path\n",
			report->unconnected, report->unreachable);
	if (report->invalid > 0)
		printf("invalid           %" PRIu64 "\n", report->invalid);
	printf("free of deadlock  %s\n", report->deadlock_free ? "yes" : "NO");
	if (report->far_routes > 0) {
		printf("minimal           %.2f %%\n", 100 * report->minimal_fraction);
		printf("links, mean       %.4f (between switches; at most %u)\n",
			report->mean_switch_links, report->max_switch_links);
		printf("ITBs, mean        %.4f (at most %u)\n", report->itbs_mean,
			report->itbs_max);
	} else {
		puts("minimal           - (no routes between hosts on different switches)");
	}
	if (report->vc_classes > 1)
		printf("VC classes        %u\n", report->vc_classes);
	printf("routes per link   %" PRIu64 " to %" PRIu64 ", mean %.1f, deviation %.1f\n",
		report->link_load.min, report->link_load.max, report->link_load.mean,
		report->link_load.stddev);
	print_uniform(subject->topology, report);
	if (report->cycle_length > 0)
		print_cycle(subject->topology, report);
	if (report->evidence[0] != '\0')
		printf("evidence          %s\n", report->evidence);
}

static int verify(const struct subject *subject, bool json)
{
	struct route_subject routes[SUBJECT_FILES_MAX];
	struct route_report report;
	struct error error;
	int result;

	for (unsigned i = 0; i < subject->files; i++)
		routes[i] = (struct route_subject){subject->file[i].set, subject->file[i].table};
	result = route_verify(subject->topology, routes, subject->files, &report, &error);
	if (result < 0)
		return command_error("route verify", result, &error);
	(json ? print_json : print_text)(subject, &report);
	result = route_report_good(&report) ? EXIT_DONE : EXIT_BAD_ANSWER;
	route_report_free(&report);
	return result;
}

/* Parses the arguments, and opens at least 'min' files. */
static int open_subject(struct subject *subject, struct subject_request *request, unsigned min,
	const char *expected, int argc, char **argv)
{
	static const struct command_option options[] = {
		TOPOLOGY_CUT_OPTION(struct subject_request, cut),
		{"json", 0, OPTION_SET(struct subject_request, json)},
		{NULL},
	};
	int result = subject_arguments(request, options, request, argc, argv);

	if (result == EXIT_DONE && request->files < min)
		return command_fail(request->command, EXIT_BAD_REQUEST, "%s", expected);
	return result == EXIT_DONE ? subject_open(subject, request) : result;
}

int cmd_route_verify(int argc, char **argv)
{
	struct subject_request request = {
		.command = "route verify", .files_max = SUBJECT_FILES_MAX};
	struct subject subject;
	int result = open_subject(&subject, &request, 1,
		"too few arguments; expected TOPO ROUTES... [--json]", argc, argv);

	if (result != EXIT_DONE)
		return result;
	result = verify(&subject, request.json);
	subject_close(&subject);
	return result;
}

/* --- weft route compare: two route files for the same topology, side by side --- */

static json_t *side_json(const struct topology *topology, const struct route_file *file,
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

static void print_sides(const struct subject *subject, const struct route_report report[2])
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
	printf("%-22s %20s %20s\n", "saturates first", full[0], full[1]);
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
			return command_error("route compare", result, &error);
		}
		good = good && route_report_good(&report[i]);
	}
	if (json)
		command_print_json(
			json_pack("{s:o, s:o}", "a",
				side_json(subject->topology, &subject->file[0], &report[0]), "b",
				side_json(subject->topology, &subject->file[1], &report[1])),
			0);
	else
		print_sides(subject, report);
	route_report_free(&report[0]);
	route_report_free(&report[1]);
	return good ? EXIT_DONE : EXIT_BAD_ANSWER;
}

int cmd_route_compare(int argc, char **argv)
{
	struct subject_request request = {.command = "route compare", .files_max = 2};
	struct subject subject;
	int result = open_subject(
		&subject, &request, 2, "expected two route files: TOPO A B [--json]", argc, argv);

	if (result != EXIT_DONE)
		return result;
	result = compare(&subject, request.json);
	subject_close(&subject);
	return result;
}
