/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fecn.h"

#include "unit.h"

#define BLOCKS 160 /* a sixteenth is 10 */

static bool marks(struct fecn *fecn, unsigned port, uint8_t vc, uint32_t stored)
{
	struct weft_packet packet = {.vc = vc};

	fecn_mark(fecn, &packet, port, stored);
	assert_int_equal(packet.flags & ~FRAME_F_FECN, 0);
	return packet.flags == FRAME_F_FECN;
}

static void threshold_0_never_marks(void **state)
{
	struct fecn fecn;

	fecn_init(&fecn);
	assert_false(marks(&fecn, 3, 2, BLOCKS));
	fecn_set(&fecn, 3, 2, 15, BLOCKS);
	fecn_set(&fecn, 3, 2, 0, BLOCKS);
	assert_false(marks(&fecn, 3, 2, BLOCKS));
	assert_false(marks(&fecn, 3, 2, UINT32_MAX));
}

static void threshold_w_marks_above_16_less_w_sixteenths(void **state)
{
	struct fecn fecn;

	fecn_init(&fecn);
	for (unsigned threshold = 1; threshold <= FECN_THRESHOLD_MAX; threshold++) {
		assert_true(fecn_set(&fecn, 0, 0, threshold, BLOCKS));
		assert_false(marks(&fecn, 0, 0, (16 - threshold) * 10));
		assert_true(marks(&fecn, 0, 0, (16 - threshold) * 10 + 1));
	}
	assert_false(fecn_set(&fecn, 0, 0, 16, BLOCKS));
}

static void each_port_and_vc_has_its_own(void **state)
{
	struct fecn fecn;

	fecn_init(&fecn);
	fecn_set(&fecn, 63, 15, 8, BLOCKS);
	fecn_set(&fecn, 63, 14, 4, BLOCKS);
	fecn_set(&fecn, 1, 15, 2, BLOCKS);
	assert_true(marks(&fecn, 63, 15, 81));
	assert_false(marks(&fecn, 63, 14, 81));
	assert_false(marks(&fecn, 1, 15, 81));
	assert_false(marks(&fecn, 2, 15, 81));
	assert_false(marks(&fecn, 63, 0, BLOCKS));
}

static void only_data_is_marked_and_keeps_its_other_flags(void **state)
{
	struct fecn fecn;

	fecn_init(&fecn);
	fecn_set(&fecn, 0, 0, 15, BLOCKS);
	for (uint8_t control = 0; control <= 1; control++) {
		struct weft_packet packet = {
			.control = control, .flags = FRAME_F_ADAPTED | FRAME_F_TAIL, .cursor = 3};

		fecn_mark(&fecn, &packet, 0, BLOCKS);
		assert_int_equal(packet.flags,
			FRAME_F_ADAPTED | FRAME_F_TAIL | (control ? 0 : FRAME_F_FECN));
		assert_int_equal(packet.cursor, 3);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(threshold_0_never_marks),
	cmocka_unit_test(threshold_w_marks_above_16_less_w_sixteenths),
	cmocka_unit_test(each_port_and_vc_has_its_own),
	cmocka_unit_test(only_data_is_marked_and_keeps_its_other_flags),
};

UNIT_MAIN(tests)
