/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by all targets: libFuzzer calls the entry, and a violated requirement is a finding. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define REQUIRE(condition)        \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
