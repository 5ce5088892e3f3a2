/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A virtual fabric on several threads gives the bytes that it gives on one: random fabrics, and
 * what threads refuse. Without arguments WORKERS_CASES cases; the long forms, and a single case:
 *
 *     virtual_workers_test CASES
 *     virtual_workers_test seed SEED
 *     WEFT_WORKERS_CASES=CASES meson test --suite fabric virtual_workers -t 100 */

#include <unistd.h>

#include "virtual/virtual_capture.h"
#include "virtual/virtual_partitions.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

#ifndef WORKERS_CASES
#define WORKERS_CASES 24
#endif

/* Returns true if the case could be run. */
static bool run_case(unsigned seed)
{
	struct drawn drawn;
	struct error error = {""}, other = {""};
	char *one, *many;

	drawn_draw(seed, &drawn);
	assert_true(drawn.sets < DRAWN_SETS_MAX);
	drawn.set[drawn.sets++] = "measure.link-series=true";
	one = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
	if (one == NULL) {
		print_message("case %u: %s\n", seed, error.text);
		return false;
	}
	many = drawn_result(drawn_plain, &drawn, NULL, drawn.workers, &other);
	if (many == NULL)
		fail_msg("case %u, %u workers: %s", seed, drawn.workers, other.text);
	drawn_expect_same(one, many, seed, &drawn);
	free(one);
	free(many);
	return true;
}

static unsigned first = 1, cases = WORKERS_CASES;

UNIT_TEST(any_number_of_workers_gives_the_same_bytes)
{
	unsigned ran = 0;

	for (unsigned i = 0; i < cases; i++)
		ran += run_case(first + i);
	print_message("%u of %u cases could be run\n", ran, cases);
	assert_int_equal(ran, cases);
}

UNIT_TEST(all_workers_have_event_queues_for_their_share_of_the_events)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;
	unsigned whole;

	virtual_lab_open(&lab, drawn_plain, NULL, 0);
	whole = lab.fabric->events->shift;
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 4, &error), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(virtual_partition_at(lab.fabric, i)->events->shift, whole + 2);
}

/* Expects that two workers refuse the settings. 'sets' ends with NULL. */
static void expect_refused(const char *const *sets, const char *why)
{
	struct drawn drawn = {.sets = 0};
	struct error error = {""};
	char *result;

	for (; sets[drawn.sets] != NULL; drawn.sets++)
		drawn.set[drawn.sets] = sets[drawn.sets];
	result = drawn_result(drawn_plain, &drawn, NULL, 2, &error);
	assert_null(result);
	assert_string_equal(error.text, why);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

UNIT_TEST(what_only_one_worker_can_run_is_refused_by_its_name)
{
	expect_refused(SETS("link.delay=0ns"),
		"--workers 2: a link without delay would connect two workers; 'delay' must be above 0ps");
}

UNIT_TEST(more_workers_than_switches_or_than_the_limit_are_refused)
{
	struct drawn drawn = {.sets = 0},
		     large = {.set = {"topology=ring:switches=300,hosts=1",
				      "routing.algorithm=minhop", "routing.may-deadlock=true"},
			     .sets = 3};
	struct error error = {""};

	assert_null(drawn_result(drawn_plain, &drawn, NULL, 21, &error));
	assert_string_equal(
		error.text, "--workers 21: must be 1 to 20 for a fabric with 20 switches");
	assert_null(drawn_result(drawn_plain, &large, NULL, 257, &error));
	assert_string_equal(
		error.text, "--workers 257: must be 1 to 256 for a fabric with 300 switches");
}

/* Returns the bytes of a file, followed by a NUL. */
static char *read_file(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	int c;

	assert_non_null(in);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

/* Captures all ports in a run with this number of workers. */
static char *capture_all(unsigned workers, const char *path, size_t *bytes)
{
	struct error error = {""};
	struct virtual_capture *capture;
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain,
		VIRTUAL_LAB_SET("measure={warmup: 0us, duration: 15us, sample: 4us}",
			"routing.adaptive=arn", "switch.voq=true", "watchdog=3us",
			"traffic[1].pattern=hotspot", "traffic[1].from=all", "traffic[1].to=[h3]",
			"traffic[1].load=100%", "traffic[1].message=2KiB"));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, workers, &error), 0);
	capture = virtual_capture_create(lab.fabric, 0, NULL, &error);
	assert_non_null(capture);
	assert_int_equal(virtual_capture_add(capture, "all", path, &error), 0);
	assert_int_equal(virtual_fabric_run(lab.fabric, NULL, NULL, NULL, &error), 0);
	assert_int_equal(virtual_capture_end(capture, &error), 0);
	virtual_capture_destroy(capture);
	return read_file(path, bytes);
}

UNIT_TEST(captures_have_the_bytes_of_one_worker)
{
	char path[] = "/tmp/weft-workers-XXXXXX";
	size_t one_bytes, many_bytes;
	char *one, *many;

	close(mkstemp(path));
	one = capture_all(1, path, &one_bytes);
	assert_true(one_bytes > 100000);
	for (unsigned workers = 2; workers <= 7; workers += 5) {
		many = capture_all(workers, path, &many_bytes);
		assert_int_equal(one_bytes, many_bytes);
		assert_memory_equal(one, many, one_bytes);
		free(many);
	}
	free(one);
	unlink(path);
}

/* Runs beside other traffic, which continues while partitions learn that the schedule has ended. */
UNIT_TEST(schedules_end_as_with_one_worker)
{
	static const char *const kinds[] = {"alltoall", "ring", "multigrid"};
	static const char *const adaptive[] = {"routing.adaptive=none", "routing.adaptive=arn"};
	char path[] = "/tmp/weft-workers-XXXXXX", file[64];

	close(mkstemp(path));
	snprintf(file, sizeof(file), "traffic[1].file=%s", path);
	for (unsigned i = 0; i < 6; i++) {
		struct drawn drawn = {.set = {"traffic[1].pattern=goal", file, adaptive[i / 3],
					      "traffic[0].from=[h12, h13, h14, h15]",
					      "measure.duration=10ms", "switch.voq=true"},
			.sets = 6,
			.workers = 2 + i};

		drawn_schedule(path, kinds[i % 3]);
		drawn_expect_workers(
			&drawn, i, "goal_completion_ns", (const unsigned[]){drawn.workers, 0});
	}
	unlink(path);
}

/* Frames overtake each other, and links are so long that a host sends more frames during their
 * delay than there is memory for. */
UNIT_TEST(frames_on_long_links_that_no_memory_could_hold_are_refused)
{
	expect_refused(
		SETS("routing.adaptive=adaptive", "link.delay=10ms", "traffic[0].message=64B",
			"measure.duration=50ms", "measure.sample=10ms", "measure.warmup=0us"),
		"--workers 2: within the delay of a cut link (10000 us), a host can send more frames than memory can hold for reordering; use one worker");
}

UNIT_TEST(frames_on_long_links_that_there_is_memory_for_are_not)
{
	struct drawn drawn = {.set = {"routing.adaptive=adaptive", "link.delay=20us",
				      "traffic[0].message=2KiB", "measure.duration=200us"},
		.sets = 4};
	struct error error = {""};
	char *one = drawn_result(drawn_plain, &drawn, NULL, 1, &error), *two;

	two = drawn_result(drawn_plain, &drawn, NULL, 2, &error);
	assert_non_null(two);
	assert_string_equal(one, two);
	free(one);
	free(two);
}

/* The watchdog is shorter than the queues of an incast, and hosts wait for frames in order. A
 * switch of one partition discards a frame for which a host of another partition waits. */
UNIT_TEST(a_host_of_another_part_hears_of_discards_as_one_of_the_same)
{
	struct drawn drawn = {
		.set = {"routing.adaptive=adaptive", "watchdog=2us", "switch.vcs=2",
			"traffic[0].load=100%", "traffic[1].pattern=hotspot", "traffic[1].from=all",
			"traffic[1].to=[h3]", "traffic[1].load=100%", "traffic[1].message=2KiB"},
		.sets = 9};

	drawn_expect_workers(&drawn, 0, NULL, (const unsigned[]){3, 0});
}

/* Only one of the partitions has traffic, and it may not be the first one. */
UNIT_TEST(a_run_of_several_workers_can_be_stopped)
{
	static const char *const from[] = {"traffic[0].from=[h0]", "traffic[0].from=[h15]"};

	for (unsigned i = 0; i < 2; i++) {
		atomic_bool stop = true;
		struct error error = {""};
		OWNED(virtual_lab) lab;

		virtual_lab_open(&lab, drawn_plain,
			VIRTUAL_LAB_SET("measure.duration=100s", "measure.sample=100s",
				"traffic[0].pattern=hotspot", from[i],
				i == 0 ? "traffic[0].to=[h1]" : "traffic[0].to=[h14]"));
		assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
		assert_int_equal(virtual_fabric_run(lab.fabric, &stop, NULL, NULL, &error), 0);
		assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &error), 0);
		assert_true(lab.result.incomplete);
		assert_null(virtual_fabric_check(lab.fabric));
	}
}

/* After the traffic, there are only samples, more than there are events between two checks. */
UNIT_TEST(a_run_of_several_workers_can_be_stopped_where_nothing_happens)
{
	atomic_bool stop = true;
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain,
		VIRTUAL_LAB_SET("measure.duration=100ms", "measure.sample=1us",
			"traffic[0].stop=11us", "traffic[0].from=[h0]", "traffic[0].to=[h1]",
			"traffic[0].pattern=hotspot"));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), 0);
	assert_int_equal(virtual_fabric_run(lab.fabric, &stop, NULL, NULL, &error), 0);
	assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &error), 0);
	assert_true(lab.result.incomplete);
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("WEFT_WORKERS_CASES");

	if (wanted != NULL)
		cases = (unsigned)strtoul(wanted, NULL, 10);
	if (argc == 2)
		cases = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc == 3 && strcmp(argv[1], "seed") == 0) {
		first = (unsigned)strtoul(argv[2], NULL, 10);
		cases = 1;
	}
	return unit_run(NULL, NULL);
}
