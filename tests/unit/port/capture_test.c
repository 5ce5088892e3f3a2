/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "capture/capture.h"
#include "pcapng_walk.h"

#define SLOTS 16u

static const char *reason_text(uint8_t reason)
{
	return reason == 3 ? "deflected" : NULL;
}

static bool reason_drops(uint8_t reason)
{
	return reason == 4;
}

/* A manager with two ports, and a folder for files. */
struct bench {
	struct capture_manager *manager;
	struct port a, b;
	char dir[32], path[64];
	uint8_t *file; /* as read back */
	size_t file_bytes;
};

static int setup_slots(void **state, uint32_t slots)
{
	struct capture_options options = {.slots = slots,
		.snap_bytes = slots == 0 ? 0 : 64,
		.epoch_ns = 1000,
		.reason = reason_text,
		.drops = reason_drops};
	struct bench *bench = calloc(1, sizeof(*bench));

	*state = bench;
	strcpy(bench->dir, "/tmp/weft-capture-XXXXXX");
	if (mkdtemp(bench->dir) == NULL)
		return -1;
	snprintf(bench->path, sizeof(bench->path), "%s/c", bench->dir);
	strcpy(bench->a.name, "s0:0");
	strcpy(bench->b.name, "s0:1");
	bench->manager = capture_manager_create(&options, NULL);
	capture_manager_add_port(bench->manager, &bench->a);
	capture_manager_add_port(bench->manager, &bench->b);
	return 0;
}

static int setup(void **state)
{
	return setup_slots(state, SLOTS);
}

static int setup_default(void **state)
{
	return setup_slots(state, 0);
}

static int setup_many_slots(void **state)
{
	return setup_slots(state, 1u << 15);
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	capture_manager_destroy(bench->manager);
	unlink(bench->path);
	rmdir(bench->dir);
	free(bench->file);
	free(bench);
	return 0;
}

static void offer(struct port *port, weft_time now, uint32_t bytes)
{
	static const uint8_t frame[256] = {0xAB};
	const struct capture_state state = {
		.vc = 1, .credits_blocks = 7, .voq_depth_blocks = 2, .waited_ns = 250, .reason = 3};
	struct capture *capture = capture_of(port);

	if (capture != NULL)
		capture_frame(capture, PCAPNG_IN, frame, bytes, now, &state);
}

static struct walk read_back(struct bench *bench)
{
	FILE *file = fopen(bench->path, "r");

	assert_non_null(file);
	bench->file = malloc(1 << 24);
	bench->file_bytes = fread(bench->file, 1, 1 << 24, file);
	fclose(file);
	return (struct walk){bench->file, bench->file_bytes};
}

static unsigned count_blocks(struct walk walk, uint32_t type)
{
	struct walk_block block;
	unsigned count = 0;

	while (walk_next(&walk, &block))
		count += block.type == type;
	return count;
}

static struct walk_block first_block(struct walk walk, uint32_t type)
{
	struct walk_block block = {0};

	while (walk_next(&walk, &block))
		if (block.type == type)
			return block;
	fail_msg("no block of type %u", type);
	return block;
}

static void start(struct bench *bench, const char *port)
{
	struct error error = {""};

	assert_int_equal(capture_start(bench->manager, port, bench->path, NULL, &error), 0);
}

#define TEST(name) UNIT_BED(name, setup, teardown, struct bench *bench)

#define TEST_MANY(name) UNIT_BED(name, setup_many_slots, teardown, struct bench *bench)

TEST(a_filter_of_drops_takes_frames_with_such_a_reason_alone)
{
	static const uint8_t frame[256] = {0xAB};
	struct capture_filter filter;
	struct capture_counts counts;
	struct error error = {""};
	struct walk walk;

	capture_filter_init(&filter);
	filter.dropped = true;
	filter.snap_bytes = 48;
	assert_int_equal(capture_start(bench->manager, "s0:0", bench->path, &filter, &error), 0);
	for (uint8_t reason = 0; reason < 6; reason++)
		capture_frame(capture_of(&bench->a), PCAPNG_IN, frame, sizeof(frame), 1 + reason,
			&(struct capture_state){.reason = reason});
	assert_int_equal(capture_stop(bench->manager, "s0:0", &counts, &error), 0);
	assert_int_equal(counts.offered, 1);
	assert_int_equal(counts.dropped, 0);
	walk = read_back(bench);
	assert_int_equal(count_blocks(walk, WALK_PACKET), 1);
	assert_int_equal(walk_u32(first_block(walk, WALK_PACKET).body + 12), 48);
}

TEST(all_that_fits_is_in_the_file)
{
	struct capture_counts counts;

	start(bench, "s0:0");
	for (unsigned i = 0; i < SLOTS; i++)
		offer(&bench->a, i, 64);
	assert_int_equal(capture_stop(bench->manager, "s0:0", &counts, NULL), 0);
	assert_int_equal(counts.offered, SLOTS);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(count_blocks(read_back(bench), WALK_PACKET), SLOTS);
}

/* A loop that catches up dates frames before others that it has already offered. */
UNIT_WITH(frames_whose_times_go_back_are_in_the_file, setup_default, teardown)
{
	struct bench *bench = *state;
	struct capture_counts counts;
	struct rng rng;

	rng_init(&rng, 47, 0, 0);
	start(bench, "all");
	for (unsigned i = 0; i < 200; i++)
		offer(i % 3 == 0 ? &bench->b : &bench->a, 1000 + rng_below(&rng, 1000), 64);
	offer(&bench->a, 3000, 64);
	offer(&bench->a, 1, 64);
	assert_int_equal(capture_stop(bench->manager, "all", &counts, NULL), 0);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(count_blocks(read_back(bench), WALK_PACKET), 202);
}

TEST(packet_says_why_in_its_comment)
{
	static const char expected[] = "vc 1, credits 7, voq 2, waited 250, deflected";
	struct walk_block block;
	const uint8_t *comment;
	uint16_t bytes;

	start(bench, "s0:0");
	offer(&bench->a, 5000000, 200);
	capture_stop(bench->manager, "s0:0", NULL, NULL);
	block = first_block(read_back(bench), WALK_PACKET);
	comment = walk_option(&block, walk_packet_options(&block), 1, &bytes);
	assert_int_equal(bytes, strlen(expected));
	assert_memory_equal(comment, expected, bytes);
	/* 5 us after an epoch of 1000 ns; cut to 64 of 200 bytes */
	assert_int_equal(walk_u32(block.body + 8), 6000);
	assert_int_equal(walk_u32(block.body + 12), 64);
	assert_int_equal(walk_u32(block.body + 16), 200);
}

/* A device may change or free the frame before it knows the state. */
TEST(frame_is_kept_as_it_was_when_its_capture_began)
{
	const struct capture_state known = {.vc = 1};
	struct capture_slot *slot;
	struct walk_block block;
	uint8_t frame[64] = {1};

	start(bench, "s0:0");
	slot = capture_begin(capture_of(&bench->a), PCAPNG_IN, frame, sizeof(frame), 1);
	frame[0] = 2;
	capture_end(capture_of(&bench->a), slot, &known);
	capture_stop(bench->manager, "s0:0", NULL, NULL);
	block = first_block(read_back(bench), WALK_PACKET);
	assert_int_equal(block.body[20], 1);
}

/* A FIFO without a reader accepts nothing, so the ring fills up. */
TEST(full_ring_drops_and_counts)
{
	struct capture_counts counts;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	for (unsigned i = 0; i < 100; i++)
		offer(&bench->a, i, 64);
	assert_in_range(atomic_load(&capture_of(&bench->a)->dropped), 1, 100 - SLOTS);
	capture_stop(bench->manager, "s0:0", &counts, NULL);
	assert_int_equal(counts.offered, 100);
	/* It was never read. */
	assert_int_equal(counts.dropped, 100);
}

/* 3 ms at 10 Gbps, full of short frames. The writer wakes up every millisecond. */
UNIT_WITH(default_ring_holds_frames_until_a_late_writer_starts, setup_default, teardown)
{
	struct bench *bench = *state;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	for (unsigned i = 0; i < 50000; i++)
		offer(&bench->a, i, 60);
	assert_int_equal(atomic_load(&capture_of(&bench->a)->dropped), 0);
}

TEST(reader_that_comes_late_gets_what_the_ring_kept)
{
	struct capture_counts counts;
	int fd;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	for (unsigned i = 0; i < SLOTS; i++)
		offer(&bench->a, i, 64);
	fd = open(bench->path, O_RDONLY);
	bench->file = calloc(1, 1 << 16);
	/* The section header shows that the writer has noticed the reader. */
	bench->file_bytes = (size_t)read(fd, bench->file, 1 << 16);
	assert_int_equal(capture_stop(bench->manager, "s0:0", &counts, NULL), 0);
	while (true) {
		ssize_t n =
			read(fd, bench->file + bench->file_bytes, (1 << 16) - bench->file_bytes);

		if (n <= 0)
			break;
		bench->file_bytes += (size_t)n;
	}
	close(fd);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(
		count_blocks((struct walk){bench->file, bench->file_bytes}, WALK_PACKET), SLOTS);
}

TEST(reader_that_goes_away_ends_the_capture)
{
	uint8_t some[64];
	int fd;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	fd = open(bench->path, O_RDONLY);
	assert_true(read(fd, some, sizeof(some)) > 0);
	close(fd);
	/* Without another frame. The time limit of the test is the bound. */
	while (capture_of(&bench->a) != NULL)
		sched_yield();
	assert_int_equal(capture_stop(bench->manager, "s0:0", NULL, NULL), -ENOENT);
}

TEST(reader_that_stops_reading_stalls_nobody)
{
	struct capture_counts counts;
	uint8_t some[64];
	int fd;

	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	fd = open(bench->path, O_RDONLY);
	assert_true(read(fd, some, sizeof(some)) > 0);
	/* More than a pipe and the buffer hold. This loop would never end if it had to wait. */
	for (unsigned i = 0; atomic_load(&capture_of(&bench->a)->dropped) < 100; i++)
		offer(&bench->a, i, 64);
	capture_stop(bench->manager, "s0:0", &counts, NULL);
	assert_true(counts.dropped >= 100);
	close(fd);
}

/* This process is stopped while it waits, until its time is over. Then the reader continues. */
static struct {
	struct bench *bench; /* NULL: no such case */
	int fd;
	bool at_poll, stopped;
} stall;

static bool continues(bool polls)
{
	ssize_t got;

	if (stall.bench == NULL || (!stall.stopped && polls != stall.at_poll))
		return true;
	if (!stall.stopped) {
		stall.stopped = true;
		return false;
	}
	do {
		got = read(stall.fd, stall.bench->file + stall.bench->file_bytes, 1 << 16);
		stall.bench->file_bytes += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	return true;
}

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	/* It waits for one descriptor only at the end. */
	return count == 1 && !continues(true) ? 0 : __real_poll(fds, count, ms);
}

int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int __wrap_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int __wrap_pthread_cond_timedwait(
	pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
	return continues(false) ? __real_pthread_cond_timedwait(condition, lock, until) : ETIMEDOUT;
}

/* This many frames are not written yet when the capture ends. */
static void end_while_stopped(struct bench *bench, unsigned frames, bool at_poll)
{
	struct capture_counts counts = {0};

	bench->file = malloc(1 << 24);
	assert_int_equal(mkfifo(bench->path, 0600), 0);
	start(bench, "s0:0");
	stall.fd = open(bench->path, O_RDONLY); /* waits for the writer */
	fcntl(stall.fd, F_SETFL, O_NONBLOCK);
	for (unsigned i = 0; i < frames; i++)
		offer(&bench->a, i, 64);
	stall.stopped = false;
	stall.at_poll = at_poll;
	stall.bench = bench;
	assert_int_equal(capture_stop(bench->manager, "s0:0", &counts, NULL), 0);
	continues(false);
	stall.bench = NULL;
	close(stall.fd);
	assert_true(stall.stopped);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(
		count_blocks((struct walk){bench->file, bench->file_bytes}, WALK_PACKET), frames);
	assert_int_equal(
		count_blocks((struct walk){bench->file, bench->file_bytes}, WALK_COUNTS), 1);
}

UNIT_BED(a_process_that_is_stopped_while_it_writes_the_end_of_a_capture_loses_nothing,
	setup_many_slots, teardown, struct bench *bench)
{
	end_while_stopped(bench, 1000, true);
}

UNIT_BED(a_process_that_is_stopped_while_it_ends_a_capture_loses_nothing, setup_many_slots,
	teardown, struct bench *bench)
{
	end_while_stopped(bench, 3000, false);
}

TEST(ports_of_one_file_have_interfaces_of_their_own)
{
	struct walk walk;

	start(bench, "all");
	offer(&bench->a, 1, 64);
	offer(&bench->b, 2, 64);
	assert_int_equal(capture_stop(bench->manager, "all", NULL, NULL), 0);
	walk = read_back(bench);
	assert_int_equal(count_blocks(walk, WALK_INTERFACE), 2);
	assert_int_equal(count_blocks(walk, WALK_COUNTS), 2);
	assert_int_equal(count_blocks(walk, WALK_PACKET), 2);
}

TEST(port_can_join_and_leave_a_running_file)
{
	start(bench, "s0:0");
	start(bench, "s0:1");
	assert_int_equal(capture_stop(bench->manager, "s0:0", NULL, NULL), 0);
	offer(&bench->a, 1, 64);
	offer(&bench->b, 2, 64);
	assert_int_equal(capture_stop(bench->manager, "s0:1", NULL, NULL), 0);
	assert_int_equal(count_blocks(read_back(bench), WALK_PACKET), 1);
}

TEST_MANY(frames_of_all_ports_are_in_order_of_time)
{
	struct walk_block block;
	struct walk walk;
	weft_time now = 0;
	uint64_t last = 0;
	unsigned packets = 0;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	start(bench, "all");
	for (unsigned i = 0; i < 20000; i++) {
		now += rng_below(&rng, 5000);
		offer(rng_below(&rng, 2) ? &bench->a : &bench->b, now, 64);
	}
	capture_stop(bench->manager, "all", NULL, NULL);
	walk = read_back(bench);
	while (walk_next(&walk, &block)) {
		uint64_t at;

		if (block.type != WALK_PACKET)
			continue;
		at = (uint64_t)walk_u32(block.body + 4) << 32 | walk_u32(block.body + 8);
		assert_true(at >= last);
		last = at;
		packets++;
	}
	assert_int_equal(packets, 20000);
}

TEST(requests_that_make_no_sense_are_refused)
{
	struct error error;

	assert_int_equal(capture_start(bench->manager, "s9:9", bench->path, NULL, &error), -ENOENT);
	assert_non_null(strstr(error.text, "s9:9"));
	assert_int_equal(capture_stop(bench->manager, "s0:0", NULL, &error), -ENOENT);
	start(bench, "s0:0");
	assert_int_equal(capture_start(bench->manager, "s0:0", bench->path, NULL, &error), -EBUSY);
}

TEST(file_that_cannot_be_opened_is_a_fault)
{
	struct error error;

	assert_int_equal(
		capture_start(bench->manager, "s0:0", "/nonexistent/x", NULL, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/x"));
	assert_null(capture_of(&bench->a));
}

TEST(full_disk_ends_the_capture_and_is_told)
{
	struct error error = {""};

	assert_int_equal(capture_start(bench->manager, "s0:0", "/dev/full", NULL, &error), 0);
	while (capture_of(&bench->a) != NULL)
		sched_yield();
	assert_int_equal(capture_stop(bench->manager, "s0:0", NULL, &error), -EIO);
	assert_non_null(strstr(error.text, "No space left"));
}

TEST(captures_can_be_repeated_on_a_port)
{
	struct capture_counts counts;

	for (unsigned round = 0; round < 20; round++) {
		start(bench, "s0:0");
		for (unsigned i = 0; i < SLOTS; i++)
			offer(&bench->a, i, 64);
		assert_int_equal(capture_stop(bench->manager, "s0:0", &counts, NULL), 0);
		assert_int_equal(counts.dropped, 0);
	}
}

struct producer {
	struct port *port;
	atomic_bool stop;
	uint64_t offered;
};

static void *produce(void *ctx)
{
	struct producer *producer = ctx;

	for (weft_time now = 0; !atomic_load(&producer->stop); now += 1000)
		offer(producer->port, now, 64);
	return NULL;
}

TEST(start_and_stop_while_frames_flow)
{
	struct producer producer = {.port = &bench->a};
	pthread_t thread;

	pthread_create(&thread, NULL, produce, &producer);
	for (unsigned round = 0; round < 50; round++) {
		start(bench, "s0:0");
		assert_int_equal(capture_stop(bench->manager, "s0:0", NULL, NULL), 0);
	}
	atomic_store(&producer.stop, true);
	pthread_join(thread, NULL);
	count_blocks(read_back(bench), WALK_PACKET);
}
