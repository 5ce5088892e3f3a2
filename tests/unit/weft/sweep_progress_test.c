/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sweep_run.h"

static void assert_line(const struct sweep_progress *progress, unsigned width, const char *expected)
{
	char line[256];

	sweep_progress_format(progress, 100, width, line, sizeof(line));
	assert_string_equal(line, expected);
}

UNIT_TEST(the_bar_says_how_far_it_is)
{
	assert_line(&(struct sweep_progress){.points = 20, .had = 5, .done = 5, .running = 2}, 47,
		"[#####.................] 5/20 points, 2 running");
}

UNIT_TEST(the_time_left_is_that_of_the_points_so_far)
{
	struct sweep_progress progress = {.points = 30,
		.had = 10,
		.done = 14,
		.failed = 1,
		.running = 2,
		.started = 50,
		.last_ended = 100};

	/* Five points in 50 s; 15 are left. Those that were there before took no time. */
	assert_line(&progress, 61, "[#######.......] 15/30 points, 2 running, 1 failed, 2:30 left");
	progress.last_ended = 50 + 5 * 300;
	assert_line(&progress, 44, "15/30 points, 2 running, 1 failed, 1:15:00 l");
}

UNIT_TEST(it_ends_full)
{
	assert_line(&(struct sweep_progress){.points = 4, .done = 3, .failed = 1}, 49,
		"[###############] 4/4 points, 0 running, 1 failed");
}

static void assert_done(const char *text, const char *expected)
{
	struct sweep_progress progress = {.points = 1};
	json_t *result = json_loads(text, 0, NULL);
	char *line = NULL;
	size_t size = 0;

	progress.out = open_memstream(&line, &size);
	assert_non_null(progress.out);
	assert_non_null(result);
	sweep_progress_done(&progress, "load=1%", result, 2, 3);
	fclose(progress.out);
	assert_string_equal(line, expected);
	free(line);
	json_decref(result);
}

UNIT_TEST(a_latency_that_was_not_measured_is_no_number)
{
	assert_done("{\"throughput\":{\"offered\":0.5,\"accepted\":0.25},"
		    "\"latency_ns\":{\"total\":{\"mean\":1500}}}",
		"[1/1] load=1%: offered 50.0 %, accepted 25.0 %, total latency 1.5 us (2.0 s)\n");
	assert_done("{\"throughput\":{\"offered\":0.5,\"accepted\":0.25},"
		    "\"latency_ns\":{\"total\":{\"mean\":null}}}",
		"[1/1] load=1%: offered 50.0 %, accepted 25.0 %, total latency - (2.0 s)\n");
}

UNIT_MAIN(NULL, NULL)
