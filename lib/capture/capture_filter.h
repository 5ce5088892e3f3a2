/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Which frames a capture takes: by fields of the Weft header, by what the device did with the
 * frame, and by a program of libpcap (pcap_compile() for DLT_RAW) on the IPv4 packet that data
 * frames carry for a TAP. capture_expression.h makes filters from what users write.
 *
 * If an interface cuts a packet into several frames, the program runs on the first, and the others
 * of the message share its result. A damaged frame can have any header. A filter does not
 * change while it is used; any thread. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CAPTURE_FILTER_STEPS 48  /* of a program */
#define CAPTURE_FILTER_TEXT  736 /* a request of telemetry holds it, a port and a path */
#define CAPTURE_FILTER_HELD  256 /* messages whose first frame matched */

/* Where the word is in a frame: version, kind, source, destination. */
#define CAPTURE_FILTER_WORD_AT 14

struct capture_filter {
	/* A quick test, for the path of packets. */
	uint64_t word, mask; /* eight bytes of the header in memory order, and which bits count */
	uint32_t snap_bytes; /* kept of each frame; 0: as the capture */
	uint16_t kinds, vcs; /* sets of enum frame_kind and VCs; UINT16_MAX: all */
	bool dropped;        /* only frames that the device refused or discarded */
	uint8_t steps;       /* 0: no program */
	struct capture_filter_step { /* as struct bpf_insn */
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} program[CAPTURE_FILTER_STEPS];
};

/* The messages whose first frame matched, by their hash. All zero at first; one thread. */
struct capture_filter_held {
	uint64_t message[CAPTURE_FILTER_HELD];
};

/* Takes every frame. */
void capture_filter_init(struct capture_filter *filter);
/* Adds a condition. 'kinds': a set of enum frame_kind. */
void capture_filter_set_kinds(struct capture_filter *filter, uint16_t kinds);
void capture_filter_set_source(struct capture_filter *filter, uint16_t host);
void capture_filter_set_destination(struct capture_filter *filter, uint16_t host);

/* Whether header and packet match; 'dropped' is not considered. The bytes need not be a Weft frame.
 * 'held' may be NULL: only first frames match a program. */
bool capture_filter_matches(const struct capture_filter *filter, struct capture_filter_held *held,
	const uint8_t *bytes, uint32_t frame_bytes);

/* A filter as a word of lower-case hexadecimal digits, and back. False: it is not a filter. */
void capture_filter_write(const struct capture_filter *filter, char text[CAPTURE_FILTER_TEXT]);
bool capture_filter_read(struct capture_filter *filter, const char *text);
