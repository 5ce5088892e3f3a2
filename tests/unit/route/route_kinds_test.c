/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Every algorithm on every kind of topology that has a generator, and several algorithms on one
 * tree. */

#include "draws.h"
#include "random_network.h"
#include "route/route_algorithm.h"
#include "route_expect.h"
#include "topo/generator.h"

static const struct {
	const char *spec;
	bool stages, grid; /* the networks for which dmodk and dor exist */
	bool hosts_everywhere;
	bool groups; /* df-* */
	bool rows;   /* omni-war, dal */
} networks[] = {
	{"rlft:ports=4,stages=1", true, true, true, true, true}, /* one switch is also a grid */
	{"rlft:ports=8,stages=2", true, false, false},
	{"rlft:ports=4,stages=3", true, false, false},
	{"rail:rails=2,ports=4,stages=2", true, false, false},
	{"torus:dims=5", false, true, true},
	{"torus:dims=4x4,hosts=2", false, true, true},
	{"torus:dims=3x2x4", false, true, true},
	{"mesh:dims=4x3,hosts=2", false, true, true},
	{"mesh:dims=3x2x2", false, true, true},
	{"torus-express:dims=5x5", false, false, true},
	{"ring:switches=9,hosts=2", false, true, true},
	{"ring:switches=4", false, true, true},
	{"hypercube:dims=4", false, true, true, false, true},
	{"full:switches=6,hosts=2", false, false, true, true, true},
	{"dragonfly:a=4,p=2,h=2", false, false, true, true},
	{"dragonfly:a=2,p=1,h=2,wiring=absolute", false, false, true, true},
	{"dragonfly-plus:l=2,s=2,p=1,h=1", false, false, false},
	{"clos:ports=4,stages=2,over=3:1", true, false, false},
	{"clos:ports=4,stages=3", true, false, false},
	{"hyperx:shape=3x3", false, false, true, false, true},
	{"slimfly:q=3,hosts=1", false, false, true},
	{"polarfly:q=2", false, false, true},
	{"jellyfish:switches=12,degree=4,hosts=1", false, false, true},
	{"cplant", false, false, true},
	{"irregular:switches=16,seed=3", false, false, true},
	{"irregular:switches=12,degree=5,hosts=1,seed=4", false, false, true},
};

#define NETWORKS (sizeof(networks) / sizeof(networks[0]))

/* Linear programs for large networks take too long for a test. */
static bool too_slow(const struct route_algorithm *algorithm, const struct topology *topology)
{
	return strstr(algorithm->name, "smart") != NULL && topology->hosts > 100;
}

/* Returns whether the algorithm supports this kind. */
static bool serves(const struct route_algorithm *algorithm, unsigned i)
{
	if (strcmp(algorithm->name, "dmodk") == 0)
		return networks[i].stages;
	if (strncmp(algorithm->name, "dor", 3) == 0 || strcmp(algorithm->name, "valiant") == 0)
		return networks[i].grid;
	if (strcmp(algorithm->name, "msp") == 0)
		return networks[i].stages || networks[i].grid;
	if (strncmp(algorithm->name, "df-", 3) == 0)
		return networks[i].groups;
	if (strcmp(algorithm->name, "omni-war") == 0 || strcmp(algorithm->name, "dal") == 0)
		return networks[i].rows;
	if (strcmp(algorithm->name, "ugal") == 0)
		return networks[i].grid || networks[i].rows;
	return true;
}

static bool minimal(const struct route_algorithm *algorithm, unsigned i)
{
	return (!route_expect_serves_all(algorithm) && strcmp(algorithm->name, "msp") != 0 &&
		       algorithm->ladder == VC_STEPS_NONE &&
		       strcmp(algorithm->name, "valiant") != 0) ||
	       (networks[i].hosts_everywhere && route_expect_minimal(algorithm));
}

static void try_network(
	const struct route_algorithm *algorithm, const struct topology *topology, unsigned i)
{
	uint64_t seeds = topology->hosts > 100 ? 1 : 1 + unit_draws(4);

	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct route_case the_case = {
			.topology = topology,
			.algorithm = algorithm,
			.options = route_expect_options(topology, seed),
			.network = networks[i].spec,
			.seed = seed,
			.may_refuse = !serves(algorithm, i),
			.minimal = minimal(algorithm, i),
		};
		uint64_t routes;

		routes = route_expect_good(&the_case, seed == 1);
		/* The ladder of a Dragonfly may also suit other small networks. */
		if (algorithm->ladder != 0 && !serves(algorithm, i))
			continue;
		if ((routes > 0) != serves(algorithm, i))
			route_expect_fail(&the_case, "%" PRIu64 " routes", routes);
	}
}

UNIT_TEST(every_algorithm_serves_every_kind_that_it_was_made_for)
{
	for (unsigned i = 0; i < NETWORKS; i++) {
		OWNED(topology) *topology = topology_generate(networks[i].spec, NULL);
		const struct route_algorithm *algorithm;

		assert_non_null(topology);
		for (unsigned k = 0; (algorithm = route_algorithm_at(k)) != NULL; k++)
			if (!too_slow(algorithm, topology))
				try_network(algorithm, topology, i);
	}
}

UNIT_TEST(no_kind_is_missing_here)
{
	const struct generator *generator;

	for (unsigned k = 0; (generator = generator_at(k)) != NULL; k++) {
		bool found = false;

		for (unsigned i = 0; i < NETWORKS; i++)
			found |= generator_find(networks[i].spec) == generator;
		if (!found)
			fail_msg("%s: add it to the networks of this test", generator->name);
	}
}

UNIT_TEST(only_minhop_makes_no_promise)
{
	const struct route_algorithm *algorithm;

	for (unsigned k = 0; (algorithm = route_algorithm_at(k)) != NULL; k++)
		assert_int_equal(algorithm->deadlock_free, strcmp(algorithm->name, "minhop") != 0);
}

/* Two of the sets of latency selectors, on one tree. */
static void try_union(const char *names, const struct topology *topology, uint64_t seed)
{
	const struct route_algorithm *algorithms[ROUTE_MERGE_MAX];
	struct route_options options = route_expect_options(topology, seed);
	OWNED(route_set) *set;
	OWNED(route_report) report;
	struct error error = {""};
	char unknown[ROUTE_LABEL_MAX];
	int count = route_merge_find(names, algorithms, unknown);

	assert_true(count > 1);
	if (options.alternatives == 0 || options.alternatives > ROUTE_ALTERNATIVES_MAX / 3)
		options.alternatives = ROUTE_ALTERNATIVES_MAX / 3;
	set = route_merge_compute(topology, algorithms, (unsigned)count, &options, NULL, &error);
	if (set == NULL)
		fail_msg("%s, network %" PRIu64 ": %s", names, seed, error.text);
	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	if (!route_report_good(&report))
		fail_msg("%s, network %" PRIu64 ": %s", names, seed, report.evidence);
}

UNIT_TEST(sets_on_one_tree_are_free_of_deadlock_together)
{
	static const char *const unions[] = {
		"ud+ud-itb", "ud-random+ud-mitb+ud-itb", "dfs+dfs-itb"};

	for (uint64_t seed = unit_draws(250); seed > 0; seed--) {
		OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);

		for (unsigned i = 0; i < sizeof(unions) / sizeof(unions[0]); i++)
			try_union(unions[i], topology, seed);
	}
}

/* The trees of up/down and of the depth-first search forbid different turns. */
UNIT_TEST(sets_on_two_trees_are_not)
{
	const struct route_algorithm *algorithms[ROUTE_MERGE_MAX];
	char unknown[ROUTE_LABEL_MAX];
	unsigned cycles = 0;

	assert_int_equal(2, route_merge_find("ud+dfs", algorithms, unknown));
	for (uint64_t seed = 0; seed < 40; seed++) {
		OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);
		struct route_options options = {.seed = seed};
		struct route_set *set =
			route_merge_compute(topology, algorithms, 2, &options, NULL, NULL);
		struct route_report report;

		assert_non_null(set);
		assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
		cycles += !report.deadlock_free;
		route_report_free(&report);
		route_set_destroy(set);
	}
	assert_true(cycles > 10);
}
