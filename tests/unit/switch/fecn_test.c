/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/fecn.h"

#include "unit.h"

#define BLOCKS 160 /* a sixteenth is 10 */

static bool marks(struct fecn *fecn, unsigned port, uint8_t vc, uint32_t stored)
{
	struct weft_packet packet = {.vc = vc};

	fecn_mark(fecn, &packet, port, stored, true);
	assert_int_equal(packet.flags & ~FRAME_F_FECN, 0);
	return packet.flags == FRAME_F_FECN;
}

UNIT_TEST(threshold_0_never_marks)
{
	struct fecn fecn;

	fecn_init(&fecn);
	assert_false(marks(&fecn, 3, 2, BLOCKS));
	fecn_set(&fecn, 3, 2, 15, BLOCKS);
	fecn_set(&fecn, 3, 2, 0, BLOCKS);
	assert_false(marks(&fecn, 3, 2, BLOCKS));
	assert_false(marks(&fecn, 3, 2, UINT32_MAX));
}

UNIT_TEST(threshold_w_marks_above_16_less_w_sixteenths)
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

UNIT_TEST(each_port_and_vc_has_its_own)
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

UNIT_TEST(only_data_is_marked_and_keeps_its_other_flags)
{
	struct fecn fecn;

	fecn_init(&fecn);
	fecn_set(&fecn, 0, 0, 15, BLOCKS);
	for (uint8_t control = 0; control <= 1; control++) {
		struct weft_packet packet = {
			.control = control, .flags = FRAME_F_ADAPTED | FRAME_F_TAIL, .cursor = 3};

		fecn_mark(&fecn, &packet, 0, BLOCKS, true);
		assert_int_equal(packet.flags,
			FRAME_F_ADAPTED | FRAME_F_TAIL | (control ? 0 : FRAME_F_FECN));
		assert_int_equal(packet.cursor, 3);
	}
}

/* Packets of 'bytes' arrive at full VCs, one after another. Returns the set of marked ones. */
static uint64_t marks_of(
	struct fecn *fecn, unsigned port, uint16_t bytes, bool credits, unsigned packets)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < packets; i++) {
		struct weft_packet packet = {.bytes = bytes};

		fecn_mark(fecn, &packet, port, BLOCKS, credits);
		set |= (uint64_t)(packet.flags == FRAME_F_FECN) << i;
	}
	return set;
}

static struct fecn strictest(const struct fecn_rules *rules)
{
	struct fecn fecn;

	fecn_init(&fecn);
	fecn_set(&fecn, 0, 0, 15, BLOCKS);
	fecn_set(&fecn, 1, 0, 15, BLOCKS);
	fecn_set_rules(&fecn, rules);
	return fecn;
}

UNIT_TEST(marking_rate_packets_pass_between_two_marks)
{
	struct fecn fecn = strictest(&(struct fecn_rules){.marking_rate = 3, .victims = true});
	struct weft_packet early = {.bytes = 64};

	assert_int_equal(marks_of(&fecn, 0, 64, true, 9), 0x111);
	/* Each VC counts separately, and counts only packets that it could have marked. */
	assert_int_equal(marks_of(&fecn, 1, 64, true, 2), 0x1);
	fecn_mark(&fecn, &early, 0, 0, true);
	assert_int_equal(marks_of(&fecn, 0, 64, true, 4), 0x8);
	fecn = strictest(&(struct fecn_rules){.victims = true});
	assert_int_equal(marks_of(&fecn, 0, 64, true, 4), 0xF);
}

UNIT_TEST(smaller_packets_than_packet_size_are_never_marked)
{
	struct fecn fecn = strictest(&(struct fecn_rules){.packet_bytes = 256, .victims = true});

	assert_int_equal(marks_of(&fecn, 0, 255, true, 4), 0);
	assert_int_equal(marks_of(&fecn, 0, 256, true, 4), 0xF);
}

UNIT_TEST(only_the_victim_mask_marks_packets_without_credits)
{
	struct fecn roots = strictest(&(struct fecn_rules){0});
	struct fecn all = strictest(&(struct fecn_rules){.victims = true});

	assert_int_equal(marks_of(&roots, 0, 64, false, 2), 0);
	assert_int_equal(marks_of(&roots, 0, 64, true, 2), 0x3);
	assert_int_equal(marks_of(&all, 0, 64, false, 2), 0x3);
}

static unsigned reds(struct fecn *fecn, uint32_t waiting)
{
	unsigned marked = 0;

	for (unsigned i = 0; i < 10000; i++) {
		struct weft_packet packet = {.vc = 0};

		fecn_mark_red(fecn, &packet, waiting);
		marked += packet.flags == FRAME_F_FECN;
	}
	return marked;
}

UNIT_TEST(red_marks_a_share_that_rises_between_its_thresholds)
{
	struct fecn fecn;

	fecn_init(&fecn);
	fecn.red = (struct fecn_red){.min_blocks = 100, .max_blocks = 300, .max_ppm = 200000};
	rng_init(&fecn.rng, 1, 1, 1);
	assert_int_equal(reds(&fecn, 100), 0);
	assert_in_range(reds(&fecn, 200), 900, 1100);
	assert_in_range(reds(&fecn, 300), 1850, 2150);
	assert_int_equal(reds(&fecn, 301), 10000);
}
