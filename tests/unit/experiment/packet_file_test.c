/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Packets of captures: their times, lengths and addresses, and which captures are refused. */

#include <sys/stat.h>

#include "experiment/workload/packet_file.h"
#include "packet_bench.h"

static const struct sent three[] = {{0, 1, 2, 100}, {1500, 2, 1, 1400}, {2000000001, 1, 3, 40}};

UNIT_TEST(every_link_type_gives_times_lengths_and_addresses_of_ip)
{
	for (unsigned i = 0; i < LINK_FORMS; i++) {
		char path[] = CAPTURE_PATH, text[PACKET_ADDRESS_TEXT], wanted[32];
		struct packet_file *file;
		struct packet packet;

		write_capture(path, &link_forms[i], three, 3);
		file = packet_file_open(path, NULL);
		assert_non_null(file);
		assert_true(packet_file_has_addresses(file));
		for (unsigned k = 0; k < 3; k++) {
			assert_int_equal(packet_file_next(file, &packet, NULL), 1);
			assert_int_equal(packet.at_ps, three[k].at_ns * PS_PER_NS);
			assert_int_equal(packet.bytes, three[k].bytes + link_forms[i].bytes);
			assert_int_equal(packet.ip, link_forms[i].bytes);
			snprintf(wanted, sizeof(wanted), "10.0.0.%u", three[k].from);
			assert_string_equal(packet_address_text(&packet.source[0], text), wanted);
			snprintf(wanted, sizeof(wanted), "10.0.0.%u", three[k].to);
			assert_string_equal(
				packet_address_text(&packet.destination[0], text), wanted);
		}
		assert_int_equal(packet_file_next(file, &packet, NULL), 0);
		packet_file_close(file);
		unlink(path);
	}
}

UNIT_TEST(ethernet_gives_addresses_of_ethernet_as_well)
{
	char path[] = CAPTURE_PATH, text[PACKET_ADDRESS_TEXT];
	struct packet_file *file;
	struct packet packet;

	write_capture(path, &link_forms[0], three, 1);
	file = packet_file_open(path, NULL);
	assert_int_equal(packet_file_next(file, &packet, NULL), 1);
	assert_string_equal(packet_address_text(&packet.source[1], text), "02:00:00:00:00:01");
	assert_string_equal(packet_address_text(&packet.destination[1], text), "02:00:00:00:00:02");
	packet_file_close(file);
	unlink(path);
}

UNIT_TEST(a_time_before_the_one_in_front_of_it_counts_as_that_one)
{
	static const struct sent back[] = {{5000, 1, 2, 100}, {9000, 1, 2, 100}, {10, 1, 2, 100}};
	static const weft_time wanted[] = {0, 4000 * PS_PER_NS, 4000 * PS_PER_NS};
	char path[] = CAPTURE_PATH;
	struct packet_file *file;
	struct packet packet;

	write_capture(path, &link_forms[0], back, 3);
	file = packet_file_open(path, NULL);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(packet_file_next(file, &packet, NULL), 1);
		assert_int_equal(packet.at_ps, wanted[i]);
	}
	packet_file_close(file);
	unlink(path);
}

/* Reads the file to its end or to an error. Returns the error without the file's name. */
static const char *said_of(const char *path, struct error *error)
{
	struct packet_file *file = packet_file_open(path, error);
	struct packet packet;

	error->text[0] = file != NULL ? '\0' : error->text[0];
	while (file != NULL && packet_file_next(file, &packet, error) == 1)
		;
	packet_file_close(file);
	assert_int_equal(strncmp(error->text, path, strlen(path)), 0);
	return error->text + strlen(path);
}

UNIT_TEST(a_capture_cut_anywhere_is_refused_or_ends_between_two_packets)
{
	char path[] = CAPTURE_PATH;
	long cut = 24 + 16 + 114 + 16 + 1414 + 16 + 54;

	write_capture(path, &link_forms[0], three, 3);
	while (--cut >= 0) {
		bool between = cut == 24 || cut == 24 + 16 + 114 || cut == 24 + 32 + 114 + 1414;
		struct packet_file *file;
		struct error error = {""};
		struct packet packet;
		int result = 1;

		assert_int_equal(truncate(path, cut), 0);
		file = packet_file_open(path, &error);
		while (file != NULL && result == 1)
			result = packet_file_next(file, &packet, &error);
		assert_int_equal(file != NULL && result == 0, between);
		assert_int_equal(strncmp(error.text, path, strlen(path)) == 0, !between);
		packet_file_close(file);
	}
	unlink(path);
}

UNIT_TEST(a_foreign_file_and_frames_of_weft_are_refused_by_name)
{
	static const struct link_form weft = {DLT_EN10MB, 14, "\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb5"};
	char path[] = CAPTURE_PATH;
	struct error error = {""};
	FILE *out;

	write_capture(path, &weft, three, 1);
	assert_string_equal(said_of(path, &error),
		": packet 1: a frame between Weft's devices; use a capture of host packets, as written by 'weft capture decap'");
	out = fopen(path, "w");
	fputs("h0 h1 0 1000\n", out);
	fclose(out);
	assert_string_equal(said_of(path, &error), ": not a capture: unknown file format");
	unlink(path);
	assert_string_equal(said_of(path, &error), ": No such file or directory");
}

UNIT_TEST(a_fifo_that_nobody_writes_is_refused)
{
	char path[] = CAPTURE_PATH;
	struct error error = {""};

	write_capture(path, &link_forms[3], three, 1);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(said_of(path, &error), ": this FIFO has no writer; use a regular file");
	unlink(path);
}

UNIT_TEST(addresses_are_read_and_written_and_groups_known)
{
	static const struct {
		const char *text;
		enum packet_address_kind kind;
		bool group;
	} cases[] = {
		{"10.1.0.7", PACKET_ADDRESS_IPV4, false},
		{"224.0.0.1", PACKET_ADDRESS_IPV4, true},
		{"255.255.255.255", PACKET_ADDRESS_IPV4, true},
		{"fe80::1", PACKET_ADDRESS_IPV6, false},
		{"ff02::1", PACKET_ADDRESS_IPV6, true},
		{"02:00:00:00:00:01", PACKET_ADDRESS_MAC, false},
		{"01:00:5e:00:00:01", PACKET_ADDRESS_MAC, true},
	};
	static const char *const wrong[] = {"", "h0", "10.1.0", "02:00:00:00:00", "1:2:3:4:5:6x"};
	char text[PACKET_ADDRESS_TEXT];
	struct packet_address address;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(packet_address_parse(cases[i].text, &address));
		assert_int_equal(address.kind, cases[i].kind);
		assert_int_equal(packet_address_is_group(&address), cases[i].group);
		assert_string_equal(packet_address_text(&address, text), cases[i].text);
	}
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(packet_address_parse(wrong[i], &address));
}

/* The sum of RFC 1071 over bytes including their checksum is all ones. */
static uint32_t sum_of(const uint8_t *bytes, unsigned count, uint32_t sum)
{
	for (unsigned i = 0; i < count; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	return (sum & 0xffff) + (sum >> 16);
}

/* A packet of this protocol with 11 bytes of data, only some of which are in the capture. */
static struct packet packet_of(uint8_t *bytes, uint8_t protocol, unsigned header, unsigned cut)
{
	struct packet packet = {.data = bytes, .captured = 20 + header + 11 - cut};

	memset(bytes, 0x5a, 20 + header + 11);
	memcpy(bytes, "\x45\0\0\0\0\0\0\0\x40\0\0\0\x0a\0\0\1\x0a\0\0\2", 20);
	bytes[3] = (uint8_t)(20 + header + 11);
	bytes[9] = protocol;
	packet.source[0].kind = PACKET_ADDRESS_IPV4;
	return packet;
}

UNIT_TEST(a_rewritten_packet_has_the_addresses_and_right_checksums)
{
	static const struct {
		uint8_t protocol, header;
		bool addresses;
	} cases[] = {{6, 20, true}, {17, 8, true}, {1, 8, false}};
	static uint8_t out[PACKET_IPV4_MAX];
	uint8_t bytes[128];

	for (unsigned i = 0; i < 3; i++)
		for (unsigned cut = 0; cut < 12; cut += 5) {
			unsigned body = cases[i].header + 11u;
			struct packet packet =
				packet_of(bytes, cases[i].protocol, cases[i].header, cut);
			uint32_t pseudo = cases[i].protocol + body;

			assert_int_equal(
				packet_rewrite(&packet, 0x0a630001, 0x0a630002, out), 20 + body);
			assert_memory_equal(out + 12, "\x0a\x63\0\1\x0a\x63\0\2", 8);
			assert_int_equal(sum_of(out, 20, 0), 0xffff);
			pseudo = cases[i].addresses ? sum_of(out + 12, 8, pseudo) : 0;
			assert_int_equal(sum_of(out + 20, body, pseudo), 0xffff);
			assert_int_equal(out[20 + body - 1], cut > 0 ? 0 : 0x5a);
		}
}

UNIT_TEST(a_udp_packet_without_a_checksum_keeps_none_and_a_fragment_is_not_rewritten)
{
	static uint8_t out[PACKET_IPV4_MAX];
	uint8_t bytes[128];
	struct packet packet = packet_of(bytes, 17, 8, 0);

	bytes[26] = bytes[27] = 0;
	assert_int_equal(packet_rewrite(&packet, 1, 2, out), 39);
	assert_int_equal(out[26] << 8 | out[27], 0);
	bytes[6] = 0x20;
	assert_int_equal(packet_rewrite(&packet, 1, 2, out), 0);
	bytes[6] = 0x40;
	bytes[3] = 19;
	assert_int_equal(packet_rewrite(&packet, 1, 2, out), 0);
}
