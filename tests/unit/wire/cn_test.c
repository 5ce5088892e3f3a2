/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wire/cn.h"

#include "base/rng.h"
#include "unit.h"
#include "wire/frame.h"

static struct cn some_cn(struct rng *rng)
{
	struct cn cn = {.message = (uint32_t)rng_next(rng),
		.sequence = (uint32_t)rng_next(rng),
		.waiting_ns = (uint32_t)rng_next(rng),
		.path = (uint8_t)rng_below(rng, CN_PATH_MAX + 1),
		.flags = CN_F_PREDICTIVE | CN_F_FECN | (rng_below(rng, 2) != 0 ? CN_F_BECN : 0),
		.flows = (uint8_t)rng_below(rng, CN_FLOWS_MAX + 1)};

	for (unsigned i = 0; i < cn.flows; i++)
		cn.flow[i] = (struct cn_flow){
			(uint16_t)(i + 100 * rng_below(rng, 100)), (uint16_t)rng_below(rng, 1000)};
	return cn;
}

UNIT_TEST(notification_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct cn in = some_cn(&rng), out;
		uint8_t bytes[CN_BYTES_MAX];
		unsigned length = cn_encode(&in, bytes);

		assert_int_equal(length, CN_BYTES(in.flows));
		assert_true(cn_decode(&out, bytes, length));
		/* Up to the byte between two fields, and from there on. */
		assert_memory_equal(&in, &out, offsetof(struct cn, flows) + 1);
		assert_memory_equal(in.flow, out.flow, sizeof(in.flow));
	}
}

UNIT_TEST(notification_without_extension_has_no_path)
{
	struct cn cn = {.path = CN_PATH_UNKNOWN, .flags = CN_F_FECN | CN_F_BECN}, out;
	uint8_t bytes[CN_BYTES_MAX];

	assert_true(cn_decode(&out, bytes, cn_encode(&cn, bytes)));
	assert_int_equal(out.path, CN_PATH_UNKNOWN);
	cn.waiting_ns = 1;
	assert_false(cn_decode(&out, bytes, cn_encode(&cn, bytes)));
	cn.waiting_ns = 0;
	cn.flags = CN_F_PREDICTIVE;
	assert_false(cn_decode(&out, bytes, cn_encode(&cn, bytes)));
}

static const struct cn whole = {.message = 7,
	.sequence = 8,
	.waiting_ns = 9,
	.path = 2,
	.flags = CN_F_PREDICTIVE,
	.flows = 3,
	.flow = {{1, 2}, {3, 4}, {2, 1}}};

/* One change of the encoded form of 'whole'. */
static bool accepts(unsigned at, uint8_t value)
{
	uint8_t bytes[CN_BYTES_MAX];
	unsigned length = cn_encode(&whole, bytes);
	struct cn out;

	bytes[at] = value;
	return cn_decode(&out, bytes, length);
}

UNIT_TEST(notification_of_any_other_length_is_refused)
{
	uint8_t bytes[CN_BYTES_MAX + 8] = {0};
	unsigned length = cn_encode(&whole, bytes);
	struct cn out;

	for (unsigned other = 0; other < sizeof(bytes); other++)
		assert_int_equal(cn_decode(&out, bytes, other), other == length);
}

UNIT_TEST(wrong_count_of_flows_is_refused)
{
	for (unsigned count = 0; count < 256; count++)
		assert_int_equal(accepts(14, (uint8_t)count), count == 3);
}

UNIT_TEST(more_flows_than_there_is_room_for_are_refused)
{
	uint8_t bytes[CN_BYTES(CN_FLOWS_MAX + 1)] = {
		[13] = CN_F_PREDICTIVE, [14] = CN_FLOWS_MAX + 1};
	struct cn out;

	for (unsigned i = 0; i <= CN_FLOWS_MAX; i++)
		bytes[CN_BYTES(i)] = (uint8_t)i;
	assert_false(cn_decode(&out, bytes, sizeof(bytes)));
}

UNIT_TEST(unknown_path_is_refused)
{
	for (unsigned path = 0; path < 256; path++)
		assert_int_equal(accepts(12, (uint8_t)path), path <= CN_PATH_MAX);
}

UNIT_TEST(unknown_flags_and_a_reserved_byte_are_refused)
{
	for (unsigned flags = 0; flags < 256; flags++) {
		bool known = (flags & ~7u) == 0, becn = (flags & 6) != 4;

		assert_int_equal(accepts(13, (uint8_t)flags), known && becn && (flags & 1) != 0);
	}
	assert_false(accepts(15, 1));
}

UNIT_TEST(flow_without_a_host_is_refused)
{
	for (unsigned field = 0; field < 6; field++) {
		uint8_t bytes[CN_BYTES_MAX];
		unsigned length = cn_encode(&whole, bytes);
		struct cn out;

		memset(bytes + 16 + 2 * field, 0xFF, 2);
		assert_false(cn_decode(&out, bytes, length));
	}
}

UNIT_TEST(flow_that_is_there_twice_is_refused)
{
	struct cn twice = whole, out;
	uint8_t bytes[CN_BYTES_MAX];

	twice.flow[2] = twice.flow[0];
	assert_false(cn_decode(&out, bytes, cn_encode(&twice, bytes)));
}

UNIT_TEST(flow_is_added_once_and_while_there_is_room)
{
	struct cn_flow flow[CN_FLOWS_MAX];
	uint8_t flows = 0;

	cn_add_flow(flow, &flows, 2, (struct cn_flow){1, 2});
	cn_add_flow(flow, &flows, 2, (struct cn_flow){1, 2});
	assert_int_equal(flows, 1);
	cn_add_flow(flow, &flows, 2, (struct cn_flow){1, 3});
	cn_add_flow(flow, &flows, 2, (struct cn_flow){2, 2});
	assert_int_equal(flows, 2);
	assert_int_equal(flow[1].destination, 3);
}
