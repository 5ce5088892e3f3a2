/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The script for gnuplot. */

#include "unit.h"

#include <math.h>
#include <string.h>

#include "plot_script.h"

#define TEXT_MAX 16384

static struct plot_point point_at(double x, double y, double half_width)
{
	unsigned seeds = isnan(half_width) ? 1 : 3;

	return (struct plot_point){
		{seeds, x, half_width / 100}, {seeds, y, half_width}, {seeds, y / 2, half_width}};
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
	struct plot_curve curve[2] = {{"it's a", &point[0], 1}, {"b", &point[1], 1}};
	struct plot_curves curves = {.kind = kind,
		.curve = curve,
		.curves = 2,
		.intervals = !isnan(half_width),
		.real_clock = real_clock,
		.topology = "ring"};

	write_to(text, &curves, PLOT_PNG, "out/it's.png");
}

static void files_are_known_by_their_end(void **state)
{
	assert_int_equal(plot_format_find("a.png"), PLOT_PNG);
	assert_int_equal(plot_format_find("a.b/c.svg"), PLOT_SVG);
	assert_int_equal(plot_format_find("a.pdf"), PLOT_PDF);
	assert_int_equal(plot_format_find("a.gp"), PLOT_GNUPLOT);
	assert_int_equal(plot_format_find("a.jpg"), PLOT_FORMAT_COUNT);
	assert_int_equal(plot_format_find(".png"), PLOT_FORMAT_COUNT);
	assert_int_equal(plot_format_find("png"), PLOT_FORMAT_COUNT);
}

static void bars_stand_side_by_side_in_their_groups(void **state)
{
	struct plot_point first[2] = {point_at(0, 30, NAN), point_at(1, 50, NAN)};
	struct plot_point second = point_at(1, 40, NAN);
	struct plot_curve curve[2] = {{"a", first, 2}, {"b", &second, 1}};
	const char *group[2] = {"alone", "it's hot"};
	struct plot_curves curves = {.kind = PLOT_BARS,
		.curve = curve,
		.curves = 2,
		.group = group,
		.groups = 2,
		.quantity = "time [ms]"};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_PNG, "out.png");
	assert_has(text, "set ylabel 'time [ms]'");
	assert_has(text, "set xtics ('alone' 0, 'it''s hot' 1)");
	assert_has(text, "set yrange [0:*]");
	assert_has(text, "$curve0 using ($1 + -0.2):4 with boxes");
	assert_has(text, "$curve1 using ($1 + 0.2):4 with boxes");
}

static void latency_is_drawn_against_accepted_traffic(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, NAN, false);
	assert_has(text, "set terminal pngcairo size 900,600");
	assert_has(text, "set title 'Latency against throughput, ring'");
	assert_has(text, "set xlabel 'accepted traffic [% of the hosts'' links]'");
	assert_has(text, "set ylabel 'mean latency [µs]'");
	/* x, total and network with their intervals, of no width here: 25 %, 30 us, 15 us. */
	assert_has(text, "$curve0 << END\n 25 25 25 30 30 30 15 15 15\nEND\n");
	assert_has(text, "$curve1 << END\n 50 50 50 40 40 40 20 20 20\nEND\n");
	assert_has_not(text, "errorbars");
	assert_has_not(text, "logscale");
}

static void accepted_traffic_may_be_in_flits(void **state)
{
	struct plot_point point = point_at(0.25, 1000, NAN);
	struct plot_curve curve = {"", &point, 1};
	struct plot_curves curves = {
		.kind = PLOT_LATENCY_THROUGHPUT, .flits = true, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has(text, "set xlabel 'accepted traffic [flits/ns/switch]'");
	assert_has(text, "$curve0 << END\n 0.25 0.25 0.25 1000 1000 1000 500 500 500\nEND\n");
}

static void accepted_is_drawn_against_offered_traffic(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_THROUGHPUT_LOAD, 0.2, 0.4, NAN, false);
	assert_has(text, "set xlabel 'offered traffic [% of the hosts'' links]'");
	assert_has(text, "set ylabel 'accepted traffic [% of the hosts'' links]'");
	assert_has(text, "$curve0 << END\n 25 25 25 20 20 20");
	assert_has(text, "$curve1 using 1:4 with linespoints");
}

static void normalised_axes_end_at_one(void **state)
{
	struct plot_point point = point_at(1e6, 0.25, NAN);
	struct plot_curve curve[] = {{"a", &point, 1}, {"b", &point, 1}};
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

static void quotes_in_names_are_doubled(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, NAN, false);
	assert_has(text, "set output 'out/it''s.png'\n");
	assert_has(text, "title 'it''s a'");
}

static void intervals_become_error_bars(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 30000, 40000, 10, false);
	assert_has(text, "$curve0 << END\n 25 15 35 30 29.99 30.01 15 14.99 15.01\nEND\n");
	assert_has(text, "$curve0 using 1:4:2:3:5:6 with xyerrorbars");
	script_of(text, PLOT_EFFICIENCY_TIME, 0.3, 0.4, 0.1, false);
	assert_has(text, "$curve0 using 1:5:6 with filledcurves");
}

static void latencies_far_apart_get_a_logarithmic_axis(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 1000, 100000, NAN, false);
	assert_has(text, "set logscale y\nset yrange [");
}

static void the_unit_of_time_fits_the_numbers(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_LATENCY_THROUGHPUT, 800, 900, NAN, false);
	assert_has(text, "'mean latency [ns]'");
	script_of(text, PLOT_LATENCY_THROUGHPUT, 8e7, 9e7, NAN, false);
	assert_has(text, "'mean latency [ms]'");
}

static void blocked_links_have_the_unit_of_their_clock(void **state)
{
	char text[TEXT_MAX];

	script_of(text, PLOT_BLOCKED_TIME, 0.3, 0.4, NAN, false);
	assert_has(text, "set ylabel 'share of the time [%]'");
	assert_has(text, "$curve1 << END\n 0.5 0.5 0.5 40 40 40");
	script_of(text, PLOT_BLOCKED_TIME, 300, 400, NAN, true);
	assert_has(text, "set ylabel 'stalls [1/s]'");
	assert_has(text, "$curve1 << END\n 0.5 0.5 0.5 400 400 400");
}

static void every_curve_looks_unlike_every_other(void **state)
{
	struct plot_point point = point_at(0.25, 1000, NAN);
	struct plot_curve curve[PLOT_CURVES_MAX];
	struct plot_curves curves = {
		.kind = PLOT_LATENCY_THROUGHPUT, .curve = curve, .curves = PLOT_CURVES_MAX};
	char text[TEXT_MAX], *look[PLOT_CURVES_MAX], *at = text;

	for (unsigned i = 0; i < PLOT_CURVES_MAX; i++)
		curve[i] = (struct plot_curve){"c", &point, 1};
	write_to(text, &curves, PLOT_GNUPLOT, NULL);
	assert_has_not(text, "set terminal");
	for (unsigned i = 0; i < PLOT_CURVES_MAX; i++) {
		look[i] = strstr(at, "linecolor rgb");
		look[i] = strstr(strstr(at, "using 1:4"), "linecolor rgb");
		at = strstr(look[i], " title");
		*at++ = '\0';
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(look[j], look[i]);
	}
}

static void one_run_alone_shows_its_latency_too(void **state)
{
	struct plot_point point[2] = {point_at(1e6, 0.5, NAN), point_at(2e7, 0.6, NAN)};
	struct plot_curve curve = {"", point, 2};
	struct plot_curves curves = {.kind = PLOT_EFFICIENCY_TIME, .curve = &curve, .curves = 1};
	char text[TEXT_MAX];

	write_to(text, &curves, PLOT_SVG, "a.svg");
	assert_has(text, "set terminal svg");
	assert_has(text, "set xlabel 'time [ms]'");
	assert_has(text, "set title 'Efficiency against time'\n");
	assert_has(text, "title 'accepted traffic'");
	assert_has(text, "axes x1y2");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(files_are_known_by_their_end),
	cmocka_unit_test(bars_stand_side_by_side_in_their_groups),
	cmocka_unit_test(latency_is_drawn_against_accepted_traffic),
	cmocka_unit_test(accepted_traffic_may_be_in_flits),
	cmocka_unit_test(accepted_is_drawn_against_offered_traffic),
	cmocka_unit_test(normalised_axes_end_at_one),
	cmocka_unit_test(quotes_in_names_are_doubled),
	cmocka_unit_test(intervals_become_error_bars),
	cmocka_unit_test(latencies_far_apart_get_a_logarithmic_axis),
	cmocka_unit_test(the_unit_of_time_fits_the_numbers),
	cmocka_unit_test(blocked_links_have_the_unit_of_their_clock),
	cmocka_unit_test(every_curve_looks_unlike_every_other),
	cmocka_unit_test(one_run_alone_shows_its_latency_too),
};

UNIT_MAIN(tests)
