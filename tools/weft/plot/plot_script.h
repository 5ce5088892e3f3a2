/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A plot as a script for gnuplot with its data. */

#include <stdio.h>

#include "fault.h"
#include "plot_curves.h"

/* 'output' is the file that gnuplot writes; NULL: the script sets no terminal and no output. */
void plot_script_write(
	const struct plot_curves *curves, enum plot_format format, const char *output, FILE *out);

/* Pictures, drawn by a gnuplot process. */

/* Draws into a file whose name plot_format_find() knows; a .gp gets the script. The file appears
 * complete or not at all. -ENODEV: no gnuplot; -EIO, or the error of opening the file. */
int plot_draw(const struct plot_curves *curves, const char *output, struct fault *fault);
