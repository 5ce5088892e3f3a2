/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cmd_route.h"
#include "route_algorithm.h"
#include "route_file.h"

#define JOBS_MAX 256

struct request {
	const char *topology, *root, *output;
	const struct route_algorithm *algorithm;
	struct route_options options;
	bool json;
};

static int refuse(const char *what, const char *value, const char *expected)
{
	return command_fail(
		"route compute", EXIT_BAD_REQUEST, "%s '%s', expected %s", what, value, expected);
}

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number >= least &&
	       *number <= most;
}

static int take_granularity(struct request *request, const char *value)
{
	if (strcmp(value, "host") != 0 && strcmp(value, "switch") != 0)
		return refuse("--granularity", value, "host or switch");
	request->options.granularity =
		value[0] == 's' ? ROUTE_PER_SWITCH_PAIR : ROUTE_PER_HOST_PAIR;
	return EXIT_DONE;
}

static int take_option(struct request *request, int option, const char *value)
{
	uint64_t number = 0;

	switch (option) {
	case 'a':
		request->algorithm = route_algorithm_find(value);
		return request->algorithm != NULL
			       ? EXIT_DONE
			       : refuse("--algorithm", value, "one of 'weft route algorithms'");
	case 's':
		if (!parse_number(value, 0, UINT64_MAX, &number))
			return refuse("--seed", value, "a number of 64 bits");
		request->options.seed = number;
		return EXIT_DONE;
	case 'n':
		if (!parse_number(value, 1, ROUTE_ALTERNATIVES_MAX, &number))
			return refuse("--alternatives", value, "1 to 10");
		request->options.alternatives = (unsigned)number;
		return EXIT_DONE;
	case 'j':
		if (!parse_number(value, 1, JOBS_MAX, &number))
			return refuse("--jobs", value, "1 to 256");
		request->options.jobs = (unsigned)number;
		return EXIT_DONE;
	case 'g':
		return take_granularity(request, value);
	case 'r':
		request->root = value;
		return EXIT_DONE;
	case 'o':
		request->output = value;
		return EXIT_DONE;
	case 'J':
		request->json = true;
		return EXIT_DONE;
	default:
		return EXIT_BAD_REQUEST; /* getopt_long() has said why */
	}
}

static int parse(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{"algorithm", required_argument, NULL, 'a'},
		{"seed", required_argument, NULL, 's'},
		{"root", required_argument, NULL, 'r'},
		{"alternatives", required_argument, NULL, 'n'},
		{"granularity", required_argument, NULL, 'g'},
		{"jobs", required_argument, NULL, 'j'},
		{"output", required_argument, NULL, 'o'},
		{"json", no_argument, NULL, 'J'},
		{NULL, 0, NULL, 0},
	};
	int option, result = EXIT_DONE;

	optind = 1;
	while (result == EXIT_DONE && (option = getopt_long(argc, argv, "o:", options, NULL)) != -1)
		result = take_option(request, option, optarg);
	if (result != EXIT_DONE)
		return result;
	if (optind != argc - 1)
		return command_fail("route compute", EXIT_BAD_REQUEST, "%s, expected one TOPO",
			optind < argc ? "too many arguments" : "no topology");
	request->topology = argv[optind];
	if (request->algorithm == NULL)
		return command_fail("route compute", EXIT_BAD_REQUEST,
			"no --algorithm, expected one of 'weft route algorithms'");
	if (request->output == NULL)
		return command_fail(
			"route compute", EXIT_BAD_REQUEST, "no -o ROUTES, expected a file or '-'");
	if (request->json && strcmp(request->output, "-") == 0)
		return command_fail("route compute", EXIT_BAD_REQUEST,
			"--json and -o - both want standard output, expected a file");
	return EXIT_DONE;
}

static int find_root(struct request *request, const struct topology *topology)
{
	int32_t root;

	if (request->root == NULL)
		return EXIT_DONE;
	if (request->algorithm->label == NULL)
		return refuse("--root", request->root, "none: the algorithm has no root");
	root = topology_find_switch(topology, request->root);
	if (root < 0)
		return refuse("--root", request->root, "a switch of the topology");
	request->options.root = (uint32_t)root;
	return EXIT_DONE;
}

static int write_routes(
	const struct request *request, const struct topology *topology, const struct route_set *set)
{
	bool standard = strcmp(request->output, "-") == 0;
	FILE *out = standard ? stdout : fopen(request->output, "w");
	struct fault fault;
	int result;

	if (out == NULL)
		return command_fail("route compute", EXIT_BAD_REQUEST, "%s: %s", request->output,
			strerror(errno));
	result = route_file_write(topology, set, out, &fault);
	if (!standard && fclose(out) != 0 && result == 0)
		result = fault_set(&fault, EIO, "%s: %s", request->output, strerror(errno));
	if (result == 0)
		return EXIT_DONE;
	if (!standard)
		unlink(request->output);
	return command_fail("route compute", EXIT_NOT_ABLE, "%s", fault.text);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static uint64_t count_routes(const struct route_set *set)
{
	uint64_t routes = 0;

	for (uint32_t source = 0; source < route_set_hosts(set); source++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++)
			routes += route_set_count(set, source, to);
	return routes;
}

static void print_summary(const struct request *request, const struct topology *topology,
	const struct route_set *set, double seconds)
{
	const struct route_origin *origin = route_set_origin_const(set);
	uint64_t routes = count_routes(set);
	struct rusage usage;
	json_t *json;

	getrusage(RUSAGE_SELF, &usage);
	if (!request->json) {
		fprintf(stderr, "%s: %llu routes between %u hosts by %s%s%s, %.3f s, %.1f MiB\n",
			topology->name, (unsigned long long)routes, topology->hosts,
			origin->algorithm, origin->root[0] != '\0' ? " rooted at " : "",
			origin->root, seconds, (double)usage.ru_maxrss / 1024);
		return;
	}
	json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:s}", "topology",
		topology->name, "algorithm", origin->algorithm, "seed", (json_int_t)origin->seed,
		"switches", (json_int_t)topology->switches, "hosts", (json_int_t)topology->hosts,
		"routes", (json_int_t)routes, "seconds", seconds, "peak_rss_bytes",
		(json_int_t)usage.ru_maxrss * 1024, "output", request->output);
	if (origin->root[0] != '\0')
		json_object_set_new(json, "root", json_string(origin->root));
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

static int compute(const struct request *request, const struct topology *topology)
{
	struct route_set *set;
	struct timespec start;
	struct fault fault;
	double seconds;
	int result;

	clock_gettime(CLOCK_MONOTONIC, &start);
	set = route_compute(topology, request->algorithm, &request->options, &result, &fault);
	if (set == NULL)
		return command_fail("route compute", fault_exit_code(result), "%s", fault.text);
	seconds = seconds_since(&start);
	result = route_set_check_connected(set, topology, &fault);
	if (result < 0)
		result = command_fail("route compute", fault_exit_code(result), "%s", fault.text);
	else
		result = write_routes(request, topology, set);
	if (result == EXIT_DONE)
		print_summary(request, topology, set, seconds);
	route_set_destroy(set);
	return result;
}

int cmd_route_compute(int argc, char **argv)
{
	struct request request = {0};
	struct topology *topology;
	struct fault fault;
	int result = parse(&request, argc, argv);

	if (result != EXIT_DONE)
		return result;
	topology = topology_open(request.topology, &fault);
	if (topology == NULL)
		return command_fail("route compute", fault_exit_code(-errno), "%s", fault.text);
	result = find_root(&request, topology);
	if (result == EXIT_DONE)
		result = compute(&request, topology);
	topology_destroy(topology);
	return result;
}
