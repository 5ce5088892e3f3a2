/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The look of curves, and the parts of gnuplot's plot command that draw them. Curves differ in
 * colour (those of Okabe and Ito, which colour-blind readers can distinguish), in dash and in mark,
 * so that they differ in print without colours, too. */

#include <stddef.h>
#include <stdio.h>

#include "plot_curves.h"

struct plot_unit {
	const char *name;
	double ns;
};

struct plot_writer {
	const struct plot_curves *curves;
	FILE *out;
	struct plot_unit time; /* of latencies, or of the time axis */
	bool log;
	double floor; /* intervals end here at the latest: 0, or the end of a logarithmic axis */
	unsigned elements; /* of the plot command, so far */
};

/* One of the curves that the reader sees: y or y2 of a curve. */
struct plot_line {
	unsigned curve;
	unsigned column;  /* of the data: 4 for y, 7 for y2 */
	unsigned look;    /* number of dash and mark, from 0 */
	const char *part; /* "total", added to its name; NULL: the name alone */
	bool thin;
};

/* Begins an element of the plot command: the curve's data and its columns. */
void plot_element(struct plot_writer *writer, unsigned curve, const char *columns);
void plot_write_colour(const struct plot_writer *writer, unsigned curve);
void plot_write_dash(const struct plot_writer *writer, unsigned look);

/* Draws lines with a mark at each point, hollow where the network is saturated, and intervals as
 * error bars: first all lines and bars, then all marks, then the legend. */
void plot_write_lines(
	struct plot_writer *writer, const struct plot_line *line, unsigned lines, bool bars);
/* Draws curves of many points: lines with a few marks on each, of which those of different curves
 * are at different places, and bands for intervals. 'otherwise' names a curve without a label. */
void plot_write_dense(struct plot_writer *writer, const char *otherwise);
