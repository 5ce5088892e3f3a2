/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Replaces a Weft program with another one (exec), which is in the same build folder or, when
 * installed, in LIBEXECDIR/weft. */

#include "base/weft_error.h"

/* Executes 'name' with these arguments. Returns only on failure: -ENOENT if there is no such
 * program; other errors are described in 'error'. */
int become(const char *name, char **argv, struct error *error);
