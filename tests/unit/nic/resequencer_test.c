/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/resequencer.h"

#include "unit.h"

UNIT_TEST(a_frame_comes_back_under_its_number_once)
{
	struct resequencer resequencer;
	struct weft_packet packet[64] = {{.bytes = 100}};
	uint16_t window;

	assert_int_equal(resequencer_init(&resequencer, 2, 64), 0);
	window = resequencer_open(&resequencer);
	/* Across the end of the numbers. */
	for (uint32_t i = 0; i < 64; i++)
		assert_true(resequencer_hold(
			&resequencer, window, UINT32_MAX - 20 + i, &packet[i], NULL, i));
	assert_false(resequencer_hold(&resequencer, window, UINT32_MAX, &packet[0], NULL, 64));
	assert_int_equal(resequencer.total, 64);
	assert_int_equal(resequencer.bytes, 100);
	for (uint32_t i = 0; i < 64; i++) {
		assert_ptr_equal(resequencer_take(&resequencer, window, UINT32_MAX - 20 + i).packet,
			&packet[i]);
		assert_null(resequencer_take(&resequencer, window, UINT32_MAX - 20 + i).packet);
	}
	assert_int_equal(resequencer.held[window], 0);
	assert_int_equal(resequencer.bytes, 0);
	resequencer_fini(&resequencer);
}

UNIT_TEST(windows_are_bounded_and_come_back)
{
	struct resequencer resequencer;

	assert_int_equal(resequencer_init(&resequencer, 2, 8), 0);
	for (unsigned i = 0; i < 3; i++) {
		uint16_t a = resequencer_open(&resequencer), b = resequencer_open(&resequencer);

		assert_int_not_equal(a, b);
		assert_int_equal(resequencer_open(&resequencer), RESEQUENCER_NONE);
		resequencer_close(&resequencer, a);
		resequencer_close(&resequencer, b);
	}
	resequencer_fini(&resequencer);
}
