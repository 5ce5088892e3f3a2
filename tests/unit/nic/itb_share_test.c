/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/itb_pool.h"

#include "base/rng.h"
#include "unit.h"

/* Both kinds always have a frame to send. Records which kind is sent, 'i' or 'o'. */
static void serve(struct itb_share *turn, uint32_t own_waiting, char *sent, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool own = itb_share_is_own(turn, own_waiting);

		sent[i] = own ? 'o' : 'i';
		if (own)
			itb_share_sent_own(turn);
		else
			itb_share_sent_in_transit(turn);
	}
	sent[count] = '\0';
}

static void expect(uint32_t own_waiting, const char *wanted)
{
	struct itb_share turn = {0};
	char sent[32];

	serve(&turn, own_waiting, sent, (unsigned)strlen(wanted));
	assert_string_equal(sent, wanted);
}

UNIT_TEST(after_four_in_transit_one_own_goes)
{
	expect(1, "iiiioiiiioiiiio");
}

/* In figure 43 of the thesis, it would be sent after two here, and after one with 51. */
UNIT_TEST(fifty_waiting_are_still_few)
{
	expect(50, "iiiioiiiioiiiio");
}

UNIT_TEST(after_two_when_more_than_fifty_wait)
{
	expect(51, "iioiioiio");
	expect(100, "iioiioiio");
}

UNIT_TEST(they_alternate_above_a_hundred)
{
	expect(101, "ioioioio");
	expect(UINT32_MAX, "ioioioio");
}

/* Counts the frames since the last own one, whatever waited while they were sent. */
UNIT_TEST(what_went_before_the_own_one_came_counts)
{
	struct itb_share turn = {0};

	for (unsigned i = 0; i < 3; i++)
		itb_share_sent_in_transit(&turn);
	assert_false(itb_share_is_own(&turn, 1));
	itb_share_sent_in_transit(&turn);
	assert_true(itb_share_is_own(&turn, 1));
}

UNIT_TEST(an_own_one_sent_out_of_turn_begins_anew)
{
	struct itb_share turn = {0};
	char sent[32];

	for (unsigned i = 0; i < 3; i++)
		itb_share_sent_in_transit(&turn);
	itb_share_sent_own(&turn);
	serve(&turn, 1, sent, 5);
	assert_string_equal(sent, "iiiio");
}

UNIT_TEST(a_turn_that_could_not_be_used_is_not_lost)
{
	struct itb_share turn = {0};

	for (unsigned i = 0; i < 100; i++)
		itb_share_sent_in_transit(&turn);
	assert_true(itb_share_is_own(&turn, 1));
}

/* Regardless of what waits and what can be sent: a fifth of all frames sent while own ones could be
 * sent are own frames. */
UNIT_TEST(own_ones_are_never_starved)
{
	struct itb_share turn = {0};
	unsigned since = 0;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t waiting = (uint32_t)rng_below(&rng, 200) + 1;
		bool own = itb_share_is_own(&turn, waiting);

		if (own)
			itb_share_sent_own(&turn);
		else
			itb_share_sent_in_transit(&turn);
		since = own ? 0 : since + 1;
		assert_true(since <= 4);
	}
}
