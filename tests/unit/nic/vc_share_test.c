/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/nic_private.h"

#include "base/rng.h"
#include "unit.h"

static uint32_t fill(struct vc_share *share, unsigned vc)
{
	uint32_t taken = 0;

	for (; vc_share_has_room(share, vc); taken++)
		vc_share_take(share, vc);
	return taken;
}

UNIT_TEST(a_single_vc_has_everything)
{
	struct vc_share share;

	vc_share_init(&share, 7, 1);
	assert_int_equal(fill(&share, 0), 7);
}

UNIT_TEST(a_vc_that_takes_all_it_can_leaves_the_others_theirs)
{
	struct vc_share share;

	vc_share_init(&share, 64, 4);
	assert_int_equal(fill(&share, 2), 64 - 3 * 8);
	assert_int_equal(fill(&share, 0), 8);
	assert_int_equal(fill(&share, 1), 8);
	assert_int_equal(fill(&share, 3), 8);
}

UNIT_TEST(a_small_store_keeps_one_item_for_each_vc)
{
	struct vc_share share;

	vc_share_init(&share, 4, 3);
	assert_int_equal(fill(&share, 0), 2);
	assert_int_equal(fill(&share, 1), 1);
	assert_int_equal(fill(&share, 2), 1);
}

UNIT_TEST(a_store_smaller_than_the_vcs_is_for_whoever_comes_first)
{
	struct vc_share share;

	vc_share_init(&share, 2, 3);
	assert_int_equal(fill(&share, 1), 2);
	assert_int_equal(fill(&share, 0), 0);
}

UNIT_TEST(an_empty_store_has_no_room)
{
	struct vc_share share;

	vc_share_init(&share, 0, 1);
	assert_false(vc_share_has_room(&share, 0));
	vc_share_init(&share, 0, 2);
	assert_false(vc_share_has_room(&share, 1));
}

/* Never more than the total, each VC always gets its own part, and nothing is lost. */
UNIT_TEST(it_holds_whatever_the_order_of_taking_and_giving_back)
{
	struct vc_share share;
	uint32_t held = 0;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	vc_share_init(&share, 40, 5);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned vc = (unsigned)rng_below(&rng, 5);

		if (rng_chance_ppm(&rng, 550000)) {
			assert_true(share.used[vc] >= 4 || vc_share_has_room(&share, vc));
			if (!vc_share_has_room(&share, vc))
				continue;
			vc_share_take(&share, vc);
			held++;
		} else if (share.used[vc] > 0) {
			vc_share_put(&share, vc);
			held--;
		}
		assert_true(held <= 40);
	}
	for (unsigned vc = 0; vc < 5; vc++)
		while (share.used[vc] > 0)
			vc_share_put(&share, vc);
	assert_int_equal(share.common_used, 0);
}
