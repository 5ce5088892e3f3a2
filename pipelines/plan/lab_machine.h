/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Which processes of a lab run on this machine: the file 'machine' in the run directory, a process
 * a line. 'weft lab up' writes it before it starts any; each process reads it once, when it begins.
 * They share a clock (lab_rendezvous.h), all others have clocks of their own.
 */

#include <stdbool.h>

#include "fault.h"
#include "lab_plan.h"

/* [process of the plan]. 0, or -errno and fault; the file is written in one step. */
int lab_machine_write(const struct lab_plan *plan, const bool *here, struct fault *fault);
/* All of them without such a file: a process that was started without 'weft lab'. 0, or -errno and
 * fault. */
int lab_machine_read(const struct lab_plan *plan, bool *here, struct fault *fault);
