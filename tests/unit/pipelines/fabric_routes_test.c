/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "setup/fabric_routes.h"

#include "experiment/result/run_result.h"
#include "route/route_algorithm.h"
#include "unit.h"

#define NETWORK "rlft:ports=4,stages=2"

/* Returns 0, or the error with which the request for such routes, static or from a mapper, is
 * refused. */
static int request(const char *algorithm, const char *mode, const char *adaptive, bool mapped)
{
	OWNED(topology) *topology = topology_generate(NETWORK, NULL);
	struct fabric_routes routes;
	struct error error = {""};
	OWNED(run_config) *run;
	char text[400];
	int result;

	snprintf(text, sizeof(text),
		"weft: run/1\ntopology: \"" NETWORK "\"\nclock: real\nswitch: {vcs: 2, voq: true}\n"
		"routing: {algorithm: %s, mode: %s, adaptive: %s}\n",
		algorithm, mode, adaptive);
	run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	if (run == NULL)
		fail_msg("%s", error.text);
	result = mapped ? fabric_routes_init_mapped(&routes, topology, run, &error)
			: fabric_routes_compute(&routes, topology, run, &error);
	if (result < 0)
		assert_non_null(strstr(error.text, "nothing to choose from"));
	else
		fabric_routes_free(&routes);
	return result;
}

UNIT_TEST(adaptive_switches_need_tables_with_a_choice_mapped_or_not)
{
	for (unsigned mapped = 0; mapped < 2; mapped++) {
		assert_int_equal(request("dmodk", "table", "adaptive", mapped), 0);
		assert_int_equal(request("ud", "table", "adaptive", mapped), -EINVAL);
		assert_int_equal(request("ud", "table", "none", mapped), 0);
	}
}

/* They take switches^2 bytes, and neither an audit nor a mapper has switches that would read
 * them. */
UNIT_TEST(only_switches_with_static_tables_get_the_lengths_of_paths)
{
	static const char text[] = "weft: run/1\ntopology: \"torus:dims=4x4\"\n"
				   "switch: {vcs: 4}\nrouting: {algorithm: ugal}\n";
	OWNED(topology) *topology = topology_generate("torus:dims=4x4", NULL);
	struct error error = {""};
	OWNED(run_config) *run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	int (*const make[])(struct fabric_routes *, const struct topology *,
		const struct run_config *, struct error *) = {
		fabric_routes_compute, fabric_routes_find, fabric_routes_init_mapped};

	for (unsigned i = 0; i < 3; i++) {
		struct fabric_routes routes;

		assert_int_equal(make[i](&routes, topology, run, &error), 0);
		assert_int_equal(routes.lengths != NULL, i == 0);
		fabric_routes_free(&routes);
	}
}

/* On a fat tree, where all algorithms that can leave alternatives do. */
UNIT_TEST(an_algorithm_says_whether_its_tables_leave_a_choice)
{
	OWNED(topology) *topology = topology_generate(NETWORK, NULL);
	const struct route_options options = {.seed = 1};
	const struct route_algorithm *algorithm;
	unsigned adaptive = 0;

	for (unsigned i = 0; (algorithm = route_algorithm_at(i)) != NULL; i++) {
		OWNED(route_table) *table = NULL;
		int result;

		if (algorithm->tables == NULL) {
			assert_false(algorithm->adaptive);
			continue;
		}
		table = route_compute_table(topology, algorithm, &options, &result, NULL);
		if (table == NULL)
			continue;
		/* A table with detours contains the ports where they start (vc_ladder.h). */
		assert_int_equal(algorithm->adaptive || algorithm->ladder != VC_STEPS_NONE,
			table->alternatives != NULL);
		adaptive += algorithm->adaptive;
	}
	assert_true(adaptive > 0);
}

/* Returns NULL, or the text of the refusal. */
static const char *refusal(const char *topology_text, const char *more)
{
	static struct error error;
	OWNED(topology) *topology = topology_generate(topology_text, NULL);
	struct fabric_routes routes;
	OWNED(run_config) *run;
	char text[400];
	int result;

	snprintf(text, sizeof(text), "weft: run/1\ntopology: \"%s\"\nclock: virtual\n%s\n",
		topology_text, more);
	run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	if (run == NULL)
		fail_msg("%s", error.text);
	result = fabric_routes_compute(&routes, topology, run, &error);
	if (result == 0)
		fabric_routes_free(&routes);
	else
		assert_int_equal(result, -EINVAL);
	return result == 0 ? NULL : error.text;
}

UNIT_TEST(what_chooses_needs_a_network_with_a_choice)
{
	static const struct {
		const char *one_path, *several, *more, *word;
	} cases[] = {
		{"mesh:dims=3,hosts=2", "mesh:dims=3x2",
			"nic: {control: drb}\nswitch: {vcs: 4}\n"
			"routing: {algorithm: msp}",
			"drb"},
		{"full:switches=2", "full:switches=3",
			"nic: {control: pr-drb}\n"
			"routing: {algorithm: disjoint}",
			"pr-drb"},
		{"mesh:dims=4", "torus:dims=4x4",
			"nic: {selector: random}\n"
			"routing: {algorithm: ud, alternatives: 3}",
			"random"},
		{"mesh:dims=4", "torus:dims=4x4",
			"nic: {selector: detect}\n"
			"routing: {algorithm: ud+ud-itb}",
			"detect"},
		{"rlft:ports=2,stages=2", NETWORK,
			"routing: {algorithm: dmodk, mode: table, "
			"adaptive: adaptive}\nswitch: {vcs: 2, voq: true}",
			"adaptive"},
	};
	char expected[200];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = refusal(cases[i].one_path, cases[i].more);

		snprintf(expected, sizeof(expected),
			"test: %s has nothing to choose from, because ", cases[i].word);
		assert_non_null(text);
		if (strstr(text, expected) == NULL)
			fail_msg("%s: %s", cases[i].one_path, text);
		text = refusal(cases[i].several, cases[i].more);
		if (text != NULL)
			fail_msg("%s: %s", cases[i].several, text);
	}
}

UNIT_TEST(an_algorithm_that_cannot_serve_a_topology_is_named_with_its_key)
{
	static const char text[] = "weft: run/1\ntopology: \"torus:dims=4x4\"\nclock: virtual\n"
				   "routing: {algorithm: dmodk, mode: table}\n";
	OWNED(topology) *topology = topology_generate("torus:dims=4x4", NULL);
	struct error error = {""};
	OWNED(run_config) *run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	struct fabric_routes routes;

	assert_non_null(run);
	assert_int_equal(fabric_routes_compute(&routes, topology, run, &error), -EINVAL);
	assert_string_equal(error.text,
		"test: routing.algorithm dmodk: torus-4x4-1: switch s0 has no stage; in a fat tree, stages must start at 1 next to the hosts");
}

/* Returns 1 for routes on demand, or 0 for routes of all pairs. */
static bool on_demand(const char *clock, const char *more)
{
	OWNED(topology) *topology = topology_generate(NETWORK, NULL);
	struct fabric_routes routes;
	struct error error = {""};
	OWNED(run_config) *run;
	char text[400];
	bool result;

	snprintf(text, sizeof(text), "weft: run/1\ntopology: \"" NETWORK "\"\nclock: %s\n%s\n",
		clock, more);
	run = run_config_parse(text, strlen(text), "test", NULL, 0, &error);
	if (run == NULL || fabric_routes_compute(&routes, topology, run, &error) < 0)
		fail_msg("%s", error.text);
	result = route_set_is_on_demand(routes.set);
	assert_false(result && routes.itbs);
	fabric_routes_free(&routes);
	return result;
}

UNIT_TEST(routes_are_made_on_demand_where_the_run_can_use_them)
{
	assert_true(on_demand("virtual", "routing: {algorithm: dmodk}"));
	assert_true(on_demand("virtual", ""));
	assert_false(on_demand("virtual", "routing: {algorithm: ud-itb}"));
	assert_false(on_demand("virtual", "routing: {algorithm: ud+dfs}"));
	assert_false(on_demand("real", "routing: {algorithm: dmodk}"));
	assert_false(on_demand("virtual",
		"link: {rate: 1Gbps}\nswitch: {switching: wormhole}\nrouting: {algorithm: dmodk}"));
}

static void keep_text(void *ctx, const char *text)
{
	snprintf(ctx, RUN_REASON_MAX, "%s", text);
}

/* Checks that the warning is 'expected', or that there is none. */
static void expect_warning(const char *run_text, const char *expected)
{
	struct error error = {""};
	OWNED(run_config) *run =
		run_config_parse(run_text, strlen(run_text), "test", NULL, 0, &error);
	OWNED(topology) *topology = NULL;
	struct fabric_routes routes;
	char warning[RUN_REASON_MAX] = "";

	if (run == NULL)
		fail_msg("%s", error.text);
	topology = run_config_open_topology(run, &error);
	if (topology == NULL || fabric_routes_compute(&routes, topology, run, &error) < 0)
		fail_msg("%s", error.text);
	fabric_routes_warn_vcs(&routes, run, keep_text, warning);
	assert_string_equal(warning, expected);
	fabric_routes_free(&routes);
}

UNIT_TEST(vcs_that_carry_no_data_are_reported_with_the_key_that_would_use_them)
{
	static const struct {
		const char *network, *keys, *warning;
	} cases[] = {
		{"torus:dims=4x4", "routing: {algorithm: dor}\nswitch: {vcs: 4}",
			"switch.vcs: 2 of 4 VCs carry data; the routes need no more: use "
			"switch.vcs: 2"},
		{"torus:dims=4x4", "routing: {algorithm: dor}\nswitch: {vcs: 2}", ""},
		{"torus:dims=4x4", "routing: {algorithm: ugal}\nswitch: {vcs: 4}", ""},
		{"torus:dims=4x4", "routing: {algorithm: dor}\nswitch: {vcs: 4}\nqueuing: dbbm",
			""},
		{"mesh:dims=4x4", "routing: {algorithm: dor}\nswitch: {vcs: 4}",
			"switch.vcs: 1 of 4 VCs carries data; use switch.vcs: 1, or queuing: dbbm to "
			"use all of them"},
		{"mesh:dims=4x4", "switch: {vcs: 4}\nqueuing: dbbm", ""},
		{"mesh:dims=4x4", "switch: {vcs: 1}", ""},
		{"mesh:dims=4x4", "", ""},
		{"mesh:dims=4x4",
			"switch: {vcs: 3}\ntraffic: [{pattern: uniform}, {pattern: uniform, class: "
			"2}]",
			"switch.vcs: 2 of 3 VCs carry data; traffic[].class and switch.sl-to-vc choose "
			"the VC"},
		{"mesh:dims=4x4",
			"switch: {vcs: 2}\ntraffic: [{pattern: uniform}, {pattern: uniform, class: "
			"1}]",
			""},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[400];

		snprintf(text, sizeof(text), "weft: run/1\ntopology: \"%s\"\n%s\n",
			cases[i].network, cases[i].keys);
		expect_warning(text, cases[i].warning);
	}
}
