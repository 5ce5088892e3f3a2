/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Selects the frames of a capture: by fields of the Weft header, by what the device did with the
 * frame, and by a libpcap program (pcap_compile() for DLT_RAW) on the IPv4 packet that data frames
 * carry for a TAP. capture_expression_parse() makes filters from the texts of users.
 *
 * If an interface splits a packet into several frames, the program runs on the first one, and its
 * result applies to the other frames of the message. A damaged frame can have any header. A filter
 * does not change while in use; any thread. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_error.h"
#include "topo/topology.h"

/* The packets of TAPs in data frames (lib/host/edge.h): a message is an IPv4 packet, behind a
 * header if that is a long TCP segment (wire/frame.h), which the interface splits if it is longer
 * than a frame's payload. Safe for any input. */

/* The payload of a data frame. Returns NULL if the frame is not a data frame or is shorter than its
 * header. 'bytes' gets the length in the header, limited to the bytes present. */
const uint8_t *tap_packet_payload(const uint8_t *frame, uint32_t frame_bytes, uint32_t *bytes);
/* Length of the message that starts in this payload with an IPv4 packet; 0 if none starts. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes);

#define CAPTURE_FILTER_STEPS 48  /* longest program */
#define CAPTURE_FILTER_TEXT  736 /* fits into a telemetry request with a port and a path */
#define CAPTURE_FILTER_WORDS 480
#define CAPTURE_FILTER_HELD  256 /* messages whose first frame matched */

/* Offset of the word in a frame: version, kind, source, destination. */
#define CAPTURE_FILTER_WORD_AT 14

struct capture_filter {
	/* A quick test, for the data path. */
	uint64_t word, mask; /* eight header bytes in memory order, and the bits that count */
	uint32_t snap_bytes; /* bytes kept of each frame; 0: the capture's setting */
	uint16_t kinds, vcs; /* sets of enum frame_kind and VCs; UINT16_MAX: all */
	bool dropped;        /* only frames that the device refused or discarded */
	uint8_t steps;       /* 0: no program */
	struct capture_filter_step { /* as struct bpf_insn */
		uint16_t code;
		uint8_t jt, jf;
		uint32_t k;
	} program[CAPTURE_FILTER_STEPS];
	char text[CAPTURE_FILTER_WORDS]; /* for the capture's header: the options that it was made
					    from */
};

/* The messages whose first frame matched, by hash. Zeroed at the start; one thread. */
struct capture_filter_held {
	uint64_t message[CAPTURE_FILTER_HELD];
};

/* Matches every frame. */
void capture_filter_init(struct capture_filter *filter);
/* Each function adds a condition. 'kinds': a set of enum frame_kind. */
void capture_filter_set_kinds(struct capture_filter *filter, uint16_t kinds);
void capture_filter_set_source(struct capture_filter *filter, uint16_t host);
void capture_filter_set_destination(struct capture_filter *filter, uint16_t host);

/* True if header and packet match; 'dropped' is ignored. The bytes need not be a Weft frame. 'held'
 * may be NULL: only first frames match a program. */
bool capture_filter_matches(const struct capture_filter *filter, struct capture_filter_held *held,
	const uint8_t *bytes, uint32_t frame_bytes);

/* Converts a filter to a word of lower-case hexadecimal digits, and back. False: not a filter. */
void capture_filter_write(const struct capture_filter *filter, char text[CAPTURE_FILTER_TEXT]);
bool capture_filter_read(struct capture_filter *filter, const char *text);

/* Makes a filter from the arguments of --filter and --where. Not for the data plane: libpcap may
 * resolve names. */

/* Either text may be NULL; with both, a frame has to match both.
 *
 * 'packets': an expression of pcap-filter(7) for the IPv4 packet of a data frame. 'where': words
 * separated by spaces: vc=1,2 kind=data,credit src=h0 dst=h3 dropped. Returns 0, or -EINVAL with
 * error set, which names the position in the text and libpcap's message. 'topology' NULL: no
 * hosts. */
int capture_expression_parse(struct capture_filter *filter, const char *packets, const char *where,
	const struct topology *topology, struct error *error);
