/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper/mapper_frame.h"

#include <sys/stat.h>
#include <unistd.h>

#include "needs.h"

#define DIGITS "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* Returns the result of loading a file with this text and mode. */
static int load(struct fabric_key *key, const char *text, mode_t mode, struct error *error)
{
	char path[] = "/tmp/weft-key-XXXXXX";
	int file = mkstemp(path), result;

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(file, mode), 0);
	close(file);
	result = fabric_key_load(key, path, error);
	unlink(path);
	return result;
}

UNIT_TEST(a_file_of_its_owner_alone_is_read)
{
	struct fabric_key key;
	struct error error;

	assert_int_equal(load(&key, DIGITS "\n", 0600, &error), 0);
	for (unsigned i = 0; i < FABRIC_KEY_BYTES; i++)
		assert_int_equal(key.bytes[i], i);
	assert_int_equal(load(&key, DIGITS, 0400, &error), 0);
}

UNIT_TEST(a_file_that_others_may_use_is_refused)
{
	static const mode_t wrong[] = {0644, 0640, 0604, 0620, 0602, 0610, 0777};
	struct fabric_key key = {{42}};
	struct error error;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(load(&key, DIGITS "\n", wrong[i], &error), -EACCES);
		assert_non_null(strstr(error.text, "chmod 600"));
		assert_int_equal(key.bytes[0], 42);
	}
}

UNIT_TEST(a_file_of_another_user_is_refused)
{
	char path[] = "/tmp/weft-key-XXXXXX";
	struct fabric_key key;
	struct error error;
	int file;

	need_root(); /* needed to change a file's owner */
	file = mkstemp(path);
	assert_int_equal(write(file, DIGITS, strlen(DIGITS)), strlen(DIGITS));
	assert_int_equal(fchown(file, 12345, 12345), 0);
	close(file);
	assert_int_equal(fabric_key_load(&key, path, &error), -EACCES);
	unlink(path);
}

UNIT_TEST(anything_but_64_digits_is_refused)
{
	static const char *const wrong[] = {"", "00", DIGITS "0", DIGITS "\n\n", DIGITS " ",
		"x00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", DIGITS DIGITS};
	struct fabric_key key;
	struct error error;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(load(&key, wrong[i], 0600, &error), -EINVAL);
	assert_int_equal(fabric_key_load(&key, "/tmp", &error), -EINVAL);
	assert_int_equal(fabric_key_load(&key, "/tmp/no-such-weft-key", &error), -ENOENT);
}

/* Computed with python3 -c 'import hashlib; hashlib.blake2b(b"weft", digest_size=16,
 * key=bytes(range(32)))'. */
UNIT_TEST(the_tag_is_keyed_blake2b)
{
	static const uint8_t expected[FABRIC_TAG_BYTES] = {0x06, 0xfc, 0x35, 0xa9, 0xa6, 0xa2, 0xe9,
		0x01, 0x4c, 0x2b, 0x2e, 0x2b, 0xaa, 0xb1, 0xa4, 0x6d};
	struct fabric_key key;
	uint8_t tag[FABRIC_TAG_BYTES];

	assert_int_equal(load(&key, DIGITS, 0600, NULL), 0);
	fabric_key_tag(&key, (const uint8_t *)"weft", 4, tag);
	assert_memory_equal(tag, expected, sizeof(tag));
	assert_true(fabric_key_matches(&key, (const uint8_t *)"weft", 4, tag));
	tag[15] ^= 1;
	assert_false(fabric_key_matches(&key, (const uint8_t *)"weft", 4, tag));
}

UNIT_TEST(names_and_keys_give_numbers_of_their_own)
{
	const struct fabric_key one = {{1}}, two = {{2}};
	uint16_t a = fabric_number("alpha", NULL);

	assert_int_not_equal(a, 0);
	assert_int_equal(a, fabric_number("alpha", NULL));
	assert_int_not_equal(a, fabric_number("beta", NULL));
	assert_int_not_equal(a, fabric_number("alpha", &one));
	assert_int_not_equal(fabric_number("alpha", &one), fabric_number("alpha", &two));
}

UNIT_TEST(no_name_has_the_number_of_the_unnamed)
{
	char name[16];

	for (unsigned i = 0; i < 200000; i++) {
		snprintf(name, sizeof(name), "lab%u", i);
		assert_int_not_equal(fabric_number(name, NULL), 0);
	}
}

UNIT_TEST(keys_for_other_purposes_differ_by_key_and_purpose)
{
	const struct fabric_key one = {{1}}, two = {{2}};
	uint8_t a[FABRIC_KEY_BYTES], b[FABRIC_KEY_BYTES];

	fabric_key_derive(&one, "links", a);
	assert_memory_not_equal(a, one.bytes, sizeof(a));
	fabric_key_derive(&one, "links", b);
	assert_memory_equal(a, b, sizeof(a));
	fabric_key_derive(&one, "other", b);
	assert_memory_not_equal(a, b, sizeof(a));
	fabric_key_derive(&two, "links", b);
	assert_memory_not_equal(a, b, sizeof(a));
}
