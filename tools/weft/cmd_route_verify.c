/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_route.h"
#include "route_file.h"
#include "route_verify.h"

/* A topology and the routes of a file on it. */
struct subject {
	struct topology *topology;
	struct route_set *set;
};

static void subject_close(struct subject *subject)
{
	route_set_destroy(subject->set);
	topology_destroy(subject->topology);
}

/* EXIT_DONE, and then the caller closes; or says why not. */
static int subject_open(
	struct subject *subject, const char *command, const char *topology, const char *routes)
{
	struct fault fault;
	int code;

	*subject = (struct subject){.topology = topology_open(topology, &fault)};
	if (subject->topology == NULL)
		return command_fail(command, fault_exit_code(-errno), "%s", fault.text);
	subject->set = strcmp(routes, "-") == 0
			       ? route_file_read(subject->topology, stdin, "-", &code, &fault)
			       : route_file_load(subject->topology, routes, &code, &fault);
	if (subject->set != NULL)
		return EXIT_DONE;
	subject_close(subject);
	return command_fail(command, fault_exit_code(code), "%s", fault.text);
}

static json_t *cycle_json(const struct topology *topology, const struct route_report *report)
{
	char name[2 * TOPOLOGY_NAME_MAX];
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->cycle_length; i++) {
		route_report_channel_name(topology, report, i, name, sizeof(name));
		json_array_append_new(list, json_string(name));
	}
	return list;
}

static void print_json(const struct subject *subject, const struct route_report *report)
{
	const char *root = route_set_origin_const(subject->set)->root;
	json_t *json = json_pack("{s:I, s:I, s:b, s:I, s:I, s:f, s:f, s:i, s:f, s:i, s:b, s:o, "
				 "s:{s:I, s:f, s:I, s:f}, s:s}",
		"pairs", (json_int_t)report->pairs, "routes", (json_int_t)report->routes,
		"connected", report->connected, "unconnected", (json_int_t)report->unconnected,
		"invalid", (json_int_t)report->invalid, "minimal_fraction",
		report->minimal_fraction, "mean_switch_links", report->mean_switch_links,
		"max_switch_links", (int)report->max_switch_links, "itbs_mean", report->itbs_mean,
		"itbs_max", (int)report->itbs_max, "deadlock_free", report->deadlock_free, "cycle",
		cycle_json(subject->topology, report), "link_load", "min",
		(json_int_t)report->link_load.min, "mean", report->link_load.mean, "max",
		(json_int_t)report->link_load.max, "stddev", report->link_load.stddev, "evidence",
		report->evidence);

	if (root[0] != '\0')
		json_object_set_new(json, "root", json_string(root));
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
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

static void print_text(const struct subject *subject, const struct route_report *report)
{
	const struct route_origin *origin = route_set_origin_const(subject->set);

	printf("topology          %s, routes by %s%s%s\n", subject->topology->name,
		origin->algorithm, origin->root[0] != '\0' ? " rooted at " : "", origin->root);
	printf("pairs of hosts    %" PRIu64 "\n", report->pairs);
	printf("routes            %" PRIu64 "\n", report->routes);
	printf("connected         %s\n", report->connected ? "yes" : "NO");
	printf("free of deadlock  %s\n", report->deadlock_free ? "yes" : "NO");
	printf("minimal           %.2f %%\n", 100 * report->minimal_fraction);
	printf("links, mean       %.4f (between switches; at most %u)\n", report->mean_switch_links,
		report->max_switch_links);
	printf("ITBs, mean        %.4f (at most %u)\n", report->itbs_mean, report->itbs_max);
	printf("routes per link   %" PRIu64 " to %" PRIu64 ", mean %.1f, deviation %.1f\n",
		report->link_load.min, report->link_load.max, report->link_load.mean,
		report->link_load.stddev);
	if (report->cycle_length > 0)
		print_cycle(subject->topology, report);
	if (report->evidence[0] != '\0')
		printf("evidence          %s\n", report->evidence);
}

int cmd_route_verify(int argc, char **argv)
{
	const char *name[2] = {NULL, NULL};
	struct route_report report;
	struct subject subject;
	struct fault fault;
	unsigned names = 0;
	bool json = false;
	int result;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			json = true;
		else if (names < 2 && (argv[i][0] != '-' || argv[i][1] == '\0'))
			name[names++] = argv[i];
		else
			return command_fail("route verify", EXIT_BAD_REQUEST,
				"'%s', expected TOPO ROUTES [--json]", argv[i]);
	}
	if (names < 2)
		return command_fail("route verify", EXIT_BAD_REQUEST,
			"too few arguments, expected TOPO ROUTES [--json]");
	result = subject_open(&subject, "route verify", name[0], name[1]);
	if (result != EXIT_DONE)
		return result;
	result = route_verify_set(subject.topology, subject.set, &report, &fault);
	if (result < 0) {
		result = command_fail("route verify", fault_exit_code(result), "%s", fault.text);
	} else {
		(json ? print_json : print_text)(&subject, &report);
		result = route_report_good(&report) ? EXIT_DONE : EXIT_BAD_ANSWER;
		route_report_free(&report);
	}
	subject_close(&subject);
	return result;
}

static int show_pair(const struct subject *subject, const char *from, const char *to)
{
	int32_t source = topology_find_host(subject->topology, from);
	int32_t destination = topology_find_host(subject->topology, to);
	char text[ROUTE_ELEMENTS_MAX * (TOPOLOGY_NAME_MAX + 4)];
	const uint8_t *route;
	unsigned length, i = 0;

	if (source < 0 || destination < 0)
		return command_fail("route show", EXIT_BAD_REQUEST,
			"no host '%s' in topology %s, expected a host", source < 0 ? from : to,
			subject->topology->name);
	for (; (route = route_set_get(
			subject->set, (uint32_t)source, (uint32_t)destination, i, &length)) != NULL;
		i++) {
		if (route_text(subject->topology, (uint32_t)source, route, length, text,
			    sizeof(text)) < 0)
			break;
		printf("%s %s %s\n", from, to, text);
	}
	if (i > 0)
		return EXIT_DONE;
	return command_fail("route show", EXIT_BAD_ANSWER, "no route from %s to %s", from, to);
}

int cmd_route_show(int argc, char **argv)
{
	struct subject subject;
	int result;

	if (argc != 5)
		return command_fail("route show", EXIT_BAD_REQUEST,
			"%d arguments, expected TOPO ROUTES SOURCE DESTINATION", argc - 1);
	result = subject_open(&subject, "route show", argv[1], argv[2]);
	if (result != EXIT_DONE)
		return result;
	result = show_pair(&subject, argv[3], argv[4]);
	subject_close(&subject);
	return result;
}
