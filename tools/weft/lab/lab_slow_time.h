/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Programs in a dilated lab: libfaketime (Debian: faketime) shows them the lab's time, and scales
 * what they wait for. All programs of a lab on this machine share one clock, which started at the
 * lab's origin and showed the time of day then; captures have the same times. The start is in
 * shared memory, in the form that libfaketime itself uses between a program and its children.
 */

#include <stdint.h>

#include "fault.h"

/* The environment of this process: for programs that it becomes, and those that they start. 0, or
 * -errno and fault; -ENOENT: libfaketime is missing, or the lab has no clock. */
int lab_slow_time_begin(const char *run_dir, uint32_t dilation, struct fault *fault);
/* Back to real time, if this process runs in slow time itself. */
void lab_slow_time_leave(void);
/* Removes the shared memory of the lab, which may have none. */
void lab_slow_time_forget(const char *run_dir);
