/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <errno.h>

#include "base/rng.h"
#include "capture/pcapng.h"
#include "pcapng_walk.h"

/* The bytes that a writer produces. */
struct sink {
	uint8_t bytes[1 << 20];
	size_t used;
	int fail_after; /* number of calls; negative: never */
};

static int sink_write(void *ctx, const void *bytes, size_t count)
{
	struct sink *sink = ctx;

	if (sink->fail_after == 0)
		return -ENOSPC;
	sink->fail_after--;
	assert_true(sink->used + count <= sizeof(sink->bytes));
	memcpy(sink->bytes + sink->used, bytes, count);
	sink->used += count;
	return 0;
}

static struct sink sink;

static struct pcapng begin(int fail_after)
{
	struct pcapng pcapng;

	sink.used = 0;
	sink.fail_after = fail_after;
	pcapng_begin(&pcapng, sink_write, &sink, "test");
	return pcapng;
}

static struct walk_block block_number(unsigned number)
{
	struct walk walk = {sink.bytes, sink.used};
	struct walk_block block = {0};

	for (unsigned i = 0; i <= number; i++)
		assert_true(walk_next(&walk, &block));
	return block;
}

UNIT_TEST(interfaces_are_numbered_and_named)
{
	struct pcapng pcapng = begin(-1);
	const uint8_t *name, *resolution;
	struct walk_block block;
	uint16_t bytes;

	assert_int_equal(pcapng_add_interface(&pcapng, "s0:0", 256, 0), 0);
	assert_int_equal(pcapng_add_interface(&pcapng, "s12:34", 256, 10000000000), 1);
	block = block_number(2);
	assert_int_equal(block.type, WALK_INTERFACE);
	name = walk_option(&block, 8, 2, &bytes);
	assert_int_equal(bytes, 6);
	assert_memory_equal(name, "s12:34", 6);
	resolution = walk_option(&block, 8, 9, &bytes);
	assert_int_equal(bytes, 1);
	assert_int_equal(*resolution, 9);
}

UNIT_TEST(packet_keeps_time_length_direction_and_comment)
{
	struct pcapng pcapng = begin(-1);
	const uint8_t frame[61] = {1, 2, 3};
	const struct pcapng_packet packet = {
		.direction = PCAPNG_OUT,
		.time_ns = 0x123456789ABCDEF0,
		.bytes = frame,
		.captured_bytes = sizeof(frame),
		.frame_bytes = 1500,
		.comment = "vc 3, credits 12",
	};
	struct walk_block block;
	const uint8_t *option;
	uint16_t bytes;

	pcapng_add_interface(&pcapng, "s0:0", 61, 0);
	assert_int_equal(pcapng_write_packet(&pcapng, &packet), 0);
	block = block_number(2);
	assert_int_equal(block.type, WALK_PACKET);
	assert_int_equal(walk_u32(block.body + 4), 0x12345678);
	assert_int_equal(walk_u32(block.body + 8), 0x9ABCDEF0);
	assert_int_equal(walk_u32(block.body + 12), sizeof(frame));
	assert_int_equal(walk_u32(block.body + 16), 1500);
	assert_memory_equal(block.body + 20, frame, sizeof(frame));
	option = walk_option(&block, walk_packet_options(&block), 2, &bytes);
	assert_int_equal(walk_u32(option), 2);
	option = walk_option(&block, walk_packet_options(&block), 1, &bytes);
	assert_int_equal(bytes, strlen(packet.comment));
	assert_memory_equal(option, packet.comment, bytes);
}

UNIT_TEST(blocks_are_well_formed_for_all_lengths)
{
	struct pcapng pcapng = begin(-1);
	struct walk walk;
	struct walk_block block;
	uint8_t frame[300] = {0};
	char comment[700];
	struct rng rng;
	unsigned packets = 0;

	rng_init(&rng, 1, 0, 0);
	pcapng_add_interface(&pcapng, "x", 300, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct pcapng_packet packet = {.bytes = frame, .comment = comment};
		size_t length = rng_below(&rng, sizeof(comment));

		memset(comment, 'c', length);
		comment[length] = '\0';
		packet.captured_bytes = (uint32_t)rng_below(&rng, sizeof(frame));
		packet.direction = (enum pcapng_direction)rng_below(&rng, 3);
		assert_int_equal(pcapng_write_packet(&pcapng, &packet), 0);
	}
	walk = (struct walk){sink.bytes, sink.used};
	while (walk_next(&walk, &block))
		packets += block.type == WALK_PACKET;
	assert_int_equal(packets, 1000);
}

UNIT_TEST(long_comment_is_not_cut_within_a_character)
{
	struct pcapng pcapng = begin(-1);
	char comment[2 * PCAPNG_COMMENT_MAX];
	struct pcapng_packet packet = {.bytes = "", .comment = comment};
	struct walk_block block;
	uint16_t bytes;

	/* One byte, then characters of two bytes: the limit is inside one of them. */
	for (unsigned i = 0; i < sizeof(comment) - 2; i += 2)
		memcpy(comment + 1 + i, "\xc2\xb5", 2);
	comment[0] = 'x';
	comment[sizeof(comment) - 1] = '\0';
	pcapng_add_interface(&pcapng, "x", 0, 0);
	pcapng_write_packet(&pcapng, &packet);
	block = block_number(2);
	walk_option(&block, walk_packet_options(&block), 1, &bytes);
	assert_int_equal(bytes, PCAPNG_COMMENT_MAX - 1);
}

UNIT_TEST(counts_are_received_and_dropped)
{
	struct pcapng pcapng = begin(-1);
	struct walk_block block;
	const uint8_t *option;
	uint64_t value;
	uint16_t bytes;

	pcapng_add_interface(&pcapng, "x", 0, 0);
	pcapng_write_counts(&pcapng, 0, 5, 1000000000000, 17);
	block = block_number(2);
	assert_int_equal(block.type, WALK_COUNTS);
	option = walk_option(&block, 12, 4, &bytes);
	memcpy(&value, option, 8);
	assert_true(value == 1000000000000);
	option = walk_option(&block, 12, 5, &bytes);
	memcpy(&value, option, 8);
	assert_true(value == 17);
}

UNIT_TEST(first_failure_stays_and_nothing_more_is_written)
{
	struct pcapng pcapng = begin(3);
	struct pcapng_packet packet = {.bytes = ""};
	size_t used;

	assert_int_equal(pcapng_add_interface(&pcapng, "x", 0, 0), -ENOSPC);
	used = sink.used;
	sink.fail_after = -1;
	assert_int_equal(pcapng_write_packet(&pcapng, &packet), -ENOSPC);
	assert_int_equal(pcapng_write_counts(&pcapng, 0, 0, 0, 0), -ENOSPC);
	assert_int_equal(sink.used, used);
}

UNIT_TEST(full_disk_is_an_error_of_the_file)
{
	FILE *full = fopen("/dev/full", "w");
	struct pcapng pcapng;

	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(pcapng_begin(&pcapng, pcapng_write_stdio, full, "test"), -ENOSPC);
	fclose(full);
}
