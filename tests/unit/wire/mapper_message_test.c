/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_samples.h"
#include "unit.h"

#define EACH 300

/* Messages are compared by their bytes. After decoding, a table's data is in a different place. */
static void assert_same(const struct mapper_message *message, const uint8_t *bytes, unsigned length)
{
	uint8_t again[MAPPER_MESSAGE_MAX];

	assert_int_equal(mapper_message_encode(message, again), length);
	assert_memory_equal(again, bytes, length);
}

UNIT_TEST(every_message_survives_the_wire)
{
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < EACH * (MAPPER_TYPE_COUNT - 1); i++) {
		struct mapper_message in = sample_message(1 + i % (MAPPER_TYPE_COUNT - 1), &rng),
				      out;
		uint8_t bytes[MAPPER_MESSAGE_MAX];
		unsigned length = mapper_message_encode(&in, bytes);

		memset(&out, 0, sizeof(out)); /* padding between fields */
		assert_true(mapper_message_decode(&out, bytes, length));
		assert_int_equal(out.type, in.type);
		assert_int_equal(out.sender, in.sender);
		assert_int_equal(out.counter, in.counter);
		if (in.type == MAPPER_REPLY)
			assert_memory_equal(&out.reply, &in.reply,
				offsetof(struct mapper_reply, name) + sizeof(in.reply.name));
		if (in.type == MAPPER_STATUS)
			assert_memory_equal(&out.status, &in.status,
				offsetof(struct mapper_status, followed_priority) +
					sizeof(in.status.followed_priority));
		assert_same(&out, bytes, length);
	}
}

UNIT_TEST(a_message_of_any_other_length_is_refused)
{
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned type = 1; type < MAPPER_TYPE_COUNT; type++) {
		struct mapper_message in = sample_message(type, &rng), out;
		uint8_t bytes[MAPPER_MESSAGE_MAX] = {0};
		unsigned length = mapper_message_encode(&in, bytes);

		for (unsigned other = 0; other < length + 64; other++)
			assert_int_equal(
				mapper_message_decode(&out, bytes, other), other == length);
	}
}

/* Encoding writes exactly what was decoded, so no byte is ignored. */
UNIT_TEST(a_changed_byte_is_refused_or_means_something_else)
{
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < 100 * EACH; i++) {
		struct mapper_message in = sample_message(1 + i % (MAPPER_TYPE_COUNT - 1), &rng),
				      out;
		uint8_t bytes[MAPPER_MESSAGE_MAX];
		unsigned length = mapper_message_encode(&in, bytes);

		bytes[rng_below(&rng, length)] ^= (uint8_t)(1 + rng_below(&rng, 255));
		if (mapper_message_decode(&out, bytes, length) && !out.keyed)
			assert_same(&out, bytes, length);
	}
}

static bool survives(const struct mapper_message *message)
{
	uint8_t bytes[MAPPER_MESSAGE_MAX];
	struct mapper_message out;

	return mapper_message_decode(&out, bytes, mapper_message_encode(message, bytes));
}

UNIT_TEST(a_way_back_is_ports_and_an_agent)
{
	struct mapper_message message;
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	message = sample_message(MAPPER_PROBE, &rng);
	message.command.back_length = 2;
	message.command.back[0] = ROUTE_PORT_BIT | 5;
	message.command.back[1] = ROUTE_TYPE_AGENT;
	assert_true(survives(&message));
	message.command.back[1] = ROUTE_TYPE_HOST;
	assert_false(survives(&message));
	message.command.back[1] = ROUTE_TYPE_AGENT;
	message.command.back[0] = ROUTE_TYPE_ITB;
	assert_false(survives(&message));
	message.command.back[0] = ROUTE_PORT_BIT | ROUTE_ADAPTIVE | 5;
	assert_false(survives(&message));
	message.command.back_length = 0;
	assert_false(survives(&message));
}

UNIT_TEST(a_device_that_cannot_be_is_refused)
{
	struct mapper_message good, bad;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	good = sample_message(MAPPER_REPLY, &rng);
	good.reply.kind = 0;
	good.reply.ports = 8;
	good.reply.entry = 7;
	good.reply.linked = 0xFF;
	assert_true(survives(&good));
	bad = good;
	bad.reply.entry = 8;
	assert_false(survives(&bad));
	bad = good;
	bad.reply.linked = 0x100;
	assert_false(survives(&bad));
	bad = good;
	bad.reply.ports = MAPPER_PORTS_MAX + 1;
	assert_false(survives(&bad));
	bad = good;
	bad.reply.kind = 1;
	assert_false(survives(&bad));
	bad = good;
	bad.reply.session = 0;
	assert_false(survives(&bad));
}

UNIT_TEST(a_part_beyond_its_image_is_refused)
{
	static const uint8_t data[8];
	struct mapper_message message;
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	message = sample_message(MAPPER_TABLE, &rng);
	message.table = (struct mapper_table){1, 100, 92, 8, data};
	assert_true(survives(&message));
	message.table.offset = 93;
	assert_false(survives(&message));
	message.table.offset = UINT32_MAX - 3;
	assert_false(survives(&message));
	message.table = (struct mapper_table){1, 7, 0, 8, data};
	assert_false(survives(&message));
}

UNIT_TEST(only_a_pause_may_purge)
{
	struct mapper_message message;
	struct rng rng;

	rng_init(&rng, 7, 0, 0);
	message = sample_message(MAPPER_PHASE, &rng);
	for (unsigned command = MAPPER_PAUSE; command <= MAPPER_ABORT; command++) {
		message.phase.command = (uint8_t)command;
		message.phase.flags = MAPPER_PHASE_PURGE;
		assert_int_equal(survives(&message), command == MAPPER_PAUSE);
		message.phase.flags = 0;
		assert_true(survives(&message));
	}
}
