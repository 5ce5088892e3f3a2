/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Pages of docs/ that show a file of the tests. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static inline char *example_read(const char *name)
{
	FILE *in = fopen(name, "r");
	char *text = calloc(1, 65536);

	assert_non_null(in);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, in) > 0);
	fclose(in);
	return text;
}

/* The page's first block of C that begins with a licence is the file, byte for byte. */
static inline void example_expect_shown(const char *page_name, const char *file_name)
{
	char *page = example_read(page_name), *file = example_read(file_name);
	char *block = strstr(page, "```c\n/* SPDX"), *end;

	assert_non_null(block);
	block += strlen("```c\n");
	end = strstr(block, "\n```\n");
	assert_non_null(end);
	end[1] = '\0';
	assert_string_equal(block, file);
	free(page);
	free(file);
}
