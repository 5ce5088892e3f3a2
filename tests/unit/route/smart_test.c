/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Properties of the routes of smart and bsmart-itb. For the parts, see smart_parts_test.c. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "networks.h"
#include "route_bench.h"

#define NETWORKS 150

/* The report has no evidence of its own that must be freed. */
static struct route_report judge(
	const struct topology *topology, const char *algorithm, const struct route_options *options)
{
	struct route_set *set = bench_compute(topology, algorithm, options);
	struct route_report report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	route_set_destroy(set);
	route_report_free(&report);
	return report;
}

static struct route_report judge_spec(const char *spec, const char *algorithm)
{
	OWNED(topology) *topology = bench_generate(spec);
	struct route_options options = {.seed = 1};
	struct route_report report = judge(topology, algorithm, &options);

	return report;
}

/* Figure 71 of the thesis. Over ten networks of 16 switches, the maximum load is 0.45 of that of ud
 * and 0.63 of that of dfs. */
UNIT_TEST(the_largest_load_of_smart_is_clearly_below_that_of_trees)
{
	uint64_t smart = 0, ud = 0, dfs = 0;

	for (unsigned seed = 0; seed < 4; seed++) {
		char spec[64];

		snprintf(spec, sizeof(spec), "irregular:switches=16,hosts=2,seed=%u", seed);
		smart += judge_spec(spec, "smart").link_load.max;
		ud += judge_spec(spec, "ud").link_load.max;
		dfs += judge_spec(spec, "dfs").link_load.max;
	}
	assert_true(smart * 10 < ud * 6);
	assert_true(smart * 10 < dfs * 8);
}

UNIT_TEST(bsmart_itb_is_minimal_and_better_balanced_than_chance)
{
	uint64_t bsmart = 0, minhop = 0;

	for (unsigned seed = 0; seed < 4; seed++) {
		struct route_report report;
		char spec[64];

		snprintf(spec, sizeof(spec), "irregular:switches=16,hosts=2,seed=%u", seed);
		report = judge_spec(spec, "bsmart-itb");
		assert_true(report.minimal_fraction == 1);
		assert_true(report.itbs_mean > 0);
		bsmart += report.link_load.max;
		minhop += judge_spec(spec, "minhop").link_load.max;
	}
	assert_true(bsmart * 10 < minhop * 9);
}

UNIT_TEST(large_networks_are_routed_near_a_bound)
{
	static const char *const spec[] = {
		"torus:dims=9x9,hosts=1", "irregular:switches=90,hosts=2", "dragonfly:a=6,p=2,h=3"};

	for (unsigned i = 0; i < sizeof(spec) / sizeof(spec[0]); i++) {
		OWNED(topology) *topology = bench_generate(spec[i]);
		struct route_options options = {.seed = 1};
		OWNED(route_set) *set = bench_compute(topology, "smart", &options);
		OWNED(route_report) report;

		assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
		assert_true(route_report_good(&report));
		assert_true(route_set_excess(set) >= 0 && route_set_excess(set) < 0.15);
	}
	/* Two linear programs instead, so there is no bound to state. */
	{
		OWNED(topology) *topology = bench_generate("irregular:switches=16,hosts=2");
		struct route_options options = {.seed = 1};
		OWNED(route_set) *set = bench_compute(topology, "smart", &options);

		assert_true(route_set_excess(set) < 0);
	}
}

/* Two switches with four hosts each, and a third switch without hosts. */
static struct topology *make_bypass(void)
{
	struct network network;

	network_begin(&network, 3, 8);
	network_link(&network, 0, 1);
	network_link(&network, 0, 2);
	network_link(&network, 2, 1);
	for (uint32_t host = 0; host < 8; host++)
		network_host(&network, host, host / 4);
	return network_end(&network);
}

UNIT_TEST(longer_paths_are_taken_where_they_lower_the_largest_load)
{
	OWNED(topology) *topology = make_bypass();
	struct route_options options = {.seed = 1};
	struct route_report report = judge(topology, "smart", &options);

	assert_true(route_report_good(&report));
	assert_true(report.mean_switch_links > 1);
	report = judge(topology, "bsmart-itb", &options);
	assert_true(report.mean_switch_links == 1); /* minimal paths only */
}

UNIT_TEST(parallel_links_carry_the_same)
{
	struct route_options options = {.seed = 1};
	OWNED(topology) *topology;
	struct network network;
	struct route_report report;

	network_begin(&network, 2, 8);
	for (unsigned i = 0; i < 4; i++)
		network_link(&network, 0, 1);
	for (uint32_t host = 0; host < 8; host++)
		network_host(&network, host, host % 2);
	topology = network_end(&network);
	report = judge(topology, "smart", &options);
	assert_int_equal(report.link_load.min, 4);
	assert_int_equal(report.link_load.max, 4);
}

/* A fat tree's minimal paths close no cycle, and its upper switches have no hosts for ITBs. */
UNIT_TEST(bsmart_itb_leaves_paths_without_cycles_as_they_are)
{
	struct route_report report = judge_spec("rlft:ports=4,stages=3", "bsmart-itb");

	assert_true(report.deadlock_free);
	assert_true(report.itbs_mean == 0);
	assert_true(report.minimal_fraction == 1);
	assert_true(report.link_load.max <= 1 + report.link_load.mean * 5 / 4);
}

UNIT_TEST(the_same_seed_gives_the_same_routes)
{
	OWNED(topology) *topology = bench_generate("irregular:switches=12,hosts=2,seed=3");
	struct route_options options = {.seed = 9, .alternatives = 2};

	for (unsigned k = 0; k < 2; k++) {
		const char *algorithm = k == 0 ? "smart" : "bsmart-itb";
		OWNED(route_set) *a = bench_compute(topology, algorithm, &options);
		OWNED(route_set) *b = bench_compute(topology, algorithm, &options);

		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				for (unsigned i = 0; i < route_set_count(a, from, to); i++) {
					unsigned length[2];
					const uint8_t *left =
						route_set_get(a, from, to, i, &length[0]);
					const uint8_t *right =
						route_set_get(b, from, to, i, &length[1]);

					assert_non_null(right);
					assert_int_equal(length[0], length[1]);
					assert_memory_equal(left, right, length[0]);
				}
	}
}

/* Both parallel links are used, so both are alternatives of every pair. */
UNIT_TEST(alternatives_are_the_other_paths_in_use)
{
	struct route_options options = {.alternatives = 5};
	OWNED(topology) *topology;
	struct network network;
	OWNED(route_set) *set;
	unsigned length;

	network_begin(&network, 2, 4);
	network_link(&network, 0, 1);
	network_link(&network, 0, 1);
	for (uint32_t host = 0; host < 4; host++)
		network_host(&network, host, host / 2);
	topology = network_end(&network);
	set = bench_compute(topology, "smart", &options);
	for (uint32_t from = 0; from < 2; from++)
		for (uint32_t to = 2; to < 4; to++) {
			assert_int_equal(route_set_count(set, from, to), 2);
			assert_int_not_equal(route_set_get(set, from, to, 0, &length)[0],
				route_set_get(set, from, to, 1, &length)[0]);
		}
}

UNIT_TEST(a_way_that_does_not_fit_into_a_frame_is_refused)
{
	OWNED(topology) *topology = network_ring(140);

	bench_expect_refused(topology, "smart", "links; at most 62 are allowed");
}
