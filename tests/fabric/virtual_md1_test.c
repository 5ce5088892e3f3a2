/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares waiting times with queueing theory. Messages of equal length that arrive as a Poisson
 * process at one server wait rho / (2 (1 - rho)) service times on average (M/D/1, Pollaczek and
 * Khinchine). Where several links of equal rate lead to the last one, a message waits as long in
 * all of them together as it would at the last link alone (Shalmon and Kaplan, A tandem network of
 * queues with deterministic service and intermediate arrivals, Operations Research 32(4), 1984).
 * Each mean is over 20 runs with different seeds, with a 95 % interval from Student's t. */

#include <math.h>

#include "stats/steadiness.h"
#include "virtual_lab.h"
#include "wire/frame.h"

#define SEEDS 20
/* 1000 bytes of payload at 1 Gbps. */
#define SERVICE_NS (8 * (1000 + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD))

/* Links have no delay, switches have no routing delay, and buffers never fill up. */
static const char text[] =
	"weft: run/1\n"
	"topology: \"full:switches=1,hosts=2\"\n"
	"clock: virtual\n"
	"link: {rate: 1Gbps, delay: 0ns}\n"
	"switch: {switching: store-and-forward, buffer: 16MiB, mtu: 1KiB}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: dmodk, mode: table}\n"
	"measure: {warmup: 100ms, duration: 1s, sample: 1s}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [h0], to: [h1], load: 50%, message: 1000B, "
	"arrivals: poisson}\n";

/* Returns the mean time from generation to delivery. */
static double run(const char *const *set, unsigned sets)
{
	OWNED(run_result) result = virtual_lab_result(text, set, sets);
	double mean = histogram_mean(&result.total_ns);

	assert_true(result.total_ns.count > 25000);
	return mean;
}

struct place {
	const char *topology, *routing, *from, *switching;
	unsigned sources;
	unsigned links; /* links from source to destination; each takes a service time */
};

static struct confidence waiting(const struct place *place, unsigned load_percent)
{
	char topology[64], routing[64], from[256], switching[64], load[64], seed[32];
	const char *set[] = {topology, routing, from, switching, load, seed, "traffic[0].to=[h0]"};
	double value[SEEDS];

	snprintf(topology, sizeof(topology), "topology=%s", place->topology);
	snprintf(routing, sizeof(routing), "routing.algorithm=%s", place->routing);
	snprintf(from, sizeof(from), "traffic[0].from=%s", place->from);
	snprintf(switching, sizeof(switching), "switch.switching=%s", place->switching);
	snprintf(load, sizeof(load), "traffic[0].load=%g%%", (double)load_percent / place->sources);
	for (unsigned i = 0; i < SEEDS; i++) {
		snprintf(seed, sizeof(seed), "seed=%u", 100 * load_percent + i);
		value[i] = run(set, sizeof(set) / sizeof(set[0])) - place->links * SERVICE_NS;
	}
	return confidence_of(value, SEEDS);
}

static void assert_waits_as_md1(const struct place *place)
{
	for (unsigned load = 30; load <= 90; load += 20) {
		double rho = load / 100.0, wanted = rho / (2 * (1 - rho)) * SERVICE_NS;
		struct confidence wait = waiting(place, load);

		print_message("%u %%: waits %.1f ± %.1f ns, M/D/1 %.1f ns\n", load, wait.mean,
			wait.half_width, wanted);
		/* The interval is narrow enough to be meaningful. */
		assert_true(wait.half_width < 0.04 * wanted);
		assert_true(fabs(wait.mean - wanted) <= wait.half_width);
	}
}

UNIT_TEST(poisson_messages_wait_at_their_host_as_md1_says)
{
	assert_waits_as_md1(&(struct place){.topology = "full:switches=1,hosts=2",
		.routing = "ud",
		.from = "[h1]",
		.switching = "store-and-forward",
		.sources = 1,
		.links = 2});
}

UNIT_TEST(at_the_output_of_a_switch_they_wait_as_md1_says)
{
	assert_waits_as_md1(&(struct place){.topology = "full:switches=1,hosts=9",
		.routing = "ud",
		.from = "[h1,h2,h3,h4,h5,h6,h7,h8]",
		.switching = "store-and-forward",
		.sources = 8,
		.links = 2});
}

/* h0 and h1 are on the leaf of the destination. */
UNIT_TEST(in_a_tree_of_switches_they_wait_as_at_its_last_link)
{
	assert_waits_as_md1(&(struct place){.topology = "rlft:ports=4,stages=2",
		.routing = "dmodk",
		.from = "[h2,h3,h4,h5,h6]",
		.switching = "store-and-forward",
		.sources = 5,
		.links = 4});
}

UNIT_TEST(with_cut_through_they_wait_no_less)
{
	assert_waits_as_md1(&(struct place){.topology = "rlft:ports=4,stages=2",
		.routing = "dmodk",
		.from = "[h2,h3,h4,h5,h6]",
		.switching = "cut-through",
		.sources = 5,
		.links = 1});
}
