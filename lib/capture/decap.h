/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Extracts the IPv4 packets of TAPs from captured frames, and reassembles packets that an interface
 * split. Frames of a message may arrive in any order after the first one. Packets are reassembled
 * separately for each port and direction. Damaged frames are skipped. Safe for any input
 * (decap_fuzz.c). Performs no I/O; not thread-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decap_frame {
	const uint8_t *bytes;
	uint32_t captured_bytes, frame_bytes;
	uint32_t interface; /* capture interface, below 2^24 */
	uint8_t direction;  /* below 4 */
};

struct decap_packet {
	const uint8_t *bytes; /* valid until the next call */
	uint32_t captured_bytes, packet_bytes;
};

struct decap_counts {
	uint64_t frames;     /* all frames */
	uint64_t other;      /* frames without a TAP packet, or damaged */
	uint64_t packets;    /* extracted */
	uint64_t incomplete; /* packets with missing parts */
};

struct decap;

/* Returns NULL if out of memory. */
struct decap *decap_create(void);
void decap_destroy(struct decap *decap);

/* Returns 1 and the packet if the frame completes one, 0 if it does not, or -ENOMEM. */
int decap_add(struct decap *decap, const struct decap_frame *frame, struct decap_packet *packet);
/* Call after the last frame. */
struct decap_counts decap_end(struct decap *decap);
