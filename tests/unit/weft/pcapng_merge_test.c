/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Captures of several ports joined in one. */

#include <errno.h>

#include "capture/pcapng_merge.h"

#include "unit.h"

#define INTERFACE 1u
#define PACKET    6u

/* A section header without options. */
static const uint32_t section[] = {0x0A0D0D0A, 28, 0x1A2B3C4D, 1, UINT32_MAX, UINT32_MAX, 28};

struct joined {
	uint32_t word[256];
	size_t bytes;
	bool full;
};

static bool take(void *ctx, const void *bytes, size_t count)
{
	struct joined *joined = ctx;

	if (joined->full)
		return false;
	assert_true(joined->bytes + count <= sizeof(joined->word));
	memcpy((uint8_t *)joined->word + joined->bytes, bytes, count);
	joined->bytes += count;
	return true;
}

static int add(struct pcapng_merge *merge, struct pcapng_merge_stream *stream, uint32_t type,
	uint32_t number)
{
	const uint32_t block[] = {type, 16, number, 16};

	return pcapng_merge_add(merge, stream, block, sizeof(block));
}

UNIT_TEST(packets_of_two_streams_have_the_interfaces_of_their_own)
{
	struct joined joined = {.bytes = 0};
	struct pcapng_merge merge = {.write = take, .ctx = &joined};
	struct pcapng_merge_stream stream[2] = {{NULL}, {NULL}};

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pcapng_merge_add(&merge, &stream[i], section, sizeof(section)), 0);
		assert_int_equal(add(&merge, &stream[i], INTERFACE, 7), 0);
	}
	assert_int_equal(add(&merge, &stream[1], PACKET, 0), 0);
	assert_int_equal(add(&merge, &stream[0], PACKET, 0), 0);
	/* One section, two interfaces, and the packets in the order of arrival. */
	assert_int_equal(joined.bytes, sizeof(section) + 4 * 16);
	assert_memory_equal(joined.word, section, sizeof(section));
	assert_int_equal(joined.word[7 + 8 + 2], 1);
	assert_int_equal(joined.word[7 + 12 + 2], 0);
	for (unsigned i = 0; i < 2; i++)
		pcapng_merge_end(&stream[i]);
}

UNIT_TEST(an_interface_names_the_filter_of_its_stream_in_front_of_its_options)
{
	/* if_name "abcd" */
	const uint32_t block[] = {INTERFACE, 32, 1, 96, 2 | 4u << 16, 0x64636261, 0, 32};
	const uint32_t expected[] = {INTERFACE, 40, 1, 96, 11 | 3u << 16, 'n' << 8 | 'o' << 16,
		2 | 4u << 16, 0x64636261, 0, 40};
	struct joined joined = {.bytes = 0};
	struct pcapng_merge merge = {.write = take, .ctx = &joined};
	struct pcapng_merge_stream stream = {.filter = "no"};

	assert_int_equal(pcapng_merge_add(&merge, &stream, section, sizeof(section)), 0);
	assert_int_equal(pcapng_merge_add(&merge, &stream, block, sizeof(block)), 0);
	assert_int_equal(joined.bytes, sizeof(section) + sizeof(expected));
	assert_memory_equal(&joined.word[7], expected, sizeof(expected));
	pcapng_merge_end(&stream);
}

UNIT_TEST(blocks_that_come_in_pieces_leave_whole)
{
	struct joined joined = {.bytes = 0};
	struct pcapng_merge merge = {.write = take, .ctx = &joined};
	struct pcapng_merge_stream stream = {NULL};

	for (size_t i = 0; i < sizeof(section); i++) {
		assert_int_equal(joined.bytes, 0);
		assert_int_equal(
			pcapng_merge_add(&merge, &stream, (const uint8_t *)section + i, 1), 0);
	}
	assert_int_equal(joined.bytes, sizeof(section));
	pcapng_merge_end(&stream);
}

UNIT_TEST(what_is_no_pcapng_is_refused)
{
	struct joined joined = {.bytes = 0};
	struct pcapng_merge merge = {.write = take, .ctx = &joined};
	struct pcapng_merge_stream stream = {NULL};
	const uint32_t odd[] = {PACKET, 17, 0, 17, 0}, swapped[] = {0x0A0D0D0A, 16, 0x4D3C2B1A, 16};

	assert_int_equal(pcapng_merge_add(&merge, &stream, odd, sizeof(odd)), -EPROTO);
	pcapng_merge_end(&stream);
	assert_int_equal(pcapng_merge_add(&merge, &stream, swapped, sizeof(swapped)), -EPROTO);
	pcapng_merge_end(&stream);
	/* A packet of an interface that does not exist, and one before any section. */
	assert_int_equal(add(&merge, &stream, PACKET, 0), -EPROTO);
	pcapng_merge_end(&stream);
	assert_int_equal(add(&merge, &stream, INTERFACE, 0), -EPROTO);
	pcapng_merge_end(&stream);
	assert_int_equal(joined.bytes, 0);
}

UNIT_TEST(a_reader_that_went_away_is_an_error)
{
	struct joined joined = {.full = true};
	struct pcapng_merge merge = {.write = take, .ctx = &joined};
	struct pcapng_merge_stream stream = {NULL};

	assert_int_equal(pcapng_merge_add(&merge, &stream, section, sizeof(section)), -EIO);
	pcapng_merge_end(&stream);
}
