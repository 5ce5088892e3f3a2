/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Expectations of the property tests for every algorithm, including new ones: they use
 * route_algorithm_at(), and only properties that some algorithms declare. */

#include <inttypes.h>

#include "random_network.h"
#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"

/* A computation, for reports of failures and to repeat it. */
struct route_case {
	const struct topology *topology;
	const struct route_algorithm *algorithm;
	struct route_options options;
	const char *network; /* in words */
	uint64_t seed;       /* draws the network */
	bool may_refuse;     /* with -EINVAL and a reason */
	bool may_leave_gaps; /* between hosts that the topology connects */
	bool minimal;
};

/* For networks without special numbers or wiring. */
static inline bool route_expect_serves_all(const struct route_algorithm *algorithm)
{
	return strcmp(algorithm->name, "dmodk") != 0 && strncmp(algorithm->name, "dor", 3) != 0 &&
	       strcmp(algorithm->name, "valiant") != 0 && strcmp(algorithm->name, "msp") != 0 &&
	       algorithm->ladder == VC_STEPS_NONE;
}

/* As short as the topology allows if each switch can hold an ITB. */
static inline bool route_expect_minimal(const struct route_algorithm *algorithm)
{
	return strstr(algorithm->name, "itb") != NULL || strcmp(algorithm->name, "minhop") == 0;
}

/* Different options for each seed. */
static inline struct route_options route_expect_options(
	const struct topology *topology, uint64_t seed)
{
	static const unsigned alternatives[] = {0, 1, 3, ROUTE_ALTERNATIVES_MAX, 1};

	return (struct route_options){
		.seed = seed,
		.root = (uint32_t)(seed % topology->switches),
		.alternatives = alternatives[seed % 5],
		.jobs = seed % 7 == 0 ? 3 : 1,
		.ties = seed % 3 == 0 ? ROUTE_TIES_PORT : ROUTE_TIES_SEED,
		.granularity = seed % 4 == 3 ? ROUTE_PER_SWITCH_PAIR : ROUTE_PER_HOST_PAIR,
	};
}

#define route_expect_fail(the_case, format, ...)                                    \
	fail_msg("%s on %s, network %" PRIu64 ", seed %" PRIu64                     \
		 ", root %u, alternatives %u: " format,                             \
		(the_case)->algorithm->name, (the_case)->network, (the_case)->seed, \
		(the_case)->options.seed, (the_case)->options.root,                 \
		(the_case)->options.alternatives, __VA_ARGS__)

static inline void route_expect_refusal(
	const struct route_case *the_case, int result, const struct error *error)
{
	if (!the_case->may_refuse || result != -EINVAL || error->text[0] == '\0')
		route_expect_fail(the_case, "refused with %d: '%s'", result, error->text);
}

static inline void route_expect_report(
	const struct route_case *the_case, const char *what, const struct route_report *report)
{
	char channel[TOPOLOGY_NAME_MAX + 16];

	if (report->invalid > 0)
		route_expect_fail(the_case, "%s: invalid: %s", what, report->evidence);
	if (the_case->algorithm->deadlock_free && !report->deadlock_free) {
		route_report_channel_name(the_case->topology, report, 0, channel, sizeof(channel));
		route_expect_fail(the_case, "%s: a cycle of %u channels through %s", what,
			report->cycle_length, channel);
	}
	if (!the_case->may_leave_gaps && report->unconnected != report->unreachable)
		route_expect_fail(the_case,
			"%s: %" PRIu64 " pairs without a route, expected %" PRIu64, what,
			report->unconnected, report->unreachable);
	if (the_case->minimal && report->far_routes > 0 && report->minimal_fraction != 1)
		route_expect_fail(
			the_case, "%s: minimal %.6f, expected 1", what, report->minimal_fraction);
}

/* Expects a pair's routes to differ, and to be at most as many as requested. */
static inline void route_expect_different(
	const struct route_case *the_case, const struct route_set *set)
{
	unsigned max = the_case->options.alternatives, a_length, b_length;

	if (max == 0)
		max = the_case->algorithm->alternatives > 0 ? the_case->algorithm->alternatives : 1;
	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++) {
			unsigned count = route_set_count(set, from, to);

			if (count > max)
				route_expect_fail(
					the_case, "%u routes from h%u to h%u", count, from, to);
			for (unsigned b = 1; b < count; b++)
				for (unsigned a = 0; a < b; a++) {
					const uint8_t *x =
						route_set_get(set, from, to, a, &a_length);
					const uint8_t *y =
						route_set_get(set, from, to, b, &b_length);

					if (a_length == b_length && memcmp(x, y, a_length) == 0)
						route_expect_fail(the_case,
							"routes %u and %u from h%u to h%u are the same",
							a, b, from, to);
				}
		}
}

static inline bool route_expect_equal_sets(const struct route_set *a, const struct route_set *b)
{
	bool same = true;

	for (uint32_t to = 0; to < route_set_hosts(a) && same; to++) {
		size_t size = route_set_pack(a, to, NULL);
		uint8_t *left = calloc(2, size + 1), *right = left + size;

		assert_non_null(left);
		same = route_set_pack(b, to, NULL) == size;
		if (same) {
			route_set_pack(a, to, left);
			route_set_pack(b, to, right);
			same = memcmp(left, right, size) == 0;
		}
		free(left);
	}
	return same;
}

/* Another number of threads, the same routes. */
static inline void route_expect_same_for_other_jobs(
	const struct route_case *the_case, const struct route_set *set)
{
	struct route_options options = the_case->options;
	OWNED(route_set) *other;

	options.jobs = options.jobs == 3 ? 1 : 3;
	other = route_compute(the_case->topology, the_case->algorithm, &options, NULL, NULL);
	if (other == NULL || !route_expect_equal_sets(set, other))
		route_expect_fail(the_case, "%u jobs give other routes", options.jobs);
}

/* Computes routes; NULL if refused. The caller destroys them. */
static inline struct route_set *route_expect_routes(
	const struct route_case *the_case, struct route_report *report)
{
	struct error error = {""};
	int result = 0;
	struct route_set *set = route_compute(
		the_case->topology, the_case->algorithm, &the_case->options, &result, &error);

	memset(report, 0, sizeof(*report));
	if (set == NULL) {
		route_expect_refusal(the_case, result, &error);
		return NULL;
	}
	assert_int_equal(0, route_verify_set(the_case->topology, set, report, NULL));
	route_expect_report(the_case, "routes", report);
	route_expect_different(the_case, set);
	return set;
}

/* Computes destination tables. Returns the number of valid routes, 0 if refused. */
static inline uint64_t route_expect_tables(const struct route_case *the_case)
{
	struct error error = {""};
	struct route_report report;
	int result = 0;
	OWNED(route_table) *table = route_compute_table(
		the_case->topology, the_case->algorithm, &the_case->options, &result, &error);

	if (table == NULL) {
		route_expect_refusal(the_case, result, &error);
		return 0;
	}
	assert_int_equal(0, route_verify(the_case->topology,
				    &(struct route_subject){.table = table}, 1, &report, NULL));
	route_expect_report(the_case, "tables", &report);
	route_report_free(&report);
	return report.routes;
}

/* Checks everything. Returns the number of valid routes judged, 0 if refused. */
static inline uint64_t route_expect_good(const struct route_case *the_case, bool try_other_jobs)
{
	uint64_t routes = 0;

	if (the_case->algorithm->routes != NULL) {
		OWNED(route_report) report;
		OWNED(route_set) *set = route_expect_routes(the_case, &report);

		if (set != NULL && try_other_jobs)
			route_expect_same_for_other_jobs(the_case, set);
		routes = report.routes;
	}
	if (the_case->algorithm->tables != NULL)
		routes += route_expect_tables(the_case);
	return routes;
}
