/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A sender, a receiver that grants like real ones (credit_grant_due()), and the sender's
 * estimate of the receiver's buffer. Frames take no time. */

#include "switch/adaptive_routing.h"

#include "base/rng.h"
#include "unit.h"

#define PACKET   65u /* blocks: 4 KiB and a header */
#define CAPACITY (84 * PACKET)

struct link {
	struct credit_tx tx;
	struct credit_rx rx;
	struct peer_buffer buffer;
	unsigned frames;
};

static void grant(struct link *link)
{
	link->tx.limit = link->rx.granted = credit_limit(&link->rx);
	peer_buffer_told(&link->buffer, 1);
	link->frames++;
}

static void start(struct link *link, bool each)
{
	*link = (struct link){.rx.capacity = CAPACITY, .buffer.exact = each};
	link->buffer.tx = &link->tx;
	grant(link);
}

static void send(struct link *link, uint32_t blocks)
{
	assert_true(credit_suffices(&link->tx, blocks));
	credit_take(&link->tx, blocks);
	assert_true(credit_arrive(&link->rx, blocks));
	if (credit_grant_due(&link->rx))
		grant(link);
}

static void release(struct link *link, uint32_t blocks)
{
	credit_release(&link->rx, blocks);
	if (credit_grant_due(&link->rx))
		grant(link);
}

/* As a share of the whole buffer. */
static unsigned percent(uint32_t blocks)
{
	return blocks * 100 / CAPACITY;
}

UNIT_TEST(a_neighbour_that_forwards_everything_stays_empty)
{
	unsigned min = 100;
	struct link link;

	start(&link, false);
	for (unsigned i = 0; i < 1000; i++) {
		send(&link, PACKET);
		assert_true(percent(peer_buffer_free(&link.buffer, 0)) >= 98);
		release(&link, PACKET);
		if (percent(credit_available(&link.tx)) < min)
			min = percent(credit_available(&link.tx));
	}
	/* The credits alone would not show this. */
	assert_true(min < 78);
	assert_true(link.frames < 1000 / 15);
}

UNIT_TEST(a_neighbour_that_forwards_nothing_becomes_full)
{
	struct link link;

	start(&link, false);
	for (unsigned i = 0; i < 84; i++)
		send(&link, PACKET);
	assert_int_equal(credit_available(&link.tx), 0);
	assert_true(percent(peer_buffer_free(&link.buffer, 0)) <= 12);
}

UNIT_TEST(a_level_that_stays_is_known)
{
	struct link link;

	start(&link, false);
	for (unsigned i = 0; i < 42; i++)
		send(&link, PACKET);
	for (unsigned i = 0; i < 1000; i++) {
		send(&link, PACKET);
		release(&link, PACKET);
		if (i > 21)
			assert_in_range(percent(peer_buffer_free(&link.buffer, 0)), 49, 51);
	}
}

UNIT_TEST(where_each_packet_has_its_credit_frame_the_credits_are_the_space)
{
	struct link link;

	start(&link, true);
	for (unsigned i = 0; i < 84; i++) {
		assert_int_equal(peer_buffer_free(&link.buffer, 0), credit_available(&link.tx));
		send(&link, PACKET);
	}
	assert_int_equal(peer_buffer_free(&link.buffer, 0), 0);
}

/* The free space is known exactly when a credit frame arrives. Until the next one, the space and
 * its estimate are between the credits and the credits plus the maximum that can be withheld,
 * whatever arrives and leaves. */
UNIT_TEST(the_space_lies_between_the_credits_and_what_may_be_withheld)
{
	struct link link;
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	start(&link, false);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t blocks = 1 + (uint32_t)rng_below(&rng, PACKET), left, max, space, known;
		bool filling = i / 500 % 2 == 0;
		unsigned frames = link.frames;

		if (rng_below(&rng, 100) < (filling ? 60 : 40)) {
			if (credit_suffices(&link.tx, blocks))
				send(&link, blocks);
		} else if (credit_stored(&link.rx) >= blocks) {
			release(&link, blocks);
		}
		left = credit_available(&link.tx);
		max = left + credit_withheld_max(CAPACITY, left);
		space = CAPACITY - credit_stored(&link.rx);
		known = peer_buffer_free(&link.buffer, 0);
		assert_in_range(space, left, max);
		assert_in_range(known, left, max);
		if (link.frames != frames)
			assert_int_equal(known, space);
	}
	assert_true(link.frames > 1000);
}

UNIT_TEST(the_size_is_the_most_that_was_left_until_the_link_goes_down)
{
	struct link link;

	start(&link, false);
	assert_int_equal(link.buffer.vc_blocks, CAPACITY);
	send(&link, PACKET);
	grant(&link);
	assert_int_equal(link.buffer.vc_blocks, CAPACITY);
	peer_buffer_forget(&link.buffer);
	assert_int_equal(link.buffer.vc_blocks, 0);
	assert_int_equal(peer_buffer_free(&link.buffer, 0), credit_available(&link.tx));
}
