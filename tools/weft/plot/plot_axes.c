/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_axes.h"

#include <math.h>
#include <stddef.h>

#define LOG_FROM   15.0 /* ratio of values from which their axis is logarithmic */
#define LOG_SPARSE 1e3  /* ratio from which only powers of ten have a number */
#define BELOW_MAX  8u   /* entries of a legend below the frame */

#define ROOM 1.06 /* of an axis above the greatest value */

static const size_t of_x = offsetof(struct plot_point, x);
static const size_t of_y = offsetof(struct plot_point, y);
static const size_t of_y2 = offsetof(struct plot_point, y2);

static void write_groups(const struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	FILE *out = writer->out;

	fputs("set xtics (", out);
	for (unsigned i = 0; i < curves->groups; i++) {
		fputs(i > 0 ? ", " : "", out);
		plot_write_tick(curves->group[i], i, out);
	}
	fputs(curves->groups > 8 ? ") rotate by -45\n" : ")\n", out);
	fprintf(out, "set xrange [-0.5:%g]\nset yrange [0:*]\n", curves->groups - 0.5);
}

static void write_bar_ends(struct plot_writer *writer, unsigned curve, double shift)
{
	char columns[64];

	snprintf(columns, sizeof(columns), "($1 + %.6g):5:(0):($6 - $5)", shift);
	plot_element(writer, curve, columns);
	fputs(" with vectors nohead linewidth 1.2 linecolor rgb '#404040' notitle", writer->out);
}

void plot_write_bars(struct plot_writer *writer)
{
	/* gnuplot's patterns: solid, hatched, striped and so on; the last is empty. */
	static const unsigned patterns[] = {3, 1, 4, 2, 5, 6, 7, 0};
	const struct plot_curves *curves = writer->curves;
	double width = 0.8 / (curves->curves > 0 ? curves->curves : 1);

	plot_write_data(writer, 1, 1, 1);
	plot_write_frame(writer, curves->quantity, curves->curves);
	plot_write_name(writer, "y", curves->quantity, NULL);
	write_groups(writer);
	fprintf(writer->out, "set boxwidth %.6g\nplot \\\n", 0.9 * width);
	for (unsigned i = 0; i < curves->curves; i++) {
		double shift = (i - (curves->curves - 1) / 2.0) * width;
		char columns[48];

		snprintf(columns, sizeof(columns), "($1 + %.6g):4", shift);
		plot_element(writer, i, columns);
		fputs(" with boxes", writer->out);
		plot_write_colour(writer, i);
		fprintf(writer->out, " fillstyle pattern %u title ", patterns[i % 8]);
		plot_write_quoted(curves->curve[i].label, writer->out);
		if (curves->intervals)
			write_bar_ends(writer, i, shift);
	}
	fputc('\n', writer->out);
}

static double curve_max(const struct plot_curve *curve)
{
	double max = 0;

	for (unsigned i = 0; i < curve->points; i++)
		max = fmax(max, curve->point[i].y2.mean);
	return max;
}

void plot_write_maps(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	char title[2 * PLOT_LABEL_MAX];
	FILE *out = writer->out;

	plot_write_data(writer, 1, 1, 1);
	fprintf(out,
		"set palette defined (0 '#f7fbff', 0.25 '#9ecae1', 0.5 '#fdae6b', 0.75 '#e6550d', "
		"1 '#67000d')\nset cbrange [0:%.9g]\nset size ratio -1\nset tics out nomirror\n"
		"set xrange [-0.5:%.9g]\nset yrange [-0.5:%.9g]\nset xtics 1\nset ytics 1\n"
		"unset key\n",
		plot_max(curves, of_y2), plot_max(curves, of_x) + 0.5,
		plot_max(curves, of_y) + 0.5);
	snprintf(title, sizeof(title), "%s, %s", curves->quantity, curves->topology);
	fprintf(out, "set multiplot layout 1,%u title ", curves->curves);
	plot_write_quoted(curves->page.title != NULL ? curves->page.title : title, out);
	fputc('\n', out);
	for (unsigned i = 0; i < curves->curves; i++) {
		snprintf(title, sizeof(title), "%s, at most %.3g", curves->curve[i].label,
			curve_max(&curves->curve[i]));
		fputs("set title ", out);
		plot_write_quoted(title, out);
		fprintf(out, "\nplot $curve%u using 1:4:7 with image pixels\n", i);
	}
	fputs("unset multiplot\n", out);
}

/* The axis of the latencies in writer->time, and their data. */
static void write_latencies(struct plot_writer *writer, double x_scale)
{
	const struct plot_curves *curves = writer->curves;
	double max = plot_max_end(curves, of_y) / writer->time.ns;
	char name[64];

	if (writer->log)
		writer->floor = 0.7 * plot_min(curves, of_y) / writer->time.ns;
	plot_write_data(writer, x_scale, 1 / writer->time.ns, 1);
	snprintf(name, sizeof(name), "mean latency [%s]", writer->time.name);
	plot_write_name(writer, "y", name, NULL);
	if (writer->log)
		plot_write_log(writer, 'y', writer->floor, 1.3 * max);
	else
		fprintf(writer->out, "set yrange [0:%.9g]\n", fmax(ROOM * max, 1e-3));
}

void plot_write_latency_load(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double scale = curves->bits_per_us > 0 ? curves->bits_per_us : 100;
	struct plot_line line[PLOT_CURVES_MAX];

	for (unsigned i = 0; i < curves->curves; i++)
		line[i] = (struct plot_line){i, 4, i, NULL, false};
	plot_write_frame(writer, "Latency against offered traffic", curves->curves);
	writer->time = plot_choose_unit(plot_max(curves, of_y));
	writer->log = plot_is_wide(plot_min(curves, of_y), plot_max(curves, of_y));
	write_latencies(writer, scale);
	plot_write_name(writer, "x",
		curves->bits_per_us > 0 ? "offered traffic [bits/µs of a host]"
					: "offered traffic [% of the hosts' links]",
		NULL);
	fprintf(writer->out, "set xrange [0:%.9g]\nplot \\\n",
		ROOM * scale * plot_max_end(curves, of_x));
	plot_write_lines(writer, line, curves->curves, curves->intervals);
}

void plot_write_latency_time(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	struct plot_unit unit = plot_choose_unit(plot_max(curves, of_x));
	char name[64];

	plot_write_frame(writer, "Latency against time", curves->curves);
	writer->time = plot_choose_unit(plot_max(curves, of_y));
	write_latencies(writer, 1 / unit.ns);
	snprintf(name, sizeof(name), "time [%s]", unit.name);
	plot_write_name(writer, "x", name, NULL);
	fputs("set xrange [0:*]\nplot \\\n", writer->out);
	plot_write_dense(writer, NULL);
	fputc('\n', writer->out);
}

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

static double max_of(const struct plot_curves *curves, size_t offset, value_fn *value)
{
	double max = 0;

	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++)
			max = fmax(max, value(at(&curves->curve[i].point[j], offset)));
	return max;
}

static double min_of(const struct plot_curves *curves, size_t offset, value_fn *value)
{
	double min = INFINITY;

	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++) {
			double one = value(at(&curves->curve[i].point[j], offset));

			if (one > 0)
				min = fmin(min, one);
		}
	return min;
}

double plot_max(const struct plot_curves *curves, size_t offset)
{
	return max_of(curves, offset, mean);
}

double plot_max_end(const struct plot_curves *curves, size_t offset)
{
	return max_of(curves, offset, high_end);
}

double plot_min(const struct plot_curves *curves, size_t offset)
{
	return min_of(curves, offset, mean);
}

double plot_min_end(const struct plot_curves *curves, size_t offset)
{
	return min_of(curves, offset, low_end);
}

struct plot_unit plot_choose_unit(double ns)
{
	static const struct plot_unit units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};

	for (unsigned i = 0; i < 3; i++)
		if (ns >= 2 * units[i].ns)
			return units[i];
	return (struct plot_unit){"ns", 1};
}

bool plot_is_wide(double min, double max)
{
	return max > LOG_FROM * min;
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
