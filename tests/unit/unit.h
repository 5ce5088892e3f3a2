/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* cmocka with what it wants included before it. The cases of a program need no list, and run in the
 * order of the file:
 *
 *     UNIT_TEST(a_full_ring_takes_no_more)
 *     {
 *     }
 *
 *     UNIT_MAIN(NULL, NULL) */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct unit_case {
	struct CMUnitTest test;
	int line;
	struct unit_case *next;
};

static struct unit_case *unit_cases;

static inline void unit_add(struct unit_case *one)
{
	struct unit_case **at = &unit_cases;

	while (*at != NULL && (*at)->line < one->line)
		at = &(*at)->next;
	one->next = *at;
	*at = one;
}

/* A case between 'set_up' and 'tear_down' of its own, which stand above it; NULL: none. */
#define UNIT_WITH(function, set_up, tear_down)                                           \
	static void function(void **state);                                              \
	static void __attribute__((constructor)) add_##function(void)                    \
	{                                                                                \
		static struct unit_case one = {                                          \
			{#function, function, set_up, tear_down, NULL}, __LINE__, NULL}; \
                                                                                         \
		unit_add(&one);                                                          \
	}                                                                                \
	static void function(void **state)
#define UNIT_TEST(function) UNIT_WITH(function, NULL, NULL)

/* Runs all cases between 'set_up' and 'tear_down' of the whole. */
static inline int unit_run(const char *name, CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	struct CMUnitTest *tests = NULL;
	size_t count = 0;
	int failed;

	for (const struct unit_case *one = unit_cases; one != NULL; one = one->next) {
		tests = realloc(tests, (count + 1) * sizeof(*tests));
		tests[count++] = one->test;
	}
	failed = _cmocka_run_group_tests(name, tests, count, set_up, tear_down);
	free(tests);
	return count == 0 || failed;
}

#define UNIT_MAIN(set_up, tear_down)                          \
	int main(void)                                        \
	{                                                     \
		return unit_run(__FILE__, set_up, tear_down); \
	}
