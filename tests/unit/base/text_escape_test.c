/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "base/weft_error.h"

static void escapes_to(const char *text, const char *expected)
{
	char escaped[64];

	snprintf(escaped, sizeof(escaped), "%s", text);
	text_escape(escaped, sizeof(escaped));
	assert_string_equal(escaped, expected);
}

UNIT_TEST(control_characters_become_their_numbers)
{
	escapes_to("\x1b[31mred\a\r\x7f", "\\x1b[31mred\\x07\\x0d\\x7f");
	escapes_to("\xc2\x9b"
		   "31m",
		"\\xc2\\x9b31m");
	escapes_to("a\x9b"
		   "31m",
		"a\\x9b31m");
}

UNIT_TEST(other_characters_stay)
{
	escapes_to("", "");
	escapes_to("two\nlines\t", "two\nlines\t");
	escapes_to("\xc3\x9c, \xc2\xb5s, \xe2\x82\xac", "\xc3\x9c, \xc2\xb5s, \xe2\x82\xac");
}

UNIT_TEST(what_has_no_room_is_cut_off)
{
	char text[8] = "ab\x1b"
		       "cdef",
	     full[4] = "ab\x1b";

	text_escape(text, sizeof(text));
	assert_string_equal(text, "ab\\x1bc");
	text_escape(full, sizeof(full));
	assert_string_equal(full, "ab");
}

UNIT_TEST(a_fault_has_no_control_characters)
{
	struct error error;

	error_set(&error, EINVAL, "%s: no such file", "\x1b]0;title");
	assert_string_equal(error.text, "\\x1b]0;title: no such file");
}
