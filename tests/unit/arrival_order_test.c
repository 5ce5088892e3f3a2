/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Messages are whole in the order of their sending, however their frames arrive. */

#include "arrival_order.h"

#include <errno.h>

#include "rng.h"
#include "unit.h"

static void frames_in_order_end_messages_one_by_one(void **state)
{
	struct arrival_order *order = arrival_order_create(2);

	assert_int_equal(arrival_order_take(order, 1, 0, false), 0);
	assert_int_equal(arrival_order_take(order, 1, 1, true), 1);
	assert_int_equal(arrival_order_take(order, 0, 0, true), 1);
	assert_int_equal(arrival_order_take(order, 1, 2, true), 1);
	arrival_order_destroy(order);
}

static void a_last_frame_that_overtook_ends_its_message_with_the_missing_one(void **state)
{
	struct arrival_order *order = arrival_order_create(1);

	assert_int_equal(arrival_order_take(order, 0, 1, true), 0);
	assert_int_equal(arrival_order_take(order, 0, 3, true), 0);
	assert_int_equal(arrival_order_take(order, 0, 2, false), 0);
	assert_int_equal(arrival_order_take(order, 0, 0, false), 2);
	arrival_order_destroy(order);
}

static void a_frame_counts_once(void **state)
{
	struct arrival_order *order = arrival_order_create(1);

	assert_int_equal(arrival_order_take(order, 0, 0, true), 1);
	assert_int_equal(arrival_order_take(order, 0, 0, true), -EEXIST);
	assert_int_equal(arrival_order_take(order, 0, 5, true), 0);
	assert_int_equal(arrival_order_take(order, 0, 5, true), -EEXIST);
	arrival_order_destroy(order);
}

#define FRAMES 3000u
#define WINDOW 700u /* more than the first marks hold */

/* Messages of 1 to 7 frames; frames are drawn from a window that moves on. At every moment as many
 * messages are whole as end before the first frame that is missing. */
static void any_order_gives_the_messages_before_the_first_gap(void **state)
{
	static bool last[FRAMES], there[FRAMES];
	struct arrival_order *order = arrival_order_create(1);
	uint32_t gap = 0, whole = 0, taken = 0;

	for (uint32_t i = 0; i < FRAMES; i++)
		last[i] = i == FRAMES - 1 || rng_mix(i) % 7 == 0;
	for (uint64_t draw = 0; taken < FRAMES; draw++) {
		uint32_t frame = gap + (uint32_t)(rng_mix(draw + FRAMES) % WINDOW);
		uint32_t before = whole;

		if (frame >= FRAMES || there[frame])
			continue;
		there[frame] = true;
		taken++;
		for (; gap < FRAMES && there[gap]; gap++)
			whole += last[gap];
		assert_int_equal(arrival_order_take(order, 0, frame, last[frame]), whole - before);
	}
	arrival_order_destroy(order);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(frames_in_order_end_messages_one_by_one),
	cmocka_unit_test(a_last_frame_that_overtook_ends_its_message_with_the_missing_one),
	cmocka_unit_test(a_frame_counts_once),
	cmocka_unit_test(any_order_gives_the_messages_before_the_first_gap),
};

UNIT_MAIN(tests)
