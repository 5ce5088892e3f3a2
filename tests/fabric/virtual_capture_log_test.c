/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Captured frames of a fabric's partitions are merged in event order, and are complete in another
 * process. */

#include "virtual/virtual_capture.h"

#include <errno.h>

#include "unit.h"

#define LOGS    3
#define ENTRIES 500
#define PORTS   16

/* Its entries are in event order, as in a partition's log. */
static void fill(struct capture_log *log, unsigned which, uint64_t *random)
{
	struct capture_entry entry = {.device = which};
	uint8_t frame[64];
	char comment[16];

	for (unsigned i = 0; i < ENTRIES; i++) {
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		entry.at += *random >> 62;
		entry.order = which + LOGS * i;
		entry.port = (uint32_t)(*random >> 40) % PORTS;
		entry.frame_bytes = 64;
		entry.captured_bytes = (uint32_t)(*random >> 32) % (sizeof(frame) + 1);
		memset(frame, (int)i, sizeof(frame));
		entry.comment_bytes =
			(uint32_t)snprintf(comment, sizeof(comment), "%u %u", which, i) + 1;
		assert_int_equal(capture_log_add(log, &entry, frame, comment), 0);
	}
}

static void fill_all(struct capture_log *log)
{
	uint64_t random = 7;

	for (unsigned i = 0; i < LOGS; i++)
		fill(&log[i], i, &random);
}

static void free_all(struct capture_log *log)
{
	for (unsigned i = 0; i < LOGS; i++)
		capture_log_free(&log[i]);
}

/* Takes all entries out and checks each, with its frame and comment. */
static void expect_all(struct capture_log *log)
{
	unsigned taken[LOGS] = {0};
	const struct capture_entry *entry;
	const uint8_t *frame;
	const char *comment;
	weft_time before = 0;
	uint32_t order = 0;
	char text[16];

	while ((entry = capture_log_take(log, LOGS, &frame, &comment)) != NULL) {
		unsigned i = taken[entry->device]++;

		assert_true(entry->at > before || (entry->at == before && entry->order > order));
		before = entry->at;
		order = entry->order;
		assert_int_equal(entry->order, entry->device + LOGS * i);
		snprintf(text, sizeof(text), "%u %u", entry->device, i);
		assert_string_equal(comment, text);
		for (unsigned k = 0; k < entry->captured_bytes; k++)
			assert_int_equal(frame[k], (uint8_t)i);
	}
	for (unsigned i = 0; i < LOGS; i++)
		assert_int_equal(taken[i], ENTRIES);
}

UNIT_TEST(entries_are_taken_in_the_order_of_events)
{
	struct capture_log log[LOGS] = {0};

	for (unsigned round = 0; round < 2; round++) {
		fill_all(log);
		expect_all(log);
	}
	free_all(log);
}

UNIT_TEST(a_copy_has_all_entries)
{
	struct capture_log log[LOGS] = {0}, copy[LOGS] = {0};

	fill_all(log);
	for (unsigned i = 0; i < LOGS; i++)
		assert_int_equal(capture_log_copy(&copy[i], log[i].bytes, log[i].used, PORTS), 0);
	expect_all(copy);
	free_all(log);
	free_all(copy);
}

UNIT_TEST(entries_of_one_time_come_by_pause_and_device)
{
	static const uint32_t pause[] = {2, 2, 4}, device[] = {1, 0, 0};
	static const unsigned expected[] = {1, 0, 2};
	struct capture_log log[LOGS] = {0};
	const struct capture_entry *entry;
	const uint8_t *frame;
	const char *comment;

	for (unsigned i = 0; i < LOGS; i++)
		assert_int_equal(capture_log_add(&log[i],
					 &(struct capture_entry){.at = 9,
						 .pause = pause[i],
						 .device = device[i],
						 .port = i,
						 .comment_bytes = 1},
					 (const uint8_t *)"", ""),
			0);
	for (unsigned i = 0; i < LOGS; i++) {
		entry = capture_log_take(log, LOGS, &frame, &comment);
		assert_non_null(entry);
		assert_int_equal(entry->port, expected[i]);
	}
	assert_null(capture_log_take(log, LOGS, &frame, &comment));
	free_all(log);
}

UNIT_TEST(bytes_that_are_no_log_are_refused)
{
	struct capture_log log[LOGS] = {0}, copy = {0};
	struct capture_entry first;

	fill_all(log);
	assert_int_equal(capture_log_copy(&copy, log[0].bytes, log[0].used - 1, PORTS), -EINVAL);
	assert_int_equal(capture_log_copy(&copy, log[0].bytes, 8, PORTS), -EINVAL);
	memcpy(&first, log[0].bytes, sizeof(first));
	assert_int_equal(capture_log_copy(&copy, log[0].bytes, log[0].used, first.port), -EINVAL);
	first.captured_bytes = UINT32_MAX;
	memcpy(log[0].bytes, &first, sizeof(first));
	assert_int_equal(capture_log_copy(&copy, log[0].bytes, log[0].used, PORTS), -EINVAL);
	memcpy(&first, log[1].bytes, sizeof(first));
	first.comment_bytes = 0;
	memcpy(log[1].bytes, &first, sizeof(first));
	assert_int_equal(capture_log_copy(&copy, log[1].bytes, log[1].used, PORTS), -EINVAL);
	memcpy(&first, log[2].bytes, sizeof(first));
	log[2].bytes[sizeof(first) + first.captured_bytes + first.comment_bytes - 1] = 'x';
	assert_int_equal(capture_log_copy(&copy, log[2].bytes, log[2].used, PORTS), -EINVAL);
	capture_log_free(&copy);
	free_all(log);
}
