/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Topologies and routes for tests of route algorithms: a test fails if they cannot be made. */

#include "base/weft_error.h"
#include "route/route_algorithm.h"
#include "route/route_set.h"
#include "route/verify/route_verify.h"
#include "topo/generator.h"
#include "topo/topology.h"
#include "unit.h"

static inline struct topology *bench_generate(const char *spec)
{
	struct error error = {""};
	struct topology *topology = topology_generate(spec, &error);

	if (topology == NULL)
		fail_msg("%s: %s", spec, error.text);
	return topology;
}

static inline struct route_set *bench_compute(
	const struct topology *topology, const char *name, const struct route_options *options)
{
	struct error error = {""};
	struct route_set *set =
		route_compute(topology, route_algorithm_find(name), options, NULL, &error);

	if (set == NULL)
		fail_msg("%s: %s", name, error.text);
	return set;
}

static inline struct route_report bench_verified(
	const struct topology *topology, const struct route_table *table)
{
	struct route_report report;

	assert_int_equal(0,
		route_verify(topology, &(struct route_subject){.table = table}, 1, &report, NULL));
	return report;
}

/* Expects the algorithm to refuse the topology with an error that contains 'text'. */
static inline void bench_expect_refused(
	const struct topology *topology, const char *name, const char *text)
{
	struct route_options options = {0};
	struct error error = {""};
	int result;

	assert_null(route_compute(topology, route_algorithm_find(name), &options, &result, &error));
	assert_int_equal(result, -EINVAL);
	assert_non_null(strstr(error.text, text));
}

/* Returns whether every pair has the same routes, in the same order. */
static inline bool bench_same_routes(const struct route_set *a, const struct route_set *b)
{
	for (uint32_t source = 0; source < route_set_hosts(a); source++)
		for (uint32_t to = 0; to < route_set_hosts(a); to++) {
			unsigned length[2];

			if (route_set_count(a, source, to) != route_set_count(b, source, to))
				return false;
			for (unsigned i = 0; i < route_set_count(a, source, to); i++) {
				const uint8_t *left = route_set_get(a, source, to, i, &length[0]);
				const uint8_t *right = route_set_get(b, source, to, i, &length[1]);

				if (length[0] != length[1] || memcmp(left, right, length[0]) != 0)
					return false;
			}
		}
	return true;
}

/* Returns whether two route requests for a topology give the same result. */
static inline bool bench_options_agree(const struct topology *topology, const char *name,
	const struct route_options *a, const struct route_options *b)
{
	OWNED(route_set) *left = bench_compute(topology, name, a);
	OWNED(route_set) *right = bench_compute(topology, name, b);
	bool same = bench_same_routes(left, right);

	return same;
}
