/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The command line of 'weft sweep'. */

#include "fault.h"
#include "sweep.h"

/* Fills in the sweep, whose other fields are 0 but for 'point' and 'grace_s', -1. 0, -EINVAL, or
 * another -errno of a file. */
int sweep_words_parse(struct sweep *sweep, int argc, char **argv, struct fault *fault);
