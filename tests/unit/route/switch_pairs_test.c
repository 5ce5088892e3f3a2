/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* With --granularity switch, the hosts of two switches share their paths, and only the absorbing
 * hosts differ. */

#include "itb_networks.h"

#define NETWORKS 40

static const char *const names[] = {"ud", "dfs", "smart", "ud-mitb", "ud-mitb-first", "ud-itb",
	"dfs-itb", "random-itb", "bmin-itb", "b33-itb", "b50-itb", "b66-itb", "bmax-itb",
	"bsmart-itb"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct route_options per_switch(uint64_t seed, unsigned alternatives)
{
	return (struct route_options){
		.seed = seed, .alternatives = alternatives, .granularity = ROUTE_PER_SWITCH_PAIR};
}

static bool same_path(const struct itb_walk *a, const struct itb_walk *b)
{
	return a->links == b->links &&
	       memcmp(a->port, b->port, a->links * sizeof(a->port[0])) == 0 &&
	       memcmp(a->itb, b->itb, sizeof(a->itb)) == 0;
}

/* The hosts of network_torus(4, 3): three per switch, by number. */
UNIT_TEST(the_hosts_of_two_switches_share_their_paths_in_the_same_order)
{
	OWNED(topology) *topology = network_torus(4, 3);
	struct route_options options = per_switch(5, 4);

	for (unsigned name = 0; name < NAMES; name++) {
		OWNED(route_set) *set = bench_compute(topology, names[name], &options);

		for (uint32_t source = 0; source < topology->hosts; source++)
			for (uint32_t to = 0; to < topology->hosts; to++) {
				uint32_t first = source / 3 * 3, other = to / 3 * 3 + 1;
				unsigned count = route_set_count(set, source, to);

				if (source == to || source / 3 == to / 3)
					continue;
				assert_int_equal(count, route_set_count(set, first, other));
				for (unsigned i = 0; i < count; i++) {
					struct itb_walk a = itb_walk(topology, set, source, to, i);
					struct itb_walk b =
						itb_walk(topology, set, first, other, i);

					assert_true(same_path(&a, &b));
				}
			}
	}
}

/* How often each host of network_torus(4, 4) absorbs, by its position at its switch. */
static void count_absorbing(
	const struct topology *topology, const struct route_set *set, unsigned *absorbed)
{
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++) {
			unsigned length = 0;
			const uint8_t *route = route_set_get(set, source, to, 0, &length);

			for (unsigned i = 1; i < length; i++)
				if (route[i] == ROUTE_TYPE_ITB)
					absorbed[(route[i - 1] & ROUTE_PORT_MASK) - 4]++;
		}
}

UNIT_TEST(the_hosts_that_absorb_are_spread_all_the_same)
{
	OWNED(topology) *topology = network_torus(4, 4);
	struct route_options options = per_switch(5, 1);
	OWNED(route_set) *set = bench_compute(topology, "ud-itb", &options);
	unsigned absorbed[4] = {0}, sum;

	count_absorbing(topology, set, absorbed);
	sum = absorbed[0] + absorbed[1] + absorbed[2] + absorbed[3];
	assert_true(sum > 400);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(absorbed[i], sum / 5, sum * 3 / 10);
}
