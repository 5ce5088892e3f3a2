/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Programs of Weft that another one becomes: in the build folder beside it, when installed in
 * LIBEXECDIR/weft. */

#include "base/weft_error.h"

/* Executes 'name' with these arguments. Returns only on an error: -ENOENT, there is none; others
 * with 'error'. */
int become(const char *name, char **argv, struct error *error);
