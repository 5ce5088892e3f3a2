/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Selects the frames of a capture by fields of the Weft header, by what the device did with the
 * frame, and by a libpcap program (pcap_compile() for DLT_RAW) on the IPv4 packet that data frames
 * carry for a TAP. capture_expression_parse() builds filters from user text.
 *
 * If an interface splits a packet into several frames, the program runs on the first one, and its
 * result applies to the remaining frames of the message. A damaged frame can have any header. A
 * filter does not change while in use, so any thread may use it. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_error.h"
#include "topo/topology.h"

/* TAP packets in data frames (lib/host/edge.h). A message is an IPv4 or IPv6 packet, preceded by a
 * header if it is a long TCP segment (wire/frame.h). The interface splits messages that are longer
 * than a frame's payload. Safe for any input. */

/* Returns the payload of a data frame, and in '*bytes' its length, limited to the bytes present.
 * Returns NULL if this is not a data frame or ends in its header. */
const uint8_t *tap_packet_payload(const uint8_t *frame, uint32_t frame_bytes, uint32_t *bytes);
/* Returns the length of the message whose IPv4 packet starts in this payload, or 0. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes);

#define CAPTURE_FILTER_STEPS 48  /* maximum program length */
#define CAPTURE_FILTER_TEXT  736 /* fits into a telemetry request with a port and a path */
#define CAPTURE_FILTER_WORDS 480
#define CAPTURE_FILTER_HELD  256 /* slots for messages whose first frame matched */

/* Offset in a frame of the word with version, kind, source and destination. */
#define CAPTURE_FILTER_WORD_AT 14

struct capture_filter {
	/* Quick test, for the data path. */
	uint64_t word, mask;         /* expected header bytes, in memory order; relevant bits */
	uint32_t snap_bytes;         /* bytes captured per frame; 0: the capture's setting */
	uint16_t kinds, vcs;         /* sets of enum frame_kind and of VCs; UINT16_MAX: all */
	bool dropped;                /* match only frames that the device refused or discarded */
	uint8_t steps;               /* 0: no program */
	struct capture_filter_step { /* same layout as struct bpf_insn */
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} program[CAPTURE_FILTER_STEPS];
	char text[CAPTURE_FILTER_WORDS]; /* its options, for the capture's header */
};

/* Messages whose first frame matched, by hash. Initially zeroed; not thread-safe. */
struct capture_filter_held {
	uint64_t message[CAPTURE_FILTER_HELD];
};

/* Initialises a filter that matches every frame. */
void capture_filter_init(struct capture_filter *filter);
/* Each of these adds a condition. 'kinds': a set of enum frame_kind. */
void capture_filter_set_kinds(struct capture_filter *filter, uint16_t kinds);
void capture_filter_set_source(struct capture_filter *filter, uint16_t host);
void capture_filter_set_destination(struct capture_filter *filter, uint16_t host);

/* Returns whether header and packet match; ignores 'dropped'. The bytes need not be a Weft frame.
 * If 'held' is NULL, only first frames can match a program. */
bool capture_filter_matches(const struct capture_filter *filter, struct capture_filter_held *held,
	const uint8_t *bytes, uint32_t frame_bytes);

/* Convert a filter to a word of lower-case hexadecimal digits, and back. capture_filter_read()
 * returns false if the text is not a filter. */
void capture_filter_write(const struct capture_filter *filter, char text[CAPTURE_FILTER_TEXT]);
bool capture_filter_read(struct capture_filter *filter, const char *text);

/* Builds a filter from --filter and --where. Not for the data plane: libpcap may resolve names. */

/* Each text may be NULL; with both, a frame must match both.
 *
 * 'packets': a pcap-filter(7) expression for the IPv4 packet of a data frame. 'where': words
 * separated by spaces: vc=1,2 kind=data,credit src=h0 dst=h3 dropped. 'topology' NULL: no hosts.
 * Returns 0, or -EINVAL with the position in the text and libpcap's message in 'error'. */
int capture_expression_parse(struct capture_filter *filter, const char *packets, const char *where,
	const struct topology *topology, struct error *error);
