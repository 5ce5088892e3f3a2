/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random numbers of the kernel, for what strangers must not guess. Everything else uses rng.h,
 * which gives the same numbers in each run. Any thread. */

#include <stddef.h>

/* Fills 'out'. 0, or a negative errno of getrandom(); then the bytes are unspecified. */
int random_bytes(void *out, size_t bytes);
