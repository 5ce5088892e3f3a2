/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages that contain a list of all keys or words: "..." in the expected text stands for the
 * list, so that a new entry changes no test. */

#include "unit.h"

static inline void assert_message(const char *found, const char *expected)
{
	const char *list = strstr(expected, "…"), *end = list != NULL ? list + strlen("…") : NULL;
	size_t before = list != NULL ? (size_t)(list - expected) : 0;
	size_t length = strlen(found), after = list != NULL ? strlen(end) : 0;

	if (list == NULL)
		assert_string_equal(found, expected);
	else if (length < before + after || strncmp(found, expected, before) != 0 ||
		 strcmp(found + length - after, end) != 0)
		fail_msg("'%s', expected '%s'", found, expected);
}
