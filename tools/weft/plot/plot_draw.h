/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Pictures by gnuplot, a process. */

#include "fault.h"
#include "plot_script.h"

/* Draws into a file whose name plot_format_find() knows; a .gp gets the script. It appears whole or
 * not at all. -ENODEV: no gnuplot; -EIO, or what opening the file says. */
int plot_draw(const struct plot_curves *curves, const char *output, struct fault *fault);
