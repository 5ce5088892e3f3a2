/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "port/shared_ring.h"

#define RING    65536u
#define LONGEST 4300u

struct bench {
	char path[64];
	struct shared_file file[2];
	struct shared_ring_tx tx; /* end 0 */
	struct shared_ring_rx rx; /* end 1 */
	uint32_t sent, received;
	struct rng rng;
};

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct error error;

	snprintf(bench->path, sizeof(bench->path), "/tmp/weft-ring-XXXXXX");
	assert_non_null(mkdtemp(bench->path));
	strcat(bench->path, "/l0.ring");
	for (unsigned end = 0; end < 2; end++)
		assert_int_equal(
			shared_file_open(&bench->file[end], bench->path, end, RING, &error), 0);
	shared_ring_tx_init(&bench->tx, &bench->file[0].tx);
	shared_ring_rx_init(&bench->rx, &bench->file[1].rx, LONGEST);
	rng_init(&bench->rng, 1, 2, 3);
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	for (unsigned end = 0; end < 2; end++)
		shared_file_close(&bench->file[end]);
	unlink(bench->path);
	*strrchr(bench->path, '/') = '\0';
	assert_int_equal(rmdir(bench->path), 0);
	free(bench);
	return 0;
}

/* --- help --- */

/* The length of a frame follows from its number. */
static uint32_t length_of(uint32_t number)
{
	return 4 + number * 97 % (LONGEST - 3);
}

static bool send(struct bench *bench)
{
	uint32_t length = length_of(bench->sent);
	uint8_t *frame = shared_ring_reserve(&bench->tx, length, bench->sent * PS_PER_MS);

	if (frame == NULL)
		return false;
	memset(frame, (int)bench->sent, length);
	memcpy(frame, &bench->sent, 4);
	shared_ring_flush(&bench->tx);
	bench->sent++;
	return true;
}

static void check_frame(const struct shared_ring_record *record, uint32_t number)
{
	uint32_t found;

	memcpy(&found, record->frame, 4);
	assert_int_equal(found, number);
	assert_int_equal(record->length, length_of(number));
	assert_int_equal(record->due, number * PS_PER_MS);
	for (uint32_t i = 4; i < record->length; i++)
		if (record->frame[i] != (uint8_t)number)
			fail_msg("byte %u of frame %u", i, number);
}

/* Takes up to 'count' frames, which must be the next ones. Returns their number. */
static uint16_t receive(struct bench *bench, uint16_t count)
{
	struct shared_ring_record record[32];
	uint16_t found = shared_ring_peek(&bench->rx, record, count);

	for (uint16_t i = 0; i < found; i++)
		check_frame(&record[i], bench->received++);
	if (found > 0)
		shared_ring_release(&bench->rx, record[found - 1].next);
	return found;
}

static void drain(struct bench *bench)
{
	while (receive(bench, 32) > 0)
		;
}

static struct shared_ring_marks *marks(struct bench *bench)
{
	return bench->file[0].tx.marks;
}

/* Like another process, at the position of the next record. */
static void forge(struct bench *bench, uint32_t length, uint64_t waiting)
{
	memcpy(bench->rx.ring.bytes + bench->rx.read % RING, &length, sizeof(length));
	atomic_store(&marks(bench)->written, bench->rx.read + waiting);
}

/* The ring was emptied, counts this, and passes the next frame of a writer that restarts. */
static void assert_emptied(struct bench *bench)
{
	struct shared_ring_record record[32];

	assert_int_equal(shared_ring_peek(&bench->rx, record, 32), 0);
	assert_int_equal(bench->rx.damaged, 1);
	assert_int_equal(atomic_load(&marks(bench)->read), bench->rx.read);
	assert_int_equal(bench->rx.read, atomic_load(&marks(bench)->written));
	shared_ring_tx_init(&bench->tx, &bench->file[0].tx);
	bench->received = bench->sent;
	assert_true(send(bench));
	assert_int_equal(receive(bench, 32), 1);
}

/* --- claims --- */

#define CLAIM(name) UNIT_BED(name, setup, teardown, struct bench *bench)

CLAIM(frames_come_whole_and_in_order_round_the_ring)
{
	while (bench->received < 5000) {
		for (unsigned i = rng_below(&bench->rng, 20); i > 0 && send(bench); i--)
			;
		receive(bench, (uint16_t)(1 + rng_below(&bench->rng, 32)));
	}
	drain(bench);
	assert_int_equal(bench->received, bench->sent);
	assert_int_equal(bench->rx.damaged, 0);
}

CLAIM(each_direction_has_a_ring_of_its_own)
{
	struct shared_ring_record record;
	struct shared_ring_tx back;
	struct shared_ring_rx at;

	shared_ring_tx_init(&back, &bench->file[1].tx);
	shared_ring_rx_init(&at, &bench->file[0].rx, LONGEST);
	memcpy(shared_ring_reserve(&back, 5, 0), "hello", 5);
	shared_ring_flush(&back);
	for (unsigned i = 0; i < 20; i++)
		send(bench);
	assert_int_equal(shared_ring_peek(&at, &record, 1), 1);
	assert_int_equal(record.length, 5);
	assert_memory_equal(record.frame, "hello", 5);
	drain(bench);
	assert_int_equal(bench->received, 20);
}

/* Returns whether end 1 was notified since the last call. */
static bool is_notified(int inotify)
{
	char notes[512];

	return read(inotify, notes, sizeof(notes)) > 0;
}

CLAIM(a_sleeping_reader_is_seen_by_the_writer_and_can_be_notified)
{
	int inotify = inotify_init1(IN_NONBLOCK);

	assert_int_equal(shared_file_watch(&bench->file[1], inotify), 0);
	assert_false(shared_ring_reader_sleeps(&bench->tx));
	assert_true(shared_ring_sleep(&bench->rx));
	send(bench);
	assert_true(shared_ring_reader_sleeps(&bench->tx));
	assert_false(is_notified(inotify));
	shared_file_notify(&bench->file[0]);
	assert_true(is_notified(inotify));
	shared_ring_wake(&bench->rx);
	assert_false(shared_ring_reader_sleeps(&bench->tx));
	assert_int_equal(receive(bench, 32), 1);
	close(inotify);
}

CLAIM(a_closed_file_notifies_nobody)
{
	int inotify = inotify_init1(IN_NONBLOCK);

	assert_int_equal(shared_file_watch(&bench->file[1], inotify), 0);
	shared_file_close(&bench->file[1]);
	while (is_notified(inotify)) /* that the watch has ended */
		;
	shared_file_notify(&bench->file[0]);
	assert_false(is_notified(inotify));
	close(inotify);
}

CLAIM(a_reader_does_not_sleep_while_frames_wait)
{
	send(bench);
	assert_false(shared_ring_sleep(&bench->rx));
	assert_false(shared_ring_reader_sleeps(&bench->tx));
}

CLAIM(a_reader_that_starts_again_is_awake)
{
	assert_true(shared_ring_sleep(&bench->rx));
	shared_ring_rx_init(&bench->rx, &bench->file[1].rx, LONGEST);
	assert_false(shared_ring_reader_sleeps(&bench->tx));
}

CLAIM(full_ring_takes_no_frame_and_loses_none)
{
	uint32_t held;

	while (send(bench))
		;
	held = bench->sent;
	assert_in_range(RING - (bench->tx.written - bench->tx.read), 0, LONGEST + 32);
	assert_int_equal(receive(bench, 32), held < 32 ? held : 32);
	assert_true(send(bench));
	drain(bench);
	assert_int_equal(bench->received, held + 1);
}

CLAIM(unpublished_frame_is_not_seen)
{
	assert_non_null(shared_ring_reserve(&bench->tx, 100, 0));
	assert_int_equal(receive(bench, 32), 0);
}

CLAIM(frame_stays_until_it_is_released)
{
	struct shared_ring_record record[4];

	send(bench);
	assert_int_equal(shared_ring_peek(&bench->rx, record, 4), 1);
	assert_int_equal(receive(bench, 4), 1);
	assert_int_equal(receive(bench, 4), 0);
}

CLAIM(writer_that_starts_again_continues_behind_its_predecessor)
{
	for (unsigned i = 0; i < 20; i++)
		send(bench);
	receive(bench, 5);
	/* It died after writing a record and before publishing it. */
	shared_ring_reserve(&bench->tx, 200, 0);
	shared_ring_tx_init(&bench->tx, &bench->file[0].tx);
	send(bench);
	drain(bench);
	assert_int_equal(bench->received, 21);
	assert_int_equal(bench->rx.damaged, 0);
}

CLAIM(reader_that_starts_again_skips_what_waited_for_its_predecessor)
{
	while (send(bench))
		;
	shared_ring_rx_init(&bench->rx, &bench->file[1].rx, LONGEST);
	bench->received = bench->sent;
	assert_int_equal(receive(bench, 32), 0);
	assert_true(send(bench));
	assert_int_equal(receive(bench, 32), 1);
}

CLAIM(impossible_position_of_the_writer_empties_the_ring)
{
	forge(bench, 100, RING + 1);
	assert_emptied(bench);
}

CLAIM(length_of_nothing_empties_the_ring)
{
	forge(bench, 0, 160);
	assert_emptied(bench);
}

CLAIM(length_above_the_longest_frame_empties_the_ring)
{
	forge(bench, LONGEST + 1, RING);
	assert_emptied(bench);
}

CLAIM(length_beyond_what_was_written_empties_the_ring)
{
	forge(bench, 200, 160);
	assert_emptied(bench);
}

CLAIM(rest_that_is_shorter_than_a_record_empties_the_ring)
{
	forge(bench, 1, 7);
	assert_emptied(bench);
}

CLAIM(frames_before_the_damage_arrive)
{
	uint32_t nonsense = 1u << 31;
	uint64_t second;

	send(bench);
	second = bench->tx.written;
	send(bench);
	memcpy(bench->rx.ring.bytes + second % RING, &nonsense, sizeof(nonsense));
	assert_int_equal(receive(bench, 32), 1);
	bench->sent = 5;
	assert_emptied(bench);
}

CLAIM(impossible_position_of_the_reader_leaves_no_room)
{
	while (send(bench))
		;
	atomic_store(&marks(bench)->read, bench->tx.written + 1);
	assert_false(send(bench));
	atomic_store(&marks(bench)->read, bench->tx.written - RING - 1);
	assert_false(send(bench));
	/* Such a reader is gone. */
	shared_ring_rx_init(&bench->rx, &bench->file[1].rx, LONGEST);
	assert_true(send(bench));
}

CLAIM(writer_that_starts_in_nonsense_finds_an_empty_ring)
{
	atomic_store(&marks(bench)->written, UINT64_MAX / 3);
	atomic_store(&marks(bench)->read, 7);
	shared_ring_tx_init(&bench->tx, &bench->file[0].tx);
	assert_int_equal(bench->tx.written, 7);
	assert_true(send(bench));
}

/* Records are within the ring's memory, which is mapped twice, whatever the other process
 * writes. */
CLAIM(random_bytes_never_lead_out_of_the_memory)
{
	uint8_t *bytes = bench->rx.ring.bytes;
	struct shared_ring_record record[32];
	unsigned taken = 0;

	for (unsigned round = 0; round < 20000; round++) {
		uint64_t at = rng_below(&bench->rng, RING);
		uint32_t length = (uint32_t)rng_below(&bench->rng, LONGEST + 64);
		uint16_t found;

		memcpy(bytes + at, &length, sizeof(length));
		atomic_store(
			&marks(bench)->written, bench->rx.read + rng_below(&bench->rng, RING + 64));
		found = shared_ring_peek(&bench->rx, record, 32);
		for (uint16_t i = 0; i < found; i++) {
			assert_in_range(record[i].length, 1, LONGEST);
			assert_true(record[i].frame >= bytes);
			assert_true(record[i].frame + record[i].length <= bytes + 2 * RING);
		}
		if (found > 0)
			shared_ring_release(&bench->rx, record[found - 1].next);
		taken += found;
	}
	assert_true(taken > 1000 && bench->rx.damaged > 1000);
}

CLAIM(end_that_a_process_has_is_refused)
{
	struct shared_file again;
	struct error error;

	assert_int_equal(shared_file_open(&again, bench->path, 1, RING, &error), -EBUSY);
	assert_non_null(strstr(error.text, "another process uses end 1 of this link"));
	shared_file_close(&bench->file[1]);
	assert_int_equal(shared_file_open(&bench->file[1], bench->path, 1, RING, &error), 0);
}

CLAIM(file_of_another_size_is_refused_and_left_alone)
{
	struct shared_file other;
	struct stat before, after;
	struct error error;

	assert_int_equal(stat(bench->path, &before), 0);
	shared_file_close(&bench->file[1]);
	assert_int_equal(shared_file_open(&other, bench->path, 1, 2 * RING, &error), -EINVAL);
	assert_int_equal(shared_file_open(&other, bench->path, 1, RING / 2, &error), -EINVAL);
	assert_int_equal(stat(bench->path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(shared_file_open(&bench->file[1], bench->path, 1, RING, &error), 0);
}

CLAIM(file_is_open_to_its_user_alone)
{
	struct shared_file other;
	struct stat status;
	struct error error;

	assert_int_equal(stat(bench->path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	shared_file_close(&bench->file[1]);
	assert_int_equal(chmod(bench->path, 0620), 0);
	assert_int_equal(shared_file_open(&other, bench->path, 1, RING, &error), -EPERM);
	assert_int_equal(chmod(bench->path, 0600), 0);
	assert_int_equal(shared_file_open(&bench->file[1], bench->path, 1, RING, &error), 0);
}

CLAIM(symbolic_link_is_refused)
{
	struct shared_file other;
	struct error error;
	char path[80];

	snprintf(path, sizeof(path), "%s.link", bench->path);
	assert_int_equal(symlink(bench->path, path), 0);
	assert_int_equal(shared_file_open(&other, path, 1, RING, &error), -ELOOP);
	unlink(path);
}
