/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Traffic while the switches' tables are exchanged (docs/explanation/the-mapper.md,
 * 'Distribution'). If the live check allows a change, any mixture of old and new tables neither
 * deadlocks nor loses a packet. If it forbids a change, the fabric can deadlock, and a purge
 * resolves that. With a pause, no packet even overtakes another. */

#include "fabric_networks.h"
#include "failures.h"
#include "mapper/transition_check.h"
#include "switch/switch_congestion.h"

#define NETWORKS    150
#define STEPS       3000
#define STILL_STEPS 2000 /* without a delivery under load */

/* Two generations of tables for one network. */
struct change {
	struct topology *topology;
	struct route_table *table[2];
	bool live;
};

static struct route_table *make_table(
	const struct topology *topology, const char *name, uint32_t root, uint64_t seed)
{
	const struct route_options options = {.seed = seed, .root = root};
	struct error error = {""};
	struct route_table *table =
		route_compute_table(topology, route_algorithm_find(name), &options, NULL, &error);

	if (table == NULL)
		fail_msg("%s", error.text);
	return table;
}

static struct change make_change(
	struct topology *topology, struct route_table *first, struct route_table *second)
{
	struct change change = {.topology = topology, .table = {first, second}};
	const struct live_generation generations[] = {
		{.topology = topology, .table = first}, {.topology = topology, .table = second}};

	assert_int_equal(transition_check(generations, 2, &change.live, NULL), 0);
	return change;
}

/* Up/down on a tree from one root, then from another root. This change is often not live. */
static struct change change_root(struct rng *rng)
{
	struct topology *topology = fabric_random_topology(rng);
	uint64_t seed = rng_next(rng);
	uint32_t root = (uint32_t)rng_below(rng, topology->switches);

	return make_change(topology, make_table(topology, "ud", 0, seed),
		make_table(topology, "ud", root, seed));
}

/* Up/down on the same tree, without some cables that still exist. A mapper computes such tables
 * before it has noticed that a cable is back, or if it ignores an unreliable cable. This change is
 * mostly live. */
static struct change change_cables(struct rng *rng)
{
	struct topology *topology = fabric_random_topology(rng), *less = topology_copy(topology);
	struct change change = {.topology = topology};
	unsigned inner = topology->links - topology->hosts;
	struct live_generation generations[2];

	assert_non_null(less);
	fail_links(less, rng, inner / 4);
	change.table[0] = make_table(topology, "ud", 0, 1);
	change.table[1] = make_table(less, "ud", 0, 1);
	generations[0] = (struct live_generation){.topology = topology, .table = change.table[0]};
	generations[1] = (struct live_generation){.topology = less, .table = change.table[1]};
	assert_int_equal(transition_check(generations, 2, &change.live, NULL), 0);
	topology_destroy(less);
	return change;
}

/* Two sets of tables, both of which reach every host. */
static bool is_proper(const struct change *change)
{
	const struct route_table *a = change->table[0], *b = change->table[1];
	size_t size = (size_t)a->switches * a->hosts;

	return memcmp(a->primary, b->primary, size) != 0 &&
	       memchr(a->primary, ROUTE_TABLE_NONE, size) == NULL &&
	       memchr(b->primary, ROUTE_TABLE_NONE, size) == NULL;
}

static void change_free(struct change *change)
{
	route_table_destroy(change->table[0]);
	route_table_destroy(change->table[1]);
	topology_destroy(change->topology);
}

/* Buffers of one or two packets make possible deadlocks happen soon. */
static struct fabric *begin(const struct change *change, struct rng *rng, uint64_t seed,
	const struct route_algorithm *algorithm)
{
	struct fabric_config config = fabric_random_config(rng, seed, change->topology->hosts);

	config.vcs = 1;
	config.buffer_blocks = config.packet_blocks * (1 + (uint32_t)rng_below(rng, 2));
	config.load_ppm = 1000000;
	config.source_route_ppm = 0;
	config.overtakes = true;
	config.algorithm = algorithm;
	return fabric_create(change->topology, &config);
}

/* Exchanges the tables of a random switch, in either direction. */
static void flip(struct fabric *fabric, const struct change *change, struct rng *rng)
{
	fabric_exchange(fabric, (uint32_t)rng_below(rng, change->topology->switches),
		change->table[rng_below(rng, 2)]);
}

static void use(struct fabric *fabric, const struct change *change, unsigned which)
{
	for (uint32_t at = 0; at < change->topology->switches; at++)
		fabric_exchange(fabric, at, change->table[which]);
}

/* Returns true if nothing has arrived for a long time. */
static bool flip_under_load(struct fabric *fabric, const struct change *change, struct rng *rng)
{
	uint64_t before = fabric->delivered;
	unsigned still = 0;

	for (unsigned i = 0; i < STEPS && still < STILL_STEPS; i++) {
		flip(fabric, change, rng);
		fabric_step(fabric);
		if (i % 97 == 0)
			fabric_check(fabric);
		still = fabric->delivered == before ? still + 1 : 0;
		before = fabric->delivered;
	}
	return still == STILL_STEPS;
}

static void finish(struct fabric *fabric)
{
	fabric_drain(fabric);
	fabric_check(fabric);
	fabric_check_drained(fabric);
	fabric_destroy(fabric);
}

UNIT_TEST(what_the_live_check_allows_goes_on_and_loses_nothing)
{
	uint64_t delivered = 0, overtaken = 0;
	unsigned live = 0;
	struct rng rng;

	for (uint64_t seed = 1; live < NETWORKS; seed++) {
		struct change change;
		struct fabric *fabric;

		rng_init(&rng, seed, 7, 0);
		change = seed % 2 == 0 ? change_root(&rng) : change_cables(&rng);
		if (change.live && is_proper(&change)) {
			fabric = begin(&change, &rng, seed, NULL);
			assert_false(flip_under_load(fabric, &change, &rng));
			delivered += fabric->delivered;
			overtaken += fabric->overtaken;
			assert_int_equal(fabric->discarded, 0);
			finish(fabric);
			live++;
		}
		change_free(&change);
	}
	print_message("%u changes, %llu packets, %llu overtaken\n", live,
		(unsigned long long)delivered, (unsigned long long)overtaken);
	assert_true(delivered > 100000 && overtaken > 1000);
}

/* Sends everything that is stored or arrives meanwhile, until nothing is left. */
static void purge_all(struct fabric *fabric)
{
	fabric->injecting = false;
	for (unsigned i = 0; i < 100; i++) {
		for (uint32_t at = 0; at < fabric->topology->switches; at++)
			switch_purge(fabric->switch_at[at].sw);
		fabric_step(fabric);
	}
}

UNIT_TEST(what_it_forbids_can_stand_still_and_a_purge_ends_that)
{
	unsigned stood = 0;
	struct rng rng;

	for (uint64_t seed = 1; seed <= NETWORKS && stood < 5; seed++) {
		struct change change;
		struct fabric *fabric;

		rng_init(&rng, seed, 8, 0);
		change = change_root(&rng);
		if (!change.live) {
			fabric = begin(&change, &rng, seed, NULL);
			if (flip_under_load(fabric, &change, &rng)) {
				stood++;
				purge_all(fabric);
				assert_true(fabric->discarded > 0);
				use(fabric, &change, 1);
				fabric->injecting = true;
				fabric_run_packets(fabric, 500, 97);
				finish(fabric);
			} else {
				fabric_destroy(fabric);
			}
		}
		change_free(&change);
	}
	assert_true(stood > 0);
}

UNIT_TEST(with_a_pause_nothing_is_lost_or_overtaken_whatever_changes)
{
	struct rng rng;

	for (uint64_t seed = 1; seed <= NETWORKS / 10; seed++) {
		struct fabric_config config;
		struct change change;
		struct fabric *fabric;

		rng_init(&rng, seed, 9, 0);
		change = change_root(&rng);
		config = fabric_random_config(&rng, seed, change.topology->hosts);
		config.source_route_ppm = 0;
		fabric = fabric_create(change.topology, &config);
		for (unsigned i = 1; i <= 6; i++) {
			fabric->injecting = true;
			fabric_run(fabric, 200, 97);
			fabric_drain(fabric); /* all switches are idle */
			for (uint32_t at = 0; at < change.topology->switches; at++)
				assert_true(switch_is_empty(fabric->switch_at[at].sw));
			use(fabric, &change, i % 2);
		}
		assert_int_equal(fabric->discarded, 0);
		finish(fabric);
		change_free(&change);
	}
}

/* A fat tree, then the same tree without a cable between its upper stages, which has fewer
 * alternatives. */
static void adaptive_routing_goes_on_through_exchanges(const char *mode)
{
	const struct switch_congestion_config adapt = {
		.seed = 3, .mode = adaptive_mode_find(mode), .threshold_ppm = 500000, .stage = 1};
	struct topology *topology = network_fat_tree(2, 3);
	struct change change = make_change(
		topology, make_table(topology, "dmodk", 0, 1), make_table(topology, "dmodk", 0, 1));
	struct fabric *fabric;
	struct rng rng;

	/* Up ports in a different order of preference, and no alternatives at every second
	 * switch. */
	for (uint32_t at = 0; at < topology->switches; at++)
		for (uint32_t host = 0; host < topology->hosts; host++) {
			uint64_t *set = &route_table_alternatives(change.table[1], at)[host];
			uint8_t *port = &route_table_row(change.table[1], at)[host];

			if (*set == 0 || *port == ROUTE_TABLE_NONE)
				continue;
			*port = (uint8_t)(63 - __builtin_clzll(*set));
			if (at % 2 == 0)
				*set = BIT64(*port);
		}
	rng_init(&rng, 5, 10, 0);
	fabric = begin(&change, &rng, 5, route_algorithm_find("dmodk"));
	for (uint32_t at = 0; at < topology->switches; at++)
		assert_int_equal(switch_congestion(fabric->switch_at[at].sw, &adapt), 0);
	assert_false(flip_under_load(fabric, &change, &rng));
	assert_true(fabric->delivered > 1000);
	assert_int_equal(fabric->discarded, 0);
	finish(fabric);
	change_free(&change);
}

UNIT_TEST(adaptive_routing_and_exchanges_go_together)
{
	adaptive_routing_goes_on_through_exchanges("oblivious");
	adaptive_routing_goes_on_through_exchanges("adaptive");
	adaptive_routing_goes_on_through_exchanges("adaptive-th");
}
