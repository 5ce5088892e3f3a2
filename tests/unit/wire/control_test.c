/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wire/control.h"

#include "base/rng.h"
#include "unit.h"

static struct control_credit some_credit(struct rng *rng)
{
	struct control_credit credit = {
		.session = (uint32_t)rng_next(rng) | 1,
		.peer_session = (uint32_t)rng_next(rng),
		.vcs = (uint8_t)rng_below(rng, FRAME_VCS_MAX + 1),
	};

	for (unsigned vc = 0; vc < credit.vcs; vc++) {
		credit.sent[vc] = (uint32_t)rng_next(rng);
		credit.limit[vc] = (uint32_t)rng_next(rng);
	}
	return credit;
}

UNIT_TEST(credit_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_credit in = some_credit(&rng), out;
		uint8_t bytes[CONTROL_CREDIT_BYTES_MAX];
		unsigned length = control_credit_encode(&in, bytes);

		assert_int_equal(length, CONTROL_CREDIT_BYTES(in.vcs));
		assert_true(control_credit_decode(&out, bytes, length));
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

UNIT_TEST(credit_of_any_other_length_is_refused)
{
	struct control_credit credit = {.session = 1, .vcs = 3};
	uint8_t bytes[CONTROL_CREDIT_BYTES_MAX + 8] = {0};
	unsigned length = control_credit_encode(&credit, bytes);

	for (unsigned other = 0; other < sizeof(bytes); other++)
		assert_int_equal(control_credit_decode(&credit, bytes, other), other == length);
}

UNIT_TEST(credit_of_more_vcs_than_there_are_is_refused)
{
	uint8_t bytes[CONTROL_CREDIT_BYTES(FRAME_VCS_MAX + 1)] = {[3] = 1, [8] = FRAME_VCS_MAX + 1};
	struct control_credit credit;

	assert_false(control_credit_decode(&credit, bytes, sizeof(bytes)));
}

UNIT_TEST(credit_without_a_session_is_refused)
{
	struct control_credit credit = {.session = 0, .vcs = 1};
	uint8_t bytes[CONTROL_CREDIT_BYTES_MAX];
	unsigned length = control_credit_encode(&credit, bytes);

	assert_false(control_credit_decode(&credit, bytes, length));
}

UNIT_TEST(numbers_are_big_endian_on_the_wire)
{
	struct control_credit credit = {
		.session = 0x01020304, .vcs = 1, .sent = {0x05060708}, .limit = {0x090a0b0c}};
	const uint8_t wanted[] = {1, 2, 3, 4, 0, 0, 0, 0, 1, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12};
	uint8_t bytes[CONTROL_CREDIT_BYTES_MAX];

	assert_int_equal(control_credit_encode(&credit, bytes), sizeof(wanted));
	assert_memory_equal(bytes, wanted, sizeof(wanted));
}

UNIT_TEST(hello_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_hello out, in = {
						  .device = rng_next(&rng),
						  .session = (uint32_t)rng_next(&rng) | 1,
						  .peer_session = (uint32_t)rng_next(&rng),
						  .port = (uint8_t)rng_next(&rng),
						  .kind = (uint8_t)rng_below(&rng, 2),
						  .formats = (uint16_t)rng_next(&rng),
						  .generation = (uint32_t)rng_next(&rng),
						  .peer_generation = (uint32_t)rng_next(&rng),
					  };
		uint8_t bytes[CONTROL_HELLO_BYTES];

		assert_int_equal(control_hello_encode(&in, bytes), CONTROL_HELLO_BYTES);
		assert_true(control_hello_decode(&out, bytes, sizeof(bytes)));
		assert_true(in.device == out.device);
		assert_int_equal(in.session, out.session);
		assert_int_equal(in.peer_session, out.peer_session);
		assert_int_equal(in.port, out.port);
		assert_int_equal(in.kind, out.kind);
		assert_int_equal(in.formats, out.formats);
		assert_int_equal(in.generation, out.generation);
		assert_int_equal(in.peer_generation, out.peer_generation);
	}
}

UNIT_TEST(hello_of_another_length_kind_or_without_session_is_refused)
{
	struct control_hello hello = {.session = 1, .kind = 1}, out;
	uint8_t bytes[CONTROL_HELLO_BYTES + 1] = {0};

	control_hello_encode(&hello, bytes);
	assert_true(control_hello_decode(&out, bytes, CONTROL_HELLO_BYTES));
	assert_false(control_hello_decode(&out, bytes, CONTROL_HELLO_BYTES - 1));
	assert_false(control_hello_decode(&out, bytes, CONTROL_HELLO_BYTES + 1));
	hello.kind = 2;
	control_hello_encode(&hello, bytes);
	assert_false(control_hello_decode(&out, bytes, CONTROL_HELLO_BYTES));
	hello = (struct control_hello){.session = 0, .kind = 1};
	control_hello_encode(&hello, bytes);
	assert_false(control_hello_decode(&out, bytes, CONTROL_HELLO_BYTES));
}

UNIT_TEST(ack_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_ack in = {.expected = (uint32_t)rng_next(&rng),
			.again = (uint8_t)rng_next(&rng),
			.missing = (uint8_t)rng_next(&rng),
			.flow = (uint16_t)rng_next(&rng),
			.session = (uint32_t)rng_next(&rng) | 1};
		struct control_ack out;
		uint8_t bytes[CONTROL_ACK_BYTES];

		assert_int_equal(control_ack_encode(&in, bytes), CONTROL_ACK_BYTES);
		assert_true(control_ack_decode(&out, bytes, sizeof(bytes)));
		assert_int_equal(in.expected, out.expected);
		assert_int_equal(in.again, out.again);
		assert_int_equal(in.missing, out.missing);
		assert_int_equal(in.flow, out.flow);
		assert_int_equal(in.session, out.session);
	}
}

UNIT_TEST(ack_of_another_length_or_without_session_is_refused)
{
	uint8_t bytes[CONTROL_ACK_BYTES + 1] = {[11] = 1};
	struct control_ack ack;

	assert_true(control_ack_decode(&ack, bytes, CONTROL_ACK_BYTES));
	assert_false(control_ack_decode(&ack, bytes, CONTROL_ACK_BYTES - 1));
	assert_false(control_ack_decode(&ack, bytes, CONTROL_ACK_BYTES + 1));
	bytes[11] = 0;
	assert_false(control_ack_decode(&ack, bytes, CONTROL_ACK_BYTES));
}

UNIT_TEST(flow_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_flow in = {.step = CONTROL_FLOW_ASK + i % 2,
			.flow = (uint16_t)rng_next(&rng),
			.sequence = (uint32_t)rng_next(&rng),
			.offered = (uint16_t)rng_next(&rng),
			.number = (uint16_t)rng_next(&rng),
			.first = (uint32_t)rng_next(&rng),
			.session = (uint32_t)rng_next(&rng) | 1};
		struct control_flow out;
		uint8_t bytes[CONTROL_FLOW_BYTES];

		assert_int_equal(control_flow_encode(&in, bytes), CONTROL_FLOW_BYTES);
		assert_true(control_flow_decode(&out, bytes, sizeof(bytes)));
		assert_int_equal(out.step, in.step);
		assert_int_equal(out.flow, in.flow);
		assert_int_equal(out.sequence, in.sequence);
		assert_int_equal(out.offered, in.offered);
		assert_int_equal(out.number, in.number);
		assert_int_equal(out.first, in.first);
		assert_int_equal(out.session, in.session);
	}
}

UNIT_TEST(clock_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 8, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_clock out, in = {
						  .step = CONTROL_CLOCK_ANSWER,
						  .clock = (uint32_t)rng_next(&rng) | 1,
						  .number = rng_next(&rng) | 1,
						  .heard_ns = rng_next(&rng) >> 4,
					  };
		uint8_t bytes[CONTROL_CLOCK_BYTES];

		in.left_ns = in.heard_ns + (rng_next(&rng) >> 5);
		assert_int_equal(control_clock_encode(&in, bytes), CONTROL_CLOCK_BYTES);
		assert_true(control_clock_decode(&out, bytes, sizeof(bytes)));
		assert_int_equal(in.step, out.step);
		assert_int_equal(in.clock, out.clock);
		assert_true(in.number == out.number);
		assert_true(in.heard_ns == out.heard_ns);
		assert_true(in.left_ns == out.left_ns);
	}
}

static bool is_valid_clock(struct control_clock clock)
{
	uint8_t bytes[CONTROL_CLOCK_BYTES];

	control_clock_encode(&clock, bytes);
	return control_clock_decode(&clock, bytes, sizeof(bytes));
}

UNIT_TEST(clock_of_another_length_or_step_or_with_impossible_times_is_refused)
{
	const struct control_clock good = {
		.step = CONTROL_CLOCK_ANSWER, .clock = 1, .number = 1, .heard_ns = 5, .left_ns = 5};
	uint8_t bytes[CONTROL_CLOCK_BYTES + 1] = {0};
	struct control_clock clock = good;

	control_clock_encode(&good, bytes);
	assert_true(control_clock_decode(&clock, bytes, CONTROL_CLOCK_BYTES));
	assert_false(control_clock_decode(&clock, bytes, CONTROL_CLOCK_BYTES - 1));
	assert_false(control_clock_decode(&clock, bytes, CONTROL_CLOCK_BYTES + 1));
	clock.step = 3;
	assert_false(is_valid_clock(clock));
	clock.step = CONTROL_CLOCK_ASK; /* which no neighbour has received yet */
	assert_false(is_valid_clock(clock));
	clock.heard_ns = 0;
	assert_true(is_valid_clock(clock));
	clock = good;
	clock.clock = 0;
	assert_false(is_valid_clock(clock));
	clock = good;
	clock.number = 0;
	assert_false(is_valid_clock(clock));
	clock = good;
	clock.left_ns = 4;
	assert_false(is_valid_clock(clock));
	clock.left_ns = CONTROL_CLOCK_TIMES;
	assert_false(is_valid_clock(clock));
}

UNIT_TEST(flow_of_another_length_or_step_or_offered_by_no_session_is_refused)
{
	uint8_t bytes[CONTROL_FLOW_BYTES + 1] = {[2] = CONTROL_FLOW_ASK};
	struct control_flow flow;

	assert_true(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES));
	assert_false(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES - 1));
	assert_false(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES + 1));
	bytes[2] = CONTROL_FLOW_OFFER;
	assert_false(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES));
	bytes[19] = 1;
	assert_true(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES));
	bytes[2] = 0;
	assert_false(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES));
	bytes[2] = CONTROL_FLOW_OFFER + 1;
	assert_false(control_flow_decode(&flow, bytes, CONTROL_FLOW_BYTES));
}

UNIT_TEST(arn_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct control_arn in = {.id = (uint32_t)rng_next(&rng),
			.destination = (uint16_t)rng_below(&rng, FRAME_HOST_NONE),
			.vc = (uint8_t)rng_below(&rng, FRAME_VCS_MAX),
			.root_info = (uint8_t)rng_next(&rng)};
		struct control_arn out;
		uint8_t bytes[CONTROL_ARN_BYTES];

		assert_int_equal(control_arn_encode(&in, bytes), CONTROL_ARN_BYTES);
		assert_true(control_arn_decode(&out, bytes, sizeof(bytes)));
		assert_int_equal(in.id, out.id);
		assert_int_equal(in.destination, out.destination);
		assert_int_equal(in.vc, out.vc);
		assert_int_equal(in.root_info, out.root_info);
	}
}

UNIT_TEST(arn_has_its_fields_in_order)
{
	const struct control_arn arn = {
		.id = 0x01020304, .destination = 0x0506, .vc = 7, .root_info = 8};
	const uint8_t wanted[] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t bytes[CONTROL_ARN_BYTES];

	control_arn_encode(&arn, bytes);
	assert_memory_equal(bytes, wanted, sizeof(wanted));
}

UNIT_TEST(arn_of_another_length_of_no_host_or_vc_is_refused)
{
	uint8_t bytes[CONTROL_ARN_BYTES + 1] = {0};
	struct control_arn arn;

	assert_true(control_arn_decode(&arn, bytes, CONTROL_ARN_BYTES));
	assert_false(control_arn_decode(&arn, bytes, CONTROL_ARN_BYTES - 1));
	assert_false(control_arn_decode(&arn, bytes, CONTROL_ARN_BYTES + 1));
	bytes[6] = FRAME_VCS_MAX;
	assert_false(control_arn_decode(&arn, bytes, CONTROL_ARN_BYTES));
	bytes[6] = 0;
	bytes[4] = bytes[5] = 0xFF;
	assert_false(control_arn_decode(&arn, bytes, CONTROL_ARN_BYTES));
}
