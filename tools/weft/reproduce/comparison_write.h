/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A comparison for people and for programs. */

#include <stdio.h>

#include "comparison.h"

/* A table: published | ours | ratio, then what was missed. */
void comparison_print(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out);
/* "reproduction/1"; NULL without memory. */
json_t *comparison_json(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials);
