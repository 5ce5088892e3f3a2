/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/adaptive_routing.h"

#include "switch/congestion_control.h"
#include "unit.h"

#define PORTS  8
#define VCS    4
#define AFC    3
#define BLOCKS 100
#define UPS    (BIT64(4) | BIT64(5) | BIT64(6) | BIT64(7))

/* The up side of a switch of a fat tree, with its knowledge of its neighbours. */
struct ups {
	struct credit_tx tx[PORTS][VCS];
	struct peer_buffer output[PORTS];
	struct adaptive adaptive;
};

static void start(struct ups *ups, const char *mode, bool afi)
{
	*ups = (struct ups){.adaptive = {.mode = adaptive_mode_find(mode),
				    .output = ups->output,
				    .threshold_ppm = 750000,
				    .afi = afi,
				    .channel = afi_channel(VCS)}};
	assert_non_null(ups->adaptive.mode);
	rng_init(&ups->adaptive.rng, 1, 2, 3);
	for (unsigned port = 0; port < PORTS; port++) {
		ups->output[port] = (struct peer_buffer){ups->tx[port], BLOCKS, .exact = true};
		for (unsigned vc = 0; vc < VCS; vc++)
			ups->tx[port][vc].limit = BLOCKS;
	}
}

/* Occupies this number of blocks of the VC behind the port. */
static void fill(struct ups *ups, unsigned port, unsigned vc, uint32_t blocks)
{
	ups->tx[port][vc].sent = ups->tx[port][vc].limit - BLOCKS + blocks;
}

/* The output for a packet of VC 0 whose primary port is 4. */
static unsigned route(struct ups *ups)
{
	return adaptive_route(&ups->adaptive, 4, UPS, 0, false);
}

/* How often each port is used. */
static void count(struct ups *ups, unsigned *taken)
{
	for (unsigned port = 0; port < PORTS; port++)
		taken[port] = 0;
	for (unsigned i = 0; i < 4000; i++)
		taken[route(ups)]++;
}

UNIT_TEST(none_stays_on_the_primary_whatever_the_credits)
{
	struct ups ups;

	start(&ups, "none", true);
	fill(&ups, 4, 0, BLOCKS);
	assert_int_equal(route(&ups), 4);
}

UNIT_TEST(oblivious_takes_every_port_equally_often_whatever_the_credits)
{
	struct ups ups;
	unsigned taken[PORTS];

	start(&ups, "oblivious", false);
	fill(&ups, 4, 0, BLOCKS);
	count(&ups, taken);
	for (unsigned port = 4; port < PORTS; port++)
		assert_in_range(taken[port], 900, 1100);
}

UNIT_TEST(adaptive_takes_the_port_with_most_credits)
{
	struct ups ups;

	start(&ups, "adaptive", false);
	for (unsigned port = 4; port < PORTS; port++)
		fill(&ups, port, 0, port == 6 ? 10 : 11);
	assert_int_equal(route(&ups), 6);
	fill(&ups, 4, 0, 9);
	assert_int_equal(route(&ups), 4);
	/* Other VCs do not count. */
	fill(&ups, 5, 1, 0);
	assert_int_equal(route(&ups), 4);
}

UNIT_TEST(adaptive_draws_among_equals)
{
	struct ups ups;
	unsigned taken[PORTS];

	start(&ups, "adaptive", false);
	fill(&ups, 5, 0, 1);
	count(&ups, taken);
	assert_int_equal(taken[5], 0);
	assert_in_range(taken[4], 1250, 1420);
	assert_in_range(taken[6], 1250, 1420);
	assert_in_range(taken[7], 1250, 1420);
}

UNIT_TEST(adaptive_with_afi_leaves_only_for_an_afc_with_more_credits)
{
	struct ups ups;

	start(&ups, "adaptive", true);
	assert_int_equal(route(&ups), 4);
	fill(&ups, 4, 0, 1);
	fill(&ups, 5, AFC, 1);
	fill(&ups, 6, AFC, 0);
	fill(&ups, 7, AFC, 1);
	assert_int_equal(route(&ups), 6);
	fill(&ups, 6, AFC, 1);
	assert_int_equal(route(&ups), 4);
}

UNIT_TEST(adaptive_th_leaves_the_primary_above_the_threshold_only)
{
	struct ups ups;

	start(&ups, "adaptive-th", false);
	fill(&ups, 4, 0, 75);
	assert_int_equal(route(&ups), 4);
	fill(&ups, 4, 0, 76);
	fill(&ups, 5, 0, 20);
	fill(&ups, 6, 0, 10);
	fill(&ups, 7, 0, 30);
	assert_int_equal(route(&ups), 6);
	/* Below the threshold again, the primary port is used again. */
	fill(&ups, 4, 0, 75);
	assert_int_equal(route(&ups), 4);
}

/* 60 of 100 blocks are stored there, whatever has arrived and left since without a credit frame. */
UNIT_TEST(adaptive_th_does_not_take_withheld_credits_for_packets)
{
	struct ups ups;

	start(&ups, "adaptive-th", false);
	for (unsigned port = 4; port < PORTS; port++)
		ups.output[port].exact = false;
	fill(&ups, 4, 0, 60);
	peer_buffer_told(&ups.output[4], VCS);
	fill(&ups, 4, 0, 80);
	assert_int_equal(route(&ups), 4);
	/* The maximum that it can withhold there is an eighth. */
	fill(&ups, 4, 0, 90);
	assert_int_not_equal(route(&ups), 4);
}

UNIT_TEST(adaptive_th_stays_where_no_alternative_has_more_credits)
{
	struct ups ups;

	start(&ups, "adaptive-th", false);
	for (unsigned port = 4; port < PORTS; port++)
		fill(&ups, port, 0, 80);
	assert_int_equal(route(&ups), 4);
	fill(&ups, 7, 0, 79);
	assert_int_equal(route(&ups), 7);
}

UNIT_TEST(adaptive_th_with_afi_goes_to_the_emptiest_afc_even_so)
{
	struct ups ups;

	start(&ups, "adaptive-th", true);
	for (unsigned port = 4; port < PORTS; port++) {
		fill(&ups, port, 0, port == 5 ? 0 : 80);
		fill(&ups, port, AFC, port == 6 ? 97 : 99);
	}
	assert_int_equal(route(&ups), 6);
}

UNIT_TEST(the_alternatives_do_not_contain_the_primary)
{
	struct ups ups;
	unsigned taken[PORTS];

	start(&ups, "adaptive-th", true);
	fill(&ups, 4, 0, BLOCKS);
	count(&ups, taken);
	assert_int_equal(taken[4], 0);
	for (unsigned port = 5; port < PORTS; port++)
		assert_in_range(taken[port], 1250, 1420);
}

UNIT_TEST(packets_that_are_adapted_or_have_no_alternative_stay)
{
	struct ups ups;

	for (unsigned i = 0; i < adaptive_modes.count; i++) {
		start(&ups, name_table_name(adaptive_modes.entry[i]), true);
		fill(&ups, 4, 0, BLOCKS);
		assert_int_equal(adaptive_route(&ups.adaptive, 4, UPS, AFC, true), 4);
		assert_int_equal(adaptive_route(&ups.adaptive, 4, BIT64(4), 0, false), 4);
		assert_int_equal(adaptive_route(&ups.adaptive, 4, 0, 0, false), 4);
	}
}

UNIT_TEST(the_same_seed_breaks_ties_alike)
{
	struct ups a, b;
	unsigned different = 0;

	start(&a, "oblivious", false);
	start(&b, "oblivious", false);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(route(&a), route(&b));
	rng_init(&b.adaptive.rng, 2, 2, 3);
	for (unsigned i = 0; i < 100; i++)
		different += route(&a) != route(&b);
	assert_true(different > 50);
}

/* Figure 4 of the AFI paper. Switch A has two outputs, port 0 to switch B and port 1 to switch C. A
 * packet X arrives in VC 0 for a destination whose primary port is 0. */
UNIT_TEST(figure_4_of_the_afi_paper)
{
	struct weft_packet x = {.kind = FRAME_DATA, .vc = 0, .vc_original = 0};
	uint64_t ways = BIT64(0) | BIT64(1);
	struct ups a, c;
	unsigned port;

	start(&a, "adaptive-th", true);
	start(&c, "adaptive-th", true);
	/* Before congestion: D-mod-K. */
	assert_int_equal(adaptive_route(&a.adaptive, 0, ways, 0, afi_is_adapted(&x)), 0);
	/* 1: VC 0 of B's input exceeds the threshold. 2: the link controller of A's port 0 knows
	 * this. */
	fill(&a, 0, 0, 76);
	/* 3, 4: X requests port 0, the routing logic checks, and selects port 1. */
	port = adaptive_route(&a.adaptive, 0, ways, 0, afi_is_adapted(&x));
	assert_int_equal(port, 1);
	afi_adapt(&x);
	/* 5: C stores it in the AFC. Its own VC stays in the header. */
	x.vc = afi_next_vc(&x, 0, AFC);
	assert_int_equal(x.vc, AFC);
	assert_int_equal(x.vc_original, 0);
	assert_int_equal(x.flags, FRAME_F_ADAPTED);
	/* From there, its path is deterministic, however congested, and always in the AFC. */
	fill(&c, 0, AFC, 100);
	assert_int_equal(adaptive_route(&c.adaptive, 0, ways, x.vc, afi_is_adapted(&x)), 0);
	assert_int_equal(afi_next_vc(&x, 0, AFC), AFC);
	/* When B's VC is below the threshold again, the next packet uses port 0 in VC 0. */
	fill(&a, 0, 0, 74);
	x = (struct weft_packet){.kind = FRAME_DATA};
	assert_int_equal(adaptive_route(&a.adaptive, 0, ways, 0, afi_is_adapted(&x)), 0);
	assert_int_equal(afi_next_vc(&x, 0, AFC), 0);
}

UNIT_TEST(the_afc_is_the_last_vc_and_the_bit_leaves_the_others_alone)
{
	struct weft_packet packet = {.flags = FRAME_F_TAIL | FRAME_F_FECN,
		.vc_original = 2,
		.cursor = 7,
		.header_vc = 1};

	assert_int_equal(afi_channel(2), 1);
	assert_int_equal(afi_channel(16), 15);
	assert_false(afi_is_adapted(&packet));
	afi_adapt(&packet);
	assert_true(afi_is_adapted(&packet));
	assert_int_equal(packet.flags, FRAME_F_TAIL | FRAME_F_FECN | FRAME_F_ADAPTED);
	assert_int_equal(packet.vc_original, 2);
	assert_int_equal(packet.cursor, 7);
	assert_int_equal(packet.header_vc, 1);
}
