/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "siphash.h"

#include <sodium.h>

#include "unit.h"

static void tags_are_those_of_libsodium(void **state)
{
	uint8_t key[SIPHASH_KEY_BYTES], text[80];

	assert_int_equal(SIPHASH_KEY_BYTES, crypto_shorthash_KEYBYTES);
	assert_int_equal(SIPHASH_TAG_BYTES, crypto_shorthash_BYTES);
	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(251 * i + 7);
	for (unsigned i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(199 * i + 3);
	for (unsigned bytes = 0; bytes <= sizeof(text); bytes++) {
		struct siphash hash = siphash_begin(key);
		uint8_t right[SIPHASH_TAG_BYTES];
		uint64_t rest = 0, tag;
		unsigned at = 0;

		for (; bytes - at >= 8; at += 8)
			siphash_word(&hash, siphash_load(text + at));
		for (unsigned i = 0; at + i < bytes; i++)
			rest |= (uint64_t)text[at + i] << (8 * i);
		tag = siphash_end(&hash, rest, bytes);
		crypto_shorthash(right, text, bytes, key);
		assert_memory_equal(&tag, right, sizeof(tag));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(tags_are_those_of_libsodium),
};

UNIT_MAIN(tests)
