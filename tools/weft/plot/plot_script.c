/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_script.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define LOG_FROM      15.0 /* ratio of latencies from which their axis is logarithmic */
#define KEY_INSIDE    6u   /* curves whose legend has room in the picture */
#define BANDS_MAX     4u   /* curves whose bands of confidence remain distinguishable */
#define MARKS_MAX     40u  /* points of a curve that all get a mark */
#define INTERVAL_ROOM 1.3  /* an interval may reach so far above the greatest mean */

struct unit {
	const char *name;
	double ns;
};

struct writer {
	const struct plot_curves *curves;
	FILE *out;
	struct unit time; /* of latencies, or of the time axis */
	bool log;
};

static const char *const colours[] = {
	"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))
static const unsigned marks[] = {7, 5, 9, 13, 11, 6, 4, 8};
#define MARKS (sizeof(marks) / sizeof(marks[0]))

enum plot_format plot_format_find(const char *path)
{
	static const char *const ends[] = {".png", ".svg", ".pdf", ".gp"};
	size_t length = strlen(path);
	unsigned format = 0;

	while (format < PLOT_FORMAT_COUNT &&
		(length <= strlen(ends[format]) ||
			strcmp(path + length - strlen(ends[format]), ends[format]) != 0))
		format++;
	return (enum plot_format)format;
}

/* gnuplot's single quotes: a quote inside is doubled, nothing else is special. */
static void write_quoted(const char *text, FILE *out)
{
	fputc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
	fputc('\'', out);
}

static void write_terminal(enum plot_format format, const char *output, FILE *out)
{
	static const char *const terminals[] = {
		"pngcairo size 900,600 font 'sans,12' noenhanced",
		"svg size 900,600 font 'sans,14' noenhanced background '#ffffff'",
		"pdfcairo size 7.5in,5in font 'sans,12' noenhanced",
	};

	fputs("set encoding utf8\n", out);
	if (output == NULL)
		return;
	fprintf(out, "set terminal %s\nset output ", terminals[format]);
	write_quoted(output, out);
	fputc('\n', out);
}

/* The greatest mean of x, y or y2, by its offset in struct plot_point; 0 if there is none. */
static double greatest(const struct plot_curves *curves, size_t offset)
{
	double most = 0;

	for (unsigned i = 0; i < curves->curves; i++) {
		const struct plot_curve *curve = &curves->curve[i];

		for (unsigned j = 0; j < curve->points; j++)
			most = fmax(
				most, ((const struct confidence *)((const char *)&curve->point[j] +
								   offset))
					      ->mean);
	}
	return most;
}

static double least_latency(const struct plot_curves *curves)
{
	double least = INFINITY;

	for (unsigned i = 0; i < curves->curves; i++)
		for (unsigned j = 0; j < curves->curve[i].points; j++) {
			const struct plot_point *point = &curves->curve[i].point[j];

			if (point->y.mean > 0)
				least = fmin(least, point->y.mean);
			if (point->y2.mean > 0)
				least = fmin(least, point->y2.mean);
		}
	return least;
}

/* The unit that leaves few digits before the point. */
static struct unit choose_unit(double ns)
{
	static const struct unit units[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};

	for (unsigned i = 0; i < 3; i++)
		if (ns >= 2 * units[i].ns)
			return units[i];
	return (struct unit){"ns", 1};
}

static double low_end(const struct confidence *c)
{
	return isnan(c->half_width) ? c->mean : c->mean - c->half_width;
}

static double high_end(const struct confidence *c)
{
	return isnan(c->half_width) ? c->mean : c->mean + c->half_width;
}

/* "mean low high", scaled. */
static void write_interval(const struct confidence *c, double scale, FILE *out)
{
	if (isnan(c->mean)) {
		fputs(" NaN NaN NaN", out);
		return;
	}
	fprintf(out, " %.9g %.9g %.9g", c->mean * scale, low_end(c) * scale, high_end(c) * scale);
}

/* A block of data for each curve: x, y and y2, each with the ends of its interval. */
static void write_data(const struct writer *writer, double x, double y, double y2)
{
	for (unsigned i = 0; i < writer->curves->curves; i++) {
		const struct plot_curve *curve = &writer->curves->curve[i];

		fprintf(writer->out, "$curve%u << END\n", i);
		for (unsigned j = 0; j < curve->points; j++) {
			write_interval(&curve->point[j].x, x, writer->out);
			write_interval(&curve->point[j].y, y, writer->out);
			write_interval(&curve->point[j].y2, y2, writer->out);
			fputc('\n', writer->out);
		}
		fputs("END\n", writer->out);
	}
}

static void write_frame(const struct writer *writer, const char *title)
{
	const struct plot_curves *curves = writer->curves;
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", title, curves->topology[0] != '\0' ? ", " : "",
		curves->topology);
	fputs("set title ", writer->out);
	write_quoted(text, writer->out);
	fputs("\nset grid linecolor '#d0d0d0' linetype 1\nset border 3 linecolor '#404040'\n"
	      "set tics nomirror\nset bars 0.6\n",
		writer->out);
	/* Latency curves leave the corner of low traffic free, the others leave none. */
	if (curves->curves > KEY_INSIDE)
		fputs("set key outside right top samplen 2\n", writer->out);
	else if (curves->kind == PLOT_LATENCY_THROUGHPUT)
		fputs("set key top left samplen 3 opaque\n", writer->out);
	else
		fputs("set key below samplen 3 height 1\n", writer->out);
}

/* The beginning of the i-th curve: its columns, style and colour. 'first': of the whole plot. */
static void write_curve(
	const struct writer *writer, unsigned i, bool first, const char *columns, const char *style)
{
	fprintf(writer->out, "%s  $curve%u using %s %s linecolor rgb '%s'", first ? "" : ", \\\n",
		i, columns, style, colours[i % COLOURS]);
}

static void write_error_bars(const struct writer *writer, unsigned i, const char *columns)
{
	write_curve(writer, i, false, columns, "with xyerrorbars linewidth 1 pointtype 0");
	fputs(" notitle", writer->out);
}

static void write_title(const struct writer *writer, unsigned i, const char *otherwise)
{
	const char *label = writer->curves->curve[i].label;

	fputs(" title ", writer->out);
	write_quoted(label[0] != '\0' ? label : otherwise, writer->out);
}

/* A range that shows all means; longer intervals are cut off. */
static void write_latency_range(const struct writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double most = fmax(greatest(curves, offsetof(struct plot_point, y)),
		greatest(curves, offsetof(struct plot_point, y2)));

	if (most <= 0)
		return;
	if (writer->log)
		fprintf(writer->out, "set logscale y\nset yrange [%.9g:%.9g]\n",
			least_latency(curves) * 0.7 / writer->time.ns,
			most * INTERVAL_ROOM * 1.2 / writer->time.ns);
	else
		fprintf(writer->out, "set yrange [0:%.9g]\n",
			most * (curves->intervals ? INTERVAL_ROOM : 1.1) / writer->time.ns);
}

static void write_latency_curve(const struct writer *writer, unsigned i)
{
	FILE *out = writer->out;
	unsigned mark = marks[i % MARKS];

	write_curve(writer, i, i == 0, "1:4", "with linespoints linewidth 2 pointsize 0.9");
	fprintf(out, " pointtype %u", mark);
	write_title(writer, i, "total");
	write_curve(
		writer, i, false, "1:7", "with linespoints linewidth 1.5 dashtype 2 pointsize 0.6");
	fprintf(out, " pointtype %u", mark);
	fputs(writer->curves->curves == 1 ? " title 'network'" : " notitle", out);
	if (!writer->curves->intervals)
		return;
	write_error_bars(writer, i, "1:4:2:3:5:6");
	write_error_bars(writer, i, "1:7:2:3:8:9");
}

static void write_latency(struct writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double most = greatest(curves, offsetof(struct plot_point, y));
	FILE *out = writer->out;

	writer->time = choose_unit(most / 10);
	writer->log = most > LOG_FROM * least_latency(curves);
	write_data(writer, curves->flits ? 1 : 100, 1 / writer->time.ns, 1 / writer->time.ns);
	write_frame(writer, "Latency against throughput");
	fprintf(out,
		"set xlabel 'accepted traffic [%s]'\n"
		"set ylabel 'mean latency [%s]'\nset xrange [0:*]\n",
		curves->flits ? "flits/ns/switch" : "% of the hosts'' links", writer->time.name);
	write_latency_range(writer);
	fputs("plot \\\n", out);
	for (unsigned i = 0; i < curves->curves; i++)
		write_latency_curve(writer, i);
	if (curves->curves > 1)
		fputs(", \\\n  NaN with lines linewidth 2 linecolor '#808080' title 'total', \\\n"
		      "  NaN with lines linewidth 1.5 dashtype 2 linecolor '#808080' title "
		      "'network'",
			out);
	fputc('\n', out);
}

/* A single run has room for its latency, too. */
static void write_latency_beside(const struct writer *writer)
{
	fprintf(writer->out,
		", \\\n  $curve0 using 1:7 axes x1y2 with lines linewidth 1.5 dashtype 2 "
		"linecolor rgb '%s' title 'mean network latency (right)'",
		colours[1]);
}

static bool has_bands(const struct plot_curves *curves)
{
	return curves->intervals && curves->curves <= BANDS_MAX;
}

/* Normalised curves often coincide for a time: the first are the widest, so that they show below
 * the others. */
static double line_width(const struct plot_curves *curves, unsigned i)
{
	return curves->normalised ? 2 + 0.6 * (curves->curves - 1 - i) : 2;
}

static void write_band(const struct writer *writer, unsigned i, bool first)
{
	write_curve(writer, i, first, "1:5:6", "with filledcurves fillstyle transparent solid 0.2");
	fputs(" notitle", writer->out);
}

static void write_efficiency_curves(const struct writer *writer, bool alone)
{
	bool bands = has_bands(writer->curves);

	for (unsigned i = 0; i < writer->curves->curves; i++) {
		if (bands)
			write_band(writer, i, i == 0);
		write_curve(writer, i, i == 0 && !bands, "1:4", "with lines");
		fprintf(writer->out, " linewidth %g", line_width(writer->curves, i));
		fprintf(writer->out, " dashtype %u", 1 + 2 * (i / (unsigned)COLOURS));
		write_title(writer, i, alone ? "accepted traffic" : "");
	}
}

/* End of an axis of percentages, a little above 100. */
static double range_end(double percent)
{
	return fmax(fmin(percent, fmax(105, percent / 1.2)), 1e-3);
}

/* The axis of accepted traffic; 'name' is its name in the papers. */
static void write_accepted_axis(const struct writer *writer, const char *name)
{
	const struct plot_curves *curves = writer->curves;

	if (curves->normalised)
		fprintf(writer->out, "set ylabel '%s'\nset yrange [0:1.05]\n", name);
	else
		fprintf(writer->out,
			"set ylabel 'accepted traffic [%% of the hosts'' links]'\n"
			"set yrange [0:%.9g]\n",
			range_end(120 * greatest(curves, offsetof(struct plot_point, y))));
}

static void write_throughput(struct writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double scale = curves->normalised ? 1 : 100;
	FILE *out = writer->out;

	write_data(writer, scale, scale, 1);
	write_frame(writer, "Accepted against offered traffic");
	fprintf(out, "set xlabel 'offered traffic%s'\nset xrange [0:%g]\n",
		curves->normalised ? "" : " [% of the hosts'' links]", scale);
	write_accepted_axis(writer, "normalised throughput");
	fputs("plot \\\n", out);
	for (unsigned i = 0; i < curves->curves; i++) {
		write_curve(writer, i, i == 0, "1:4", "with linespoints linewidth 2 pointsize 0.9");
		fprintf(out, " pointtype %u", marks[i % MARKS]);
		write_title(writer, i, "accepted");
		if (curves->intervals)
			write_error_bars(writer, i, "1:4:2:3:5:6");
	}
	fputc('\n', out);
}

static void write_efficiency(struct writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double latency = greatest(curves, offsetof(struct plot_point, y2));
	struct unit unit = choose_unit(latency / 10);
	bool alone = curves->curves == 1 && latency > 0;
	FILE *out = writer->out;

	writer->time = choose_unit(greatest(curves, offsetof(struct plot_point, x)));
	write_data(writer, 1 / writer->time.ns, curves->normalised ? 1 : 100, 1 / unit.ns);
	write_frame(writer, "Efficiency against time");
	fprintf(out, "set xlabel 'time [%s]'\nset xrange [0:*]\n", writer->time.name);
	write_accepted_axis(writer, "network efficiency");
	if (alone)
		fprintf(out,
			"set border 11\nset y2tics\nset y2label 'mean network latency [%s]'\n"
			"set y2range [0:*]\n",
			unit.name);
	fputs("plot \\\n", out);
	write_efficiency_curves(writer, alone);
	if (alone)
		write_latency_beside(writer);
	fputc('\n', out);
}

static bool has_many_points(const struct plot_curves *curves)
{
	for (unsigned i = 0; i < curves->curves; i++)
		if (curves->curve[i].points > MARKS_MAX)
			return true;
	return false;
}

/* Links in descending order, by rank. */
static void write_ranked(struct writer *writer, const char *title, const char *ylabel, double scale)
{
	const struct plot_curves *curves = writer->curves;
	bool many = has_many_points(curves);
	const char *style =
		many ? "with lines linewidth 2" : "with linespoints linewidth 2 pointsize 0.7";
	FILE *out = writer->out;

	write_data(writer, 1, scale, 1);
	write_frame(writer, title);
	fprintf(out,
		"set xlabel 'link directions, the greatest first'\nset ylabel '%s'\n"
		"set xrange [0:*]\nset yrange [0:%.9g]\nplot \\\n",
		ylabel, fmax(1.1 * scale * greatest(curves, offsetof(struct plot_point, y)), 1e-3));
	for (unsigned i = 0; i < curves->curves; i++) {
		write_curve(writer, i, i == 0, "1:4", style);
		if (!many)
			fprintf(out, " pointtype %u", marks[i % MARKS]);
		fprintf(out, " dashtype %u", 1 + 2 * (i / (unsigned)COLOURS));
		if (curves->curve[i].label[0] != '\0')
			write_title(writer, i, "");
		else
			fputs(" notitle", out);
		if (has_bands(curves))
			write_band(writer, i, false);
	}
	fputc('\n', out);
}

/* A bar of each curve in every group. */
static void write_bars(struct writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double width = 0.8 / (curves->curves > 0 ? curves->curves : 1);
	FILE *out = writer->out;

	write_data(writer, 1, 1, 1);
	write_frame(writer, curves->quantity);
	fputs("set ylabel ", out);
	write_quoted(curves->quantity, out);
	fputs("\nset xtics (", out);
	for (unsigned i = 0; i < curves->groups; i++) {
		fputs(i > 0 ? ", " : "", out);
		write_quoted(curves->group[i], out);
		fprintf(out, " %u", i);
	}
	fprintf(out, ")\nset xrange [-0.5:%g]\nset yrange [0:*]\nset boxwidth %.6g\nplot \\\n",
		curves->groups - 0.5, 0.9 * width);
	for (unsigned i = 0; i < curves->curves; i++) {
		char columns[48];

		snprintf(columns, sizeof(columns), "($1 + %.6g):4",
			(i - (curves->curves - 1) / 2.0) * width);
		write_curve(writer, i, i == 0, columns, "with boxes fillstyle solid 0.8");
		write_title(writer, i, "");
	}
	fputc('\n', out);
}

void plot_script_write(
	const struct plot_curves *curves, enum plot_format format, const char *output, FILE *out)
{
	struct writer writer = {.curves = curves, .out = out};

	write_terminal(format, output, out);
	switch (curves->kind) {
	case PLOT_LATENCY_THROUGHPUT:
		write_latency(&writer);
		break;
	case PLOT_EFFICIENCY_TIME:
		write_efficiency(&writer);
		break;
	case PLOT_THROUGHPUT_LOAD:
		write_throughput(&writer);
		break;
	case PLOT_LINK_LOAD:
		write_ranked(&writer, "Link load", "utilisation [%]", 100);
		break;
	case PLOT_BARS:
		write_bars(&writer);
		break;
	default:
		write_ranked(&writer, "Links blocked for want of credit",
			curves->real_clock ? "stalls [1/s]" : "share of the time [%]",
			curves->real_clock ? 1 : 100);
		break;
	}
}
