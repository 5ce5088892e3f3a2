/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Sets of ports. */

#include "base/port_set.h"
#include "base/rng.h"
#include "unit.h"

UNIT_TEST(bytes_that_are_equal_are_members_and_no_others)
{
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	for (unsigned round = 0; round < 100000; round++) {
		uint8_t bytes[BITS_BYTES], value = (uint8_t)rng_next(&rng);
		uint64_t expected = 0;

		for (unsigned i = 0; i < BITS_BYTES; i++) {
			/* Equal, different by one or in the top bit, or random. */
			const uint8_t choice[] = {value, value, (uint8_t)(value + 1),
				(uint8_t)(value - 1), value ^ 0x80, (uint8_t)rng_next(&rng)};

			bytes[i] = choice[rng_below(&rng, 6)];
			expected |= bytes[i] == value ? BIT64(i) : 0;
		}
		assert_int_equal(bits_equal_bytes(bytes, value), expected);
	}
}

UNIT_TEST(round_robin_takes_the_first_at_or_after_and_then_the_first_of_all)
{
	for (unsigned from = 0; from < 64; from++) {
		assert_int_equal(bits_round_robin(BIT64(5) | BIT64(40), from), from <= 5    ? 5
									       : from <= 40 ? 40
											    : 5);
		assert_int_equal(bits_round_robin(UINT64_MAX, from), from);
	}
}
