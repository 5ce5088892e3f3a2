/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Cases for skipped_cases_test: some are skipped for a reason, others not. No test of the suite
 * by itself. */

#include "needs.h"

static void passes(void **state)
{
	(void)state;
}

static void needs_a_green_machine(void **state)
{
	(void)state;
	skip_because("the machine is not green");
	fail_msg("a skipped case goes on");
}

static void passes_after_a_skipped_one(void **state)
{
	(void)state;
	print_message("skipped: no case\n");
}

static void needs_two_moons(void **state)
{
	(void)state;
	print_message("looks at the sky\n");
	skip_because("there is one moon (of two)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes),
		cmocka_unit_test(needs_a_green_machine),
		cmocka_unit_test(passes_after_a_skipped_one),
		cmocka_unit_test(needs_two_moons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
