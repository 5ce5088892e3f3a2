/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Weft programs with which another one replaces itself (exec): beside it in the build folder, in
 * LIBEXECDIR/weft when installed. */

#include "base/weft_error.h"

/* Executes 'name' with these arguments. Returns only on failure: -ENOENT if there is no such
 * program; other errors are described in 'error'. */
int become(const char *name, char **argv, struct error *error);
