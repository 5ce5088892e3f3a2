/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Multi-step paths: each rule for choosing them, and that their VC classes are necessary. */

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

#include "failures.h"
#include "networks.h"
#include "route_bench.h"

/* A route taken apart. */
struct trip {
	uint32_t at[ROUTE_ELEMENTS_MAX]; /* switches in order */
	uint32_t link[ROUTE_ELEMENTS_MAX];
	unsigned links;
	unsigned begin[4]; /* links before each step, and after the last */
	unsigned steps;
};

static struct trip follow(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned i)
{
	struct topology_port at = network_port(DEVICE_HOST, from, 0);
	struct trip trip = {.links = 0, .steps = 1};
	unsigned length;
	const uint8_t *route = route_set_get(set, from, to, i, &length);

	assert_non_null(route);
	assert_true(topology_peer(topology, at, &at));
	for (unsigned k = 0; k + 1 < length; k++) {
		if (route[k] == ROUTE_TYPE_STEP) {
			assert_true(trip.steps < 3);
			trip.begin[trip.steps++] = trip.links;
			continue;
		}
		trip.at[trip.links] = at.device;
		at.port = route[k] & ROUTE_PORT_MASK;
		trip.link[trip.links] =
			(uint32_t)(topology_link_at(topology, at) - topology->link_at);
		assert_true(topology_peer(topology, at, &at));
		trip.links += at.kind == DEVICE_SWITCH;
	}
	trip.begin[trip.steps] = trip.links;
	assert_int_equal(at.device, to);
	return trip;
}

static void judge(
	const struct topology *topology, const struct route_set *set, struct route_report *report)
{
	struct error error = {""};

	if (route_verify_set(topology, set, report, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(report->invalid, 0);
	assert_true(report->connected);
}

static struct route_set *msp(const char *spec, struct topology **topology, unsigned radius)
{
	struct route_options options = {.seed = 5, .radius = radius};

	*topology = bench_generate(spec);
	return bench_compute(*topology, "msp", &options);
}

static void finish(struct topology *topology, struct route_set *set)
{
	route_set_destroy(set);
	topology_destroy(topology);
}

static double mean_paths(const char *spec)
{
	struct topology *topology;
	struct route_set *set = msp(spec, &topology, 1);
	uint64_t routes = 0;
	double pairs = (double)topology->hosts * (topology->hosts - 1);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			routes += route_set_count(set, from, to);
	finish(topology, set);
	return (double)routes / pairs;
}

UNIT_TEST(grids_of_64_switches_have_the_numbers_of_paths_that_the_rule_gives)
{
	assert_float_equal(mean_paths("torus:dims=8x8,hosts=1"), 3.37, 0.01); /* from the seed */
	assert_float_equal(mean_paths("mesh:dims=8x8,hosts=1"), 2.60, 0.005);
}

static void the_first_route_is(const char *spec, const char *algorithm)
{
	struct route_options options = {.seed = 5};
	struct topology *topology;
	struct route_set *set = msp(spec, &topology, 1);
	struct route_set *other = bench_compute(topology, algorithm, &options);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length[2];
			const uint8_t *a = route_set_get(set, from, to, 0, &length[0]);
			const uint8_t *b = route_set_get(other, from, to, 0, &length[1]);

			assert_true((a == NULL) == (b == NULL));
			if (a == NULL)
				continue;
			assert_int_equal(length[0], length[1]);
			assert_memory_equal(a, b, length[0]);
		}
	route_set_destroy(other);
	finish(topology, set);
}

UNIT_TEST(the_first_route_is_the_deterministic_one)
{
	the_first_route_is("torus:dims=8x4,hosts=2", "dor");
	the_first_route_is("torus:dims=3x4x2,hosts=1", "dor");
	the_first_route_is("mesh:dims=4x5,hosts=2", "dor");
	the_first_route_is("hypercube:dims=3,hosts=2", "dor");
	the_first_route_is("rlft:ports=8,stages=3", "dmodk");
}

/* Calls 'visit' for every pair of hosts with routes. */
static void for_each_pair(const char *spec, unsigned radius,
	void (*visit)(const struct topology *topology, const struct route_set *set, uint32_t from,
		uint32_t to, unsigned radius))
{
	struct topology *topology;
	struct route_set *set = msp(spec, &topology, radius);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (from != to)
				visit(topology, set, from, to, radius);
	finish(topology, set);
}

static void check_disjoint(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned radius)
{
	bool *used = calloc(topology->links, sizeof(*used));

	(void)radius;
	assert_non_null(used);
	for (unsigned i = 0; i < route_set_count(set, from, to); i++) {
		struct trip trip = follow(topology, set, from, to, i);

		for (unsigned k = 0; k < trip.links; k++) {
			assert_false(used[trip.link[k]]);
			used[trip.link[k]] = true;
		}
	}
	free(used);
}

UNIT_TEST(routes_of_a_pair_share_no_link_in_either_direction)
{
	for_each_pair("torus:dims=5x4,hosts=2", 1, check_disjoint);
	for_each_pair("mesh:dims=4x4,hosts=1", 2, check_disjoint);
	for_each_pair("rlft:ports=8,stages=3", 1, check_disjoint);
}

UNIT_TEST(in_a_damaged_tree_they_share_none_either)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct topology *topology = bench_generate("rlft:ports=8,stages=3");
		struct route_options options = {.seed = seed};
		struct route_set *set;
		struct rng rng;

		rng_init(&rng, seed, 0, 2);
		fail_links(topology, &rng, 40);
		set = bench_compute(topology, "msp", &options);
		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				check_disjoint(topology, set, from, to, 1);
		finish(topology, set);
	}
}

/* Two leaves with one host each, both with three cables to one switch above. */
UNIT_TEST(parallel_links_carry_a_route_each)
{
	struct topology *topology = topology_create("parallel", 3, 2);
	struct route_options options = {0};
	struct route_set *set;

	assert_non_null(topology);
	for (uint32_t leaf = 0; leaf < 2; leaf++) {
		topology->switch_at[leaf].stage = 1;
		assert_int_equal(
			0, topology_add_link(topology, network_port(DEVICE_HOST, leaf, 0),
				   network_port(DEVICE_SWITCH, leaf, 0), 0, WEFT_TIME_NEVER, 0));
		for (uint8_t i = 0; i < 3; i++)
			assert_int_equal(
				0, topology_add_link(topology,
					   network_port(DEVICE_SWITCH, leaf, (uint8_t)(1 + i)),
					   network_port(DEVICE_SWITCH, 2, (uint8_t)(3 * leaf + i)),
					   0, WEFT_TIME_NEVER, 0));
	}
	topology->switch_at[2].stage = 2;
	assert_int_equal(0, topology_finish(topology, "test", NULL));
	set = bench_compute(topology, "msp", &options);
	assert_int_equal(route_set_count(set, 0, 1), 3);
	check_disjoint(topology, set, 0, 1, 1);
	finish(topology, set);
}

static void check_visits(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned radius)
{
	struct topology_port end;

	(void)radius;
	assert_true(topology_peer(topology, network_port(DEVICE_HOST, to, 0), &end));
	for (unsigned i = 0; i < route_set_count(set, from, to); i++) {
		struct trip trip = follow(topology, set, from, to, i);

		for (unsigned a = 0; a < trip.links; a++) {
			assert_int_not_equal(trip.at[a], end.device);
			for (unsigned b = 0; b < a; b++)
				assert_int_not_equal(trip.at[a], trip.at[b]);
		}
	}
}

/* Uses so many alternatives that candidates which visit a switch twice remain. */
static void check_visits_of_many(const char *spec, unsigned radius)
{
	struct route_options options = {.alternatives = ROUTE_ALTERNATIVES_MAX, .radius = radius};
	struct topology *topology = bench_generate(spec);
	struct route_set *set = bench_compute(topology, "msp", &options);

	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (from != to)
				check_visits(topology, set, from, to, radius);
	finish(topology, set);
}

UNIT_TEST(no_route_visits_a_switch_twice)
{
	for_each_pair("torus:dims=4x4,hosts=1", 2, check_visits);
	for_each_pair("mesh:dims=3x4,hosts=1", 2, check_visits);
	check_visits_of_many("mesh:dims=5x5,hosts=1", 2);
}

/* The steps before the last are the ones to and from an IN. */
static void check_radius(const struct topology *topology, const struct route_set *set,
	uint32_t from, uint32_t to, unsigned radius)
{
	for (unsigned i = 0; i < route_set_count(set, from, to); i++) {
		struct trip trip = follow(topology, set, from, to, i);
		unsigned first = trip.begin[1];
		unsigned last = trip.begin[trip.steps] - trip.begin[trip.steps - 1];

		if (trip.steps == 3)
			assert_true(first <= radius && last <= radius);
		if (trip.steps == 2)
			assert_true(first <= radius || last <= radius);
	}
}

UNIT_TEST(intermediate_switches_are_within_the_radius)
{
	for_each_pair("torus:dims=6x5,hosts=1", 1, check_radius);
	for_each_pair("torus:dims=6x5,hosts=1", 2, check_radius);
	for_each_pair("mesh:dims=5x4,hosts=1", 3, check_radius);
}

/* Around a broken link, the distance of an IN is that of the step to it, not that of the remaining
 * links. */
UNIT_TEST(in_a_damaged_torus_the_steps_stay_within_the_radius_too)
{
	for (uint64_t seed = 0; seed < 6; seed++) {
		struct topology *topology = bench_generate("torus:dims=6x6,hosts=1");
		struct route_options options = {.seed = seed, .radius = 1 + seed % 2};
		struct route_report report;
		struct route_set *set;
		struct rng rng;

		rng_init(&rng, seed, 0, 1);
		fail_links(topology, &rng, 5);
		set = bench_compute(topology, "msp", &options);
		for (uint32_t from = 0; from < topology->hosts; from++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				if (from != to)
					check_radius(topology, set, from, to, options.radius);
		judge(topology, set, &report);
		assert_true(report.deadlock_free);
		route_report_free(&report);
		finish(topology, set);
	}
}

/* --- the rule, computed differently: from dor's routes, with one host per switch --- */

/* Links and steps of the shortest candidate; links 0: there is none. */
struct best {
	unsigned links, steps;
};

struct search {
	const struct topology *topology;
	const struct route_set *dor;
	const bool *used; /* by link */
	uint32_t from, to;
	struct best best;
};

static bool add_step(const struct search *search, uint32_t from, uint32_t to, struct trip *sum)
{
	struct trip step;

	if (from == to)
		return true;
	step = follow(search->topology, search->dor, from, to, 0);
	for (unsigned i = 0; i < step.links; i++) {
		if (search->used[step.link[i]] || step.at[i] == search->to)
			return false;
		for (unsigned k = 0; k < sum->links; k++)
			if (sum->at[k] == step.at[i])
				return false;
		sum->at[sum->links++] = step.at[i];
	}
	return true;
}

static void offer(struct search *search, uint32_t first, uint32_t second)
{
	struct trip sum = {.links = 0};
	unsigned steps = 1u + (first != search->from) + (second != search->to);

	if (first == second || first == search->to || second == search->from ||
		!add_step(search, search->from, first, &sum) ||
		!add_step(search, first, second, &sum) ||
		!add_step(search, second, search->to, &sum))
		return;
	if (search->best.links == 0 || sum.links < search->best.links ||
		(sum.links == search->best.links && steps < search->best.steps))
		search->best = (struct best){sum.links, steps};
}

static unsigned apart(const struct search *search, uint32_t from, uint32_t to)
{
	return from == to ? 0 : follow(search->topology, search->dor, from, to, 0).links;
}

static struct best find_best(struct search *search, unsigned radius)
{
	uint32_t switches = search->topology->switches;

	search->best.links = 0;
	for (uint32_t first = 0; first < switches; first++)
		for (uint32_t second = 0;
			second < switches && apart(search, search->from, first) <= radius; second++)
			if (apart(search, second, search->to) <= radius)
				offer(search, first, second);
	return search->best;
}

static void check_rule(
	struct search *search, const struct route_set *set, bool *used, unsigned radius)
{
	unsigned count = route_set_count(set, search->from, search->to), i;
	struct best best;

	memset(used, 0, search->topology->links * sizeof(*used));
	for (i = 0; i < count; i++) {
		struct trip trip = follow(search->topology, set, search->from, search->to, i);

		best = find_best(search, radius);
		if (i > 0) {
			assert_int_equal(trip.links, best.links);
			assert_int_equal(trip.steps, best.steps);
		}
		for (unsigned k = 0; k < trip.links; k++)
			used[trip.link[k]] = true;
	}
	if (i < 4)
		assert_int_equal(find_best(search, radius).links, 0);
}

static void check_rule_on(const char *spec, unsigned radius)
{
	struct route_options options = {.seed = 5};
	struct topology *topology;
	struct route_set *set = msp(spec, &topology, radius);
	struct route_set *dor = bench_compute(topology, "dor", &options);
	bool *used = calloc(topology->links, sizeof(*used));

	assert_non_null(used);
	for (uint32_t from = 0; from < topology->hosts; from += 3)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			struct search search = {topology, dor, used, from, to, {0, 0}};

			if (from != to)
				check_rule(&search, set, used, radius);
		}
	free(used);
	route_set_destroy(dor);
	finish(topology, set);
}

UNIT_TEST(each_route_is_the_shortest_that_is_left_with_fewest_steps)
{
	check_rule_on("torus:dims=5x5,hosts=1", 1);
	check_rule_on("torus:dims=4x6,hosts=1", 1);
	check_rule_on("mesh:dims=5x4,hosts=1", 1);
	check_rule_on("mesh:dims=4x3,hosts=1", 2);
	check_rule_on("torus:dims=3x3x3,hosts=1", 1);
}

UNIT_TEST(the_seed_decides_among_equals_and_threads_decide_nothing)
{
	OWNED(topology) *topology = bench_generate("torus:dims=5x5,hosts=2");
	struct route_options one = {.seed = 1}, three = {.seed = 1, .jobs = 3};
	struct route_options other = {.seed = 2};

	assert_true(bench_options_agree(topology, "msp", &one, &three));
	assert_false(bench_options_agree(topology, "msp", &one, &other));
}

/* In odd rings, nothing else distinguishes switches. */
UNIT_TEST(by_the_ports_detours_are_the_same_everywhere)
{
	struct topology *topology = bench_generate("torus:dims=5x5,hosts=1");
	struct route_options options = {.seed = 1, .ties = ROUTE_TIES_PORT};
	struct route_options other = {.seed = 2, .ties = ROUTE_TIES_PORT};
	struct route_options drawn = {.seed = 1};
	struct route_set *set = bench_compute(topology, "msp", &options);

	assert_true(bench_options_agree(topology, "msp", &options, &other));
	assert_false(bench_options_agree(topology, "msp", &options, &drawn));
	for (uint32_t from = 0; from < 25; from++)
		for (uint32_t way = 1; way < 25; way++) {
			uint32_t to = (from / 5 + way / 5) % 5 * 5 + (from % 5 + way % 5) % 5;

			for (unsigned i = 0; i < route_set_count(set, 0, way); i++) {
				unsigned length[2];
				const uint8_t *a = route_set_get(set, 0, way, i, &length[0]);
				const uint8_t *b = route_set_get(set, from, to, i, &length[1]);

				assert_non_null(b);
				assert_int_equal(length[0], length[1]);
				assert_memory_equal(a, b, length[0]);
			}
		}
	finish(topology, set);
}

UNIT_TEST(hosts_of_two_switches_can_share_their_paths)
{
	struct topology *topology = bench_generate("mesh:dims=4x4,hosts=2");
	struct route_options options = {.seed = 1, .granularity = ROUTE_PER_SWITCH_PAIR};
	struct route_set *set = bench_compute(topology, "msp", &options);

	for (uint32_t from = 0; from < topology->hosts; from += 2)
		for (uint32_t to = 0; to < topology->hosts; to += 2)
			for (unsigned i = 0; i < route_set_count(set, from, to); i++) {
				unsigned length[2];
				const uint8_t *a = route_set_get(set, from, to, i, &length[0]);
				const uint8_t *b = route_set_get(set, from + 1, to, i, &length[1]);

				assert_int_equal(length[0], length[1]);
				assert_memory_equal(a, b, length[0]);
			}
	finish(topology, set);
}

UNIT_TEST(a_pair_has_as_many_routes_as_asked_for)
{
	OWNED(topology) *topology = bench_generate("torus:dims=4x4x4,hosts=1");

	for (unsigned alternatives = 0; alternatives <= 6; alternatives++) {
		struct route_options options = {.alternatives = alternatives};
		OWNED(route_set) *set = bench_compute(topology, "msp", &options);
		unsigned max = 0;

		for (uint32_t to = 1; to < topology->hosts; to++)
			if (route_set_count(set, 0, to) > max)
				max = route_set_count(set, 0, to);
		assert_int_equal(max, alternatives == 0 ? 4 : alternatives);
	}
}

/* --- deadlock --- */

/* The same routes without 'next step', with the same classes. */
static struct route_set *without_steps(const struct route_set *set)
{
	uint32_t hosts = route_set_hosts(set);
	struct route_set *copy = route_set_create(hosts);

	assert_non_null(copy);
	if (route_set_vc_rule(set) != NULL)
		route_set_use_vc_rule(copy, vc_rule_copy(route_set_vc_rule(set)));
	for (uint32_t from = 0; from < hosts; from++)
		for (uint32_t to = 0; to < hosts; to++)
			for (unsigned i = 0; i < route_set_count(set, from, to); i++) {
				uint8_t plain[ROUTE_ELEMENTS_MAX];
				unsigned length, used = 0;
				const uint8_t *route = route_set_get(set, from, to, i, &length);

				for (unsigned k = 0; k < length; k++)
					if (route[k] != ROUTE_TYPE_STEP)
						plain[used++] = route[k];
				assert_int_equal(route_set_add(copy, from, to, plain, used), 0);
			}
	return copy;
}

static const struct {
	const char *spec;
	unsigned radius, classes;
} grids[] = {
	{"torus:dims=8x8,hosts=1", 1, 4},
	{"torus:dims=8x8,hosts=1", 2, 6},
	{"torus:dims=16x16,hosts=1", 1, 4},
	{"torus:dims=5x4,hosts=2", 1, 4},
	{"torus:dims=3x4x3,hosts=1", 1, 4},
	{"ring:switches=7,hosts=1", 2, 6},
	{"mesh:dims=8x4,hosts=1", 1, 3},
	{"mesh:dims=4x4,hosts=1", 1, 3},
	{"mesh:dims=8x8,hosts=1", 1, 3},
	{"mesh:dims=8x8,hosts=1", 2, 3},
	{"mesh:dims=3x3x3,hosts=1", 1, 3},
};

#define GRIDS (sizeof(grids) / sizeof(grids[0]))

UNIT_TEST(routes_in_grids_cannot_deadlock_with_their_classes)
{
	for (unsigned i = 0; i < GRIDS; i++) {
		struct topology *topology;
		struct route_set *set = msp(grids[i].spec, &topology, grids[i].radius);
		struct route_report report;

		judge(topology, set, &report);
		assert_true(report.deadlock_free);
		assert_int_equal(report.vc_classes, grids[i].classes);
		route_report_free(&report);
		finish(topology, set);
	}
}

UNIT_TEST(without_their_steps_the_same_routes_have_a_cycle)
{
	for (unsigned i = 0; i < GRIDS; i++) {
		struct topology *topology;
		struct route_set *set = msp(grids[i].spec, &topology, grids[i].radius);
		struct route_set *plain = without_steps(set);
		struct route_report report;

		judge(topology, plain, &report);
		/* In a ring, even the long path around crosses the dateline once. */
		assert_true(report.deadlock_free == (strncmp(grids[i].spec, "ring", 4) == 0));
		route_report_free(&report);
		route_set_destroy(plain);
		finish(topology, set);
	}
}

/* Hosts instead of 'next step': each step is a separate route of dor, in dor's classes. */
UNIT_TEST(with_hosts_between_steps_the_classes_of_dor_suffice)
{
	for (unsigned i = 0; i < GRIDS; i++) {
		struct route_options options = {
			.seed = 5, .radius = grids[i].radius, .steps = ROUTE_STEPS_ITB};
		struct topology *topology = bench_generate(grids[i].spec);
		struct route_set *set = bench_compute(topology, "msp", &options);
		struct route_report report;

		judge(topology, set, &report);
		assert_true(report.deadlock_free);
		assert_int_equal(report.vc_classes, strncmp(grids[i].spec, "mesh", 4) == 0 ? 1 : 2);
		assert_true(report.itbs_mean > 0);
		route_report_free(&report);
		finish(topology, set);
	}
}

/* The same paths, if they fit into a frame. */
UNIT_TEST(hosts_between_steps_take_the_links_of_next_step)
{
	struct topology *topology = bench_generate("torus:dims=8x8,hosts=1");
	struct route_options options = {.seed = 5};
	struct route_set *next = bench_compute(topology, "msp", &options), *itb;
	uint8_t links[ROUTE_ELEMENTS_MAX];

	options.steps = ROUTE_STEPS_ITB;
	itb = bench_compute(topology, "msp", &options);
	for (uint32_t to = 1; to < 64; to++)
		for (unsigned i = 0; i < 2; i++) {
			unsigned length, left = 0;
			const uint8_t *route = route_set_get(next, 0, to, i, &length);

			for (unsigned k = 0; k < length; k++)
				if (route[k] != ROUTE_TYPE_STEP)
					links[left++] = route[k];
			route = route_set_get(itb, 0, to, i, &length);
			for (unsigned k = 0, at = 0; k < length; k++) {
				if (k + 2 < length && route[k + 1] == ROUTE_TYPE_ITB) {
					k++; /* into the host, and out of it */
					continue;
				}
				assert_int_equal(route[k], links[at++]);
			}
		}
	route_set_destroy(next);
	finish(topology, itb);
}

UNIT_TEST(hosts_between_steps_are_refused_in_fat_trees)
{
	OWNED(topology) *topology = bench_generate("rlft:ports=4,stages=3");
	struct route_options options = {.steps = ROUTE_STEPS_ITB};
	struct error error = {""};

	assert_null(route_compute(topology, &route_msp, &options, NULL, &error));
	assert_non_null(strstr(error.text,
		"steps cannot be joined by hosts (itb), because the common ancestors in a fat tree "
		"have none"));
}

/* The classes of dor alone, in which steps change nothing. */
UNIT_TEST(in_the_classes_of_dor_the_routes_have_a_cycle)
{
	struct topology *topology;
	struct route_set *set = msp("torus:dims=8x8,hosts=1", &topology, 1);
	struct vc_rule *rule = vc_rule_copy(route_set_vc_rule(set));
	struct route_report report;

	rule->steps = VC_STEPS_NONE;
	rule->classes = 2;
	route_set_use_vc_rule(set, rule);
	judge(topology, set, &report);
	assert_false(report.deadlock_free);
	route_report_free(&report);
	finish(topology, set);
}

UNIT_TEST(without_datelines_the_middle_step_has_a_cycle)
{
	struct topology *topology;
	struct route_set *set = msp("torus:dims=8x8,hosts=1", &topology, 1);
	struct vc_rule *rule = vc_rule_copy(route_set_vc_rule(set));
	struct route_report report;

	memset(rule->dateline, 0, rule->switches * sizeof(*rule->dateline));
	route_set_use_vc_rule(set, rule);
	judge(topology, set, &report);
	assert_false(report.deadlock_free);
	route_report_free(&report);
	finish(topology, set);
}

/* --- fat trees --- */

/* Up ports in their order number K, ..., 2K - 1 (rlft). */
static void check_climb(const struct topology *topology, const struct route_set *set, uint32_t from,
	uint32_t to, unsigned radius)
{
	unsigned count = route_set_count(set, from, to), length[2];
	const uint8_t *first = route_set_get(set, from, to, 0, &length[0]);
	unsigned ups = (length[0] - 2) / 2;

	(void)radius;
	assert_int_equal(count, ups > 0 ? 4 : 1);
	for (unsigned i = 1; i < count; i++) {
		const uint8_t *route = route_set_get(set, from, to, i, &length[1]);

		assert_int_equal(length[1], length[0] + 1);
		assert_int_equal(route[ups], ROUTE_TYPE_STEP);
		for (unsigned level = 0; level < ups; level++)
			assert_int_equal((route[level] & ROUTE_PORT_MASK) - 4,
				((first[level] & ROUTE_PORT_MASK) - 4 + i) % 4);
		assert_null(memchr(route + ups + 1, ROUTE_TYPE_STEP, length[1] - ups - 1));
	}
}

UNIT_TEST(in_a_tree_route_number_o_takes_the_ports_o_places_on_and_steps_at_the_top)
{
	for_each_pair("rlft:ports=8,stages=2", 1, check_climb);
	for_each_pair("rlft:ports=8,stages=3", 1, check_climb);
}

UNIT_TEST(trees_need_no_classes)
{
	static const char *const specs[] = {
		"rlft:ports=4,stages=3", "rlft:ports=8,stages=2", "rlft:ports=8,stages=3"};

	for (unsigned i = 0; i < 3; i++) {
		struct topology *topology;
		struct route_set *set = msp(specs[i], &topology, 1);
		struct route_report report;

		assert_null(route_set_vc_rule(set));
		judge(topology, set, &report);
		assert_true(report.deadlock_free);
		assert_true(report.minimal_fraction == 1);
		route_report_free(&report);
		finish(topology, set);
	}
}

UNIT_TEST(a_pair_has_no_more_routes_than_its_leaf_has_ports_up)
{
	struct topology *topology = bench_generate("rlft:ports=4,stages=3");
	struct route_options options = {.alternatives = 10};
	struct route_set *set = bench_compute(topology, "msp", &options);

	assert_int_equal(route_set_count(set, 0, topology->hosts - 1), 2);
	finish(topology, set);
}

/* --- what it does not do --- */

UNIT_TEST(other_networks_are_refused_by_name)
{
	static const char *const specs[] = {"irregular:switches=8,seed=1", "cplant",
		"torus-express:dims=5x5", "dragonfly:a=4,p=2,h=2", "full:switches=6,hosts=2"};

	for (unsigned i = 0; i < 5; i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);

		bench_expect_refused(topology, "msp", topology->name);
		bench_expect_refused(topology, "msp", "'disjoint' for other networks");
	}
}

UNIT_TEST(a_radius_out_of_range_is_refused)
{
	OWNED(topology) *topology = bench_generate("ring:switches=5,hosts=1");
	struct route_options options = {.radius = ROUTE_RADIUS_MAX + 1};
	struct error error = {""};
	int result;

	assert_null(route_compute(topology, &route_msp, &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_string_equal(error.text, "the radius is too large: 5 links; at most 4 are allowed");
}
