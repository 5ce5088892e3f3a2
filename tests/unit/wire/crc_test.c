/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Built three times: for this machine's CPU (VPCLMULQDQ), with PCLMULQDQ and SSE4.2, and with the
 * tables. */

#include "wire/crc.h"

#include "base/rng.h"
#include "unit.h"

#define HEADER_BYTES 64
#define COVERED      (HEADER_BYTES - 2) /* the last two are the CRC field */

static uint16_t reference_header(const uint8_t bytes[HEADER_BYTES])
{
	uint16_t crc = 0;

	for (unsigned i = 0; i < HEADER_BYTES; i++) {
		crc ^= i < COVERED ? bytes[i] : 0;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = (uint16_t)((crc >> 1) ^ ((crc & 1) != 0 ? 0x8408 : 0));
	}
	return (uint16_t)~crc;
}

static uint32_t reference_crc32c(const uint8_t *at, size_t bytes)
{
	uint32_t crc = UINT32_MAX;

	for (; bytes > 0; bytes--) {
		crc ^= *at++;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
	}
	return ~crc;
}

static void fill(struct rng *rng, uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)rng_next(rng);
}

/* 'bytes' in the form that crc_header() expects: the route and the fixed header. */
static uint16_t header_crc(const uint8_t bytes[HEADER_BYTES], unsigned route_words)
{
	uint64_t route[4], fixed[4];

	memcpy(route, bytes, sizeof(route));
	memcpy(fixed, bytes + 32, sizeof(fixed));
	return crc_header(route, route_words, fixed);
}

UNIT_TEST(header_crc_equals_the_bitwise_reference)
{
	uint8_t bytes[HEADER_BYTES];
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned words = i % 5;

		fill(&rng, bytes, sizeof(bytes));
		memset(bytes + 8 * words, 0, 32 - 8 * words);
		assert_int_equal(header_crc(bytes, words), reference_header(bytes));
	}
}

UNIT_TEST(header_crc_of_each_single_bit_is_right)
{
	for (unsigned bit = 0; bit < 8 * COVERED; bit++) {
		uint8_t bytes[HEADER_BYTES] = {0};

		bytes[bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_equal(header_crc(bytes, 4), reference_header(bytes));
	}
}

UNIT_TEST(the_crc_field_itself_is_left_out)
{
	uint8_t bytes[HEADER_BYTES] = {0};
	uint16_t crc = header_crc(bytes, 0);

	bytes[COVERED] = 0x12;
	bytes[COVERED + 1] = 0x34;
	assert_int_equal(header_crc(bytes, 0), crc);
}

static bool header_matches(uint8_t bytes[HEADER_BYTES], unsigned route_words, uint16_t field)
{
	uint64_t route[4], fixed[4];

	bytes[COVERED] = (uint8_t)(field >> 8);
	bytes[COVERED + 1] = (uint8_t)field;
	memcpy(route, bytes, sizeof(route));
	memcpy(fixed, bytes + 32, sizeof(fixed));
	return crc_header_matches(route, route_words, fixed);
}

UNIT_TEST(of_all_values_of_the_crc_field_the_crc_alone_matches)
{
	uint8_t bytes[HEADER_BYTES];
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (unsigned words = 0; words < 5; words++) {
		fill(&rng, bytes, sizeof(bytes));
		memset(bytes + 8 * words, 0, 32 - 8 * words);
		for (uint32_t field = 0; field <= UINT16_MAX; field++)
			assert_int_equal(header_matches(bytes, words, (uint16_t)field),
				field == reference_header(bytes));
	}
}

UNIT_TEST(a_header_with_its_crc_matches_until_any_bit_is_turned)
{
	uint8_t bytes[HEADER_BYTES];
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	for (unsigned i = 0; i < 2000; i++) {
		unsigned words = i % 5;
		unsigned first = words == 0 ? 256 : 0, last = words == 0 ? 8 * COVERED : 64 * words;
		unsigned bit = first + (unsigned)rng_below(&rng, last - first);
		uint16_t crc;

		fill(&rng, bytes, sizeof(bytes));
		memset(bytes + 8 * words, 0, 32 - 8 * words);
		crc = reference_header(bytes);
		assert_true(header_matches(bytes, words, crc));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(header_matches(bytes, words, crc));
	}
}

UNIT_TEST(words_of_zero_route_change_nothing)
{
	uint8_t bytes[HEADER_BYTES] = {0};
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	fill(&rng, bytes + 32, 32);
	for (unsigned words = 0; words < 5; words++)
		assert_int_equal(header_crc(bytes, words), header_crc(bytes, 0));
}

/* In the frame, the CRC field contains the CRC in big-endian order, after the mutable word. */
static uint16_t field_in_memory(const uint8_t bytes[HEADER_BYTES])
{
	uint16_t crc = reference_header(bytes), field;
	const uint8_t wire[2] = {(uint8_t)(crc >> 8), (uint8_t)crc};

	memcpy(&field, wire, sizeof(field));
	return field;
}

UNIT_TEST(delta_of_the_mutable_word_equals_recomputing)
{
	uint8_t bytes[HEADER_BYTES];
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t old, new = (uint32_t)rng_next(&rng);
		uint16_t field;

		fill(&rng, bytes, sizeof(bytes));
		memset(bytes + HEADER_BYTES - 2, 0, 2);
		memcpy(&old, bytes + HEADER_BYTES - 6, sizeof(old));
		field = field_in_memory(bytes);
		memcpy(bytes + HEADER_BYTES - 6, &new, sizeof(new));
		assert_int_equal(field ^ crc_header_delta(old ^ new), field_in_memory(bytes));
	}
}

UNIT_TEST(crc32c_equals_the_bitwise_reference_at_any_length_and_alignment)
{
	uint8_t bytes[4200];
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	fill(&rng, bytes, sizeof(bytes));
	for (unsigned offset = 0; offset < 8; offset++)
		for (unsigned length = 0; length < 4100; length += length < 500 ? 1 : 97)
			assert_int_equal(crc32c(bytes + offset, length),
				reference_crc32c(bytes + offset, length));
}

/* RFC 3720, B.4. */
UNIT_TEST(crc32c_gives_the_values_of_the_iscsi_standard)
{
	uint8_t bytes[32];

	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xFF, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x46dd794e);
}

UNIT_TEST(crc32c_of_nothing_is_zero)
{
	assert_int_equal(crc32c("", 0), 0);
}
