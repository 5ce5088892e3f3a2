/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Prevents commands from overwriting a file that they read. */

#include <stdbool.h>

#include "fault.h"

/* True if both names refer to the same existing regular file. */
bool same_file(const char *a, const char *b);

/* -EINVAL and fault if the output is the input; either may be NULL, "-" or no file. */
int same_file_refuse(const char *output, const char *input, struct fault *fault);
