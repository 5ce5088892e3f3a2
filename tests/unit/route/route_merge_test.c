/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Several algorithms in one set, the choice of a root, and what failures make unreachable. */

#include "route/route_algorithm.h"

#include "networks.h"
#include "route/formats/opensm_tables.h"
#include "route/search/route_root.h"
#include "route/verify/route_verify.h"

static unsigned found(const char *names, const struct route_algorithm **algorithms)
{
	char unknown[ROUTE_LABEL_MAX];

	return (unsigned)route_merge_find(names, algorithms, unknown);
}

UNIT_TEST(names_are_joined_by_plus)
{
	const struct route_algorithm *algorithms[ROUTE_MERGE_MAX];
	char unknown[ROUTE_LABEL_MAX];

	assert_int_equal(1, found("ud", algorithms));
	assert_int_equal(2, found("ud+minhop", algorithms));
	assert_ptr_equal(algorithms[1], &route_minhop);
	assert_int_equal(-ENOENT, route_merge_find("ud+up", algorithms, unknown));
	assert_string_equal(unknown, "up");
	assert_int_equal(-ENOENT, route_merge_find("ud+", algorithms, unknown));
	assert_int_equal(-ENOENT, route_merge_find("", algorithms, unknown));
	assert_int_equal(-E2BIG, route_merge_find("ud+ud+ud+ud+ud", algorithms, unknown));
}

UNIT_TEST(the_first_algorithms_routes_come_first_and_none_twice)
{
	OWNED(topology) *topology = network_torus(4, 1);
	const struct route_algorithm *both[] = {&route_up_down, &route_minhop};
	struct route_options options = {.seed = 5, .alternatives = 3};
	OWNED(route_set) *first, *merged;
	int result;

	first = route_compute(topology, both[0], &options, NULL, NULL);
	merged = route_merge_compute(topology, both, 2, &options, &result, NULL);
	assert_non_null(merged);
	assert_string_equal(route_set_origin(merged)->algorithm, "ud+minhop");
	assert_string_equal(route_set_origin(merged)->root, "s0");
	for (uint32_t pair = 0; pair < 256; pair++) {
		uint32_t source = pair / 16, to = pair % 16;
		unsigned count = route_set_count(merged, source, to), a, b;

		assert_in_range(count, route_set_count(first, source, to), 6);
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *one = route_set_get(merged, source, to, i, &a);
			const uint8_t *old = route_set_get(first, source, to, i, &b);

			if (old != NULL)
				assert_memory_equal(one, old, b);
			for (unsigned k = 0; k < i; k++) {
				const uint8_t *other = route_set_get(merged, source, to, k, &b);

				assert_false(a == b && memcmp(one, other, a) == 0);
			}
		}
	}
}

static bool has(const struct route_set *set, uint32_t source, uint32_t to, const uint8_t *route,
	unsigned length)
{
	const uint8_t *other;
	unsigned other_length;

	for (unsigned i = 0; (other = route_set_get(set, source, to, i, &other_length)) != NULL;
		i++)
		if (other_length == length && memcmp(other, route, length) == 0)
			return true;
	return false;
}

UNIT_TEST(each_route_tells_whose_it_is)
{
	OWNED(topology) *topology = network_torus(4, 1);
	const struct route_algorithm *all[] = {&route_up_down, &route_minhop, &route_ud_itb};
	struct route_options options = {.seed = 5, .alternatives = 2};
	struct route_set *own[3], *merged;
	unsigned shared = 0;

	for (unsigned k = 0; k < 3; k++)
		own[k] = route_compute(topology, all[k], &options, NULL, NULL);
	assert_null(route_set_parts(own[0], 0));
	merged = route_merge_compute(topology, all, 3, &options, NULL, NULL);
	assert_non_null(merged);
	for (uint32_t pair = 0; pair < 256; pair++) {
		uint32_t source = pair / 16, to = pair % 16;
		const uint8_t *parts =
			route_set_parts(merged, source) + (size_t)to * ROUTE_ALTERNATIVES_MAX;
		unsigned count = route_set_count(merged, source, to), length;

		for (unsigned i = 0; i < count; i++) {
			const uint8_t *route = route_set_get(merged, source, to, i, &length);

			assert_int_not_equal(parts[i], 0);
			shared += parts[i] == 7;
			for (unsigned k = 0; k < 3; k++)
				assert_int_equal(
					parts[i] >> k & 1, has(own[k], source, to, route, length));
		}
		for (unsigned i = count; i < ROUTE_ALTERNATIVES_MAX; i++)
			assert_int_equal(parts[i], 0);
	}
	assert_int_not_equal(shared, 0);
	for (unsigned k = 0; k < 3; k++)
		route_set_destroy(own[k]);
	route_set_destroy(merged);
}

UNIT_TEST(too_many_routes_together_are_refused)
{
	OWNED(topology) *topology = network_torus(4, 1);
	const struct route_algorithm *both[] = {&route_up_down, &route_minhop};
	struct route_options options = {.seed = 5, .alternatives = 10};
	struct error error;
	int result;

	assert_null(route_merge_compute(topology, both, 2, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_string_equal(error.text,
		"net: there are more than 10 routes per pair in total; use fewer alternatives");
}

/* Roots. */

static uint32_t root_of(const struct topology *topology, enum route_root_choice choice)
{
	uint32_t root = UINT32_MAX;

	assert_int_equal(0, route_root_choose(topology, &route_up_down, choice, 3, &root, NULL));
	assert_true(root < topology->switches);
	return root;
}

/* A line of 7 switches, each with a host. */
static struct topology *line(void)
{
	struct network network;

	network_begin(&network, 7, 7);
	for (uint32_t i = 0; i < 7; i++) {
		network_host(&network, i, i);
		if (i > 0)
			network_link(&network, i - 1, i);
	}
	return network_end(&network);
}

UNIT_TEST(the_centre_is_nearest_to_the_farthest)
{
	OWNED(topology) *topology = line();

	assert_int_equal(root_of(topology, ROUTE_ROOT_CENTRE), 3);
}

static uint64_t total_links(const struct topology *topology, uint32_t root)
{
	struct route_options options = {.root = root};
	OWNED(route_set) *set = route_compute(topology, &route_up_down, &options, NULL, NULL);
	OWNED(route_report) report;
	uint64_t links;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	links = (uint64_t)(report.mean_switch_links * (double)report.far_routes + 0.5);
	return links;
}

UNIT_TEST(no_root_gives_shorter_ways_than_the_best)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		OWNED(topology) *topology = network_random(seed, true);
		uint64_t best = total_links(topology, root_of(topology, ROUTE_ROOT_BEST));

		for (uint32_t root = 0; root < topology->switches; root++)
			assert_true(best <= total_links(topology, root));
	}
}

UNIT_TEST(a_random_root_depends_on_the_seed_alone)
{
	OWNED(topology) *topology = network_torus(5, 1);
	uint32_t root[2], differ = 0;

	assert_int_equal(
		root_of(topology, ROUTE_ROOT_RANDOM), root_of(topology, ROUTE_ROOT_RANDOM));
	for (uint64_t seed = 0; seed < 20; seed++) {
		for (unsigned i = 0; i < 2; i++)
			route_root_choose(topology, &route_up_down, ROUTE_ROOT_RANDOM, seed + i,
				&root[i], NULL);
		differ += root[0] != root[1];
	}
	assert_true(differ > 10);
}

/* Gaps. */

UNIT_TEST(hosts_that_are_cut_off_and_pairs_between_pieces_are_told_apart)
{
	OWNED(topology) *topology;
	struct network network;
	struct route_options options = {0};
	struct route_file file = {NULL, NULL};
	struct route_gaps gaps;
	char text[200];

	/* h0 and h1 on one piece, h2 and h3 on another, h4 alone at s2. */
	network_begin(&network, 3, 5);
	for (uint32_t i = 0; i < 5; i++)
		network_host(&network, i, i / 2);
	topology = network_end(&network);
	for (unsigned tables = 0; tables < 2; tables++) {
		if (tables == 0)
			file.set = route_compute(topology, &route_up_down, &options, NULL, NULL);
		else
			file.table =
				route_compute_table(topology, &route_up_down, &options, NULL, NULL);
		assert_int_equal(0, route_gaps_find(topology, &file, &gaps));
		assert_int_equal(gaps.pairs, 16);
		assert_int_equal(gaps.cut_offs, 1);
		route_gaps_text(topology, &gaps, text, sizeof(text));
		assert_string_equal(text, "16 pairs of hosts without a route; cut off: h4; 8 "
					  "others, the first from h0 to h2");
		route_gaps_free(&gaps);
		route_file_close(&file);
	}
}

UNIT_TEST(a_whole_network_has_no_gaps)
{
	OWNED(topology) *topology = network_torus(3, 1);
	struct route_options options = {0};
	OWNED(route_file) file = {
		.set = route_compute(topology, &route_up_down, &options, NULL, NULL)};
	struct route_gaps gaps;

	assert_int_equal(0, route_gaps_find(topology, &file, &gaps));
	assert_int_equal(gaps.pairs, 0);
	assert_int_equal(gaps.cut_offs, 0);
	route_gaps_free(&gaps);
}

/* Listings start with the spines. If a root is one of them, the other spines carry nothing. */
UNIT_TEST(the_default_root_of_a_tree_is_a_leaf)
{
	OWNED(topology) *tree = network_fat_tree(2, 2);
	uint32_t top = 0, root = UINT32_MAX;
	struct error error = {""};

	for (uint32_t s = 0; s < tree->switches; s++)
		top = tree->switch_at[s].stage > tree->switch_at[top].stage ? s : top;
	assert_int_equal(0, route_root_find(tree, &route_up_down, NULL, 1, &root, &error));
	assert_int_equal(tree->switch_at[root].stage, 1);
	assert_int_equal(0,
		route_root_find(tree, &route_up_down, tree->switch_at[top].name, 1, &root, &error));
	assert_int_equal(root, top);
	assert_int_equal(0, route_root_find(tree, &route_up_down, "centre", 1, &root, &error));
	assert_int_equal(root, root_of(tree, ROUTE_ROOT_CENTRE));
	assert_int_equal(-EINVAL, route_root_find(tree, &route_up_down, "s99", 1, &root, &error));
	assert_string_equal(
		error.text, "'s99': expected 'best', 'centre', 'random' or a switch name");
	for (uint32_t s = 0; s < tree->switches; s++)
		tree->switch_at[s].stage = TOPOLOGY_NO_STAGE;
	assert_int_equal(0, route_root_find(tree, &route_up_down, "", 1, &root, &error));
	assert_int_equal(root, 0);
}
