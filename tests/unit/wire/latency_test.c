/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "latency.h"

#include <arpa/inet.h>
#include <string.h>

#include "frame_check.h"
#include "unit.h"

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

static void extension_keeps_path_time_and_flows(void **state)
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

static void fresh_extension_is_not_predictive(void **state)
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

static void waiting_time_saturates(void **state)
{
	struct latency_extension extension;

	latency_begin(&extension, 0);
	latency_add(&extension, UINT32_MAX - 5);
	latency_add(&extension, 5);
	assert_int_equal(latency_waiting_ns(&extension), UINT32_MAX);
	latency_add(&extension, 6);
	assert_int_equal(latency_waiting_ns(&extension), UINT32_MAX);
}

static void every_single_inverted_bit_is_noticed(void **state)
{
	struct latency_extension extension = recorded();

	for (unsigned bit = 0; bit < 8 * sizeof(extension); bit++) {
		((uint8_t *)&extension)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(latency_check_ok(&extension));
		((uint8_t *)&extension)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void extension_of_zeros_is_not_right(void **state)
{
	const struct latency_extension zero = {0};

	assert_false(latency_check_ok(&zero));
}

static void wrong_counts_and_reserved_bits_are_refused(void **state)
{
	struct cn cn;

	for (unsigned flows = 0; flows < 256; flows++) {
		struct latency_extension extension = recorded();

		extension.flows = (uint8_t)flows;
		/* 0/0 is a pair, but it is there once only. */
		assert_int_equal(latency_decode(&cn, &extension), flows == 3 || flows == 4);
	}
	for (unsigned flags = 0; flags < 256; flags++) {
		struct latency_extension extension = recorded();

		extension.flags = (uint8_t)flags;
		assert_int_equal(latency_decode(&cn, &extension),
			(flags & 0x0E) == 0 && (flags & LATENCY_PREDICTIVE) != 0);
	}
}

static void flow_twice_or_without_a_host_is_refused(void **state)
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

static void frame_has_the_extension_between_route_and_payload(void **state)
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

static void no_check_of_the_frame_covers_the_extension(void **state)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);

	latency_add(latency_of_frame(frame), 77);
	assert_int_equal(frame_check(frame, bytes), FRAME_FAULT_OK);
	assert_true(frame_payload_ok(frame));
	assert_false(latency_check_ok(latency_of_frame(frame)));
}

static void frame_too_short_for_its_extension_is_refused(void **state)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);

	for (unsigned cut = 1; cut <= 140; cut++)
		assert_int_equal(frame_check(frame, bytes - cut), FRAME_FAULT_LENGTH);
}

/* Poll loops take the slow path for such a frame, which checks its length. */
static void quick_check_leaves_out_frames_with_an_extension(void **state)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	unsigned bytes = build(frame, 100);
	struct frame_identity identity = frame_identity_of(FRAME_FABRIC_NONE);

	assert_false(frame_is_good_data(frame, bytes));
	assert_false(frame_is_good_data_as(frame, bytes, &identity));
}

static void other_kinds_have_no_extension(void **state)
{
	struct frame_header header = {.kind = FRAME_ACK, .flags = FRAME_F_LATENCY};

	assert_int_equal(frame_payload_offset(&header), FRAME_HEADER_BYTES);
	header.kind = FRAME_DATA;
	assert_int_equal(frame_payload_offset(&header), FRAME_HEADER_BYTES + 40);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(extension_keeps_path_time_and_flows),
	cmocka_unit_test(fresh_extension_is_not_predictive),
	cmocka_unit_test(waiting_time_saturates),
	cmocka_unit_test(every_single_inverted_bit_is_noticed),
	cmocka_unit_test(extension_of_zeros_is_not_right),
	cmocka_unit_test(wrong_counts_and_reserved_bits_are_refused),
	cmocka_unit_test(flow_twice_or_without_a_host_is_refused),
	cmocka_unit_test(frame_has_the_extension_between_route_and_payload),
	cmocka_unit_test(no_check_of_the_frame_covers_the_extension),
	cmocka_unit_test(frame_too_short_for_its_extension_is_refused),
	cmocka_unit_test(quick_check_leaves_out_frames_with_an_extension),
	cmocka_unit_test(other_kinds_have_no_extension),
};

UNIT_MAIN(tests)
