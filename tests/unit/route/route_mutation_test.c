/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Removes single in-transit buffers from good routes. If that closes a cycle, the judge must report
 * it. Here, cycles are found by brute force, using nothing of lib/route except the bytes of the
 * routes. */

#include "draws.h"
#include "random_network.h"
#include "route_expect.h"

#define CUTS     8  /* per network and algorithm */
#define SWITCHES 36 /* maximum */

/* Channels by number: twice the link's number, plus 1 towards its end 'a'. A matrix of which
 * channel waits for which. */
struct waits {
	const struct topology *topology;
	uint32_t channels;
	uint8_t *matrix; /* [before * channels + after] */
};

/* The port at the far end of the channel that starts at 'from', and the channel. */
static struct topology_port follow(
	const struct topology *topology, struct topology_port from, uint32_t *channel)
{
	const struct topology_link *link = topology_link_at(topology, from);
	bool from_a;

	assert_non_null(link);
	from_a = link->a.kind == from.kind && link->a.device == from.device &&
		 link->a.port == from.port;
	*channel = 2 * (uint32_t)(link - topology->link_at) + (from_a ? 0 : 1);
	return from_a ? link->b : link->a;
}

static void add_route(struct waits *waits, uint32_t source, const uint8_t *route, unsigned length)
{
	struct topology_port at = network_port(DEVICE_HOST, source, 0);
	uint32_t before, after;

	at = follow(waits->topology, at, &before);
	for (unsigned i = 0; i + 1 < length; i++) {
		if (route[i] == ROUTE_TYPE_ITB) { /* absorbed; it continues from the host */
			assert_int_equal(at.kind, DEVICE_HOST);
			at = follow(waits->topology, at, &before);
			continue;
		}
		at = follow(waits->topology,
			network_port(DEVICE_SWITCH, at.device, route[i] & ROUTE_PORT_MASK), &after);
		waits->matrix[before * waits->channels + after] = 1;
		before = after;
	}
}

/* Removes channels that wait for no remaining channel. A cycle remains. */
static bool has_cycle(const struct waits *waits)
{
	uint32_t n = waits->channels, left = n;
	bool *gone = calloc(n, sizeof(*gone)), peeled = true;

	assert_non_null(gone);
	while (peeled) {
		peeled = false;
		for (uint32_t i = 0; i < n; i++) {
			bool waiting = false;

			for (uint32_t k = 0; k < n && !gone[i] && !waiting; k++)
				waiting = !gone[k] && waits->matrix[i * n + k] != 0;
			if (gone[i] || waiting)
				continue;
			gone[i] = peeled = true;
			left--;
		}
	}
	free(gone);
	return left > 0;
}

static bool cycle_by_brute_force(const struct topology *topology, const struct route_set *set)
{
	struct waits waits = {.topology = topology, .channels = 2 * topology->links};
	const uint8_t *route;
	unsigned length;
	bool found;

	waits.matrix = calloc(waits.channels, waits.channels);
	assert_non_null(waits.matrix);
	for (uint32_t from = 0; from < topology->hosts; from++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			for (unsigned i = 0;
				(route = route_set_get(set, from, to, i, &length)) != NULL; i++)
				add_route(&waits, from, route, length);
	found = has_cycle(&waits);
	free(waits.matrix);
	return found;
}

/* An ITB: route 'i' of a pair, and the element. */
struct place {
	uint32_t from, to;
	unsigned i, element;
};

/* Returns the number of ITBs of the set. Writes ITB number 'wanted' to 'place'. */
static uint64_t count_itbs(const struct route_set *set, uint64_t wanted, struct place *place)
{
	uint64_t count = 0;
	const uint8_t *route;
	unsigned length;

	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++)
			for (unsigned i = 0;
				(route = route_set_get(set, from, to, i, &length)) != NULL; i++)
				for (unsigned k = 0; k < length; k++)
					if (route[k] == ROUTE_TYPE_ITB && count++ == wanted)
						*place = (struct place){from, to, i, k};
	return count;
}

/* Makes a copy without the ITB: its element, and the port to its host before it. */
static struct route_set *cut(const struct route_set *set, const struct place *place)
{
	struct route_set *copy = route_set_create(route_set_hosts(set));
	const uint8_t *old;
	unsigned length;

	assert_non_null(copy);
	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++)
			for (unsigned i = 0;
				(old = route_set_get(set, from, to, i, &length)) != NULL; i++) {
				uint8_t route[ROUTE_ELEMENTS_MAX];
				unsigned k = place->element;

				memcpy(route, old, length);
				if (from == place->from && to == place->to && i == place->i) {
					memmove(route + k - 1, route + k + 1, length - k - 1);
					length -= 2;
				}
				assert_int_equal(0, route_set_add(copy, from, to, route, length));
			}
	return copy;
}

/* Returns whether the judge finds a cycle. Judge and brute force must agree. */
static bool judge(const struct topology *topology, const struct route_set *set,
	const struct route_algorithm *algorithm, uint64_t seed)
{
	bool cycle = cycle_by_brute_force(topology, set);
	OWNED(route_report) report;

	assert_int_equal(0, route_verify_set(topology, set, &report, NULL));
	assert_int_equal(report.invalid, 0);
	assert_int_equal(report.unconnected, 0);
	if (report.deadlock_free == cycle)
		fail_msg("%s, network %" PRIu64 ": the judge says %s", algorithm->name, seed,
			cycle ? "free of deadlock, and there is a cycle" : report.evidence);
	return cycle;
}

struct tally {
	unsigned itbs, cuts, caught;
};

static void try_cuts(const struct topology *topology, const struct route_set *set,
	const struct route_algorithm *algorithm, uint64_t seed, struct tally *tally)
{
	struct place place = {0};
	uint64_t itbs = count_itbs(set, UINT64_MAX, &place);
	struct rng rng;

	rng_init(&rng, seed, 4, 99);
	tally->itbs += (unsigned)itbs;
	for (unsigned i = 0; i < CUTS && itbs > 0; i++) {
		OWNED(route_set) *mutant;

		count_itbs(set, rng_below(&rng, itbs), &place);
		mutant = cut(set, &place);
		tally->cuts++;
		tally->caught += judge(topology, mutant, algorithm, seed);
	}
}

static struct tally try_algorithm(const struct route_algorithm *algorithm, unsigned networks)
{
	struct tally tally = {0};

	for (uint64_t seed = 0; seed < networks; seed++) {
		OWNED(topology) *topology = random_network(seed, SWITCHES);
		struct route_options options = {.seed = seed, .alternatives = 1 + seed % 2};
		OWNED(route_set) *set = route_compute(topology, algorithm, &options, NULL, NULL);

		if (set != NULL) {
			assert_false(judge(topology, set, algorithm, seed));
			try_cuts(topology, set, algorithm, seed, &tally);
		}
	}
	return tally;
}

/* Returns true if the algorithm places ITBs at a share of the switches, where most break no
 * cycle. */
static bool spends_many(const struct route_algorithm *algorithm)
{
	static const char *const names[] = {"b33-itb", "b50-itb", "b66-itb", "bmax-itb"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(algorithm->name, names[i]) == 0)
			return true;
	return false;
}

UNIT_TEST(a_needed_itb_that_is_missing_is_caught_and_no_other)
{
	const struct route_algorithm *algorithm;
	unsigned spent_caught = 0;

	for (unsigned i = 0; (algorithm = route_algorithm_at(i)) != NULL; i++) {
		struct tally tally;

		if (strstr(algorithm->name, "itb") == NULL)
			continue;
		tally = try_algorithm(algorithm, unit_draws(250));
		print_message("%s: %u ITBs, %u taken out, %u needed and caught\n", algorithm->name,
			tally.itbs, tally.cuts, tally.caught);
		if (spends_many(algorithm))
			spent_caught += tally.caught;
		else
			assert_true(tally.cuts > 0 && tally.caught * 4 > tally.cuts);
	}
	assert_true(spent_caught > 0);
}

/* Without a guarantee, both cases occur, and judge and brute force agree on each. */
UNIT_TEST(judge_and_brute_force_agree_on_shortest_routes)
{
	const struct route_algorithm *minhop = route_algorithm_find("minhop");
	unsigned cycles = 0, networks = unit_draws(500);

	for (uint64_t seed = 0; seed < networks; seed++) {
		OWNED(topology) *topology = random_network(seed, SWITCHES);
		struct route_options options = {.seed = seed};
		OWNED(route_set) *set = route_compute(topology, minhop, &options, NULL, NULL);

		assert_non_null(set);
		cycles += judge(topology, set, minhop, seed);
	}
	print_message("minhop: %u networks, %u with a cycle\n", networks, cycles);
	assert_in_range(cycles, networks / 20, networks - networks / 20);
}
