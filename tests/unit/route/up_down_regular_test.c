/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Up/down from the first switch on the three regular networks of the thesis (section 5.3). 80 %, 94
 * % and 100 % of the routes are minimal there. A network with different cables would have different
 * shares. */

#include "topology_walk.h"

#include <math.h>

#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

static void assert_shares(const char *spec, double minimal, double mean_links)
{
	OWNED(topology) *topology = walk_generate(spec);
	struct route_options options = {.seed = 1};
	OWNED(route_report) report;
	struct error error = {""};
	OWNED(route_set) *set =
		route_compute(topology, route_algorithm_find("ud"), &options, NULL, &error);

	assert_non_null(set);
	assert_int_equal(route_verify_set(topology, set, &report, &error), 0);
	assert_true(route_report_good(&report));
	assert_true(fabs(report.minimal_fraction - minimal) < 1e-9);
	assert_true(fabs(report.mean_switch_links - mean_links) < 1e-9);
}

UNIT_TEST(torus_routes_are_minimal_in_eight_of_ten_cases)
{
	assert_shares("torus:dims=8x8,hosts=2", 0.81845238095238095, 32.0 / 7);
}

UNIT_TEST(express_links_make_more_of_them_minimal)
{
	assert_shares("torus-express:dims=8x8,hosts=2", 0.9375, 164.0 / 63);
}

UNIT_TEST(all_routes_of_cplant_are_minimal)
{
	assert_shares("cplant", 1, 6098.0 / 2450);
}
