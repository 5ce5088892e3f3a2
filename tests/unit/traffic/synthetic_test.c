/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic/synthetic.h"

#include "base/rng.h"
#include "unit.h"

static const struct synthetic some = {.source = 3,
	.destination = 9,
	.message = 0x10002,
	.message_bytes = 1000,
	.entry = 200,
	.generated_ns = 123456789};

UNIT_TEST(what_is_made_is_recognised)
{
	for (uint32_t bytes = SYNTHETIC_PREFIX_BYTES; bytes < 300; bytes++) {
		struct synthetic found = {.source = 3, .destination = 9, .message = 0x10002};
		uint8_t payload[300];

		synthetic_fill(&some, 0, payload, bytes);
		assert_true(synthetic_is(payload, bytes));
		assert_true(synthetic_open(&found, payload, bytes));
		assert_int_equal(found.generated_ns, some.generated_ns);
		assert_int_equal(found.message_bytes, some.message_bytes);
		assert_int_equal(found.entry, some.entry);
		assert_true(synthetic_matches(&found, 0, payload, bytes));
	}
}

UNIT_TEST(later_frames_are_recognised_at_their_place_only)
{
	uint8_t payload[101];

	synthetic_fill(&some, 512, payload, sizeof(payload));
	assert_true(synthetic_matches(&some, 512, payload, sizeof(payload)));
	assert_false(synthetic_matches(&some, 1024, payload, sizeof(payload)));
}

UNIT_TEST(no_changed_bit_passes)
{
	uint8_t payload[75];

	synthetic_fill(&some, 0, payload, sizeof(payload));
	for (unsigned bit = 0; bit < 8 * sizeof(payload); bit++) {
		struct synthetic found = some;

		payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(synthetic_open(&found, payload, sizeof(payload)) &&
			     synthetic_matches(&found, 0, payload, sizeof(payload)));
		payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

UNIT_TEST(another_flows_bytes_do_not_pass)
{
	uint8_t payload[64];

	synthetic_fill(&some, 0, payload, sizeof(payload));
	for (unsigned i = 0; i < 3; i++) {
		struct synthetic other = some;

		other.source += i == 0;
		other.destination += i == 1;
		other.message += i == 2;
		assert_false(synthetic_matches(&other, 0, payload, sizeof(payload)));
		assert_false(synthetic_open(&other, payload, sizeof(payload)));
	}
}

UNIT_TEST(an_ip_packet_is_not_taken_for_synthetic)
{
	static const uint8_t ip[40] = {0x45};

	assert_false(synthetic_is(ip, sizeof(ip)));
	assert_false(synthetic_is(ip + 1, SYNTHETIC_PREFIX_BYTES - 1));
}
