/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <stdio.h>
#include <string.h>

/* The notes of a lenient import, each with a newline. */
struct notes {
	char text[16384];
};

static inline void keep_note(void *context, const char *text)
{
	struct notes *notes = context;
	size_t used = strlen(notes->text);

	snprintf(notes->text + used, sizeof(notes->text) - used, "%s\n", text);
}
