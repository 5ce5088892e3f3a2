/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_axes.h"

#include <math.h>
#include <stddef.h>

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

static double greatest_of(const struct plot_curve *curve)
{
	double most = 0;

	for (unsigned i = 0; i < curve->points; i++)
		most = fmax(most, curve->point[i].y2.mean);
	return most;
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
		plot_greatest(curves, of_y2), plot_greatest(curves, of_x) + 0.5,
		plot_greatest(curves, of_y) + 0.5);
	snprintf(title, sizeof(title), "%s, %s", curves->quantity, curves->topology);
	fprintf(out, "set multiplot layout 1,%u title ", curves->curves);
	plot_write_quoted(curves->page.title != NULL ? curves->page.title : title, out);
	fputc('\n', out);
	for (unsigned i = 0; i < curves->curves; i++) {
		snprintf(title, sizeof(title), "%s, at most %.3g", curves->curve[i].label,
			greatest_of(&curves->curve[i]));
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
	double most = plot_greatest_end(curves, of_y) / writer->time.ns;
	char name[64];

	if (writer->log)
		writer->floor = 0.7 * plot_least(curves, of_y) / writer->time.ns;
	plot_write_data(writer, x_scale, 1 / writer->time.ns, 1);
	snprintf(name, sizeof(name), "mean latency [%s]", writer->time.name);
	plot_write_name(writer, "y", name, NULL);
	if (writer->log)
		plot_write_log(writer, 'y', writer->floor, 1.3 * most);
	else
		fprintf(writer->out, "set yrange [0:%.9g]\n", fmax(ROOM * most, 1e-3));
}

void plot_write_latency_load(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double scale = curves->bits_per_us > 0 ? curves->bits_per_us : 100;
	struct plot_line line[PLOT_CURVES_MAX];

	for (unsigned i = 0; i < curves->curves; i++)
		line[i] = (struct plot_line){i, 4, i, NULL, false};
	plot_write_frame(writer, "Latency against offered traffic", curves->curves);
	writer->time = plot_choose_unit(plot_greatest(curves, of_y));
	writer->log = plot_is_wide(plot_least(curves, of_y), plot_greatest(curves, of_y));
	write_latencies(writer, scale);
	plot_write_name(writer, "x",
		curves->bits_per_us > 0 ? "offered traffic [bits/µs of a host]"
					: "offered traffic [% of the hosts' links]",
		NULL);
	fprintf(writer->out, "set xrange [0:%.9g]\nplot \\\n",
		ROOM * scale * plot_greatest_end(curves, of_x));
	plot_write_lines(writer, line, curves->curves, curves->intervals);
}

void plot_write_latency_time(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	struct plot_unit unit = plot_choose_unit(plot_greatest(curves, of_x));
	char name[64];

	plot_write_frame(writer, "Latency against time", curves->curves);
	writer->time = plot_choose_unit(plot_greatest(curves, of_y));
	write_latencies(writer, 1 / unit.ns);
	snprintf(name, sizeof(name), "time [%s]", unit.name);
	plot_write_name(writer, "x", name, NULL);
	fputs("set xrange [0:*]\nplot \\\n", writer->out);
	plot_write_dense(writer, NULL);
	fputc('\n', writer->out);
}
