/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A plot as a script for gnuplot, data included: 900 by 600 pixels or 7.5 by 5 inches, the colours
 * of Okabe and Ito, which the colour-blind can tell apart, and a mark of its own for each curve.
 */

#include <stdio.h>

#include "plot_curves.h"

enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF, PLOT_GNUPLOT, PLOT_FORMAT_COUNT };

/* By the end of a file's name, ".png" and so on; PLOT_FORMAT_COUNT for another one. */
enum plot_format plot_format_find(const char *path);

/* 'output' is the file that gnuplot is to write; NULL: the script says no terminal and no output.
 */
void plot_script_write(
	const struct plot_curves *curves, enum plot_format format, const char *output, FILE *out);
