/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Whether routes may change while traffic flows: compared with the judge of all routes, which
 * shares no code with the check, over thousands of changes. */

#include "mapper/transition_check.h"

#include "failures.h"
#include "random_network.h"
#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#define TO_NEXT (ROUTE_PORT_BIT | 0) /* ports of network_ring() */
#define TO_HOST (ROUTE_PORT_BIT | 2)
#define CHANGES 4000

struct generation {
	struct topology *topology;
	struct route_set *set;
	struct route_table *table;
};

static void generation_free(struct generation *generation)
{
	topology_destroy(generation->topology);
	route_set_destroy(generation->set);
	route_table_destroy(generation->table);
	*generation = (struct generation){0};
}

/* Some links of 'base' have failed. Sometimes the root or the algorithm differs. */
static struct generation generate(const struct topology *base, struct rng *rng)
{
	static const char *const names[] = {"ud", "ud", "ud", "dfs", "ud-itb", "minhop"};
	const struct route_algorithm *algorithm =
		route_algorithm_find(names[rng_below(rng, sizeof(names) / sizeof(*names))]);
	struct route_options options = {.seed = rng_next(rng)};
	struct generation generation = {.topology = topology_copy(base)};
	unsigned inner = base->links - base->hosts;
	struct error error;

	assert_non_null(algorithm);
	if (inner > 0)
		fail_links(
			generation.topology, rng, (unsigned)rng_below(rng, inner < 4 ? inner : 4));
	if (rng_below(rng, 4) == 0)
		options.root = (uint32_t)rng_below(rng, base->switches);
	if (algorithm->tables != NULL && rng_below(rng, 2) == 0)
		generation.table =
			route_compute_table(generation.topology, algorithm, &options, NULL, &error);
	else if (algorithm->routes != NULL)
		generation.set =
			route_compute(generation.topology, algorithm, &options, NULL, &error);
	else
		generation.table =
			route_compute_table(generation.topology, algorithm, &options, NULL, &error);
	if (generation.set == NULL && generation.table == NULL)
		fail_msg("%s", error.text);
	return generation;
}

/* All cables of either network. */
static struct topology *union_topology(
	const struct topology *base, const struct topology *a, const struct topology *b)
{
	struct topology *topology = topology_copy(base);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < base->links; i++) {
		struct topology_port port = base->link_at[i].a, peer;

		if (topology_peer(a, port, &peer) || topology_peer(b, port, &peer))
			topology->link_at[kept++] = base->link_at[i];
	}
	topology->links = kept;
	assert_int_equal(topology_finish(topology, "union", NULL), 0);
	return topology;
}

/* The ports of both tables as alternatives of each other. */
static struct route_table *union_table(const struct route_table *a, const struct route_table *b)
{
	struct route_table *table = route_table_create(a->switches, a->hosts);
	size_t entries = (size_t)a->switches * a->hosts;

	table->alternatives = calloc(entries, sizeof(*table->alternatives));
	for (size_t i = 0; i < entries; i++) {
		const struct route_table *both[] = {a, b};

		for (unsigned k = 0; k < 2; k++) {
			if (both[k]->primary[i] == ROUTE_TABLE_NONE)
				continue;
			table->primary[i] = both[k]->primary[i];
			table->alternatives[i] |= (uint64_t)1 << both[k]->primary[i];
			if (both[k]->alternatives != NULL)
				table->alternatives[i] |= both[k]->alternatives[i];
		}
	}
	return table;
}

static bool judge(
	const struct topology *base, const struct generation *a, const struct generation *b)
{
	OWNED(topology) *topology = union_topology(base, a->topology, b->topology);
	struct route_subject subjects[2] = {{0}};
	OWNED(route_table) *table = NULL;
	OWNED(route_report) report;
	struct error error;
	unsigned count = 2;
	bool live;

	if (a->table != NULL && b->table != NULL) {
		subjects[0].table = table = union_table(a->table, b->table);
		count = 1;
	} else {
		subjects[0] = (struct route_subject){a->set, a->table};
		subjects[1] = (struct route_subject){b->set, b->table};
	}
	if (route_verify(topology, subjects, count, &report, &error) != 0)
		fail_msg("%s", error.text);
	live = report.deadlock_free;
	return live;
}

static bool check(const struct generation *a, const struct generation *b)
{
	const struct live_generation generations[] = {
		{a->topology, a->set, a->table}, {b->topology, b->set, b->table}};
	struct error reason = {""};
	bool live;

	assert_int_equal(transition_check(generations, 2, &live, &reason), 0);
	assert_int_equal(live, reason.text[0] == '\0');
	return live;
}

UNIT_TEST(thousands_of_changes_are_judged_as_the_verifier_does)
{
	unsigned live = 0, paused = 0;

	for (uint64_t seed = 0; seed < CHANGES / 20; seed++) {
		OWNED(topology) *base = random_network(seed, 24);
		struct generation before, after;
		struct rng rng;

		rng_init(&rng, seed, 1, 5);
		before = generate(base, &rng);
		for (unsigned i = 0; i < 20; i++) {
			bool expected;

			after = generate(base, &rng);
			expected = judge(base, &before, &after);
			assert_int_equal(check(&before, &after), expected);
			*(expected ? &live : &paused) += 1;
			generation_free(&before);
			before = after;
		}
		generation_free(&before);
	}
	/* Neither answer is always correct. */
	assert_true(live > CHANGES / 10);
	assert_true(paused > CHANGES / 10);
}

static struct generation ring_generation(uint32_t first, uint32_t last)
{
	struct generation generation = {network_ring(6), route_set_create(6), NULL};

	for (uint32_t source = first; source <= last; source++) {
		const uint8_t route[] = {TO_NEXT, TO_NEXT, TO_HOST, ROUTE_TYPE_HOST};

		assert_int_equal(
			route_set_add(generation.set, source, (source + 2) % 6, route, 4), 0);
	}
	return generation;
}

UNIT_TEST(three_generations_count_together)
{
	struct generation g[] = {
		ring_generation(0, 1), ring_generation(2, 3), ring_generation(4, 5)};
	const struct live_generation three[] = {{g[0].topology, g[0].set, NULL},
		{g[1].topology, g[1].set, NULL}, {g[2].topology, g[2].set, NULL}};
	struct error reason;
	bool live;

	for (unsigned i = 0; i < 3; i++)
		assert_true(check(&g[i], &g[(i + 1) % 3]));
	assert_int_equal(transition_check(three, 3, &live, &reason), 0);
	assert_false(live);
	for (unsigned i = 0; i < 3; i++)
		generation_free(&g[i]);
}

/* Switch 3 still sends packets for host 0 to switch 2, which already sends them back. This circle
 * exists in neither of the two tables, nor in both side by side. */
UNIT_TEST(what_half_old_and_half_new_tables_do_counts)
{
	static const uint8_t way[2][4] = {{2, 1, 1, 1}, {2, 1, 0, 0}}; /* ports of network_ring() */
	struct route_subject side_by_side[2] = {{0}};
	struct route_report report;
	struct generation g[2];
	struct error error;

	for (unsigned k = 0; k < 2; k++) {
		g[k] = (struct generation){network_ring(4), NULL, route_table_create(4, 4)};
		for (uint32_t at = 0; at < 4; at++)
			route_table_row(g[k].table, at)[0] = way[k][at];
		side_by_side[k].table = g[k].table;
		assert_true(check(&g[k], &g[k]));
	}
	assert_int_equal(route_verify(g[0].topology, side_by_side, 2, &report, &error), 0);
	assert_true(report.deadlock_free);
	route_report_free(&report);
	assert_false(judge(g[0].topology, &g[0], &g[1]));
	assert_false(check(&g[0], &g[1]));
	generation_free(&g[0]);
	generation_free(&g[1]);
}

UNIT_TEST(a_cable_that_leads_elsewhere_is_never_live)
{
	struct generation before = ring_generation(0, 0), after = ring_generation(0, 0);

	for (uint32_t i = 0; i < after.topology->links; i++) {
		struct topology_port *end = &after.topology->link_at[i].b;

		if (after.topology->link_at[i].a.kind == DEVICE_HOST && end->device < 2)
			end->device = 1 - end->device;
	}
	assert_int_equal(topology_finish(after.topology, "test", NULL), 0);
	assert_false(check(&before, &after));
	generation_free(&before);
	generation_free(&after);
}

/* New devices have numbers after the old ones. */
UNIT_TEST(a_fabric_that_grows_is_judged)
{
	struct generation small = {network_ring(4), NULL, NULL}, large = ring_generation(0, 5);

	/* Rings of 4 and of 6 are closed by different cables. */
	assert_false(check(&small, &large));
	topology_destroy(small.topology);
	small.topology = topology_copy(large.topology);
	fail_port(small.topology, 5, 0);
	small.set = route_set_create(3);
	assert_int_equal(route_set_add(small.set, 0, 1,
				 (const uint8_t[]){TO_NEXT, TO_HOST, ROUTE_TYPE_HOST}, 3),
		0);
	assert_false(check(&small, &large)); /* the large one is a cycle by itself */
	generation_free(&large);
	large = ring_generation(0, 3);
	assert_true(check(&small, &large));
	generation_free(&small);
	generation_free(&large);
}

/* Multi-step paths from two seeds, with and without 'next step'. */
static struct generation steps_generation(uint64_t seed, bool steps)
{
	struct topology *topology = topology_generate("torus:dims=5x5,hosts=1", NULL);
	const struct route_options options = {.seed = seed};
	OWNED(route_set) *all = route_compute(
		topology, route_algorithm_find("msp"), &options, NULL, &(struct error){0});
	struct route_set *set = route_set_create(topology->hosts);

	route_set_use_vc_rule(set, vc_rule_copy(route_set_vc_rule(all)));
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0; i < route_set_count(all, from, to); i++) {
				uint8_t kept[ROUTE_ELEMENTS_MAX];
				unsigned length, used = 0;
				const uint8_t *route = route_set_get(all, from, to, i, &length);

				for (unsigned k = 0; k < length; k++)
					if (steps || route[k] != ROUTE_TYPE_STEP)
						kept[used++] = route[k];
				assert_int_equal(route_set_add(set, from, to, kept, used), 0);
			}
	return (struct generation){topology, set, NULL};
}

UNIT_TEST(the_classes_of_steps_count)
{
	struct generation one = steps_generation(1, true), two = steps_generation(2, true);
	struct generation plain = steps_generation(1, false);

	assert_true(check(&one, &two));
	assert_false(check(&one, &plain));
	((struct vc_rule *)(uintptr_t)route_set_vc_rule(two.set))->steps = VC_STEPS_NONE;
	assert_false(check(&one, &two)); /* another rule */
	generation_free(&one);
	generation_free(&two);
	generation_free(&plain);
}

/* Packets climb the ladder in any tables. A packet without a rung left is discarded. */
UNIT_TEST(tables_of_a_dragonfly_change_without_a_pause)
{
	static const struct route_algorithm *const algorithms[] = {
		&route_df_valiant, &route_df_valiant_node, &route_df_ugal_l, &route_df_par};
	const struct route_options options = {.seed = 1};
	OWNED(topology) *whole = topology_generate("dragonfly:a=4,p=1,h=2", NULL);

	assert_non_null(whole);
	for (uint32_t link = 0; link < whole->links; link++) {
		struct generation from = {.topology = topology_copy(whole)};
		struct generation to = {.topology = topology_copy(whole)};
		struct error reason = {""};
		bool live = false;

		if (failure_possible(whole, link)) {
			const struct route_algorithm *algorithm = algorithms[link % 4];

			fail_link(to.topology, link);
			from.table =
				route_compute_table(from.topology, algorithm, &options, NULL, NULL);
			to.table =
				route_compute_table(to.topology, algorithm, &options, NULL, NULL);
			assert_int_equal(transition_check(
						 (const struct live_generation[]){
							 {from.topology, NULL, from.table},
							 {to.topology, NULL, to.table}},
						 2, &live, &reason),
				0);
			if (!live)
				fail_msg("link %u: %s", link, reason.text);
		}
		generation_free(&from);
		generation_free(&to);
	}
}
