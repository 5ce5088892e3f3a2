/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packet descriptor that switches and interfaces work on between reception and transmission.
 * One cache line. In poll mode it lives in the private area of the rte_mbuf and is filled from the
 * frame on arrival; in virtual mode it comes from a plain pool and there is no frame.
 *
 * A packet has one owner at a time: the device that stores it. Devices pass it by pointer and never
 * copy it. */

#include <stdint.h>

#include "base/weft_time.h"
#include "frame.h"

struct weft_packet {
	struct weft_packet *next; /* link of the queue that holds the packet */
	weft_time arrived_ps;     /* when an interface received it, or a link will deliver it */
	uint16_t bytes;           /* frame length without FCS */
	uint16_t blocks;          /* flow-control blocks, frame_blocks(bytes) */
	uint8_t in_port;
	uint8_t out_port; /* output, chosen when the packet was stored; SWITCH_PORT_NONE:
			   * discarded */
	uint8_t vc;       /* VC in which it is stored */
	uint8_t vc_next;  /* VC in which the next device will store it */
	/* The four mutable header bytes in memory order (frame_mutable_word), with the values for
	 * the next device once a device has accepted the packet. */
	union {
		struct {
			uint8_t header_vc;
			uint8_t vc_original;
			uint8_t cursor;
			uint8_t flags; /* FRAME_F_* */
		};
		uint32_t mutable_word;
	};
	uint8_t hop; /* route element at the cursor on arrival; 0 if none */
	uint8_t route_length;
	uint8_t sl;
	uint8_t control; /* 1: control frame, not subject to credits */
	uint16_t destination;
	uint16_t source;
	uint8_t kind;    /* enum frame_kind */
	uint8_t stalled; /* 1: has been a queue head without credits (for captures) */
	uint8_t discard; /* why it was discarded: enum switch_counter */
	uint8_t entry;   /* index in the run's traffic (virtual clock; for the real clock see
			  * synthetic.h) */
	union {
		const uint8_t *route; /* route_length elements, in the frame or the route table */
		uint64_t entropy;     /* if it has no route, on the virtual clock: the entropy that
				       * 'reps' chose */
	};
	uint32_t message;
	uint32_t sequence;
	uint32_t injected_ns;
	uint32_t latency_ns; /* accumulated contention latency (DRB) */
};

_Static_assert(sizeof(struct weft_packet) == 64, "one cache line");
