/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/option_key.h"
#include "unit.h"

struct options {
	const char *first, *second;
	bool quick;
};

#define S struct options

UNIT_TEST(a_text_is_stored_in_its_own_member)
{
	struct options options = {.first = "one"};

	assert_true(option_key_store(&options, OPTION_TEXT(S, second), "two"));
	assert_string_equal(options.first, "one");
	assert_string_equal(options.second, "two");
}

UNIT_TEST(a_flag_is_set)
{
	struct options options = {.first = "one"};

	assert_true(option_key_store(&options, OPTION_SET(S, quick), NULL));
	assert_true(options.quick);
	assert_string_equal(options.first, "one");
}

UNIT_TEST(other_keys_store_nothing)
{
	/* A letter, argp's own keys, an error of getopt_long(), and a key of the program. */
	static const int keys[] = {'o', 0x1000000, 0x2000004, '?', 256, -1};
	struct options options = {.first = "one"};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_false(option_key_store(&options, keys[i], "two"));
	assert_string_equal(options.first, "one");
	assert_null(options.second);
}
