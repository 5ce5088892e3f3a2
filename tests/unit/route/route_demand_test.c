/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Routes on demand equal those computed for all pairs, regardless of the order of requests and the
 * number of threads. */

#include "route/route_algorithm.h"

#include <malloc.h>
#include <pthread.h>

#include "route_expect.h"
#include "topo/topology.h"

#define NETWORKS 200

static unsigned calls_left = UINT32_MAX;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return calls_left == 0 || calls_left-- == 0 ? NULL : __real_malloc(bytes);
}

static struct route_set *compute(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options,
	bool on_demand, struct error *error)
{
	struct route_options own = *options;

	own.on_demand = on_demand;
	error->text[0] = '\0';
	return route_compute(topology, algorithm, &own, NULL, error);
}

static void expect_pair(const struct route_case *the_case, const struct route_set *all,
	const struct route_set *demand, uint32_t from, uint32_t to)
{
	unsigned count = route_set_count(all, from, to), length, other_length;

	if (route_set_count(demand, from, to) != count)
		route_expect_fail(the_case, "%u routes from h%u to h%u, expected %u",
			route_set_count(demand, from, to), from, to, count);
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *route = route_set_get(all, from, to, i, &length);
		const uint8_t *other = route_set_get(demand, from, to, i, &other_length);

		if (length != other_length || memcmp(route, other, length) != 0)
			route_expect_fail(
				the_case, "route %u from h%u to h%u differs", i, from, to);
	}
	assert_null(route_set_get(demand, from, to, count, &length));
}

/* Before the first route is computed. */
static void expect_lengths(const struct route_case *the_case, const struct route_set *all,
	const struct route_set *demand)
{
	uint32_t hosts = route_set_hosts(all);
	uint64_t *sum = calloc(2 * hosts + 1, sizeof(*sum));

	assert_non_null(sum);
	route_set_add_lengths(all, sum);
	route_set_add_lengths(demand, sum + hosts);
	for (uint32_t host = 0; host < hosts; host++)
		if (sum[host] != sum[hosts + host])
			route_expect_fail(the_case,
				"h%u: lengths of %" PRIu64 ", expected %" PRIu64, host,
				sum[hosts + host], sum[host]);
	free(sum);
}

static void expect_equal(const struct route_case *the_case, const struct route_set *all,
	const struct route_set *demand)
{
	uint32_t hosts = route_set_hosts(all), pairs = hosts * hosts;
	struct rng rng;

	expect_lengths(the_case, all, demand);
	rng_init(&rng, the_case->seed, 1, 2);
	for (uint32_t i = 0; i < pairs; i++)
		expect_pair(the_case, all, demand, (uint32_t)rng_below(&rng, hosts),
			(uint32_t)rng_below(&rng, hosts));
	for (uint32_t pair = 0; pair < pairs; pair++)
		expect_pair(the_case, all, demand, pair / hosts, pair % hosts);
	assert_int_equal(route_set_check_connected(demand, the_case->topology, NULL),
		route_set_check_connected(all, the_case->topology, NULL));
	assert_memory_equal(route_set_origin_const(all), route_set_origin_const(demand),
		sizeof(struct route_origin));
	if (route_set_vc_rule(all) == NULL)
		assert_null(route_set_vc_rule(demand));
	else
		assert_true(vc_rule_equal(route_set_vc_rule(all), route_set_vc_rule(demand)));
	assert_false(route_set_failed(demand));
}

/* Undamaged, or without up to two links or switches. */
static struct topology *draw_network(uint64_t seed)
{
	static const char *const regular[] = {"rlft:ports=4,stages=3", "rlft:ports=8,stages=2",
		"torus:dims=4x4,hosts=2", "torus:dims=5x3x2", "mesh:dims=4x3,hosts=2",
		"hypercube:dims=4,hosts=2", "ring:switches=6,hosts=3", "dragonfly:a=3,p=2,h=1",
		"full:switches=5,hosts=2"};
	struct topology *whole =
		seed % 3 == 0
			? random_network(seed, 24)
			: topology_generate(
				  regular[seed / 3 % (sizeof(regular) / sizeof(regular[0]))], NULL);
	char name[2][TOPOLOGY_NAME_MAX + 8];
	const char *failed[2] = {name[0], name[1]};
	struct topology *damaged;
	struct rng rng;

	assert_non_null(whole);
	rng_init(&rng, seed, 3, 4);
	for (unsigned i = 0; i < 2; i++)
		topology_port_name(whole, whole->link_at[rng_below(&rng, whole->links)].a, name[i],
			sizeof(name[i]));
	damaged = topology_without(whole, failed, (unsigned)rng_below(&rng, 3), NULL);
	assert_non_null(damaged);
	topology_destroy(whole);
	return damaged;
}

struct seen {
	unsigned refused, on_demand, all;
};

static void try(const struct route_case *the_case, struct seen *seen)
{
	struct error error, other;
	struct route_set *all =
		compute(the_case->topology, the_case->algorithm, &the_case->options, false, &error);
	struct route_set *demand =
		compute(the_case->topology, the_case->algorithm, &the_case->options, true, &other);

	assert_int_equal(all == NULL, demand == NULL);
	if (all == NULL) {
		assert_string_equal(error.text, other.text);
		seen->refused++;
		return;
	}
	assert_false(route_set_is_on_demand(all));
	seen->on_demand += route_set_is_on_demand(demand);
	seen->all += !route_set_is_on_demand(demand);
	expect_equal(the_case, all, demand);
	route_set_destroy(all);
	route_set_destroy(demand);
}

UNIT_TEST(routes_on_demand_are_the_routes_of_all_pairs)
{
	const struct route_algorithm *algorithm;
	unsigned algorithms = 0;

	for (unsigned i = 0; (algorithm = route_algorithm_at(i)) != NULL; i++) {
		struct seen seen = {0};

		if (algorithm->pairs == NULL)
			continue;
		for (uint64_t seed = 0; seed < NETWORKS; seed++) {
			OWNED(topology) *topology = draw_network(seed);
			struct route_case the_case = {
				.topology = topology,
				.algorithm = algorithm,
				.options = route_expect_options(topology, seed),
				.network = "a drawn network",
				.seed = seed,
			};

			if (algorithm->steps && seed % 5 == 1)
				the_case.options.steps = ROUTE_STEPS_ITB;
			try(&the_case, &seen);
		}
		print_message("%s: %u on demand, %u computed, %u refused\n", algorithm->name,
			seen.on_demand, seen.all, seen.refused);
		assert_true(seen.on_demand > 0);
		assert_true(seen.all > 0);
		algorithms++;
	}
	assert_true(algorithms >= 9);
}

static void expect_classes(
	const struct topology *topology, const char *name, unsigned classes, bool on_demand)
{
	const struct route_algorithm *algorithm = route_algorithm_find(name);
	struct route_options options = {.classes = classes - 1};
	struct error error;

	for (unsigned enough = 0; enough < 2; enough++) {
		struct route_set *set = compute(topology, algorithm, &options, on_demand, &error);
		struct route_table *table =
			algorithm->tables == NULL
				? NULL
				: route_compute_table(topology, algorithm, &options, NULL, &error);

		assert_int_equal(route_set_vc_rule(set)->classes, classes);
		assert_int_equal(route_set_is_on_demand(set), on_demand);
		if (!on_demand)
			assert_int_equal(route_set_count(set, 0, 1), enough);
		if (table != NULL) {
			assert_int_equal(table->vc_rule->classes, classes);
			assert_int_equal(route_table_row(table, 0)[1] != ROUTE_TABLE_NONE, enough);
		}
		route_set_destroy(set);
		route_table_destroy(table);
		options.classes = classes;
	}
}

UNIT_TEST(routes_that_need_more_vc_classes_than_there_are_are_not_computed)
{
	OWNED(topology) *topology = topology_generate("torus:dims=4x3", NULL);

	for (unsigned on_demand = 0; on_demand < 2; on_demand++)
		expect_classes(topology, "dor", 2, on_demand);
}

/* --- threads --- */

#define READERS 4

struct reader {
	pthread_t thread;
	const struct route_set *set;
	const uint8_t **first; /* [source][destination] */
	uint64_t seed;
};

static void *read_all(void *argument)
{
	struct reader *reader = argument;
	uint32_t hosts = route_set_hosts(reader->set), pairs = hosts * hosts;
	uint32_t offset = (uint32_t)(reader->seed * 977 % pairs);
	unsigned length;

	for (uint32_t i = 0; i < pairs; i++) {
		uint32_t pair = (i + offset) % pairs;

		reader->first[pair] =
			route_set_get(reader->set, pair / hosts, pair % hosts, 0, &length);
	}
	return NULL;
}

UNIT_TEST(many_threads_read_the_same_routes)
{
	static const char *const networks[][2] = {{"rlft:ports=8,stages=2", "dmodk"},
		{"torus:dims=4x4,hosts=2", "msp"}, {"dragonfly:a=4,p=2,h=1", "ud-random"}};

	for (unsigned n = 0; n < sizeof(networks) / sizeof(networks[0]); n++) {
		OWNED(topology) *topology = topology_generate(networks[n][0], NULL);
		const struct route_algorithm *algorithm = route_algorithm_find(networks[n][1]);
		const struct route_options options = {.seed = n};
		const struct route_case the_case = {
			.topology = topology, .algorithm = algorithm, .network = networks[n][0]};
		struct reader reader[READERS];
		struct error error;
		OWNED(route_set) *all = compute(topology, algorithm, &options, false, &error);
		OWNED(route_set) *demand = compute(topology, algorithm, &options, true, &error);
		size_t pairs = (size_t)topology->hosts * topology->hosts;

		assert_true(route_set_is_on_demand(demand));
		for (unsigned i = 0; i < READERS; i++) {
			reader[i] = (struct reader){.set = demand,
				.seed = i,
				.first = calloc(pairs, sizeof(*reader[i].first))};
			assert_int_equal(
				pthread_create(&reader[i].thread, NULL, read_all, &reader[i]), 0);
		}
		for (unsigned i = 0; i < READERS; i++)
			assert_int_equal(pthread_join(reader[i].thread, NULL), 0);
		/* No pair was computed twice. */
		for (unsigned i = 1; i < READERS; i++)
			assert_memory_equal(
				reader[0].first, reader[i].first, pairs * sizeof(*reader[i].first));
		expect_equal(&the_case, all, demand);
		for (unsigned i = 0; i < READERS; i++)
			free(reader[i].first);
	}
}

/* --- faults --- */

static int add_none(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	return error_set(error, EINVAL, "h%u to h%u: too long", source, destination);
}

static void destroy_none(struct route_maker *maker)
{
}

UNIT_TEST(the_first_fault_is_kept)
{
	OWNED(topology) *topology = topology_generate("ring:switches=3,hosts=1", NULL);
	struct route_maker maker = {.add = add_none, .destroy = destroy_none};
	struct route_demand *demand =
		route_demand_create(NULL, &maker, route_graph_create(topology), NULL);

	assert_non_null(demand);
	assert_string_equal(route_demand_fault(demand), "");
	assert_null(route_demand_entry(demand, 1, 2));
	assert_null(route_demand_entry(demand, 2, 0));
	assert_true(route_demand_failed(demand));
	assert_string_equal(route_demand_fault(demand), "h1 to h2: too long");
	route_demand_destroy(demand);
}

/* --- memory --- */

UNIT_TEST(without_memory_a_pair_has_no_route_and_the_set_says_so)
{
	OWNED(topology) *topology = topology_generate("rlft:ports=4,stages=2", NULL);
	const struct route_options options = {.seed = 1};
	struct error error;
	OWNED(route_set) *set =
		compute(topology, route_algorithm_find("dmodk"), &options, true, &error);

	assert_true(route_set_is_on_demand(set));
	calls_left = 0;
	assert_int_equal(route_set_count(set, 0, 7), 0);
	calls_left = UINT32_MAX;
	assert_true(route_set_failed(set));
	assert_string_equal(route_set_fault(set), "");
	assert_int_equal(route_set_count(set, 0, 7), 1);
	assert_true(route_set_failed(set));
}

UNIT_TEST(hosts_without_a_pair_have_no_route)
{
	OWNED(topology) *topology = topology_generate("rlft:ports=4,stages=2", NULL);
	const struct route_options options = {.seed = 1};
	struct error error;
	OWNED(route_set) *set =
		compute(topology, route_algorithm_find("dmodk"), &options, true, &error);
	const uint8_t route[] = {ROUTE_PORT_BIT, ROUTE_TYPE_HOST};

	/* Hosts 0 and 1 share the routes of their switch. */
	assert_int_equal(route_set_count(set, 1, 0), 1);
	assert_int_equal(route_set_count(set, 0, 0), 0);
	assert_int_equal(route_set_count(set, 8, 0), 0);
	assert_int_equal(route_set_count(set, 0, 8), 0);
	assert_int_equal(route_set_add(set, 0, 1, route, sizeof(route)), -EINVAL);
}

#define MEBIBYTES(bytes) ((bytes) >> 20)

static size_t heap_bytes(void)
{
	struct mallinfo2 use = mallinfo2();

	return use.uordblks + use.hblkhd;
}

/* All pairs would take 2 GiB. */
UNIT_TEST(memory_follows_the_pairs_that_talk)
{
	OWNED(topology) *topology = topology_generate("rlft:ports=36,stages=3", NULL);
	static const char *const algorithms[] = {"dmodk", "ud"};
	const struct route_options options = {.seed = 1};
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < 2; i++) {
		struct error error;
		size_t before = heap_bytes();
		OWNED(route_set) *set = compute(
			topology, route_algorithm_find(algorithms[i]), &options, true, &error);

		assert_true(route_set_is_on_demand(set));
		for (unsigned k = 0; k < 20000; k++)
			route_set_count(set, (uint32_t)rng_below(&rng, topology->hosts),
				(uint32_t)rng_below(&rng, topology->hosts));
		print_message("%s: %zu MiB\n", algorithms[i], MEBIBYTES(heap_bytes() - before));
		assert_true(MEBIBYTES(heap_bytes() - before) < 64);
	}
}
