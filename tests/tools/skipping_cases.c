/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Cases for skipped_cases_test: some are skipped for a reason, others are not. This program is not
 * a test of the suite. */

#include "needs.h"

UNIT_TEST(passes)
{
}

UNIT_TEST(needs_a_green_machine)
{
	skip_because("the machine is not green");
	fail_msg("a skipped case goes on");
}

UNIT_TEST(passes_after_a_skipped_one)
{
	print_message("skipped: no case\n");
}

UNIT_TEST(needs_two_moons)
{
	print_message("looks at the sky\n");
	skip_because("there is one moon (of two)");
}
