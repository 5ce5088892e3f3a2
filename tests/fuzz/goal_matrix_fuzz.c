/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads matrices of an all-to-allv. Refused input gives a one-line reason that starts with the file
 * name. In an accepted matrix, no rank sends to itself. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "goal/goal.h"

#define RANKS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t matrix[RANKS * RANKS] = {0};
	char *text = calloc(1, size + 1);
	struct error error = {""};

	REQUIRE(text != NULL);
	memcpy(text, data, size);
	if (goal_matrix_parse(text, size, "fuzz", RANKS, matrix, &error) == 0) {
		for (unsigned i = 0; i < RANKS * RANKS; i++)
			REQUIRE(matrix[i] <= GOAL_BYTES_MAX);
	} else {
		REQUIRE(strncmp(error.text, "fuzz:", 5) == 0 && strchr(error.text, '\n') == NULL);
	}
	free(text);
	return 0;
}
