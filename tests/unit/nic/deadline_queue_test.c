/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/deadline_queue.h"

#include "base/rng.h"
#include "unit.h"

#define IDS   50
#define DELAY 100

/* Compared with an array of deadlines. */
UNIT_TEST(timers_expire_when_they_should_and_not_before)
{
	weft_time at[IDS];
	struct deadline_queue queue;
	struct rng rng;

	rng_init(&rng, 7, 0, 0);
	assert_int_equal(deadline_queue_init(&queue, IDS, DELAY), 0);
	for (unsigned i = 0; i < IDS; i++)
		at[i] = WEFT_TIME_NEVER;
	for (weft_time now = 0; now < 20000; now++) {
		uint16_t id = (uint16_t)rng_below(&rng, IDS);

		if (rng_chance_ppm(&rng, 300000)) {
			deadline_queue_arm(&queue, id, now);
			at[id] = now + DELAY;
		} else if (rng_chance_ppm(&rng, 100000)) {
			deadline_queue_cancel(&queue, id);
			at[id] = WEFT_TIME_NEVER;
		}
		if (rng_chance_ppm(&rng, 500000))
			continue; /* nobody looks */
		while ((id = deadline_queue_expired(&queue, now)) != DEADLINE_NONE) {
			assert_true(at[id] <= now);
			at[id] = WEFT_TIME_NEVER;
		}
		for (uint16_t i = 0; i < IDS; i++) {
			assert_true(at[i] > now);
			assert_int_equal(deadline_queue_armed(&queue, i), at[i] != WEFT_TIME_NEVER);
		}
	}
	deadline_queue_fini(&queue);
}
