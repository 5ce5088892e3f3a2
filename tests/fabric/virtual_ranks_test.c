/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A virtual fabric in several processes gives the bytes that it gives in one. The processes are
 * threads here, which exchange messages through memory; mpi_test runs real ones. Long forms:
 *
 *     virtual_ranks_test CASES
 *     virtual_ranks_test seed SEED */

#include <pthread.h>
#include <unistd.h>

#include "virtual/virtual_private.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

#ifndef RANKS_CASES
#define RANKS_CASES 12
#endif

#define TEST_RANKS_MAX 4u

/* --- ranks that are threads --- */

struct hub {
	pthread_barrier_t barrier;
	struct ranks *of[TEST_RANKS_MAX];
	unsigned exchanges_left; /* until rank 1 is lost; 0: never */
};

static void copy_message(struct ranks_message *to, const struct ranks_message *from)
{
	assert_int_equal(ranks_reserve(to, from->used), 0);
	memcpy(to->bytes, from->bytes, from->used);
	to->used = from->used;
}

static int exchange(struct ranks *ranks, struct error *error)
{
	struct hub *hub = ranks->ctx;

	pthread_barrier_wait(&hub->barrier);
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->own)
			copy_message(&ranks->in[i], &hub->of[i]->out[ranks->own]);
	if (ranks->own == 0 && hub->exchanges_left > 0)
		hub->exchanges_left--;
	pthread_barrier_wait(&hub->barrier);
	return hub->exchanges_left == 1 ? error_set(error, EIO, "rank 1 is lost") : 0;
}

static const struct ranks_ops ops = {.exchange = exchange};

struct process {
	struct ranks ranks;
	const struct drawn *drawn;
	const char *file;
	unsigned workers;
	char *result;
	struct error error;
	const atomic_bool *stop;
	bool incomplete;
};

static void *run_process(void *argument)
{
	struct process *process = argument;

	process->result = drawn_result(
		process->file, process->drawn, &process->ranks, process->workers, &process->error);
	return NULL;
}

static void run_processes(
	struct process *process, unsigned count, unsigned exchanges, void *(*run)(void *argument))
{
	struct hub hub = {.exchanges_left = exchanges};
	pthread_t thread[TEST_RANKS_MAX];

	assert_int_equal(pthread_barrier_init(&hub.barrier, NULL, count), 0);
	for (unsigned i = 0; i < count; i++) {
		process[i].ranks = (struct ranks){.ops = &ops, .ctx = &hub};
		assert_int_equal(ranks_init(&process[i].ranks, count, i), 0);
		hub.of[i] = &process[i].ranks;
	}
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run, &process[i]), 0);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < count; i++)
		ranks_fini(&process[i].ranks);
	pthread_barrier_destroy(&hub.barrier);
}

/* The result of rank 0, or NULL and an error that all ranks return. */
static char *result_of(const struct drawn *drawn, unsigned count, unsigned workers,
	unsigned exchanges, struct error *error)
{
	struct process process[TEST_RANKS_MAX] = {0};

	for (unsigned i = 0; i < count; i++) {
		process[i].drawn = drawn;
		process[i].file = drawn_plain;
		process[i].workers = workers;
	}
	run_processes(process, count, exchanges, run_process);
	for (unsigned i = 1; i < count; i++) {
		assert_null(process[i].result);
		if (process[0].result == NULL)
			assert_string_equal(process[i].error.text, process[0].error.text);
	}
	*error = process[0].error;
	return process[0].result;
}

/* --- same bytes --- */

static unsigned first = 1, cases = RANKS_CASES;

/* The ranks and workers for which the fabric, of at least 9 switches, is large enough. */
static void run_case(unsigned seed)
{
	unsigned ranks = 2 + seed % 3, workers = seed % 5 == 0 ? 2 : 1;
	struct error error = {""}, other = {""};
	struct drawn drawn;
	char *one, *many;

	drawn_draw(seed, &drawn);
	drawn.workers = ranks * workers;
	one = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
	many = result_of(&drawn, ranks, workers, 0, &other);
	if (one == NULL || many == NULL)
		fail_msg("case %u, %u ranks of %u workers: '%s', '%s'", seed, ranks, workers,
			error.text, other.text);
	drawn_expect_same(one, many, seed, &drawn);
	free(one);
	free(many);
}

UNIT_TEST(any_number_of_ranks_gives_the_same_bytes)
{
	for (unsigned i = 0; i < cases; i++)
		run_case(first + i);
}

/* A fabric in which switches of different ranks notify each other. */
UNIT_TEST(notifications_cross_between_ranks)
{
	struct drawn drawn = {
		.set = {"topology=rlft:ports=6,stages=3", "routing.adaptive=arn",
			"routing.afi=true", "switch.voq=true", "switch.vcs=2", "detector.crt=5us",
			"detector.arn-refresh=2us", "detector.arn-ttl=20us", "switch.buffer=128KiB",
			"traffic[0].load=70%", "traffic[1].pattern=hotspot", "traffic[1].from=all",
			"traffic[1].to=[h3]", "traffic[1].load=40%", "traffic[1].message=2KiB",
			"measure.duration=200us"},
		.sets = 16,
		.workers = 3};
	struct error error = {""};
	char *one = drawn_result(drawn_plain, &drawn, NULL, 1, &error), *many;

	many = result_of(&drawn, 3, 1, 0, &error);
	assert_non_null(one);
	assert_non_null(many);
	assert_null(strstr(one, "\"arn_sent\": 0"));
	assert_null(strstr(one, "\"arn_entries_created\": 0"));
	drawn_expect_same(one, many, 0, &drawn);
	free(one);
	free(many);
}

/* All ranks, and their workers, stop at the same batch. */
UNIT_TEST(a_run_until_a_value_is_known_ends_as_with_one_rank)
{
	struct drawn drawn = {
		.set = {"topology=rlft:ports=6,stages=3", "traffic[0].load=30%",
			"measure.duration=1ms", "measure.at-most=1ms", "measure.until.interval=5%"},
		.sets = 5,
		.workers = 4};
	struct error error = {""};
	char *one = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
	char *many = result_of(&drawn, 2, 2, 0, &error);

	if (one == NULL || many == NULL)
		fail_msg("%s", error.text);
	assert_non_null(strstr(one, "\"reached\": true"));
	drawn_expect_same(one, many, 0, &drawn);
	free(one);
	free(many);
}

static void expect_refused(
	const struct drawn *drawn, unsigned ranks, unsigned workers, const char *why)
{
	struct error error = {""};

	assert_null(result_of(drawn, ranks, workers, 0, &error));
	assert_string_equal(error.text, why);
}

/* Complete, and cut off by the end of the run. Operations that have not ended are then named. */
UNIT_TEST(schedules_end_as_with_one_rank)
{
	static const char *const kinds[] = {"alltoall", "ring", "multigrid"};
	char path[] = "/tmp/weft-ranks-XXXXXX", file[64];

	close(mkstemp(path));
	snprintf(file, sizeof(file), "traffic[1].file=%s", path);
	for (unsigned i = 0; i < 6; i++) {
		struct drawn drawn = {
			.set = {"traffic[1].pattern=goal", file, "switch.voq=true",
				"traffic[0].from=[h12, h13, h14, h15]", "measure.warmup=1us",
				"measure.sample=1us",
				i < 3 ? "measure.duration=10ms" : "measure.duration=3us"},
			.sets = 7};
		struct error error = {""};
		char *one, *many;

		drawn_schedule(path, kinds[i % 3]);
		one = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
		assert_non_null(one);
		assert_non_null(strstr(one, "goal_completion_ns"));
		assert_true((strstr(one, "\"unfinished\": \"\"") != NULL) == (i < 3));
		many = result_of(&drawn, 2 + i % 2, 1 + i / 3, 0, &error);
		assert_non_null(many);
		drawn_expect_same(one, many, i, &drawn);
		free(one);
		free(many);
	}
	unlink(path);
}

UNIT_TEST(more_workers_in_all_than_switches_are_refused)
{
	struct drawn drawn = {.sets = 0};

	expect_refused(&drawn, 3, 7,
		"--mpi 3 --workers 7: must be 1 to 20 workers in total for a fabric with 20 "
		"switches");
}

UNIT_TEST(links_without_delay_are_refused)
{
	struct drawn drawn = {.set = {"link.delay=0ns"}, .sets = 1};

	expect_refused(&drawn, 2, 1,
		"--mpi 2: a link without delay would connect two workers; 'delay' must be above 0ps");
}

/* A rank runs out of memory for packets. */
static void *run_short_of_packets(void *argument)
{
	struct process *process = argument;
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, drawn_plain, VIRTUAL_LAB_SET("measure.duration=1ms"));
	assert_int_equal(
		virtual_fabric_set_ranks(lab.fabric, &process->ranks, 1, &process->error), 0);
	if (process->ranks.own == 1)
		lab.fabric->pool.size = 8;
	assert_true(virtual_fabric_run(lab.fabric, NULL, NULL, NULL, &process->error) < 0);
	return NULL;
}

UNIT_TEST(a_failure_in_the_run_of_one_rank_ends_all)
{
	struct process process[TEST_RANKS_MAX] = {0};

	run_processes(process, 3, 0, run_short_of_packets);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(process[i].error.text,
			"rank 1: not enough memory for more packets or events");
}

/* Fails at each of the first steps, including the agreements before the run and the first
 * rounds. */
UNIT_TEST(a_lost_rank_ends_the_others_at_any_step)
{
	struct drawn drawn = {.set = {"measure.duration=20us"}, .sets = 1};

	for (unsigned step = 2; step < 40; step++) {
		struct error error = {""};

		assert_null(result_of(&drawn, 2, 1 + step % 2, step, &error));
		assert_string_equal(error.text, "rank 1 is lost");
	}
}

/* --- signals --- */

static void *run_stopped(void *argument)
{
	struct process *process = argument;
	OWNED(run_result) result = {0};
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(
		&lab, drawn_plain, VIRTUAL_LAB_SET("measure.duration=100s", "measure.sample=100s"));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, &process->ranks, 1, &error), 0);
	assert_int_equal(virtual_fabric_run(lab.fabric, process->stop, NULL, NULL, &error), 0);
	if (process->ranks.own == 0) {
		assert_int_equal(virtual_fabric_result(lab.fabric, &result, &error), 0);
		process->incomplete = result.incomplete;
	}
	return NULL;
}

UNIT_TEST(a_signal_to_any_rank_ends_the_run)
{
	for (unsigned stopped = 0; stopped < 2; stopped++) {
		struct process process[TEST_RANKS_MAX] = {0};
		atomic_bool stop = true;

		process[stopped].stop = &stop;
		run_processes(process, 2, 0, run_stopped);
		assert_true(process[0].incomplete);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2)
		cases = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc == 3 && strcmp(argv[1], "seed") == 0) {
		first = (unsigned)strtoul(argv[2], NULL, 10);
		cases = 1;
	}
	return unit_run(NULL, NULL);
}
