/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_script.h"

#include <math.h>
#include <stddef.h>

#include "plot_axes.h"

#define ROOM 1.06 /* of an axis above the greatest value */

static const size_t of_x = offsetof(struct plot_point, x);
static const size_t of_y = offsetof(struct plot_point, y);
static const size_t of_y2 = offsetof(struct plot_point, y2);

/* "set xrange [0:HIGH]" with room above the greatest value. */
static void write_range(const struct plot_writer *writer, const char *axis, double max)
{
	fprintf(writer->out, "set %srange [0:%.9g]\n", axis, fmax(max * ROOM, 1e-3));
}

/* "accepted traffic [UNIT]", or traffic that was released in order. */
static void write_traffic_name(
	const struct plot_writer *writer, const char *axis, const char *unit, const char *narrow)
{
	const char *what = writer->curves->released ? "released" : "accepted";
	char text[96], short_text[96];

	snprintf(text, sizeof(text), "%s traffic [%s]", what, unit);
	snprintf(short_text, sizeof(short_text), "%s traffic [%s]", what,
		narrow != NULL ? narrow : unit);
	plot_write_name(writer, axis, text, short_text);
}

static bool shows_total(const struct plot_curves *curves)
{
	return curves->latency != PLOT_LATENCY_NETWORK;
}

static bool shows_network(const struct plot_curves *curves)
{
	return curves->latency != PLOT_LATENCY_TOTAL;
}

/* True if no message waits at its host: one curve would hide the other. */
static bool is_all_network(const struct plot_curve *curve)
{
	for (unsigned i = 0; i < curve->points; i++)
		if (curve->point[i].y.mean != curve->point[i].y2.mean)
			return false;
	return true;
}

/* The total and the network latency of each curve, each with a look of its own. */
static unsigned latency_lines(
	const struct plot_curves *curves, struct plot_line line[2 * PLOT_CURVES_MAX])
{
	bool both = shows_total(curves) && shows_network(curves);
	unsigned lines = 0;

	for (unsigned i = 0; i < curves->curves; i++) {
		const char *alone = curves->curve[i].label[0] == '\0' ? "mean" : NULL;

		if (both && is_all_network(&curves->curve[i])) {
			line[lines++] = (struct plot_line){i, 4, i, "total = network", false};
			continue;
		}
		if (shows_total(curves))
			line[lines++] = (struct plot_line){i, 4, i, both ? "total" : alone, false};
		if (shows_network(curves))
			line[lines++] = (struct plot_line){i, 7, both ? curves->curves + i : i,
				both ? "network" : alone, both};
	}
	return lines;
}

/* The least and the greatest of the latencies that are shown. */
static double min_latency(
	const struct plot_curves *curves, double (*min)(const struct plot_curves *, size_t))
{
	double total = shows_total(curves) ? min(curves, of_y) : INFINITY;

	return shows_network(curves) ? fmin(total, min(curves, of_y2)) : total;
}

static double max_latency(
	const struct plot_curves *curves, double (*max)(const struct plot_curves *, size_t))
{
	double total = shows_total(curves) ? max(curves, of_y) : 0;

	return shows_network(curves) ? fmax(total, max(curves, of_y2)) : total;
}

static void write_latency_axis(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	const char *which = curves->latency == PLOT_LATENCY_BOTH      ? "mean latency"
			    : curves->latency == PLOT_LATENCY_NETWORK ? "mean network latency"
								      : "mean total latency";
	double max = max_latency(curves, plot_max_end) / writer->time.ns;
	char name[64];

	snprintf(name, sizeof(name), "%s [%s]", which, writer->time.name);
	plot_write_name(writer, "y", name, NULL);
	if (max <= 0)
		return;
	if (writer->log)
		plot_write_log(writer, 'y', writer->floor, 1.3 * max);
	else
		write_range(writer, "y", max);
}

static void write_latency(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double min = min_latency(curves, plot_min), max = max_latency(curves, plot_max);
	double share = curves->flits ? 1 : 100;
	struct plot_line line[2 * PLOT_CURVES_MAX];
	unsigned lines = latency_lines(curves, line);

	writer->time = plot_choose_unit(max / 10);
	writer->log = plot_is_wide(min, max);
	/* Long intervals end at the axis: a logarithmic one has no 0. */
	if (writer->log)
		writer->floor =
			0.7 * fmax(min_latency(curves, plot_min_end), min / 3) / writer->time.ns;
	plot_write_data(writer, share, 1 / writer->time.ns, 1 / writer->time.ns);
	plot_write_frame(writer, "Latency against throughput", lines);
	write_traffic_name(
		writer, "x", curves->flits ? "flits/ns/switch" : "% of the hosts' links", NULL);
	write_range(writer, "x", share * plot_max_end(curves, of_x));
	write_latency_axis(writer);
	fputs("plot \\\n", writer->out);
	plot_write_lines(writer, line, lines, curves->intervals);
}

/* The axis of accepted traffic; 'name' is its name in the papers. */
static void write_accepted_axis(const struct plot_writer *writer, const char *name)
{
	const struct plot_curves *curves = writer->curves;
	double max = plot_max_end(curves, of_y) * (curves->normalised ? 1 : 100);

	if (curves->normalised)
		plot_write_name(writer, "y", name, NULL);
	else
		write_traffic_name(writer, "y", "% of the hosts' links", "%");
	if (curves->normalised)
		fprintf(writer->out, "set yrange [0:%.9g]\n", fmax(1.05, ROOM * max));
	else
		write_range(writer, "y", max);
}

/* Both axes in bits/us of a host, as papers on InfiniBand have them. */
static void write_rates(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double scale = curves->bits_per_us;

	plot_write_data(writer, scale, scale, 1);
	plot_write_name(writer, "x", "offered traffic [bits/µs of a host]", NULL);
	write_traffic_name(writer, "y", "bits/µs of a host", NULL);
	write_range(writer, "x", scale * plot_max_end(curves, of_x));
	write_range(writer, "y", scale * plot_max_end(curves, of_y));
}

static void write_shares(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double scale = curves->normalised ? 1 : 100;

	plot_write_data(writer, scale, scale, 1);
	plot_write_name(writer, "x",
		curves->normalised ? "offered traffic" : "offered traffic [% of the hosts' links]",
		NULL);
	fprintf(writer->out, "set xrange [0:%.9g]\n",
		fmax(scale, ROOM * scale * plot_max_end(curves, of_x)));
	write_accepted_axis(writer, "normalised throughput");
}

static void write_throughput(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	struct plot_line line[PLOT_CURVES_MAX];

	for (unsigned i = 0; i < curves->curves; i++)
		line[i] = (struct plot_line){i, 4, i,
			curves->curve[i].label[0] != '\0' ? NULL
			: curves->released                ? "released"
							  : "accepted",
			false};
	plot_write_frame(writer, "Accepted against offered traffic", curves->curves);
	if (curves->bits_per_us > 0)
		write_rates(writer);
	else
		write_shares(writer);
	fputs("plot \\\n", writer->out);
	plot_write_lines(writer, line, curves->curves, curves->intervals);
}

/* A single run has room for its latency, too. */
static void write_latency_beside(struct plot_writer *writer)
{
	plot_element(writer, 0, "1:7 axes x1y2");
	fputs(" with lines linewidth 2", writer->out);
	plot_write_colour(writer, 1);
	plot_write_dash(writer, 1);
	fputs(" title 'mean network latency (right)', \\\n  keyentry with lines linewidth 2",
		writer->out);
	plot_write_colour(writer, 0);
	fprintf(writer->out, " title '%s traffic'",
		writer->curves->released ? "released" : "accepted");
}

static void write_efficiency(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double latency = plot_max(curves, of_y2);
	struct plot_unit unit = plot_choose_unit(latency / 10);
	bool alone = curves->curves == 1 && latency > 0;
	char name[64];

	writer->time = plot_choose_unit(plot_max(curves, of_x));
	plot_write_data(writer, 1 / writer->time.ns, curves->normalised ? 1 : 100, 1 / unit.ns);
	plot_write_frame(writer, "Efficiency against time", curves->curves);
	snprintf(name, sizeof(name), "time [%s]", writer->time.name);
	plot_write_name(writer, "x", name, NULL);
	fputs("set xrange [0:*]\n", writer->out);
	write_accepted_axis(writer, "network efficiency");
	if (alone) {
		snprintf(name, sizeof(name), "mean network latency [%s]", unit.name);
		fputs("set border 11 back\nset y2tics\n", writer->out);
		plot_write_name(writer, "y2", name, NULL);
		write_range(writer, "y2", latency / unit.ns);
	}
	fputs("plot \\\n", writer->out);
	plot_write_dense(writer, NULL);
	if (alone)
		write_latency_beside(writer);
	fputc('\n', writer->out);
}

/* Links in descending order, by rank. */
static void write_ranked(
	struct plot_writer *writer, const char *title, const char *name, double scale)
{
	const struct plot_curves *curves = writer->curves;

	plot_write_data(writer, 1, scale, 1);
	plot_write_frame(writer, title, curves->curves);
	plot_write_name(writer, "x", "link directions, the greatest first", NULL);
	plot_write_name(writer, "y", name, NULL);
	fputs("set xrange [0:*]\n", writer->out);
	write_range(writer, "y", scale * plot_max_end(curves, of_y));
	fputs("plot \\\n", writer->out);
	plot_write_dense(writer, NULL);
	fputc('\n', writer->out);
}

/* Shares of all values at or below a latency. */
static void write_distribution(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	bool network = curves->latency == PLOT_LATENCY_NETWORK;
	double max = plot_max(curves, of_x), min = plot_min(curves, of_x);
	char name[64];

	writer->time = plot_choose_unit(max / 10);
	plot_write_data(writer, 1 / writer->time.ns, 100, 1);
	plot_write_frame(writer, network ? "Network latency" : "Total latency", curves->curves);
	snprintf(name, sizeof(name), "%s latency [%s]", network ? "network" : "total",
		writer->time.name);
	plot_write_name(writer, "x", name, NULL);
	plot_write_name(writer, "y",
		network ? "frames with at most this latency [%]"
			: "messages with at most this latency [%]",
		network ? "frames [%]" : "messages [%]");
	if (plot_is_wide(min, max))
		plot_write_log(
			writer, 'x', 0.9 * min / writer->time.ns, 1.1 * max / writer->time.ns);
	else
		write_range(writer, "x", max / writer->time.ns);
	fputs("set yrange [0:103]\nset ytics 20\nplot \\\n", writer->out);
	plot_write_dense(writer, NULL);
	fputc('\n', writer->out);
}

static void write_ticks(const struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double min = INFINITY, max = 0;

	for (unsigned i = 0; i < curves->ticks; i++) {
		min = fmin(min, curves->tick[i].at);
		max = fmax(max, curves->tick[i].at);
	}
	if (curves->words)
		fprintf(writer->out, "set xrange [-0.5:%g]\n", curves->ticks - 0.5);
	else if (min > 0 && plot_is_wide(min, max))
		plot_write_log(writer, 'x', min / 1.4, max * 1.4);
	else
		fprintf(writer->out, "set xrange [%.9g:%.9g]\n", fmin(0, min),
			max > 0 ? ROOM * max : 1);
	fputs("set xtics (", writer->out);
	for (unsigned i = 0; i < curves->ticks; i++) {
		fputs(i > 0 ? ", " : "", writer->out);
		plot_write_tick(curves->tick[i].text, curves->tick[i].at, writer->out);
	}
	fputs(")\n", writer->out);
}

static void write_completion(struct plot_writer *writer)
{
	const struct plot_curves *curves = writer->curves;
	double max = plot_max_end(curves, of_y), min = plot_min(curves, of_y);
	struct plot_line line[PLOT_CURVES_MAX];
	char name[64];

	for (unsigned i = 0; i < curves->curves; i++)
		line[i] = (struct plot_line){i, 4, i, NULL, false};
	writer->log = plot_is_wide(min, plot_max(curves, of_y));
	writer->time = plot_choose_unit(plot_max(curves, of_y) / (writer->log ? 10 : 2));
	if (writer->log)
		writer->floor = 0.7 * fmax(plot_min_end(curves, of_y), min / 3) / writer->time.ns;
	plot_write_data(writer, 1, 1 / writer->time.ns, 1);
	plot_write_frame(writer, "Completion of the schedule", curves->curves);
	plot_write_name(writer, "x", curves->axis, NULL);
	snprintf(name, sizeof(name), "completion time [%s]", writer->time.name);
	plot_write_name(writer, "y", name, NULL);
	write_ticks(writer);
	if (writer->log)
		plot_write_log(writer, 'y', writer->floor, 1.3 * max / writer->time.ns);
	else
		write_range(writer, "y", max / writer->time.ns);
	fputs("plot \\\n", writer->out);
	plot_write_lines(writer, line, curves->curves, curves->intervals);
}

/* Of the legend. */
static unsigned count_entries(const struct plot_curves *curves)
{
	struct plot_line line[2 * PLOT_CURVES_MAX];

	return curves->kind == PLOT_LATENCY_THROUGHPUT ? latency_lines(curves, line)
						       : curves->curves;
}

void plot_script_write(
	const struct plot_curves *curves, enum plot_format format, const char *output, FILE *out)
{
	struct plot_writer writer = {.curves = curves, .out = out};
	struct plot_page page = curves->page;

	page.entries = count_entries(curves);
	plot_page_write(&page, format, output, out);
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
	case PLOT_LATENCY_CDF:
		write_distribution(&writer);
		break;
	case PLOT_COMPLETION:
		write_completion(&writer);
		break;
	case PLOT_BARS:
		plot_write_bars(&writer);
		break;
	case PLOT_MAPS:
		plot_write_maps(&writer);
		break;
	case PLOT_LATENCY_LOAD:
		plot_write_latency_load(&writer);
		break;
	case PLOT_LATENCY_TIME:
		plot_write_latency_time(&writer);
		break;
	default:
		write_ranked(&writer, "Links blocked for want of credit",
			curves->real_clock ? "stalls [1/s]" : "share of the time [%]",
			curves->real_clock ? 1 : 100);
		break;
	}
}
