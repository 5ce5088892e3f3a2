/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The key 'routing.file', and which files it refuses. */

#include "experiment/run/run_config.h"

#include <errno.h>
#include <unistd.h>

#include "route/formats/route_binary.h"
#include "route/formats/route_file.h"
#include "route/route_algorithm.h"
#include "setup/device_config.h"
#include "unit.h"

/* Its shortest paths are unique and go all the way around. */
#define RING "ring:switches=5,hosts=1"
#define HEAD "weft: run/1\ntopology: \"" RING "\"\nclock: virtual\n"

static char folder[] = "/tmp/run-routes-XXXXXX";

static int make_folder(void **state)
{
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	unlink(path_of("routes"));
	return rmdir(folder);
}

static void write_text(const char *text)
{
	FILE *out = fopen(path_of("routes"), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* The file holds the routes that the algorithm computes for the network. */
static void write_routes(const char *network, const char *algorithm, unsigned alternatives)
{
	const struct route_options options = {.seed = 1, .alternatives = alternatives};
	OWNED(topology) *topology = topology_generate(network, NULL);
	OWNED(route_set) *set =
		route_compute(topology, route_algorithm_find(algorithm), &options, NULL, NULL);
	FILE *out = fopen(path_of("routes"), "w");

	assert_non_null(out);
	assert_non_null(set);
	assert_int_equal(route_file_write(topology, set, out, NULL), 0);
	assert_int_equal(fclose(out), 0);
}

static void write_tables(const char *network, const char *algorithm)
{
	const struct route_options options = {.seed = 1};
	OWNED(topology) *topology = topology_generate(network, NULL);
	OWNED(route_file) file = {.table = route_compute_table(topology,
					  route_algorithm_find(algorithm), &options, NULL, NULL)};
	FILE *out = fopen(path_of("routes"), "w");

	assert_non_null(out);
	assert_non_null(file.table);
	assert_int_equal(route_binary_write(topology, &file, out, NULL), 0);
	assert_int_equal(fclose(out), 0);
}

/* A run file next to the route file. */
static struct run_config *parse(const char *text, const char *set, struct error *error)
{
	char origin[128];

	snprintf(origin, sizeof(origin), "%s/r.yaml", folder);
	return run_config_parse(text, strlen(text), origin, &set, set != NULL, error);
}

static struct run_config *accept(const char *text, const char *set)
{
	struct error error = {""};
	struct run_config *config = parse(text, set, &error);

	assert_string_equal(error.text, "");
	assert_non_null(config);
	return config;
}

/* The end of the message; the folder precedes it. */
static void assert_ends(const struct error *error, const char *end)
{
	size_t length = strlen(error->text);

	assert_true(length >= strlen(end));
	assert_string_equal(error->text + length - strlen(end), end);
	assert_null(strchr(error->text, '\n'));
}

static void refuse(const char *text, const char *set, const char *end)
{
	struct error error = {""};

	assert_null(parse(text, set, &error));
	assert_int_equal(errno, EINVAL);
	assert_ends(&error, end);
}

/* Returns the error of run_routes_load() for the file, or "" if it accepts it. */
static struct error load(const char *text, const char *set)
{
	OWNED(run_config) *config = accept(text, set);
	struct error error = {""};
	OWNED(topology) *topology = run_config_open_topology(config, &error);
	struct route_file file = {NULL, NULL};

	assert_non_null(topology);
	if (run_routes_load(config, topology, &file, &error) == 0)
		route_file_close(&file);
	assert_null(file.set);
	assert_null(file.table);
	return error;
}

UNIT_TEST(the_path_starts_from_the_folder_of_the_run_file)
{
	OWNED(run_config) *config;

	write_routes(RING, "ud", 1);
	config = accept(HEAD "routing: {file: routes}\n", NULL);
	assert_string_equal(config->routing.file, path_of("routes"));
}

UNIT_TEST(the_header_brings_mode_and_selector)
{
	struct run_config *config;

	write_routes(RING, "ud-rr", 4);
	config = accept(HEAD "routing: {file: routes}\n", NULL);
	assert_int_equal(config->routing.mode, RUN_ROUTING_SOURCE);
	assert_string_equal(config->nic.selector->name, "round-robin");
	run_config_destroy(config);
	write_tables(RING, "ud");
	config = accept(HEAD "routing: {file: routes}\n", NULL);
	assert_int_equal(config->routing.mode, RUN_ROUTING_TABLE);
	assert_string_equal(config->nic.selector->name, "first");
	run_config_destroy(config);
}

UNIT_TEST(a_selector_of_the_run_file_comes_before_that_of_the_header)
{
	OWNED(run_config) *config;

	write_routes(RING, "ud-rr", 4);
	config = accept(HEAD "routing: {file: routes}\nnic: {selector: random}\n", NULL);
	assert_string_equal(config->nic.selector->name, "random");
}

UNIT_TEST(a_file_and_a_key_that_computes_are_refused_at_the_second)
{
	static const struct {
		const char *routing, *end;
	} cases[] = {
		{"routing: {algorithm: ud, file: routes}\n",
			"/r.yaml:4:26: routing.file: routing.algorithm is also set; use only one of them, because routes are either loaded or computed"},
		{"routing: {file: routes, algorithm: ud}\n",
			"/r.yaml:4:25: routing.algorithm: routing.file is also set; use only one of them, because routes are either loaded or computed"},
		{"routing: {file: routes, alternatives: 2}\n",
			"/r.yaml:4:25: routing.alternatives: routing.file is also set; use only one of them, because routes are either loaded or computed"},
		{"routing: {granularity: switch, file: routes}\n",
			"/r.yaml:4:32: routing.file: routing.granularity is also set; use only one of them, because routes are either loaded or computed"},
	};

	write_routes(RING, "ud", 1);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), HEAD "%s", cases[i].routing);
		refuse(text, NULL, cases[i].end);
	}
}

UNIT_TEST(a_file_on_the_command_line_replaces_the_algorithm)
{
	OWNED(run_config) *config;
	char set[160];

	write_routes(RING, "ud", 1);
	snprintf(set, sizeof(set), "routing.file=%s", path_of("routes"));
	config = accept(
		HEAD "routing: {algorithm: ud-det, alternatives: 3, granularity: switch}\n", set);
	assert_string_equal(config->routing.file, path_of("routes"));
	assert_int_equal(config->routing.alternatives, 0);
	assert_string_equal(config->nic.selector->name, "first");
}

UNIT_TEST(an_algorithm_on_the_command_line_replaces_the_file)
{
	OWNED(run_config) *config =
		accept(HEAD "routing: {file: gone}\n", "routing.algorithm=ud-det");

	assert_null(config->routing.file);
	assert_string_equal(config->routing.algorithm->name, "ud-det");
	assert_int_equal(config->routing.alternatives, 10);
}

static char *explain(const struct run_config *config)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(run_config_explain(config, out), 0);
	fclose(out);
	return text;
}

UNIT_TEST(what_is_written_back_is_read_to_the_same)
{
	OWNED(run_config) *config, *again;
	char *first, *second;

	write_routes(RING, "ud-rr", 4);
	config = accept(HEAD "routing: {file: routes}\n", NULL);
	first = explain(config);
	again = accept(first, NULL);
	second = explain(again);
	assert_string_equal(first, second);
	assert_null(strstr(first, "algorithm:"));
	free(first);
	free(second);
}

UNIT_TEST(a_mode_that_is_not_the_files_is_refused)
{
	write_tables(RING, "ud");
	refuse(HEAD "routing: {file: routes, mode: source}\n", NULL,
		"/routes contains tables; use 'table'");
}

UNIT_TEST(with_a_mapper_that_computes_routes_a_file_is_refused)
{
	write_routes(RING, "ud", 1);
	refuse(HEAD "routing: {file: routes}\n", "mapper.routes=mapper",
		"/r.yaml:4:11: routing.file: with 'mapper.routes: mapper' the mapper computes "
		"the routes; use 'mapper.routes: static'");
}

UNIT_TEST(a_file_that_is_not_there_is_refused_at_the_key)
{
	char end[200];

	snprintf(end, sizeof(end),
		"/r.yaml:4:17: routing.file: %s: No such file or directory; use a route file",
		path_of("gone"));
	refuse(HEAD "routing: {file: gone}\n", NULL, end);
}

UNIT_TEST(a_file_that_is_no_route_file_is_refused_at_its_line)
{
	write_text("0 1\n");
	refuse(HEAD "routing: {file: routes}\n", NULL,
		"/routes:1:1: not a Weft route file; expected '# weft routes/1 topology=…'");
}

/* Reading a device or a pipe might never end. */
UNIT_TEST(only_a_regular_file_is_opened)
{
	refuse(HEAD "routing: {file: /dev/zero}\n", NULL,
		"/r.yaml:4:17: routing.file: /dev/zero: not a regular file; use a route file");
}

UNIT_TEST(selectors_between_sets_are_refused)
{
	OWNED(run_config) *config;
	struct error error = {""};

	write_routes(RING, "ud", 1);
	config = accept(HEAD "routing: {file: routes}\nnic: {selector: detect}\n", NULL);
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_ends(&error, "/r.yaml: nic.selector detect chooses between 2 route sets, which a "
			    "route file does not distinguish; use routing.algorithm instead of "
			    "routing.file");
}

UNIT_TEST(a_schedule_wants_the_first_of_the_routes)
{
	OWNED(run_config) *config;
	struct error error = {""};

	write_routes(RING, "ud-rr", 4);
	config = accept(
		HEAD "routing: {file: routes}\ntraffic: [{pattern: goal, file: /x}]\n", NULL);
	assert_int_equal(run_config_supported(config, &error), -EINVAL);
	assert_ends(&error, "/r.yaml:5:11: pattern goal on the virtual clock requires messages in "
			    "order; use 'nic.selector: first'");
}

UNIT_TEST(routes_that_fit_are_loaded)
{
	struct error error;

	write_routes(RING, "ud", 1);
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_string_equal(error.text, "");
	write_tables(RING, "ud");
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_string_equal(error.text, "");
}

UNIT_TEST(routes_of_another_topology_are_refused)
{
	struct error error;

	write_routes("ring:switches=6,hosts=1", "ud", 1);
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_ends(&error, "/routes:1:26: routes of topology 'ring-6-1'; expected 'ring-5-1'");
}

UNIT_TEST(a_route_that_does_not_fit_is_refused_at_its_line)
{
	struct error error;

	write_text("# weft routes/1 topology=ring-5-1\nh0 h1 s0:9\n");
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_ends(&error, "/routes:2:7: 's0:9' has no link");
	assert_non_null(strstr(error.text, "/r.yaml:4:17: routing.file: "));
}

UNIT_TEST(a_pair_without_a_route_is_named)
{
	struct error error;

	write_text("# weft routes/1 topology=ring-5-1\n");
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_ends(
		&error, "/routes: h1 to h0: no route; the routes must connect all pairs of hosts");
}

UNIT_TEST(routes_that_may_deadlock_are_refused)
{
	struct error error;

	write_routes(RING, "minhop", 1);
	error = load(HEAD "routing: {file: routes}\n", NULL);
	assert_non_null(strstr(error.text, "/routes: a cycle of 5 channel dependencies through "));
	assert_ends(&error, "use routes that cannot deadlock, or routing.may-deadlock: true");
}

UNIT_TEST(routes_that_may_deadlock_are_taken_where_that_is_allowed)
{
	struct error error;

	write_routes(RING, "minhop", 1);
	error = load(HEAD "routing: {file: routes, may-deadlock: true}\n", NULL);
	assert_string_equal(error.text, "");
}

/* The header was read earlier. */
UNIT_TEST(a_file_that_has_become_tables_is_refused)
{
	OWNED(run_config) *config;
	OWNED(topology) *topology = topology_generate(RING, NULL);
	struct route_file file;
	struct error error = {""};

	write_routes(RING, "ud", 1);
	config = accept(HEAD "routing: {file: routes}\n", NULL);
	write_tables(RING, "ud");
	assert_int_equal(run_routes_load(config, topology, &file, &error), -EINVAL);
	assert_ends(&error,
		"/routes contains tables, but must contain source routes with routing.mode: source");
}

UNIT_TEST(adaptive_switches_refuse_vc_classes)
{
	struct error error;

	write_tables(RING, "dor");
	error = load(HEAD "routing: {file: routes, adaptive: adaptive}\nswitch: {vcs: 2}\n", NULL);
	assert_ends(&error,
		"/routes contains tables with VC classes, which only work with their own paths; "
		"use 'adaptive: none'");
}

UNIT_TEST(a_selector_is_told_the_files_number_of_routes)
{
	const char *network = "rlft:ports=4,stages=2";
	OWNED(topology) *topology = topology_generate(network, NULL);
	OWNED(run_config) *config;
	OWNED(route_file) file;

	write_routes(network, "ud-det", 10);
	config = accept("weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: virtual\n"
			"routing: {file: routes}\n",
		NULL);
	assert_int_equal(run_routes_load(config, topology, &file, NULL), 0);
	assert_int_equal(device_config_selection(config, file.set, 0, 1).routes, 2);
}

UNIT_MAIN(make_folder, remove_folder)
