/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page of a plot: its format, size, font and title, as gnuplot's terminal. 900 by 600 pixels,
 * or 7.5 by 5 inches, and higher for a long legend, unless the user wants others. A size in inches
 * is 300 pixels per inch in a PNG and 96 in an SVG; a size in pixels is 120 per inch in a PDF. */

#include <stdbool.h>
#include <stdio.h>

#include "fault.h"

enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF, PLOT_GNUPLOT, PLOT_FORMAT_COUNT };

struct plot_page {
	double width, height; /* 0: the default */
	bool inches;          /* else pixels */
	char font[64];        /* "": the default */
	double font_size;     /* points; 0: the default */
	unsigned entries;     /* of the legend */
	const char *title;    /* NULL: the kind's own, on pages that are wide enough; "": none */
};

/* By the ending of a file's name, ".png" and so on; PLOT_FORMAT_COUNT for another one. */
enum plot_format plot_format_find(const char *path);

/* "900x600", "3.4in", "3.4x2.5in", "86mm": px (default), in, cm or mm. A width alone has the height
 * of three quarters of it. -EINVAL. */
int plot_page_set_size(struct plot_page *page, const char *text, struct fault *fault);
/* "Times", "Times,9" or ",9". -EINVAL. */
int plot_page_set_font(struct plot_page *page, const char *text, struct fault *fault);

/* Too narrow for a title and long names of axes: less than 5 inches or 600 pixels. */
bool plot_page_is_narrow(const struct plot_page *page);

/* Writes the terminal and the output file; 'output' NULL: neither of them. */
void plot_page_write(
	const struct plot_page *page, enum plot_format format, const char *output, FILE *out);

/* Writes text in gnuplot's single quotes. */
void plot_write_quoted(const char *text, FILE *out);
/* The same as the name of a place on an axis, which for gnuplot is a format. */
void plot_write_tick(const char *text, double at, FILE *out);
