/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The script for gnuplot. */

#include "unit.h"

#include <math.h>
#include <string.h>

#include "plot_script.h"

#define TEXT_MAX 65536

static struct plot_point point_at(double x, double y, double half_width)
{
	unsigned seeds = isnan(half_width) ? 1 : 3;

	return (struct plot_point){.x = {seeds, x, half_width / 100},
		.y = {seeds, y, half_width},
		.y2 = {seeds, y / 2, half_width}};
}

static void write_to(char text[TEXT_MAX], const struct plot_curves *curves, enum plot_format format,
	const char *output)
{
	FILE *out = fmemopen(text, TEXT_MAX, "w");

	assert_non_null(out);
	plot_script_write(curves, format, output, out);
	assert_int_equal(fclose(out), 0);
}

static void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part) != NULL)
		fail_msg("'%s' in:\n%s", part, text);
}

/* Two curves of one point each, at these latencies in ns. */
static void script_of(char text[TEXT_MAX], enum plot_kind kind, double first, double second,
	double half_width, bool real_clock)
{
	struct plot_point point[2] = {
		point_at(0.25, first, half_width), point_at(0.5, second, half_width)};
	struct plot_curve curve[2] = {{.label = "it's a", .point = &point[0], .points = 1},
		{.label = "b", .point = &point[1], .points = 1}};
	struct plot_curves curves = {.kind = kind,
		.curve = curve,
		.curves = 2,
		.intervals = !isnan(half_width),
		.real_clock = real_clock,
		.topology = "ring"};

	write_to(text, &curves, PLOT_PNG, "out/it's.png");
}

UNIT_TEST(files_are_known_by_their_end)
{
	assert_int_equal(plot_format_find("a.png"), PLOT_PNG);
	assert_int_equal(plot_format_find("a.b/c.svg"), PLOT_SVG);
	assert_int_equal(plot_format_find("a.pdf"), PLOT_PDF);
	assert_int_equal(plot_format_find("a.gp"), PLOT_GNUPLOT);
	assert_int_equal(plot_format_find("a.jpg"), PLOT_FORMAT_COUNT);
	assert_int_equal(plot_format_find(".png"), PLOT_FORMAT_COUNT);
	assert_int_equal(plot_format_find("png"), PLOT_FORMAT_COUNT);
}

UNIT_TEST(bars_stand_side_by_side_in_their_groups)
{
	struct plot_point first[2] = {point_at(0, 30, NAN), point_at(1, 50, NAN)};
	struct plot_point second = point_at(1, 40, NAN);
	struct plot_curve curve[2] = {{.label = "a", .point = first, .points = 2},
		{.label = "b", .point = &second, .points = 1}};
	const char *group[2] = {"alone", "it's 5% hot"};
	struct plot_curves curves = {.kind = PLOT_BARS,
		.curve = curve,
		.curves = 2,
		.group = group,
		.groups = 2,
		.quantity = "time [ms]"};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_PNG, "out.png");
	assert_has(text, "set ylabel 'time [ms]'");
	assert_has(text, "set xtics ('alone' 0, 'it''s 5%% hot' 1)");
	assert_has(text, "set yrange [0:*]");
	assert_has(text, "$curve0 using ($1 + -0.2):4 with boxes");
	assert_has(text, "$curve1 using ($1 + 0.2):4 with boxes");
}

UNIT_TEST(latency_is_drawn_against_accepted_traffic)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, NAN, false);
	assert_has(text, "set terminal pngcairo size 900,600");
	assert_has(text, "set title 'Latency against throughput, ring'");
	assert_has(text, "set xlabel 'accepted traffic [% of the hosts'' links]'");
	assert_has(text, "set ylabel 'mean latency [µs]'");
	/* x, total and network with their intervals, of no width here: 25 %, 30 us, 15 us. */
	assert_has(text, "$curve0 << END\n 25 25 25 30 30 30 15 15 15 0\nEND\n");
	assert_has(text, "$curve1 << END\n 50 50 50 40 40 40 20 20 20 0\nEND\n");
	assert_has_not(text, "errorbars");
	assert_has_not(text, "logscale");
}

UNIT_TEST(accepted_traffic_may_be_in_flits)
{
	struct plot_point point = point_at(0.25, 1000, NAN);
	struct plot_curve curve = {.point = &point, .points = 1};
	struct plot_curves curves = {
		.kind = PLOT_LATENCY_THROUGHPUT, .flits = true, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set xlabel 'accepted traffic [flits/ns/switch]'");
	assert_has(text, "$curve0 << END\n 0.25 0.25 0.25 1000 1000 1000 500 500 500 0\nEND\n");
}

UNIT_TEST(accepted_is_drawn_against_offered_traffic)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_THROUGHPUT_LOAD, 0.2, 0.4, NAN, false);
	assert_has(text, "set xlabel 'offered traffic [% of the hosts'' links]'");
	assert_has(text, "set ylabel 'accepted traffic [% of the hosts'' links]'");
	assert_has(text, "$curve0 << END\n 25 25 25 20 20 20");
	assert_has(text, "$curve1 using 1:4 with lines ");
}

UNIT_TEST(normalised_axes_end_at_one)
{
	struct plot_point point = point_at(1e6, 0.25, NAN);
	struct plot_curve curve[] = {{.label = "a", .point = &point, .points = 1},
		{.label = "b", .point = &point, .points = 1}};
	struct plot_curves curves = {
		.kind = PLOT_EFFICIENCY_TIME, .normalised = true, .curve = curve, .curves = 2};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set ylabel 'network efficiency'\nset yrange [0:1.05]\n");
	assert_has(text, " 0.25 0.25 0.25");
	curves.kind = PLOT_THROUGHPUT_LOAD;
	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set ylabel 'normalised throughput'\nset yrange [0:1.05]\n");
}

UNIT_TEST(quotes_in_names_are_doubled)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, NAN, false);
	assert_has(text, "set output 'out/it''s.png'\n");
	assert_has(text, "title 'it''s a, total'");
}

UNIT_TEST(intervals_become_error_bars)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, 10, false);
	assert_has(text, "$curve0 << END\n 25 15 35 30 29.99 30.01 15 14.99 15.01 0\nEND\n");
	assert_has(text, "$curve0 using 1:4:2:3:5:6 with xyerrorbars");
	script_of(text, PLOT_EFFICIENCY_TIME, 0.3, 0.4, 0.1, false);
	assert_has(text, "$curve0 using 1:5:6 with filledcurves");
}

UNIT_TEST(latencies_far_apart_get_a_logarithmic_axis)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 1000, 100000, NAN, false);
	assert_has(text, "set logscale y\nset yrange [");
}

UNIT_TEST(the_unit_of_time_fits_the_numbers)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 800, 900, NAN, false);
	assert_has(text, "'mean latency [ns]'");
	script_of(text, PLOT_LATENCY_THROUGHPUT, 8e7, 9e7, NAN, false);
	assert_has(text, "'mean latency [ms]'");
}

UNIT_TEST(blocked_links_have_the_unit_of_their_clock)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_BLOCKED_TIME, 0.3, 0.4, NAN, false);
	assert_has(text, "set ylabel 'share of the time [%]'");
	assert_has(text, "$curve1 << END\n 0.5 0.5 0.5 40 40 40");
	script_of(text, PLOT_BLOCKED_TIME, 300, 400, NAN, true);
	assert_has(text, "set ylabel 'stalls [1/s]'");
	assert_has(text, "$curve1 << END\n 0.5 0.5 0.5 400 400 400");
}

/* The part of an entry of the legend that is its look, ended by its title. */
static char *look_of_entry(char **at)
{
	char *look = strstr(*at, "keyentry with linespoints");

	assert_non_null(look);
	*at = strstr(look, " title");
	assert_non_null(*at);
	*(*at)++ = '\0';
	return look;
}

static void script_of_many(char text[TEXT_MAX], unsigned count, enum plot_kind kind)
{
	struct plot_point point = point_at(0.25, 1000, NAN);
	struct plot_curve curve[PLOT_CURVES_MAX];
	struct plot_curves curves = {.kind = kind, .curve = curve, .curves = count};

	for (unsigned i = 0; i < count; i++)
		curve[i] = (struct plot_curve){.label = "c", .point = &point, .points = 1};
	write_to(text, &curves, PLOT_GNUPLOT, NULL);
}

UNIT_TEST(every_curve_looks_unlike_every_other)
{
	char text[TEXT_MAX], *look[2 * PLOT_CURVES_MAX], *at = text;

	script_of_many(text, PLOT_CURVES_MAX, PLOT_LATENCY_THROUGHPUT);
	assert_has_not(text, "set terminal");
	for (unsigned i = 0; i < 2 * PLOT_CURVES_MAX; i++) {
		look[i] = look_of_entry(&at);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(look[j], look[i]);
	}
}

/* The word after a key in a look, as far as the next space. */
static void word_after(const char *look, const char *key, char out[64])
{
	const char *found = strstr(look, key);

	assert_non_null(found);
	found += strlen(key);
	snprintf(out, 64, "%.*s", (int)strcspn(found, " "), found);
}

UNIT_TEST(a_few_curves_differ_in_colour_dash_and_mark)
{
	static const char *const keys[] = {"linecolor rgb ", "dashtype ", "pointtype "};
	char text[TEXT_MAX], *at = text, word[6][3][64];

	script_of_many(text, 6, PLOT_THROUGHPUT_LOAD);
	for (unsigned i = 0; i < 6; i++) {
		const char *look = look_of_entry(&at);

		for (unsigned k = 0; k < 3; k++) {
			word_after(look, keys[k], word[i][k]);
			for (unsigned j = 0; j < i; j++)
				assert_string_not_equal(word[j][k], word[i][k]);
		}
	}
}

UNIT_TEST(the_legend_is_outside_of_the_frame)
{
	static const enum plot_kind kinds[] = {PLOT_LATENCY_THROUGHPUT, PLOT_THROUGHPUT_LOAD,
		PLOT_EFFICIENCY_TIME, PLOT_LINK_LOAD, PLOT_LATENCY_CDF, PLOT_COMPLETION};
	char text[TEXT_MAX];

	for (unsigned i = 0; i < 6; i++)
		for (unsigned count = 1; count <= PLOT_CURVES_MAX; count++) {
			script_of_many(text, count, kinds[i]);
			if (strstr(text, "set key below") == NULL)
				assert_has(text, "set key outside");
		}
}

UNIT_TEST(doubtful_points_are_hollow_and_the_legend_says_so)
{
	struct plot_point point[2] = {point_at(0.25, 1000, NAN), point_at(0.5, 2000, NAN)};
	struct plot_curve curve = {.label = "a", .point = point, .points = 2};
	struct plot_curves curves = {.kind = PLOT_THROUGHPUT_LOAD, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has_not(text, "pointtype 6");
	assert_has_not(text, "saturated");
	point[1].hollow = true;
	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "using 1:($10 == 0 ? $4 : NaN) with points pointtype 7 ");
	assert_has(text, "using 1:($10 == 1 ? $4 : NaN) with points pointtype 6 ");
	assert_has(text, "title 'hollow: not known to be steady'");
}

UNIT_TEST(points_of_words_are_not_joined)
{
	struct plot_point point[2] = {point_at(0.25, 1000, NAN), point_at(0.5, 2000, NAN)};
	struct plot_curve curve = {.label = "a", .point = point, .points = 2, .apart = true};
	struct plot_curves curves = {.kind = PLOT_LATENCY_THROUGHPUT, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has_not(text, "with lines");
	assert_has(text, "with points");
}

/* The end of "set AXISrange [LOW:HIGH]". */
static void read_range(const char *text, char axis, double *low, double *high)
{
	char start[] = "set xrange [";
	const char *found;

	start[4] = axis;
	found = strstr(text, start);
	assert_non_null(found);
	assert_int_equal(sscanf(found + strlen(start), "%lf:%lf]", low, high), 2);
}

UNIT_TEST(long_intervals_are_inside_the_frame)
{
	static const double half_widths[] = {100, 39000, 500000};
	char text[TEXT_MAX];
	double low, high;

	for (unsigned i = 0; i < 3; i++) {
		script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, half_widths[i], false);
		read_range(text, 'y', &low, &high);
		assert_true(high > (40000 + half_widths[i]) / 1e3);
		read_range(text, 'x', &low, &high);
		assert_true(high > 50 + half_widths[i]);
	}
	script_of(text, PLOT_EFFICIENCY_TIME, 0.3, 0.4, 0.9, false);
	read_range(text, 'y', &low, &high);
	assert_true(high > 130);
}

UNIT_TEST(an_interval_below_zero_ends_at_the_axis)
{
	char text[TEXT_MAX];
	double low, high;

	/* 40 us with 500 us to either side. */
	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, 500000, false);
	assert_has(text, " 40 0 540 ");
	script_of(text, PLOT_LATENCY_THROUGHPUT, 1000, 100000, 1000, false);
	read_range(text, 'y', &low, &high);
	assert_true(low > 0);
	assert_has(text, "set logscale y");
	assert_has_not(text, " 1 0 2 ");
}

UNIT_TEST(a_narrow_page_has_no_title_but_the_users)
{
	struct plot_point point = point_at(0.25, 1000, NAN);
	struct plot_curve curve = {.point = &point, .points = 1};
	struct plot_curves curves = {.kind = PLOT_LATENCY_THROUGHPUT, .curve = &curve, .curves = 1};
	struct fault fault;
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_PDF, "a.pdf");
	assert_has(text, "set title 'Latency against throughput'");
	assert_int_equal(plot_page_set_size(&curves.page, "3.4in", &fault), 0);
	write_to(text, &curves, PLOT_PDF, "a.pdf");
	assert_has(text, "size 3.4in,2.55in font 'sans,8'");
	assert_has_not(text, "set title");
	curves.page.title = "it's mine";
	write_to(text, &curves, PLOT_PDF, "a.pdf");
	assert_has(text, "set title 'it''s mine'");
}

UNIT_TEST(a_distribution_is_drawn_in_percent)
{
	struct plot_point point[2] = {point_at(1000, 0.5, NAN), point_at(2000, 1, NAN)};
	struct plot_curve curve = {.label = "a", .point = point, .points = 2};
	struct plot_curves curves = {.kind = PLOT_LATENCY_CDF, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set ylabel 'messages with at most this latency [%]'");
	assert_has(text, "$curve0 << END\n 1000 1000 1000 50 50 50 ");
	curves.latency = PLOT_LATENCY_NETWORK;
	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set xlabel 'network latency [ns]'");
	assert_has(text, "set ylabel 'frames with at most this latency [%]'");
}

UNIT_TEST(completion_stands_at_the_values_of_the_key)
{
	struct plot_point point[2] = {point_at(4096, 3e6, NAN), point_at(8192, 5e6, NAN)};
	struct plot_curve curve = {.label = "a", .point = point, .points = 2};
	struct plot_tick tick[2] = {{"4KiB", "4KiB", 4096}, {"8KiB", "8KiB", 8192}};
	struct plot_curves curves = {.kind = PLOT_COMPLETION,
		.curve = &curve,
		.curves = 1,
		.tick = tick,
		.ticks = 2,
		.axis = "message"};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set xlabel 'message'");
	assert_has(text, "set xtics ('4KiB' 4096, '8KiB' 8192)");
	assert_has(text, "set ylabel 'completion time [ms]'");
	assert_has(text, "using 1:4 with lines");
}

UNIT_TEST(one_run_alone_shows_its_latency_too)
{
	struct plot_point point[2] = {point_at(1e6, 0.5, NAN), point_at(2e7, 0.6, NAN)};
	struct plot_curve curve = {.point = point, .points = 2};
	struct plot_curves curves = {.kind = PLOT_EFFICIENCY_TIME, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_SVG, "a.svg");
	assert_has(text, "set terminal svg");
	assert_has(text, "set xlabel 'time [ms]'");
	assert_has(text, "set title 'Efficiency against time'\n");
	assert_has(text, "title 'accepted traffic'");
	assert_has(text, "axes x1y2");
}

UNIT_MAIN(NULL, NULL)
