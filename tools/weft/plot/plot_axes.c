/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_axes.h"

#include <math.h>
#include <stddef.h>

#define LOG_FROM   15.0 /* ratio of values from which their axis is logarithmic */
#define LOG_SPARSE 1e3  /* ratio from which only powers of ten have a number */
#define BELOW_MAX  8u   /* entries of a legend below the frame */

static const struct confidence *at(const struct plot_point *point, size_t offset)
{
	return (const struct confidence *)((const char *)point + offset);
}

static double low_end(const struct confidence *c)
{
	return isnan(c->half_width) ? c->mean : c->mean - c->half_width;
}

static double high_end(const struct confidence *c)
{
	return isnan(c->half_width) ? c->mean : c->mean + c->half_width;
}

static double mean(const struct confidence *c)
{
	return c->mean;
}

typedef double value_fn(const struct confidence *c);

static double most_of(const struct plot_curves *curves, size_t offset, value_fn *value)
{
	double most = 0;

	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++)
			most = fmax(most, value(at(&curves->curve[i].point[j], offset)));
	return most;
}

static double least_of(const struct plot_curves *curves, size_t offset, value_fn *value)
{
	double least = INFINITY;

	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++) {
			double one = value(at(&curves->curve[i].point[j], offset));

			if (one > 0)
				least = fmin(least, one);
		}
	return least;
}

double plot_greatest(const struct plot_curves *curves, size_t offset)
{
	return most_of(curves, offset, mean);
}

double plot_greatest_end(const struct plot_curves *curves, size_t offset)
{
	return most_of(curves, offset, high_end);
}

double plot_least(const struct plot_curves *curves, size_t offset)
{
	return least_of(curves, offset, mean);
}

double plot_least_end(const struct plot_curves *curves, size_t offset)
{
	return least_of(curves, offset, low_end);
}

struct plot_unit plot_choose_unit(double ns)
{
	static const struct plot_unit units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};

	for (unsigned i = 0; i < 3; i++)
		if (ns >= 2 * units[i].ns)
			return units[i];
	return (struct plot_unit){"ns", 1};
}

bool plot_is_wide(double least, double most)
{
	return most > LOG_FROM * least;
}

void plot_write_log(const struct plot_writer *writer, char axis, double low, double high)
{
	static const double steps[] = {1, 2, 5};
	bool first = true;

	fprintf(writer->out, "set logscale %c\nset %crange [%.9g:%.9g]\n", axis, axis, low, high);
	if (high > LOG_SPARSE * low)
		return;
	fprintf(writer->out, "set %ctics (", axis);
	for (double ten = pow(10, floor(log10(low))); ten <= high; ten *= 10)
		for (unsigned i = 0; i < 3; i++) {
			if (ten * steps[i] < low || ten * steps[i] > high)
				continue;
			fprintf(writer->out, "%s%.9g", first ? "" : ", ", ten * steps[i]);
			first = false;
		}
	fputs(")\n", writer->out);
}

/* "mean low high", scaled. */
static void write_interval(
	const struct plot_writer *writer, const struct confidence *c, double scale, double floor)
{
	if (isnan(c->mean))
		fputs(" NaN NaN NaN", writer->out);
	else
		fprintf(writer->out, " %.9g %.9g %.9g", c->mean * scale,
			fmax(low_end(c) * scale, fmin(floor, c->mean * scale)),
			high_end(c) * scale);
}

void plot_write_data(const struct plot_writer *writer, double x, double y, double y2)
{
	for (unsigned i = 0; i < writer->curves->curves; i++) {
		const struct plot_curve *curve = &writer->curves->curve[i];

		fprintf(writer->out, "$curve%u << END\n", i);
		for (unsigned j = 0; j < curve->points; j++) {
			write_interval(writer, &curve->point[j].x, x, 0);
			write_interval(writer, &curve->point[j].y, y, writer->floor);
			write_interval(writer, &curve->point[j].y2, y2, writer->floor);
			fprintf(writer->out, " %d\n", curve->point[j].hollow);
		}
		fputs("END\n", writer->out);
	}
}

/* The user's, or the kind's, which a narrow page leaves to the caption. */
static void write_title(const struct plot_writer *writer, const char *title)
{
	const struct plot_curves *curves = writer->curves;
	const char *own = curves->page.title;
	char text[128];

	if (own == NULL && plot_page_is_narrow(&curves->page))
		return;
	snprintf(text, sizeof(text), "%s%s%s", title, curves->topology[0] != '\0' ? ", " : "",
		curves->topology);
	fputs("set title ", writer->out);
	plot_write_quoted(own != NULL ? own : text, writer->out);
	fputc('\n', writer->out);
}

void plot_write_frame(const struct plot_writer *writer, const char *title, unsigned entries)
{
	bool narrow = plot_page_is_narrow(&writer->curves->page);

	write_title(writer, title);
	fputs("set grid linecolor '#d0d0d0' linetype 1\nset border 3 back linecolor '#404040'\n"
	      "set tics nomirror\nset bars 0.6\n",
		writer->out);
	if (entries > BELOW_MAX && !narrow)
		fputs("set key outside right top Left reverse samplen 4\n", writer->out);
	else
		fprintf(writer->out, "set key below Left reverse samplen %s height %s\n",
			narrow ? "3" : "4", narrow ? "0.3" : "1");
}

void plot_write_name(
	const struct plot_writer *writer, const char *which, const char *text, const char *narrow)
{
	bool is_narrow = plot_page_is_narrow(&writer->curves->page);

	fprintf(writer->out, "set %slabel ", which);
	plot_write_quoted(is_narrow && narrow != NULL ? narrow : text, writer->out);
	/* The legend is below. */
	fputs(which[0] == 'x' ? " offset 0,0.4\n" : "\n", writer->out);
}
