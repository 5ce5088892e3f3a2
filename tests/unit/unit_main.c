/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>

#include "unit.h"

static struct unit_case *unit_cases;

void unit_add(struct unit_case *one)
{
	struct unit_case **at = &unit_cases;

	while (*at != NULL && (*at)->line < one->line)
		at = &(*at)->next;
	one->next = *at;
	*at = one;
}

int unit_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	struct CMUnitTest *tests = NULL;
	size_t count = 0;
	int failed;

	for (const struct unit_case *one = unit_cases; one != NULL; one = one->next) {
		tests = realloc(tests, (count + 1) * sizeof(*tests));
		tests[count++] = one->test;
	}
	failed = _cmocka_run_group_tests(
		program_invocation_short_name, tests, count, set_up, tear_down);
	free(tests);
	return count == 0 || failed;
}

/* Programs that read arguments have their own. */
int __attribute__((weak)) main(void)
{
	return unit_run(NULL, NULL);
}
