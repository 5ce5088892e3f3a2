/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What every target has: libFuzzer calls its entry, and what has to hold is a finding if it does
 * not. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define REQUIRE(condition)        \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
