/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by tests of algorithms with in-transit buffers. */

#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/verify/route_verify.h"

#include "networks.h"
#include "route_bench.h"

/* A connected network of 4 to 64 switches with parallel links, switches of degree 1 and, unless
 * 'hosts_everywhere', switches without hosts. */
static inline struct topology *itb_network(uint64_t seed, bool hosts_everywhere)
{
	struct network network;
	struct rng rng;
	uint32_t switches, hosts, extra;

	rng_init(&rng, seed, 1, 99);
	switches = 4 + (uint32_t)rng_below(&rng, seed % 8 == 0 ? 61 : 15);
	extra = (uint32_t)rng_below(&rng, 2 * switches);
	hosts = hosts_everywhere ? switches + 2 : 2 + (uint32_t)rng_below(&rng, switches);
	network_begin(&network, switches, hosts);
	for (uint32_t i = 1; i < switches; i++)
		network_link(&network, i, (uint32_t)rng_below(&rng, i));
	for (uint32_t i = 0; i < extra; i++) {
		uint32_t a = (uint32_t)rng_below(&rng, switches);
		uint32_t b = (uint32_t)rng_below(&rng, switches - 1);

		b = b < a ? b : b + 1;
		if (network.used[a] < NETWORK_PORTS - 8 && network.used[b] < NETWORK_PORTS - 8)
			network_link(&network, a, b);
	}
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t at = (uint32_t)rng_below(&rng, switches);

		while (network.used[at] == NETWORK_PORTS)
			at = (at + 1) % switches;
		network_host(&network, i, hosts_everywhere && i < switches ? i : at);
	}
	return network_end(&network);
}

/* A replayed route: its switches, and after which of them it is absorbed. */
struct itb_walk {
	uint32_t at[ROUTE_ELEMENTS_MAX];
	uint8_t port[ROUTE_ELEMENTS_MAX]; /* by which it leaves for the next switch */
	bool itb[ROUTE_ELEMENTS_MAX];
	unsigned links, itbs;
};

static inline struct itb_walk itb_walk(const struct topology *topology, const struct route_set *set,
	uint32_t source, uint32_t destination, unsigned i)
{
	struct topology_port at = network_port(DEVICE_HOST, source, 0), next;
	struct itb_walk walk = {.links = 0};
	unsigned length;
	const uint8_t *route = route_set_get(set, source, destination, i, &length);

	assert_true(topology_peer(topology, at, &next));
	walk.at[0] = next.device;
	for (unsigned k = 0; k + 2 < length; k++) {
		at = network_port(DEVICE_SWITCH, walk.at[walk.links], route[k] & ROUTE_PORT_MASK);
		assert_true(topology_peer(topology, at, &next));
		if (next.kind == DEVICE_HOST) {
			assert_int_equal(route[++k], ROUTE_TYPE_ITB);
			walk.itb[walk.links] = true;
			walk.itbs++;
			continue;
		}
		walk.port[walk.links++] = at.port;
		walk.at[walk.links] = next.device;
	}
	return walk;
}

/* Runs 'check' for every route of the set. */
typedef void itb_check_fn(const struct topology *topology, const struct itb_walk *walk, void *data);

static inline void itb_for_each(const struct topology *topology, const struct route_set *set,
	itb_check_fn *check, void *data)
{
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0; i < route_set_count(set, source, to); i++) {
				struct itb_walk walk = itb_walk(topology, set, source, to, i);

				check(topology, &walk, data);
			}
}

/* Returns whether two route requests for a small torus give the same result. */
static inline bool itb_options_agree(
	const char *name, const struct route_options *a, const struct route_options *b)
{
	OWNED(topology) *topology = network_torus(4, 2);
	bool same = bench_options_agree(topology, name, a, b);

	return same;
}

/* The report of one set; the caller frees it (route_report_free). */
static inline struct route_report itb_judge(
	const struct topology *topology, const char *name, const struct route_options *options)
{
	OWNED(route_set) *set = bench_compute(topology, name, options);
	struct route_report report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	return report;
}

/* Fails unless all routes are valid, connect, cannot deadlock, and, if 'minimal', are as short as
 * the topology allows. */
static inline void itb_expect_good(const struct topology *topology, const char *name,
	const struct route_options *options, bool minimal)
{
	OWNED(route_report) report = itb_judge(topology, name, options);

	if (!route_report_good(&report))
		fail_msg("%s, seed %u: %s", name, (unsigned)options->seed, report.evidence);
	if (minimal && report.far_routes > 0 && report.minimal_fraction != 1)
		fail_msg("%s, seed %u: not minimal", name, (unsigned)options->seed);
}

/* Copies the set without element 'cut' and its predecessor in one route. */
static inline struct route_set *itb_cut(
	const struct route_set *set, uint32_t source, uint32_t destination, unsigned cut)
{
	struct route_set *copy = route_set_create(route_set_hosts(set));

	assert_non_null(copy);
	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++) {
			uint8_t route[ROUTE_ELEMENTS_MAX];
			unsigned length;
			const uint8_t *old = route_set_get(set, from, to, 0, &length);

			if (old == NULL)
				continue;
			memcpy(route, old, length);
			if (from == source && to == destination) {
				memmove(route + cut - 1, route + cut + 1, length - cut - 1);
				length -= 2;
			}
			assert_int_equal(0, route_set_add(copy, from, to, route, length));
		}
	return copy;
}

/* Removes each ITB of a set with one route per pair, one at a time; the judge must find a cycle
 * each time. Returns the number of ITBs. */
static inline unsigned itb_expect_all_needed(
	const struct topology *topology, const struct route_set *set)
{
	unsigned itbs = 0, length;

	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			const uint8_t *route = route_set_get(set, source, to, 0, &length);

			for (unsigned i = 0; route != NULL && i < length; i++) {
				OWNED(route_report) report = {0};
				OWNED(route_set) *cut = NULL;

				if (route[i] != ROUTE_TYPE_ITB)
					continue;
				itbs++;
				cut = itb_cut(set, source, to, i);
				assert_int_equal(0, route_verify_set(topology, cut, &report, NULL));
				assert_int_equal(report.invalid, 0);
				assert_false(report.deadlock_free);
			}
		}
	return itbs;
}
