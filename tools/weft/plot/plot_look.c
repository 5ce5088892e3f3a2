/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_look.h"

#include <math.h>

#define BANDS_MAX    4u /* curves whose bands of confidence remain distinguishable */
#define MARKS_SPREAD 8u /* marks on a curve of many points */

static const char *const colours[] = {
	"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))
/* The first is for the first curve: the commonest plot has one or two. */
static const char *const dashes[] = {
	"solid", "(8,4)", "(2,3)", "(8,3,2,3)", "(14,4)", "(8,3,2,3,2,3)", "(4,4)"};
#define DASHES (sizeof(dashes) / sizeof(dashes[0]))
/* gnuplot's filled marks; the hollow one of each is the number before it. */
static const unsigned marks[] = {7, 5, 9, 13, 11, 15};
#define MARKS (sizeof(marks) / sizeof(marks[0]))

static unsigned mark_of(unsigned look)
{
	return marks[look % MARKS];
}

/* Marks of later curves are smaller, so that those at the same place do not hide each other. */
static double size_of(const struct plot_line *line)
{
	return fmax(1.3 - 0.15 * line->look, 0.7) * (line->thin ? 0.8 : 1);
}

void plot_element(struct plot_writer *writer, unsigned curve, const char *columns)
{
	fprintf(writer->out, "%s  $curve%u using %s", writer->elements++ > 0 ? ", \\\n" : "", curve,
		columns);
}

void plot_write_colour(const struct plot_writer *writer, unsigned curve)
{
	fprintf(writer->out, " linecolor rgb '%s'", colours[curve % COLOURS]);
}

/* Curves of one colour have different dashes. */
void plot_write_dash(const struct plot_writer *writer, unsigned look)
{
	fprintf(writer->out, " dashtype %s", dashes[(look + look / COLOURS) % DASHES]);
}

static const struct confidence *y_of(const struct plot_point *point, unsigned column)
{
	return column == 4 ? &point->y : &point->y2;
}

/* Whether there is a point to draw; gnuplot warns of elements without one. */
static bool has_points(const struct plot_writer *writer, const struct plot_line *line)
{
	const struct plot_curve *curve = &writer->curves->curve[line->curve];

	for (unsigned i = 0; i < curve->points; i++)
		if (!isnan(y_of(&curve->point[i], line->column)->mean))
			return true;
	return false;
}

static bool has_marks(const struct plot_writer *writer, const struct plot_line *line, bool hollow)
{
	const struct plot_curve *curve = &writer->curves->curve[line->curve];

	for (unsigned i = 0; i < curve->points; i++)
		if (curve->point[i].hollow == hollow &&
			!isnan(y_of(&curve->point[i], line->column)->mean))
			return true;
	return false;
}

static void write_line(struct plot_writer *writer, const struct plot_line *line)
{
	char columns[16];

	if (writer->curves->curve[line->curve].apart || !has_points(writer, line))
		return;
	snprintf(columns, sizeof(columns), "1:%u", line->column);
	plot_element(writer, line->curve, columns);
	fprintf(writer->out, " with lines linewidth %s", line->thin ? "1.5" : "2");
	plot_write_colour(writer, line->curve);
	plot_write_dash(writer, line->look);
	fputs(" notitle", writer->out);
}

static void write_bars(struct plot_writer *writer, const struct plot_line *line)
{
	char columns[32];

	if (!has_points(writer, line))
		return;
	snprintf(columns, sizeof(columns), "1:%u:2:3:%u:%u", line->column, line->column + 1,
		line->column + 2);
	plot_element(writer, line->curve, columns);
	fputs(" with xyerrorbars linewidth 1.2 pointtype 0", writer->out);
	plot_write_colour(writer, line->curve);
	fputs(" dashtype solid notitle", writer->out);
}

static void write_mark(struct plot_writer *writer, const struct plot_line *line, bool hollow,
	unsigned type, const char *colour)
{
	char columns[48];

	snprintf(columns, sizeof(columns), "1:($10 == %d ? $%u : NaN)", hollow, line->column);
	plot_element(writer, line->curve, columns);
	fprintf(writer->out, " with points pointtype %u pointsize %.3g linewidth 1.5", type,
		size_of(line));
	if (colour != NULL)
		fprintf(writer->out, " linecolor rgb '%s'", colour);
	else
		plot_write_colour(writer, line->curve);
	fputs(" notitle", writer->out);
}

/* A hollow mark is white within: it hides the line. */
static void write_marks(struct plot_writer *writer, const struct plot_line *line)
{
	unsigned type = mark_of(line->look);

	if (has_marks(writer, line, false))
		write_mark(writer, line, false, type, NULL);
	if (!has_marks(writer, line, true))
		return;
	write_mark(writer, line, true, type, "#ffffff");
	write_mark(writer, line, true, type - 1, NULL);
}

/* An entry of the legend: its name, with the part and with what keeps the curve from sight. */
static void write_entry(struct plot_writer *writer, const struct plot_line *line)
{
	const struct plot_curve *curve = &writer->curves->curve[line->curve];
	const char *between = curve->label[0] != '\0' && line->part != NULL ? ", " : "";
	char name[PLOT_LABEL_MAX + 64];

	snprintf(name, sizeof(name), "%s%s%s%s", curve->label, between,
		line->part != NULL ? line->part : "", has_points(writer, line) ? "" : " (none)");
	if (name[0] == '\0')
		return;
	fprintf(writer->out, "%s  keyentry with %s", writer->elements++ > 0 ? ", \\\n" : "",
		curve->apart ? "points" : "linespoints");
	fprintf(writer->out, " pointtype %u pointsize %.3g", mark_of(line->look), size_of(line));
	fprintf(writer->out, " linewidth %s", line->thin ? "1.5" : "2");
	plot_write_colour(writer, line->curve);
	if (!curve->apart)
		plot_write_dash(writer, line->look);
	fputs(" title ", writer->out);
	plot_write_quoted(name, writer->out);
}

void plot_write_lines(
	struct plot_writer *writer, const struct plot_line *line, unsigned lines, bool bars)
{
	bool hollow = false;

	for (unsigned i = 0; i < lines; i++)
		write_line(writer, &line[i]);
	for (unsigned i = 0; i < lines && bars; i++)
		write_bars(writer, &line[i]);
	for (unsigned i = 0; i < lines; i++)
		write_marks(writer, &line[i]);
	for (unsigned i = 0; i < lines; i++) {
		write_entry(writer, &line[i]);
		hollow = hollow || has_marks(writer, &line[i], true);
	}
	if (hollow)
		fprintf(writer->out,
			", \\\n  keyentry with points pointtype 6 pointsize 1 linewidth 1.5 linecolor "
			"rgb '#606060' title 'hollow: %s'",
			writer->curves->hollow != NULL ? writer->curves->hollow
						       : "not known to be steady");
	fputc('\n', writer->out);
}

/* Normalised curves often coincide for a time: the first are the widest, so that they show below
 * the others. */
static double line_width(const struct plot_curves *curves, unsigned i)
{
	return curves->normalised ? 2 + 0.6 * (curves->curves - 1 - i) : 2;
}

static void write_band(struct plot_writer *writer, unsigned i)
{
	plot_element(writer, i, "1:5:6");
	fputs(" with filledcurves fillstyle transparent solid 0.2", writer->out);
	plot_write_colour(writer, i);
	fputs(" notitle", writer->out);
}

/* A few marks, at other points than those of the other curves. */
static void write_spread_marks(struct plot_writer *writer, unsigned i)
{
	const struct plot_curves *curves = writer->curves;
	unsigned step = curves->curve[i].points / MARKS_SPREAD;
	char columns[48];

	if (step == 0)
		step = 1;
	snprintf(columns, sizeof(columns), "1:4 every %u::%u", step, i * step / curves->curves);
	plot_element(writer, i, columns);
	fprintf(writer->out, " with points pointtype %u pointsize 1", mark_of(i));
	plot_write_colour(writer, i);
	fputs(" notitle", writer->out);
}

void plot_write_dense(struct plot_writer *writer, const char *otherwise)
{
	const struct plot_curves *curves = writer->curves;

	for (unsigned i = 0; i < curves->curves; i++)
		if (curves->intervals && curves->curves <= BANDS_MAX && curves->curve[i].points > 0)
			write_band(writer, i);
	for (unsigned i = 0; i < curves->curves; i++) {
		if (curves->curve[i].points == 0)
			continue;
		plot_element(writer, i, "1:4");
		fprintf(writer->out, " with lines linewidth %g", line_width(curves, i));
		plot_write_colour(writer, i);
		plot_write_dash(writer, i);
		fputs(" notitle", writer->out);
	}
	for (unsigned i = 0; i < curves->curves && curves->curves > 1; i++)
		if (curves->curve[i].points > 0)
			write_spread_marks(writer, i);
	for (unsigned i = 0; i < curves->curves; i++) {
		const struct plot_line line = {
			i, 4, i, curves->curve[i].label[0] == '\0' ? otherwise : NULL, false};

		if (curves->curves > 1)
			write_entry(writer, &line);
	}
}
