/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The error of a process in its log. */

#include "lab/lab_state.h"

#include "unit.h"

static void expect(const char *log, const char *error, const char *rest)
{
	char text[400], found[ERROR_TEXT] = "nothing";

	snprintf(text, sizeof(text), "%s", log);
	assert_int_equal(lab_log_take_error(text, "weft-nic", found), error != NULL);
	assert_string_equal(found, error != NULL ? error : "nothing");
	assert_string_equal(text, rest);
}

UNIT_TEST(the_last_line_of_the_program_is_its_error)
{
	expect("weft-nic runs: 1 devices\nweft-nic: h0:0: no cable\n", "h0:0: no cable",
		"weft-nic runs: 1 devices\n");
	/* An error of an earlier life does not count. */
	expect("weft-nic: old\nweft-nic runs: 1 devices\nweft-nic: new\n", "new",
		"weft-nic: old\nweft-nic runs: 1 devices\n");
	expect("EAL: first\nweft-nic: why\nEAL: last\n", "why", "EAL: first\nEAL: last\n");
}

UNIT_TEST(a_line_without_an_end_is_one)
{
	expect("weft-nic: why", "why", "");
}

UNIT_TEST(warnings_and_other_programs_are_none)
{
	expect("weft-nic: warning: no key\nEAL: no\n", NULL,
		"weft-nic: warning: no key\nEAL: no\n");
	expect("weft-nics: no\n weft-nic: no\nweft-nic\n", NULL,
		"weft-nics: no\n weft-nic: no\nweft-nic\n");
	expect("", NULL, "");
}
