/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Memory for arrays that may exceed a machine's memory. A large array is a shared mapping of a file
 * without a name in TMPDIR (default /var/tmp), whose pages the kernel can write out; without room
 * there it is anonymous memory. A process that forks shares large arrays with its children. */

#include <stddef.h>

/* As realloc(); NULL: no memory, and nothing changed. */
void *spill_resize(void *memory, size_t bytes);
/* As calloc(). */
void *spill_zeroed(size_t count, size_t size);
void spill_free(void *memory);
