/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Programs in a dilated lab: libfaketime (Debian: faketime) shows them the lab's time, and scales
 * their waits. All programs of a lab on this machine share one clock. It started at the lab's
 * origin, at that moment's time of day; captures use the same times. Its start is in shared memory,
 * in the format that libfaketime itself uses between a program and its children. */

#include <limits.h>
#include <stdint.h>

#include "base/weft_error.h"

/* Sets the environment of this process, for the programs that it executes or starts. Returns 0, or
 * -errno with fault set; -ENOENT: libfaketime is missing, or the lab has no clock. */
int lab_slow_time_begin(const char *run_dir, uint32_t dilation, struct error *error);
/* Finds a Weft library to preload into programs, such as "weft-time.so". Returns 0, or -errno with
 * error set. */
int lab_preload_find(const char *name, char path[PATH_MAX], struct error *error);
/* Returns to real time, if this process itself runs in slow time. */
void lab_slow_time_leave(void);
/* Removes the lab's shared memory, if it has any. */
void lab_slow_time_forget(const char *run_dir);
