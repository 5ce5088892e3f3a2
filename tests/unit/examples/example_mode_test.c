/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_mode.c, works as the page claims. */

#include "switch/adaptive_routing.h"
#include "switch/congestion_control.h"
#include "unit.h"

extern const struct adaptive_mode adaptive_sampled;

#define PORTS   4
#define VCS     2
#define BLOCKS  100
#define PACKETS 3000

/* A switch with primary port 0, and the credits for the buffers behind its ports. */
struct bed {
	struct credit_tx tx[PORTS][VCS];
	struct peer_buffer output[PORTS];
	struct adaptive adaptive;
	unsigned taken[PORTS];
};

static void start(struct bed *bed, bool afi)
{
	*bed = (struct bed){.adaptive = {.mode = &adaptive_sampled,
				    .output = bed->output,
				    .afi = afi,
				    .channel = afi_channel(VCS)}};
	rng_init(&bed->adaptive.rng, 1, 2, 3);
	for (unsigned port = 0; port < PORTS; port++) {
		bed->output[port] = (struct peer_buffer){bed->tx[port], BLOCKS, .exact = true};
		for (unsigned vc = 0; vc < VCS; vc++)
			bed->tx[port][vc].limit = BLOCKS;
	}
}

static void count(struct bed *bed)
{
	for (unsigned port = 0; port < PORTS; port++)
		bed->taken[port] = 0;
	for (unsigned i = 0; i < PACKETS; i++)
		bed->taken[adaptive_route(&bed->adaptive, 0, BIT64(PORTS) - 1, 0, false)]++;
}

UNIT_TEST(a_primary_port_with_as_many_credits_is_kept)
{
	struct bed bed;

	start(&bed, false);
	count(&bed);
	assert_int_equal(bed.taken[0], PACKETS);
}

/* Port 1 is as full as the primary port, so a packet that draws it stays. */
UNIT_TEST(a_fuller_primary_port_is_left_for_the_port_drawn)
{
	struct bed bed;

	start(&bed, false);
	bed.tx[0][0].sent = bed.tx[1][0].sent = BLOCKS / 2;
	count(&bed);
	assert_int_equal(bed.taken[1], 0);
	for (unsigned port = 0; port < PORTS; port += port == 0 ? 2 : 1)
		assert_in_range(bed.taken[port], PACKETS / 3 * 9 / 10, PACKETS / 3 * 11 / 10);
}

UNIT_TEST(with_afi_the_adapted_flow_channel_of_alternatives_counts)
{
	struct bed bed;

	start(&bed, true);
	bed.tx[0][0].sent = BLOCKS / 2;
	for (unsigned port = 1; port < PORTS; port++)
		bed.tx[port][bed.adaptive.channel].sent = BLOCKS;
	count(&bed);
	assert_int_equal(bed.taken[0], PACKETS);
}
