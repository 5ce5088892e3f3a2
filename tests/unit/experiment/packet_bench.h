/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Captures of UDP packets between 10.0.0.A and 10.0.0.B, for tests that read them. */

#include <pcap/pcap.h>
#include <unistd.h>

#include "unit.h"

#define CAPTURE_PATH "/tmp/weft-packets-XXXXXX"

struct sent {
	uint64_t at_ns;
	uint8_t from, to; /* last bytes of the addresses */
	uint16_t bytes;   /* length of the IP packet */
};

/* Header bytes of each link type before the IP packet. */
static const struct link_form {
	int type;
	unsigned bytes;
	const char *header;
} link_forms[] = {
	{DLT_EN10MB, 14, "\2\0\0\0\0\2\2\0\0\0\0\1\x08\0"},
	{DLT_EN10MB, 18, "\2\0\0\0\0\2\2\0\0\0\0\1\x81\0\0\5\x08\0"},
	{DLT_EN10MB, 22, "\2\0\0\0\0\2\2\0\0\0\0\1\x81\0\0\5\x81\0\0\6\x08\0"},
	{DLT_RAW, 0, ""},
	{DLT_NULL, 4, "\2\0\0\0"},
	{DLT_LINUX_SLL, 16, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0"},
	{DLT_LINUX_SLL2, 20, "\x08\0\0\0\0\0\0\1\0\1\0\6\2\0\0\0\0\1\0\0"},
	{DLT_PPP, 4, "\xff\3\0\x21"},
};
#define LINK_FORMS (sizeof(link_forms) / sizeof(link_forms[0]))

/* Writes a nanosecond capture; 'path' is CAPTURE_PATH and is completed. */
static inline void write_capture(
	char *path, const struct link_form *link, const struct sent *sent, unsigned count)
{
	pcap_t *form =
		pcap_open_dead_with_tstamp_precision(link->type, 65535, PCAP_TSTAMP_PRECISION_NANO);
	int file = mkstemp(path);
	pcap_dumper_t *out;

	assert_true(file >= 0);
	out = pcap_dump_fopen(form, fdopen(file, "w"));
	assert_non_null(out);
	for (unsigned i = 0; i < count; i++) {
		uint8_t bytes[2048] = {0}, *ip = bytes + link->bytes;
		struct pcap_pkthdr header = {
			.ts = {1700000000 + (time_t)(sent[i].at_ns / 1000000000),
				(suseconds_t)(sent[i].at_ns % 1000000000)},
			.caplen = link->bytes + sent[i].bytes,
			.len = link->bytes + sent[i].bytes};

		memcpy(bytes, link->header, link->bytes);
		memcpy(ip, "\x45\0\0\0\0\0\0\0\x40\x11\0\0\x0a\0\0\0\x0a\0\0\0", 20);
		ip[2] = (uint8_t)(sent[i].bytes >> 8);
		ip[3] = (uint8_t)sent[i].bytes;
		ip[15] = sent[i].from;
		ip[19] = sent[i].to;
		pcap_dump((uint8_t *)out, &header, bytes);
	}
	pcap_dump_close(out);
	pcap_close(form);
}
