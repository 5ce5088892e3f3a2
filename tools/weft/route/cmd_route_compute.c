/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "common/output_file.h"
#include "route/formats/opensm_tables.h"
#include "route/formats/route_binary.h"
#include "route/route_algorithm.h"
#include "route/search/route_root.h"
#include "route/verify/route_verify.h"
#include "route_subject.h"
#include "topo/topology_hosts.h"

#define JOBS_MAX 256

struct request {
	const char *topology, *root, *output;
	const struct route_algorithm *algorithms[ROUTE_MERGE_MAX];
	unsigned count; /* number of algorithms */
	struct route_options options;
	struct topology_cut cut;
	bool tables, binary, json, steps_given, ties_given;
};

static bool take_granularity(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	strcpy(expected, "host or switch");
	*(enum route_granularity *)member =
		value[0] == 's' ? ROUTE_PER_SWITCH_PAIR : ROUTE_PER_HOST_PAIR;
	return strcmp(value, "host") == 0 || strcmp(value, "switch") == 0;
}

static bool take_steps(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct request *request = member;

	strcpy(expected, "next or itb");
	request->options.steps = value[0] == 'i' ? ROUTE_STEPS_ITB : ROUTE_STEPS_NEXT;
	request->steps_given = true;
	return strcmp(value, "next") == 0 || strcmp(value, "itb") == 0;
}

static bool take_ties(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct request *request = member;

	strcpy(expected, "port or seed");
	request->options.ties = value[0] == 's' ? ROUTE_TIES_SEED : ROUTE_TIES_PORT;
	request->ties_given = true;
	return strcmp(value, "port") == 0 || strcmp(value, "seed") == 0;
}

static bool take_algorithms(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct request *request = member;
	char unknown[ROUTE_LABEL_MAX], hint[WORD_LIST_HINT];
	int count = route_merge_find(value, request->algorithms, unknown);

	strcpy(expected, "at most 4 joined by '+'");
	if (count == -ENOENT) {
		bool one = strcmp(unknown, value) == 0;

		name_table_hint(&route_algorithms, unknown, hint);
		snprintf(expected, COMMAND_EXPECTED_MAX, "%s%s%s%s", one ? "" : "for '",
			one ? "" : unknown, one ? "" : "' one of ", hint);
	}
	request->count = (unsigned)count;
	return count >= 0;
}

static bool take_seed(void *seed, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	/* The largest integer that all JSON readers support. */
	strcpy(expected, "0 to 9223372036854775807");
	return quantity_number(value, 0, INT64_MAX, seed);
}

static bool has_steps(const struct request *request)
{
	for (unsigned i = 0; i < request->count; i++)
		if (request->algorithms[i]->steps)
			return true;
	return false;
}

static bool has_ties(const struct request *request)
{
	for (unsigned i = 0; i < request->count; i++)
		if (request->algorithms[i]->ties)
			return true;
	return false;
}

static int check(const struct request *request)
{
	const char *wrong = NULL;

	if (request->count == 0)
		wrong = "--algorithm is missing; 'weft route algorithms' lists them";
	else if (request->output == NULL)
		wrong = "-o is missing; use a file or '-'";
	else if (request->json && strcmp(request->output, "-") == 0)
		wrong = "--json and -o - both write to standard output; use a file";
	else if (request->tables && request->count > 1)
		wrong = "--tables requires a single algorithm, because a switch has one table";
	else if (request->options.radius != 0 && !has_steps(request))
		wrong = "--radius requires --algorithm msp";
	else if (request->steps_given && !has_steps(request))
		wrong = "--steps requires --algorithm msp";
	else if (request->ties_given && !has_ties(request))
		wrong = "--ties requires --algorithm dor or msp";
	if (wrong == NULL)
		return EXIT_DONE;
	return command_fail("route compute", EXIT_BAD_REQUEST, "%s", wrong);
}

static int parse(struct request *request, int argc, char **argv)
{
#define S struct request
	static const struct command_option options[] = {
		{"algorithm", 0, OPTION_WHOLE, .take = take_algorithms},
		{"seed", 0, OPTION_MEMBER(S, options.seed), .take = take_seed},
		{"root", 0, OPTION_TEXT(S, root)},
		{"alternatives", 0, OPTION_NUMBER(S, options.alternatives), 1,
			ROUTE_ALTERNATIVES_MAX},
		{"granularity", 0, OPTION_MEMBER(S, options.granularity), .take = take_granularity},
		{"radius", 0, OPTION_NUMBER(S, options.radius), 1, ROUTE_RADIUS_MAX},
		{"steps", 0, OPTION_WHOLE, .take = take_steps},
		{"ties", 0, OPTION_WHOLE, .take = take_ties},
		{"jobs", 0, OPTION_NUMBER(S, options.jobs), 1, JOBS_MAX},
		{"vcs", 0, OPTION_NUMBER(S, options.classes), 1, FRAME_VCS_MAX},
		COMMAND_OUTPUT(S, output),
		TOPOLOGY_CUT_OPTION(S, cut),
		{"tables", 0, OPTION_SET(S, tables)},
		{"binary", 0, OPTION_SET(S, binary)},
		{"json", 0, OPTION_SET(S, json)},
		{NULL},
	};
#undef S
	int result = command_options("route compute", options, request, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc != 1)
		return command_fail("route compute", EXIT_BAD_REQUEST, "%s; expected one TOPO",
			argc > 1 ? "too many arguments" : "no topology");
	request->topology = argv[0];
	return check(request);
}

/* Returns the first algorithm with a tree. All algorithms of a computation share its root. */
static const struct route_algorithm *rooted(const struct request *request)
{
	for (unsigned i = 0; i < request->count; i++)
		if (request->algorithms[i]->label != NULL)
			return request->algorithms[i];
	return NULL;
}

static int find_root(struct request *request, const struct topology *topology)
{
	const struct route_algorithm *algorithm = rooted(request);
	struct error error;
	int result;

	if (algorithm == NULL && request->root == NULL)
		return EXIT_DONE;
	if (algorithm == NULL)
		return command_fail("route compute", EXIT_BAD_REQUEST,
			"--root '%s' is not allowed, because the algorithm does not use a root",
			request->root);
	result = route_root_find(topology, algorithm, request->root, request->options.seed,
		&request->options.root, &error);
	if (result == -EINVAL)
		return command_fail("route compute", EXIT_BAD_REQUEST, "%s%s",
			request->root != NULL ? "--root " : "", error.text);
	return result < 0 ? (int)command_error("route compute", result, &error) : EXIT_DONE;
}

static int write_routes(const struct request *request, const struct topology *topology,
	const struct route_file *file)
{
	struct output_file output = {
		.command = "route compute", .path = request->output, .inputs = {request->topology}};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	result = request->binary || file->set == NULL
			 ? route_binary_write(topology, file, output.file, &error)
			 : route_file_write(topology, file->set, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_fail("route compute", EXIT_NOT_ABLE, "%s", error.text);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* Returns the number of routes. For tables, this is the number of connected pairs. */
static uint64_t count_routes(const struct topology *topology, const struct route_file *file,
	const struct route_gaps *gaps)
{
	uint64_t hosts = topology->hosts, routes = 0;

	if (file->set == NULL)
		return hosts == 0 ? 0 : hosts * (hosts - 1) - gaps->pairs - gaps->apart;
	for (uint32_t source = 0; source < hosts; source++)
		for (uint32_t to = 0; to < hosts; to++)
			routes += route_set_count(file->set, source, to);
	return routes;
}

static json_t *cut_off_json(const struct topology *topology, const struct route_gaps *gaps)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < gaps->cut_offs; i++)
		json_array_append_new(list, json_string(topology->host_at[gaps->cut_off[i]].name));
	return list;
}

/* Returns whether freedom from deadlock is guaranteed and needs no check. Only a single algorithm
 * guarantees it: route sets that are each deadlock-free may form a cycle together. */
static bool is_promised(const struct request *request)
{
	return request->count == 1 && request->algorithms[0]->deadlock_free;
}

static void print_json(const struct request *request, const struct topology *topology,
	const struct route_file *file, const struct route_gaps *gaps, double seconds,
	uint64_t peak_bytes, bool deadlock_free)
{
	const struct route_origin *origin = route_file_origin(file);
	const struct vc_rule *rule = route_file_vc_rule(file);
	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:b, s:i, s:f, s:I, s:s}",
		"topology", topology->name, "algorithm", origin->algorithm, "contents",
		file->set != NULL ? "routes" : "tables", "seed", (json_int_t)origin->seed,
		"switches", (json_int_t)topology->switches, "hosts", (json_int_t)topology->hosts,
		"routes", (json_int_t)count_routes(topology, file, gaps), "unconnected",
		(json_int_t)gaps->pairs, "cut_off", cut_off_json(topology, gaps), "deadlock_free",
		deadlock_free, "vc_classes", rule == NULL ? 1 : rule->classes, "seconds", seconds,
		"peak_rss_bytes", (json_int_t)peak_bytes, "output", request->output);

	if (file->set != NULL && route_set_excess(file->set) >= 0)
		json_object_set_new(json, "above_optimum", json_real(route_set_excess(file->set)));
	if (origin->root[0] != '\0')
		json_object_set_new(json, "root", json_string(origin->root));
	command_print_json(json, 0);
}

static void print_text(const struct topology *topology, const struct route_file *file,
	const struct route_gaps *gaps, double seconds, uint64_t peak_bytes)
{
	const struct route_origin *origin = route_file_origin(file);

	fprintf(stderr,
		"%s: %" PRIu64 " routes between %u %s%s computed with %s%s%s, %.3f s, %.1f MiB\n",
		topology->name, count_routes(topology, file, gaps), topology->hosts,
		topology_has_rails(topology) ? "host ports" : "hosts",
		file->set != NULL ? "" : " in tables", origin->algorithm,
		origin->root[0] != '\0' ? " rooted at " : "", origin->root, seconds,
		(double)peak_bytes / (1 << 20));
	if (file->set != NULL && route_set_excess(file->set) >= 0)
		fprintf(stderr,
			"bounded search: maximum plus mean load is at most %.1f %% above the optimum\n",
			100 * route_set_excess(file->set));
}

/* Returns the peak memory of the process in bytes; 0 if unknown. getrusage() would include the
 * memory of the process that started this one. */
static uint64_t peak_memory(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[256];

	if (status == NULL)
		return 0;
	while (kib == 0 && fgets(line, sizeof(line), status) != NULL)
		if (sscanf(line, "VmHWM: %llu kB", &kib) != 1)
			kib = 0;
	fclose(status);
	return kib * 1024;
}

/* Searches for a cycle and formats it. Returns the errors of route_verify(). */
static int find_cycle(const struct topology *topology, const struct route_file *file, char *text,
	size_t size, struct error *error)
{
	const struct route_subject subject = {file->set, file->table};
	struct route_report report;
	size_t length = 0;
	int result = route_verify(topology, &subject, 1, &report, error);

	text[0] = '\0';
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < report.cycle_length && length < size; i++) {
		char name[2 * TOPOLOGY_NAME_MAX];

		route_report_channel_name(topology, &report, i, name, sizeof(name));
		length += (size_t)snprintf(text + length, size - length, " %s", name);
	}
	route_report_free(&report);
	return 0;
}

/* Writes the routes, and prints a summary and any faults. */
static int finish(const struct request *request, const struct topology *topology,
	const struct route_file *file, double seconds)
{
	struct route_gaps gaps;
	uint64_t peak_bytes = peak_memory();
	char text[1024], cycle[512] = "";
	struct error error;
	int result, found = 0;

	if (route_gaps_find(topology, file, &gaps) < 0)
		return command_fail("route compute", EXIT_NOT_ABLE, "out of memory");
	result = write_routes(request, topology, file);
	if (result == EXIT_DONE && !is_promised(request))
		found = find_cycle(topology, file, cycle, sizeof(cycle), &error);
	if (found < 0)
		result = command_error("route compute", found, &error);
	if (result == EXIT_DONE && request->json)
		print_json(request, topology, file, &gaps, seconds, peak_bytes, cycle[0] == '\0');
	else if (result == EXIT_DONE)
		print_text(topology, file, &gaps, seconds, peak_bytes);
	if (result == EXIT_DONE && gaps.pairs > 0) {
		route_gaps_text(topology, &gaps, text, sizeof(text));
		result = command_fail(
			"route compute", EXIT_BAD_ANSWER, "%s: %s", topology->name, text);
	}
	if (cycle[0] != '\0' && (result == EXIT_DONE || result == EXIT_BAD_ANSWER))
		result = command_fail("route compute", EXIT_BAD_ANSWER,
			"%s: the routes may deadlock because their channels form a cycle:%s",
			topology->name, cycle);
	route_gaps_free(&gaps);
	return result;
}

static int compute(const struct request *request, const struct topology *topology)
{
	struct route_file file = {NULL, NULL};
	struct timespec start;
	struct error error;
	double seconds;
	int result;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (request->tables || (request->count == 1 && request->algorithms[0]->routes == NULL))
		file.table = route_compute_table(
			topology, request->algorithms[0], &request->options, &result, &error);
	else
		file.set = route_merge_compute(topology, request->algorithms, request->count,
			&request->options, &result, &error);
	seconds = seconds_since(&start);
	if (result < 0)
		return command_error("route compute", result, &error);
	if (!route_options_allow(&request->options, route_file_vc_rule(&file)))
		result = command_fail("route compute", EXIT_BAD_REQUEST,
			"--vcs %u: must be %u or more, because %s needs %u VCs on %s",
			request->options.classes, route_file_vc_rule(&file)->classes,
			request->algorithms[0]->name, route_file_vc_rule(&file)->classes,
			topology->name);
	else
		result = finish(request, topology, &file, seconds);
	route_file_close(&file);
	return result;
}

int cmd_route_compute(int argc, char **argv)
{
	struct request request = {.options.ties = ROUTE_TIES_PORT};
	struct topology *topology;
	int result = parse(&request, argc, argv);

	if (result != EXIT_DONE)
		return result;
	topology = topology_cut_open(&request.cut, "route compute", request.topology, &result);
	if (topology == NULL)
		return result;
	result = find_root(&request, topology);
	if (result == EXIT_DONE)
		result = compute(&request, topology);
	topology_destroy(topology);
	return result;
}
