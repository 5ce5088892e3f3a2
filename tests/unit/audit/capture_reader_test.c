/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Captures as Weft and tcpdump write them, in either byte order. Damaged, truncated and other files
 * are refused with a reason. */

#include "audit/capture_reader.h"

#include <errno.h>

#include "capture/pcapng.h"
#include "unit.h"

#define PACKETS 5

struct text {
	uint8_t bytes[8192];
	size_t used;
};

static int take_bytes(void *ctx, const void *bytes, size_t count)
{
	struct text *text = ctx;

	assert_true(text->used + count <= sizeof(text->bytes));
	memcpy(text->bytes + text->used, bytes, count);
	text->used += count;
	return 0;
}

static void add_packet(struct pcapng *pcapng, unsigned i, uint64_t time_ns)
{
	const uint8_t bytes[64] = {(uint8_t)i};

	pcapng_write_packet(pcapng, &(struct pcapng_packet){
					    .interface = i % 2,
					    .direction = i % 2 == 0 ? PCAPNG_OUT : PCAPNG_IN,
					    .time_ns = time_ns,
					    .bytes = bytes,
					    .captured_bytes = 61,
					    .frame_bytes = 1000 + i,
					    .comment = "vc 1, credits 7",
				    });
}

/* Two ports. The last packet is older than the one before it. */
static void write_capture(struct text *text)
{
	struct pcapng pcapng;

	text->used = 0;
	pcapng_begin(&pcapng, take_bytes, text, "test");
	pcapng_add_interface(&pcapng, "s0:1", 128, 0);
	pcapng.filter = "--where 'vc=1'";
	pcapng_add_interface(&pcapng, "s1:2", 128, 10000000000);
	for (unsigned i = 0; i < PACKETS; i++)
		add_packet(&pcapng, i, i + 1 < PACKETS ? 1000 + 100 * i : 1150);
	pcapng_write_counts(&pcapng, 1, 2000, 10, 3);
}

static void open_text(struct capture_reader *reader, const struct text *text)
{
	struct error error = {""};

	if (capture_reader_open(reader, "test", text->bytes, text->used, &error) != 0)
		fail_msg("%s", error.text);
}

UNIT_TEST(a_capture_of_weft_is_read_with_names_directions_and_comments)
{
	struct capture_reader reader;
	struct capture_packet packet;
	struct text text;
	unsigned i = 0;

	write_capture(&text);
	open_text(&reader, &text);
	assert_int_equal(reader.interfaces, 2);
	assert_string_equal(reader.interface[1].name, "s1:2");
	assert_int_equal(reader.interface[0].dropped, 0);
	assert_int_equal(reader.interface[1].dropped, 3);
	assert_int_equal(reader.interface[0].received, UINT64_MAX);
	assert_int_equal(reader.interface[1].received, 10);
	assert_int_equal(reader.interface[1].packets, PACKETS / 2);
	assert_int_equal(reader.interface[1].rate_bps, 10000000000);
	assert_null(reader.interface[0].filter);
	assert_int_equal(reader.interface[1].filter_bytes, 14);
	assert_memory_equal(reader.interface[1].filter, "--where 'vc=1'", 14);
	assert_int_equal(reader.packets, PACKETS);
	assert_int_equal(reader.disorder_ns, 150);
	for (; capture_reader_next(&reader, &packet); i++) {
		assert_int_equal(packet.number, i + 1);
		assert_int_equal(packet.interface, i % 2);
		assert_int_equal(packet.direction, i % 2 == 0 ? CAPTURE_OUT : CAPTURE_IN);
		assert_int_equal(packet.bytes[0], i);
		assert_int_equal(packet.captured_bytes, 61);
		assert_int_equal(packet.frame_bytes, 1000 + i);
		assert_int_equal(packet.comment_bytes, 15);
		assert_memory_equal(packet.comment, "vc 1, credits 7", 15);
	}
	assert_int_equal(i, PACKETS);
	capture_reader_close(&reader);
}

UNIT_TEST(a_capture_is_complete_when_each_port_has_its_first_packet)
{
	struct capture_reader reader;
	struct text text;

	write_capture(&text);
	open_text(&reader, &text);
	assert_int_equal(reader.interface[0].first_ns, 1000);
	assert_int_equal(reader.interface[1].first_ns, 1100);
	assert_int_equal(reader.complete_ns, 1100);
	capture_reader_close(&reader);
}

UNIT_TEST(packets_come_in_the_order_of_time)
{
	struct capture_reader reader[2];
	struct capture_order *order;
	struct capture_ordered next;
	struct text text;
	uint64_t before = 0;
	unsigned count = 0;

	write_capture(&text);
	open_text(&reader[0], &text);
	open_text(&reader[1], &text);
	order = capture_order_create(reader, 2, false);
	for (; capture_order_next(order, &next) > 0; count++) {
		assert_true(next.packet.time_ns >= before);
		before = next.packet.time_ns;
	}
	assert_int_equal(count, 2 * PACKETS);
	capture_order_destroy(order);
	capture_reader_close(&reader[0]);
	capture_reader_close(&reader[1]);
}

/* As tcpdump writes it on a machine with the other byte order, with microseconds. */
UNIT_TEST(a_pcap_of_the_other_byte_order_is_read)
{
	const uint32_t words[] = {0xA1B2C3D4, 0x00020004, 0, 0, 65535, 1, 1700000000, 25, 2, 60};
	struct capture_reader reader;
	struct capture_packet packet;
	struct text text = {.used = 0};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t word = __builtin_bswap32(words[i]);

		take_bytes(&text, &word, sizeof(word));
	}
	take_bytes(&text, "ab", 2);
	open_text(&reader, &text);
	assert_true(capture_reader_next(&reader, &packet));
	assert_int_equal(packet.time_ns, 1700000000000025000u);
	assert_int_equal(packet.captured_bytes, 2);
	assert_int_equal(packet.frame_bytes, 60);
	assert_int_equal(packet.bytes[1], 'b');
	assert_false(capture_reader_next(&reader, &packet));
	capture_reader_close(&reader);
}

static size_t end_of_block(const struct text *text, size_t at)
{
	uint32_t bytes;

	memcpy(&bytes, text->bytes + at + 4, sizeof(bytes));
	return at + bytes;
}

UNIT_TEST(a_capture_is_refused_wherever_it_is_cut)
{
	struct text text;
	size_t end = 0;

	write_capture(&text);
	for (size_t cut = 0; cut < text.used; cut++) {
		struct capture_reader reader;
		struct error error = {""};

		if (cut == end && cut > 0) {
			end = end_of_block(&text, end);
			continue; /* whole blocks are a capture */
		}
		end = end == 0 ? end_of_block(&text, 0) : end;
		assert_int_equal(
			capture_reader_open(&reader, "test", text.bytes, cut, &error), -EINVAL);
		assert_memory_equal(error.text, "test: ", 6);
	}
}

static void expect_refused(const struct text *text, const char *why)
{
	struct capture_reader reader;
	struct error error = {""};

	assert_int_equal(
		capture_reader_open(&reader, "test", text->bytes, text->used, &error), -EINVAL);
	if (strstr(error.text, why) == NULL)
		fail_msg("%s: expected %s", error.text, why);
}

UNIT_TEST(other_and_damaged_files_are_refused)
{
	struct text text = {.used = 0};
	size_t interface, packet;

	take_bytes(&text, "topology: ring", 14);
	expect_refused(&text, "test: not a capture; use a pcapng or pcap file");
	write_capture(&text);
	interface = end_of_block(&text, 0);
	packet = end_of_block(&text, end_of_block(&text, interface));
	text.bytes[interface + 8] = 113;
	expect_refused(&text, "the link type is 113, but must be Ethernet (1)");
	write_capture(&text);
	text.bytes[packet + 8] = 9;
	expect_refused(&text, "a packet from an unknown interface");
	write_capture(&text);
	text.bytes[packet + 21] = 1;
	expect_refused(&text, "a packet is longer than its block or its frame");
	write_capture(&text);
	text.bytes[end_of_block(&text, packet) - 4] ^= 4;
	expect_refused(&text, "a block has two different lengths");
}
