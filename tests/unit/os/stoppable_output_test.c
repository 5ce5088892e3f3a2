/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "unit.h"

#define PIPE_ROOM 65536
#define ALL       (16 * PIPE_ROOM)

/* Global, because the handler can reach nothing else. */
static atomic_bool stop;

static void on_signal(int number)
{
	atomic_store(&stop, true);
}

struct lab {
	int end[2];
	FILE *out;
	pthread_t writer;
	uint64_t read; /* bytes */
};

static void open_lab(struct lab *lab)
{
	const struct sigaction action = {.sa_handler = on_signal};

	atomic_store(&stop, false);
	sigaction(SIGUSR1, &action, NULL);
	assert_int_equal(pipe(lab->end), 0);
	assert_int_equal(fcntl(lab->end[1], F_SETPIPE_SZ, PIPE_ROOM), PIPE_ROOM);
	lab->out = stoppable_output_open(lab->end[1], &stop);
	assert_non_null(lab->out);
	lab->writer = pthread_self();
	lab->read = 0;
}

static void close_lab(struct lab *lab)
{
	close(lab->end[0]);
	close(lab->end[1]);
}

static void wait_until_full(const struct lab *lab)
{
	int waiting = 0;

	while (waiting < PIPE_ROOM) {
		assert_int_equal(ioctl(lab->end[0], FIONREAD, &waiting), 0);
		sched_yield();
	}
}

/* A reader that stops reading in the middle, and then a signal. */
static void *read_some(void *ctx)
{
	struct lab *lab = ctx;
	char bytes[4096];

	wait_until_full(lab);
	assert_int_equal(read(lab->end[0], bytes, sizeof(bytes)), sizeof(bytes));
	/* The writer has written a part of its data, and waits. */
	wait_until_full(lab);
	pthread_kill(lab->writer, SIGUSR1);
	return NULL;
}

static void *read_all(void *ctx)
{
	struct lab *lab = ctx;
	uint8_t bytes[4096];
	ssize_t count;

	while ((count = read(lab->end[0], bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < count; i++)
			assert_int_equal(bytes[i], (uint8_t)(lab->read++ * 7 >> 8));
	return NULL;
}

static void write_numbers(FILE *out)
{
	for (uint64_t i = 0; i < ALL; i++)
		fputc((uint8_t)(i * 7 >> 8), out);
}

UNIT_TEST(all_bytes_arrive_in_order)
{
	pthread_t reader;
	struct lab lab;

	open_lab(&lab);
	assert_int_equal(pthread_create(&reader, NULL, read_all, &lab), 0);
	write_numbers(lab.out);
	assert_int_equal(fclose(lab.out), 0);
	assert_true(fcntl(lab.end[1], F_GETFD) >= 0);
	close(lab.end[1]);
	pthread_join(reader, NULL);
	assert_int_equal(lab.read, ALL);
	close(lab.end[0]);
}

UNIT_TEST(a_signal_ends_it_when_the_reader_reads_no_more)
{
	static const char bytes[3 * PIPE_ROOM];
	pthread_t reader;
	struct lab lab;

	open_lab(&lab);
	assert_int_equal(pthread_create(&reader, NULL, read_some, &lab), 0);
	assert_true(fwrite(bytes, 1, sizeof(bytes), lab.out) < sizeof(bytes));
	assert_int_equal(errno, EINTR);
	assert_true(ferror(lab.out));
	pthread_join(reader, NULL);
	fclose(lab.out);
	close_lab(&lab);
}

UNIT_TEST(nothing_is_written_after_a_signal)
{
	struct lab lab;
	int waiting = -1;

	open_lab(&lab);
	raise(SIGUSR1);
	fputs("late", lab.out);
	assert_int_equal(fclose(lab.out), EOF);
	assert_int_equal(errno, EINTR);
	assert_int_equal(ioctl(lab.end[0], FIONREAD, &waiting), 0);
	assert_int_equal(waiting, 0);
	close_lab(&lab);
}

static void on_other_signal(int number)
{
}

/* Before the reader reads, and while the writer waits for it. */
static void *disturb_and_read(void *ctx)
{
	struct lab *lab = ctx;

	for (unsigned i = 0; i < 100; i++)
		pthread_kill(lab->writer, SIGUSR2);
	wait_until_full(lab);
	pthread_kill(lab->writer, SIGUSR2);
	return read_all(ctx);
}

UNIT_TEST(other_signals_lose_no_bytes)
{
	const struct sigaction action = {.sa_handler = on_other_signal};
	pthread_t reader;
	struct lab lab;

	open_lab(&lab);
	sigaction(SIGUSR2, &action, NULL);
	assert_int_equal(pthread_create(&reader, NULL, disturb_and_read, &lab), 0);
	write_numbers(lab.out);
	assert_int_equal(fclose(lab.out), 0);
	close(lab.end[1]);
	pthread_join(reader, NULL);
	assert_int_equal(lab.read, ALL);
	close(lab.end[0]);
}

UNIT_TEST(an_error_of_the_descriptor_is_the_stream_s)
{
	int full = open("/dev/full", O_WRONLY);
	FILE *out;

	assert_true(full >= 0);
	atomic_store(&stop, false);
	out = stoppable_output_open(full, &stop);
	fputs("x", out);
	assert_int_equal(fclose(out), EOF);
	assert_int_equal(errno, ENOSPC);
	close(full);
}
