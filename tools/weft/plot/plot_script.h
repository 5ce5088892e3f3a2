/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A plot as a script for gnuplot with its data: 900 by 600 pixels or 7.5 by 5 inches, in the
 * colours of Okabe and Ito, which colour-blind readers can distinguish, and with a mark for each
 * curve. */

#include <stdio.h>

#include "fault.h"
#include "plot_curves.h"

enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF, PLOT_GNUPLOT, PLOT_FORMAT_COUNT };

/* By the ending of a file's name, ".png" and so on; PLOT_FORMAT_COUNT for another one. */
enum plot_format plot_format_find(const char *path);

/* 'output' is the file that gnuplot writes; NULL: the script sets no terminal and no output. */
void plot_script_write(
	const struct plot_curves *curves, enum plot_format format, const char *output, FILE *out);

/* Pictures, drawn by a gnuplot process. */

/* Draws into a file whose name plot_format_find() knows; a .gp gets the script. The file appears
 * complete or not at all. -ENODEV: no gnuplot; -EIO, or the error of opening the file. */
int plot_draw(const struct plot_curves *curves, const char *output, struct fault *fault);
