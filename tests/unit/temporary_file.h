/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <string.h>
#include <unistd.h>

#include "unit.h"

/* Writes the text to a new file, which the caller removes. 'path' is a mkstemp() template. */
static inline void temporary_file(char *path, const char *text)
{
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
}
