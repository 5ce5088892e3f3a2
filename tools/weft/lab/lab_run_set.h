/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* weft lab run --set: the traffic of one run, which differs from that of the lab's file. */

#include "fault.h"
#include "lab.h"

/* Applies "KEY=VALUE" to the opened lab, and writes the file that processes are told to load
 * ('traffic load'). 0, or -EINVAL and fault: a key of something that cannot change while the lab is
 * up, or a value that the lab cannot have; else -errno. */
int lab_run_set(struct lab *lab, const char *const *set, unsigned sets, struct fault *fault);
