/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/option_key.h"

#include <argp.h>
#include <getopt.h>

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

/* Returns the message about the first unknown option: "NAME HINT", or "". */
static const char *unknown_in(bool in_order, int argc, const char *const *argv, char text[160])
{
	static const struct argp_option options[] = {{"load-all", 2, NULL, 0, NULL, 0},
		{"load", 'l', "SHARE", 0, NULL, 0}, {"quiet", 'q', NULL, 0, NULL, 0},
		{"live", 1, "FD", OPTION_ARG_OPTIONAL, NULL, 0}, {0}};
	char name[OPTION_NAME_MAX], hint[OPTION_HINT_MAX];
	struct option known[OPTION_KNOWN_MAX + 1];

	option_of_argp(options, known);
	text[0] = '\0';
	if (option_find_unknown(known, in_order, argc, (char *const *)argv, name, hint))
		snprintf(text, 160, "%s%s", name, hint);
	return text;
}

UNIT_TEST(an_unknown_option_is_found_with_the_nearest_one)
{
	static const struct {
		const char *word[4];
		bool in_order;
		const char *unknown;
	} cases[] = {
		{{"weft", "--laod=5%"}, false, "laod; nearest is '--load'"},
		{{"weft", "FILE", "--colour"}, false, "colour"},
		{{"weft", "FILE", "--colour"}, true, ""}, /* an option of the program FILE */
		{{"weft", "--", "--colour"}, false, ""},
		{{"weft", "--load", "--colour"}, false, ""}, /* its value */
		{{"weft", "--load=1", "--colour"}, false, "colour"},
		{{"weft", "--quiet", "--colour"}, false, "colour"},
		{{"weft", "--live", "--colour"}, false, "colour"},
		{{"weft", "--qu", "--help"}, false, ""}, /* an abbreviation, and argp's own */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[160];
		int words = 0;

		while (words < 4 && cases[i].word[words] != NULL)
			words++;
		assert_string_equal(unknown_in(cases[i].in_order, words, cases[i].word, text),
			cases[i].unknown);
	}
}
