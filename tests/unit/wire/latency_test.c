/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wire/latency.h"

#include <arpa/inet.h>

#include "unit.h"
#include "wire/frame_check.h"

static const struct cn_flow some_flows[] = {{1, 2}, {3, 4}, {2, 1}};

static struct latency_extension recorded(void)
{
	struct latency_extension extension;

	latency_begin(&extension, 3);
	latency_add(&extension, 1234);
	latency_record(&extension, some_flows, 3);
	latency_seal(&extension);
	return extension;
}

UNIT_TEST(extension_keeps_path_time_and_flows)
{
	struct latency_extension extension = recorded();
	struct cn cn = {.flags = CN_F_FECN};

	assert_true(latency_check_ok(&extension));
	assert_true(latency_decode(&cn, &extension));
	assert_int_equal(cn.path, 3);
	assert_int_equal(cn.waiting_ns, 1234);
	assert_int_equal(cn.flags, CN_F_PREDICTIVE | CN_F_FECN);
	assert_int_equal(cn.flows, 3);
	assert_memory_equal(cn.flow, some_flows, sizeof(some_flows));
}

UNIT_TEST(fresh_extension_is_not_predictive)
{
	struct latency_extension extension;
	struct cn cn = {.flags = CN_F_PREDICTIVE};

	latency_begin(&extension, CN_PATH_MAX);
	assert_true(latency_check_ok(&extension));
	assert_false(latency_is_predictive(&extension));
	assert_true(latency_decode(&cn, &extension));
	assert_int_equal(cn.path, CN_PATH_MAX);
	assert_int_equal(cn.flags | cn.flows | cn.waiting_ns, 0);
}

UNIT_TEST(waiting_time_saturates)
{
	struct latency_extension extension;

	latency_begin(&extension, 0);
	latency_add(&extension, UINT32_MAX - 5);
	latency_add(&extension, 5);
	assert_int_equal(latency_waiting_ns(&extension), UINT32_MAX);
	latency_add(&extension, 6);
	assert_int_equal(latency_waiting_ns(&extension), UINT32_MAX);
}

UNIT_TEST(every_single_inverted_bit_is_noticed)
{
	struct latency_extension extension = recorded();

	for (unsigned bit = 0; bit < 8 * sizeof(extension); bit++) {
		((uint8_t *)&extension)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(latency_check_ok(&extension));
		((uint8_t *)&extension)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

UNIT_TEST(extension_of_zeros_is_not_right)
{
	const struct latency_extension zero = {0};

	assert_false(latency_check_ok(&zero));
}

UNIT_TEST(wrong_counts_and_reserved_bits_are_refused)
{
	struct cn cn;

	for (unsigned flows = 0; flows < 256; flows++) {
		struct latency_extension extension = recorded();

		extension.flows = (uint8_t)flows;
		/* 0/0 is a valid pair, but occurs only once. */
		assert_int_equal(latency_decode(&cn, &extension), flows == 3 || flows == 4);
	}
	for (unsigned flags = 0; flags < 256; flags++) {
		struct latency_extension extension = recorded();

		extension.flags = (uint8_t)flags;
		assert_int_equal(latency_decode(&cn, &extension),
			(flags & 0x0E) == 0 && (flags & LATENCY_PREDICTIVE) != 0);
	}
}

UNIT_TEST(flow_twice_or_without_a_host_is_refused)
{
	struct latency_extension extension = recorded();
	struct cn cn;

	extension.flow[1] = extension.flow[0];
	assert_false(latency_decode(&cn, &extension));
	extension = recorded();
	extension.flow[2].source_be = 0xFFFF;
	assert_false(latency_decode(&cn, &extension));
}

static unsigned build(uint8_t *frame, uint16_t payload_bytes)
{
	static const uint8_t route[] = {0x81, 0x82, ROUTE_TYPE_HOST};
	struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 1,
		.destination = 2,
		.flags = FRAME_F_LATENCY,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = payload_bytes};

	memset(frame, 0x5A, FRAME_BYTES_MAX);
	latency_begin((void *)(frame + FRAME_HEADER_BYTES + sizeof(route)), 1);
	return frame_build(frame, &fields);
}

UNIT_TEST(frame_has_the_extension_between_route_and_payload)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);

	assert_int_equal(bytes, 46 + 3 + 40 + 100);
	assert_int_equal(ntohs(frame_header(frame)->payload_bytes_be), 100);
	assert_int_equal(frame_payload_offset(frame_header(frame)), 46 + 3 + 40);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(frame));
	assert_true(latency_check_ok(latency_of_frame(frame)));
	assert_int_equal(latency_of_frame(frame)->flags, 1 << LATENCY_PATH_SHIFT);
}

UNIT_TEST(no_check_of_the_frame_covers_the_extension)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);

	latency_add(latency_of_frame(frame), 77);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(frame));
	assert_false(latency_check_ok(latency_of_frame(frame)));
}

UNIT_TEST(frame_too_short_for_its_extension_is_refused)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);

	for (unsigned cut = 1; cut <= 140; cut++)
		assert_int_equal(frame_check(frame, bytes - cut), FRAME_FAULT_LENGTH);
}

/* Poll loops take the slow path for such a frame, which checks its length. */
UNIT_TEST(quick_check_leaves_out_frames_with_an_extension)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);
	struct frame_identity identity = frame_identity_of(FRAME_FABRIC_NONE);

	assert_false(frame_is_good_data(frame, bytes));
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
}

UNIT_TEST(other_kinds_have_no_extension)
{
	struct frame_header header = {.kind = FRAME_ACK, .flags = FRAME_F_LATENCY};

	assert_int_equal(frame_payload_offset(&header), FRAME_HEADER_BYTES);
	header.kind = FRAME_DATA;
	assert_int_equal(frame_payload_offset(&header), FRAME_HEADER_BYTES + 40);
}
