/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Every algorithm on random networks, whole and damaged. 'route_property_test I N' takes every N-th
 * algorithm of the list from the I-th on, so that N of them run side by side; 'route_property_test
 * NAME' takes one. */

#include "draws.h"
#include "random_network.h"
#include "route_expect.h"
#include "topo/topology.h"

/* They solve linear programs for each network, so there are fewer networks. */
static const struct {
	const char *algorithm;
	unsigned one_in;
} slow[] = {
	{"smart", 4},
};

static struct {
	unsigned first, step;
	const char *name;
} part = {0, 1, NULL};

/* Returns algorithm i of this part, or NULL after the last. */
static const struct route_algorithm *algorithm_at(unsigned i)
{
	if (part.name != NULL)
		return i == 0 ? route_algorithm_find(part.name) : NULL;
	return route_algorithm_at(part.first + i * part.step);
}

/* The share of 'networks'. */
static unsigned share(const struct route_algorithm *algorithm, unsigned networks)
{
	for (unsigned i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		if (strcmp(slow[i].algorithm, algorithm->name) == 0)
			return networks / slow[i].one_in;
	return networks;
}

static uint64_t try_whole(
	const struct topology *topology, const struct route_algorithm *algorithm, uint64_t seed)
{
	bool serves = route_expect_serves_all(algorithm);
	struct route_case the_case = {
		.topology = topology,
		.algorithm = algorithm,
		.options = route_expect_options(topology, seed),
		.network = "a random network",
		.seed = seed,
		.may_refuse = !serves,
		.may_leave_gaps = !serves,
		.minimal = random_network_hosts_everywhere(seed) && route_expect_minimal(algorithm),
	};

	return route_expect_good(&the_case, seed % 7 < 2);
}

UNIT_TEST(routes_are_good_on_random_networks)
{
	const struct route_algorithm *algorithm;

	for (unsigned i = 0; (algorithm = algorithm_at(i)) != NULL; i++) {
		unsigned networks = share(algorithm, unit_draws(1000));
		uint64_t routes = 0;

		for (uint64_t seed = 0; seed < networks; seed++) {
			OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);

			routes += try_whole(topology, algorithm, seed);
		}
		print_message(
			"%s: %u networks, %" PRIu64 " routes\n", algorithm->name, networks, routes);
		if (route_expect_serves_all(algorithm))
			assert_true(routes > networks);
	}
}

/* Names a link between switches, a switch, or sometimes a host's link. */
static void draw_failure(const struct topology *topology, struct rng *rng, char *name, size_t size)
{
	const struct topology_link *link = &topology->link_at[rng_below(rng, topology->links)];

	if (rng_below(rng, 4) == 0)
		snprintf(name, size, "s%u", (unsigned)rng_below(rng, topology->switches));
	else
		topology_port_name(topology, link->a, name, size);
}

#define FAILURES_MAX 12

static struct topology *damage(const struct topology *topology, uint64_t seed)
{
	char name[FAILURES_MAX][TOPOLOGY_NAME_MAX + 8];
	const char *failed[FAILURES_MAX];
	struct topology *damaged;
	struct error error = {""};
	struct rng rng;
	unsigned count;

	rng_init(&rng, seed, 3, 99);
	count = 1 + (unsigned)rng_below(&rng, FAILURES_MAX);
	for (unsigned i = 0; i < count; i++) {
		draw_failure(topology, &rng, name[i], sizeof(name[i]));
		failed[i] = name[i];
	}
	damaged = topology_without(topology, failed, count, &error);
	if (damaged == NULL)
		fail_msg("network %" PRIu64 ": %s", seed, error.text);
	return damaged;
}

static uint64_t try_damaged(
	const struct topology *topology, const struct route_algorithm *algorithm, uint64_t seed)
{
	OWNED(topology) *damaged = damage(topology, seed);
	bool serves = route_expect_serves_all(algorithm);
	struct route_case the_case = {
		.topology = damaged,
		.algorithm = algorithm,
		.options = route_expect_options(topology, seed),
		.network = "a damaged random network",
		.seed = seed,
		.may_refuse = !serves,
		.may_leave_gaps = !serves,
	};
	uint64_t routes = route_expect_good(&the_case, false);

	return routes;
}

UNIT_TEST(what_failures_leave_connected_has_good_routes)
{
	const struct route_algorithm *algorithm;

	for (unsigned i = 0; (algorithm = algorithm_at(i)) != NULL; i++) {
		unsigned networks = share(algorithm, unit_draws(250));
		uint64_t routes = 0;

		for (uint64_t seed = 0; seed < networks; seed++) {
			OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);

			routes += try_damaged(topology, algorithm, seed);
		}
		print_message("%s: %u damaged networks, %" PRIu64 " routes\n", algorithm->name,
			networks, routes);
	}
}

/* Fat trees, grids, Dragonflies and a HyperX, for which special algorithms exist. */
static const char *const regular[] = {"rlft:ports=4,stages=3", "rlft:ports=6,stages=2",
	"torus:dims=7x4", "torus:dims=3x3x3", "mesh:dims=4x3", "hypercube:dims=4",
	"ring:switches=7", "full:switches=6", "dragonfly:a=4,p=1,h=2,g=5,parallel=2",
	"hyperx:shape=3x3,hosts=1"};

UNIT_TEST(what_failures_leave_of_regular_networks_is_free_of_deadlock)
{
	const struct route_algorithm *algorithm;

	for (unsigned i = 0; (algorithm = algorithm_at(i)) != NULL; i++) {
		unsigned networks = share(algorithm, unit_draws(100));
		uint64_t routes = 0;

		for (uint64_t seed = 0; seed < networks; seed++) {
			OWNED(topology) *topology = topology_generate(
				regular[seed % (sizeof(regular) / sizeof(regular[0]))], NULL);

			assert_non_null(topology);
			routes += try_damaged(topology, algorithm, seed);
		}
		/* They refuse a HyperX with a missing link. */
		assert_true(routes > networks || algorithm == &route_omni_war ||
			    algorithm == &route_dal);
	}
}

/* Features for which the networks exist. Each must occur. */
struct features {
	unsigned without_hosts, degree_1, parallel, smallest, largest;
};

static void count_features(const struct topology *topology, struct features *features)
{
	OWNED(route_graph) *graph = route_graph_create(topology);
	bool without_hosts = false, degree_1 = false, parallel = false;

	assert_non_null(graph);
	for (uint32_t at = 0; at < graph->switches; at++) {
		uint32_t first = graph->first_arc[at], end = graph->first_arc[at + 1];

		without_hosts |= route_graph_hosts_at(graph, at) == 0;
		degree_1 |= end - first == 1;
		for (uint32_t a = first; a < end; a++)
			for (uint32_t b = first; b < a; b++)
				parallel |= graph->arc[a].to == graph->arc[b].to;
	}
	features->without_hosts += without_hosts;
	features->degree_1 += degree_1;
	features->parallel += parallel;
	features->smallest += topology->switches == RANDOM_NETWORK_MIN;
	features->largest += topology->switches == RANDOM_NETWORK_MAX;
}

UNIT_TEST(the_networks_have_all_oddities)
{
	struct features features = {0};

	for (uint64_t seed = 0; seed < 1000; seed++) {
		OWNED(topology) *topology = random_network(seed, RANDOM_NETWORK_MAX);

		assert_in_range(topology->switches, RANDOM_NETWORK_MIN, RANDOM_NETWORK_MAX);
		assert_int_equal(0, topology_check_connected(topology, "test", NULL));
		count_features(topology, &features);
	}
	assert_true(features.without_hosts > 500);
	assert_true(features.degree_1 > 500);
	assert_true(features.parallel > 500);
	assert_true(features.smallest > 0);
	assert_true(features.largest > 0);
}

int main(int count, char **arguments)
{
	if (count == 2)
		part.name = arguments[1];
	if (count == 3) {
		part.first = (unsigned)strtoul(arguments[1], NULL, 10);
		part.step = (unsigned)strtoul(arguments[2], NULL, 10);
	}
	if (count > 3 || part.step == 0 || algorithm_at(0) == NULL) {
		fprintf(stderr, "usage: route_property_test [PART PARTS | ALGORITHM]\n");
		return 2;
	}
	return unit_run(NULL, NULL);
}
