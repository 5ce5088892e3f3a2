/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Whether a command would write over what it reads. */

#include <stdbool.h>

#include "fault.h"

/* Both are there and are one regular file, whatever their names. */
bool same_file(const char *a, const char *b);

/* -EINVAL and fault if the output is the input; either may be NULL, "-" or no file. */
int same_file_refuse(const char *output, const char *input, struct fault *fault);
