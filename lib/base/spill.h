/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Memory for arrays that may be larger than RAM. An array of 1 MiB or more is a shared mapping of
 * an unlinked file in TMPDIR (default /var/tmp), so the kernel can write out its pages. If the file
 * system is full or tmpfs, anonymous memory is used. fork() shares large arrays with the child. */

#include <stddef.h>

/* Like realloc(). If out of memory, returns NULL and changes nothing. */
void *spill_resize(void *memory, size_t bytes);
/* Like calloc(). */
void *spill_zeroed(size_t count, size_t size);
/* Tells the kernel to read ahead because the array will be read from start to end. */
void spill_read_in_order(void *memory);
void spill_free(void *memory);
