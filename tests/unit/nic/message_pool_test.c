/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/message_pool.h"

#include "base/rng.h"
#include "unit.h"

#define MESSAGES 20
#define PAYLOADS 7
#define BYTES    100

UNIT_TEST(no_record_is_given_out_twice)
{
	OWNED(message_pool) pool;
	uint32_t held[MESSAGES];
	unsigned count = 0, payloads = 0;
	uint8_t payload[BYTES];
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	assert_int_equal(message_pool_init(&pool, MESSAGES, PAYLOADS, BYTES), 0);
	for (unsigned step = 0; step < 20000; step++) {
		bool real = rng_chance_ppm(&rng, 500000);
		uint32_t index;

		memset(payload, (int)step, sizeof(payload));
		if (rng_chance_ppm(&rng, 450000) && count > 0) {
			unsigned at = (unsigned)rng_below(&rng, count);

			payloads -= pool.message[held[at]].payload != NULL;
			message_pool_put(&pool, held[at]);
			held[at] = held[--count];
			continue;
		}
		index = message_pool_get(&pool, real ? payload : NULL, BYTES);
		if (index == MESSAGE_NONE) {
			assert_true(count == MESSAGES || (real && payloads == PAYLOADS));
			continue;
		}
		for (unsigned i = 0; i < count; i++) {
			assert_int_not_equal(held[i], index);
			if (real)
				assert_ptr_not_equal(
					pool.message[held[i]].payload, pool.message[index].payload);
		}
		payloads += real;
		held[count++] = index;
		if (real)
			assert_memory_equal(pool.message[index].payload, payload, BYTES);
		assert_int_equal(pool.used, count);
		assert_int_equal(pool.payloads_used, payloads);
	}
}

UNIT_TEST(a_payload_that_is_too_long_is_refused)
{
	static const uint8_t payload[2 * BYTES];
	OWNED(message_pool) pool;

	assert_int_equal(message_pool_init(&pool, 1, 1, 64), 0);
	assert_int_equal(message_pool_get(&pool, payload, 65), MESSAGE_NONE);
	assert_int_equal(message_pool_get(&pool, payload, 64), 0);
}

UNIT_TEST(a_pool_without_payloads_holds_synthetic_messages)
{
	OWNED(message_pool) pool;

	assert_int_equal(message_pool_init(&pool, 2, 0, 0), 0);
	assert_int_equal(message_pool_get(&pool, "x", 1), MESSAGE_NONE);
	assert_int_equal(message_pool_get(&pool, NULL, 100000), 0);
}

UNIT_TEST(a_queue_keeps_the_order)
{
	OWNED(message_pool) pool;
	struct message_queue queue;

	assert_int_equal(message_pool_init(&pool, MESSAGES, 0, 0), 0);
	message_queue_init(&queue);
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 5; i++)
			message_queue_push(&pool, &queue, (i * 7) % MESSAGES);
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(message_queue_pop(&pool, &queue), (i * 7) % MESSAGES);
		assert_int_equal(queue.head, MESSAGE_NONE);
	}
}
