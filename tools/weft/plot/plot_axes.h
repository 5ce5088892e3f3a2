/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The data of a plot in gnuplot's form, its frame, legend and axes. All points and all intervals
 * are inside the frame, the legend is outside. */

#include "plot_look.h"

/* By the offset of x, y or y2 in struct plot_point: the greatest mean; the greatest end of an
 * interval; 0 if there is none. */
double plot_max(const struct plot_curves *curves, size_t offset);
double plot_max_end(const struct plot_curves *curves, size_t offset);
/* The least that is above 0; INFINITY if there is none. */
double plot_min(const struct plot_curves *curves, size_t offset);
double plot_min_end(const struct plot_curves *curves, size_t offset);

/* The unit that leaves few digits before the point. */
struct plot_unit plot_choose_unit(double ns);

/* Whether values are so far apart that their axis is logarithmic. */
bool plot_is_wide(double min, double max);
/* A logarithmic axis, 'x' or 'y', with a number at 1, 2, 5, 10 and so on. */
void plot_write_log(const struct plot_writer *writer, char axis, double low, double high);

/* A block of data for each curve: x, y and y2, each with the ends of its interval, scaled, and 1 if
 * the point is saturated. No interval goes below writer->floor (scaled). */
void plot_write_data(const struct plot_writer *writer, double x, double y, double y2);
/* Grid, border, title and legend. */
void plot_write_frame(const struct plot_writer *writer, const char *title, unsigned entries);
/* "set xlabel" and the like; 'narrow' on narrow pages, NULL: the same. */
void plot_write_name(
	const struct plot_writer *writer, const char *which, const char *text, const char *narrow);

/* Figures of papers that only 'weft reproduce' draws, as gnuplot's commands. */

/* A bar of each curve in every group, with its interval. */
void plot_write_bars(struct plot_writer *writer);
/* A map for each curve, side by side, all in the colours of one scale. */
void plot_write_maps(struct plot_writer *writer);
/* Total latency against the offered load; a logarithmic axis if values are far apart. */
void plot_write_latency_load(struct plot_writer *writer);
/* Latency of each sample over time. */
void plot_write_latency_time(struct plot_writer *writer);
