/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The curves of a comparison, on a terminal and in Markdown. */

#include "comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define TRIALS 2

typedef void print_fn(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out);

static struct experiment_choice network = {.name = "N", .copies = 1};
static struct experiment_choice nameless = {.copies = 1};
static struct experiment_choice algorithms[] = {{.name = "X"}, {.name = "Y"}};
static struct transient_sample sample[] = {
	{1e6, 0.9}, {2e6, 0.9}, {3e6, 0.1}, {11e6, 0.5}, {16e6, 0.25}, {20e6, 0.8}, {21e6, 0.9}};
static struct transient_sample low[] = {{1e6, 0.9}, {2e6, 0.9}, {3e6, 0.1}, {4e6, 0.2}};
static struct trial_point point[] = {
	{.load = 0.05, .accepted = 0.05}, {.load = 1, .accepted = 0.625}};

static struct experiment experiment_of(enum experiment_measure measure)
{
	return (struct experiment){.paper = "Paper",
		.place = "figure 1",
		.title = "a title",
		.measure = measure,
		.tolerance_ppm = 100000,
		.unit_ps = PS_PER_MS,
		.networks = {&network, 1},
		.cases = {&nameless, 1},
		.algorithms = {algorithms, 2}};
}

/* The text between the title and the summary; the caller frees it. */
static char *printed(print_fn *print, const struct experiment *experiment)
{
	const struct comparison none = {.rows = 0};
	struct trial trial[TRIALS];
	char *text = NULL, *begin, *end;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (unsigned i = 0; i < TRIALS; i++)
		trial[i] = (struct trial){.experiment = experiment,
			.algorithm = i,
			.stage = TRIAL_DONE,
			.value = i == 0 ? 12.5 : NAN,
			.point = point,
			.points = 2};
	trial[0].transient = (struct transient){2e6, 20e6, 0.85, sample, 7};
	trial[1].transient = (struct transient){2e6, 4e6, 0.85, low, 4};
	print(&none, experiment, trial, TRIALS, out);
	fclose(out);
	begin = strchr(text, '\n') + 1;
	end = strstr(begin, "no bounds; 0 of 0 rows");
	assert_non_null(end);
	*end = '\0';
	memmove(text, begin, (size_t)(end - begin) + 1);
	return text;
}

static void expect(print_fn *print, enum experiment_measure measure, const char *text)
{
	struct experiment experiment = experiment_of(measure);
	char *found = printed(print, &experiment);

	assert_string_equal(found, text);
	free(found);
}

UNIT_TEST(a_course_has_its_moments_and_the_time_to_recover)
{
	expect(comparison_print, EXPERIMENT_EFFICIENCY,
		"efficiency over time, shares of the hosts' links\n"
		"                                                   possible   before  minimum    "
		"+8 ms   +13 ms      end back, ms\n"
		"  X, N                                                0.850    0.900    0.100    "
		"0.500    0.250    0.800     14.0\n"
		"  Y, N                                                0.850    0.900    0.100        "
		"-        -    0.200    never\n");
	expect(comparison_markdown, EXPERIMENT_EFFICIENCY,
		"\n| | possible | before | minimum | +8 ms | +13 ms | end | back, ms |\n"
		"|---|---|---|---|---|---|---|---|\n"
		"| X, N | 0.850 | 0.900 | 0.100 | 0.500 | 0.250 | 0.800 | 14.0 |\n"
		"| Y, N | 0.850 | 0.900 | 0.100 | - | - | 0.200 | never |\n\n");
}

UNIT_TEST(a_throughput_has_a_share_at_each_load)
{
	expect(comparison_print, EXPERIMENT_THROUGHPUT,
		"accepted at each load, per cent of the hosts' links: share\n"
		"  X, N                                                5:0.050  100:0.625\n"
		"  Y, N                                                5:0.050  100:0.625\n");
	expect(comparison_markdown, EXPERIMENT_THROUGHPUT,
		"\n| | 5 % | 100 % |\n|---|---|---|\n| X, N | 0.050 | 0.625 |\n"
		"| Y, N | 0.050 | 0.625 |\n\n");
}

UNIT_TEST(a_schedule_has_its_time)
{
	expect(comparison_print, EXPERIMENT_COMPLETION,
		"time of the schedule, ms\n"
		"  X, N                                               12.500\n"
		"  Y, N                                                    -\n");
	expect(comparison_markdown, EXPERIMENT_COMPLETION,
		"\n| | time, ms |\n|---|---|\n| X, N | 12.500 |\n| Y, N | - |\n\n");
}

UNIT_MAIN(NULL, NULL)
