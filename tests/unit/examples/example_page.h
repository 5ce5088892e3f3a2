/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Pages of docs/ that show a file of the tests. */

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

/* The file is a block of C on docs/developer/extending.md, byte for byte. */
static inline void example_expect_shown(const char *file_name)
{
	char *page = example_read(SOURCE_ROOT "/docs/developer/extending.md");
	char *file = example_read(file_name), *block = strstr(page, file);

	assert_non_null(block);
	assert_memory_equal(block - 5, "```c\n", 5);
	assert_memory_equal(block + strlen(file), "```\n", 4);
	free(page);
	free(file);
}
