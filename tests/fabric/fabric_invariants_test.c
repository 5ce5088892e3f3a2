/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Random networks under random load: nothing is lost, doubled or reordered per (source,
 * destination, VC), credits are conserved on each link, no buffer is ever over, everything arrives
 * in the end.
 *
 * 10^7 packets by default (3 * 10^5 under a sanitizer; tests/fabric/meson.build). The long form,
 * for a day on which lib/switch, lib/link or a driver changed, takes some 20 minutes on one core:
 *
 *     fabric_invariants_test 1000000000
 *     WEFT_FABRIC_PACKETS=1000000000 meson test --suite fabric -t 100 */

#include <errno.h>

#include "fabric_networks.h"

#define NETWORKS    64
#define NETWORK_MAX 4000000u /* packets on one network before the next one is used */

static uint64_t target = FABRIC_PACKETS;

static uint64_t deliver(uint64_t seed, uint64_t packets)
{
	OWNED(topology) *topology;
	struct fabric_config config;
	struct fabric *fabric;
	uint64_t delivered;
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	topology = fabric_random_topology(&rng);
	config = fabric_random_config(&rng, seed, topology->hosts);
	fabric = fabric_create(topology, &config);
	fabric_run_packets(fabric, packets, 211);
	fabric_drain(fabric);
	fabric_check(fabric);
	fabric_check_drained(fabric);
	assert_int_equal(fabric->lost + fabric->discarded, 0);
	delivered = fabric->delivered;
	fabric_destroy(fabric);
	return delivered;
}

UNIT_TEST(random_networks_lose_double_and_reorder_nothing)
{
	uint64_t delivered = 0;
	uint64_t each = target / NETWORKS + 1;

	if (each > NETWORK_MAX)
		each = NETWORK_MAX;
	for (uint64_t seed = 1; delivered < target; seed++)
		delivered += deliver(seed, each);
	print_message("%llu packets delivered\n", (unsigned long long)delivered);
}

static uint64_t run_default(
	const struct fabric_config *config, struct topology *topology, uint64_t steps)
{
	struct fabric *fabric = fabric_create(topology, config);
	uint64_t delivered;

	fabric_run(fabric, steps, 101);
	delivered = fabric->delivered;
	fabric_drain(fabric);
	fabric_check(fabric);
	fabric_check_drained(fabric);
	fabric_destroy(fabric);
	topology_destroy(topology);
	return delivered;
}

UNIT_TEST(sixty_four_ports_and_sixteen_vcs_are_like_any_other_number)
{
	struct fabric_config config = fabric_config_default(1);

	config.vcs = 16;
	config.buffer_blocks = 16 * 16;
	for (unsigned driver = 0; driver < FABRIC_DRIVERS; driver++) {
		config.driver = (enum fabric_driver)driver;
		assert_true(run_default(&config, fabric_star(64), 300) > 50000);
	}
}

UNIT_TEST(buffers_of_one_packet_suffice)
{
	struct fabric_config config = fabric_config_default(2);

	config.buffer_blocks = config.packet_blocks * config.vcs;
	config.hot_ppm = 300000;
	for (unsigned voq = 0; voq < 2; voq++) {
		config.voq = voq != 0;
		assert_true(run_default(&config, network_torus(3, 2), 5000) > 10000);
	}
}

UNIT_TEST(the_same_seed_gives_the_same_run)
{
	const struct fabric_config config = fabric_config_default(3);
	uint64_t first = run_default(&config, network_fat_tree(2, 3), 1000);

	assert_int_equal(run_default(&config, network_fat_tree(2, 3), 1000), first);
}

/* Head-of-line blocking costs an input-queued switch more than a third of its throughput (Karol,
 * Hluchyj, Morgan, 1987: 58.6 %). VOQs must avoid this loss. */
UNIT_TEST(voqs_carry_more_than_one_queue_a_vc)
{
	struct fabric_config config = fabric_config_default(4);
	uint64_t with, without;

	config.vcs = 1;
	config.packet_blocks = 1;
	config.link_blocks = 1;
	config.consume_blocks = 1;
	with = run_default(&config, fabric_star(16), 3000);
	config.voq = false;
	without = run_default(&config, fabric_star(16), 3000);
	assert_true(without * 3 < with * 2 + with / 4);
	assert_true(with > 16 * 3000 * 85 / 100);
}

/* Links are cut for more than three hellos and joined again. Packets are lost on the wire, or
 * discarded and counted, but never duplicated or reordered, and all credits come back. */
UNIT_TEST(links_that_come_and_go_leave_nothing_unaccounted_for)
{
	struct fabric_config config = fabric_config_default(5);

	config.hello_ps = 50 * PS_PER_US;
	config.watchdog_ps = 500 * PS_PER_US;
	for (unsigned voq = 0; voq < 2; voq++) {
		OWNED(topology) *topology = network_torus(3, 1);
		struct fabric *fabric;

		config.voq = voq != 0;
		fabric = fabric_create(topology, &config);
		for (unsigned i = 0; i < 60; i++) {
			struct fabric_end *end =
				&fabric->end[rng_below(&fabric->rng, fabric->ends)];

			fabric_cut(end, true);
			fabric_run(fabric, 50 + rng_below(&fabric->rng, 400), 17);
			fabric_cut(end, false);
			fabric_run(fabric, 50 + rng_below(&fabric->rng, 400), 17);
		}
		fabric_drain(fabric);
		fabric_check(fabric);
		fabric_check_drained(fabric);
		assert_true(fabric->lost > 0);
		assert_true(fabric->discarded > 1000);
		assert_true(fabric->delivered > 100000);
		fabric_destroy(fabric);
	}
}

/* Returns false if the text is not a number of packets. */
static bool read_packets(const char *text, uint64_t *packets)
{
	char *end;

	errno = 0;
	*packets = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *packets > 0 && text[0] != '-';
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : getenv("WEFT_FABRIC_PACKETS");

	if (text != NULL && !read_packets(text, &target)) {
		fprintf(stderr, "%s: '%s' packets, expected a number such as 10000000\n", argv[0],
			text);
		return EXIT_BAD_REQUEST;
	}
	return unit_run(NULL, NULL);
}
