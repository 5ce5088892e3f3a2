/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packet descriptor that switches and interfaces use between reception and transmission. It
 * fills one cache line. On the real clock it is in the private area of the rte_mbuf and is filled
 * from the frame on arrival. On the virtual clock it comes from a plain pool, and there is no
 * frame.
 *
 * A packet has one owner at a time: the device that stores it. Devices pass it by pointer and never
 * copy it. */

#include <stdint.h>

#include "base/weft_time.h"
#include "frame.h"

struct weft_packet {
	struct weft_packet *next; /* next packet in the queue that holds this one */
	weft_time arrived_ps; /* when an interface received the packet, or a link will deliver it */
	uint16_t bytes;       /* frame length without FCS */
	uint16_t blocks;      /* flow-control blocks, frame_blocks(bytes) */
	uint8_t in_port;
	uint8_t out_port; /* output, chosen when the packet was stored; SWITCH_PORT_NONE: discarded
			   */
	uint8_t vc;       /* VC in which the packet is stored */
	uint8_t vc_next;  /* VC in which the next device will store the packet */
	/* The four mutable header bytes in memory order (frame_mutable_word). After a device has
	 * accepted the packet, they hold the values for the next device. */
	union {
		struct {
			uint8_t header_vc;
			uint8_t vc_original;
			uint8_t cursor;
			uint8_t flags; /* FRAME_F_* */
		};
		uint32_t mutable_word;
	};
	uint8_t hop; /* route element at the cursor on arrival; 0: none */
	uint8_t route_length;
	uint8_t sl;
	uint8_t control; /* 1: control frame, exempt from credits */
	uint16_t destination;
	uint16_t source;
	uint8_t kind;    /* enum frame_kind */
	uint8_t stalled; /* 1: the packet has been a queue head without credits (for captures) */
	uint8_t discard; /* reason for the discard: enum switch_counter */
	uint8_t entry;   /* index in the run's traffic (virtual clock; for the real clock see
			  * synthetic.h) */
	union {
		const uint8_t *route; /* route_length elements, in the frame or the route table */
		uint64_t entropy; /* without a route, on the virtual clock: the entropy that 'reps'
				     chose */
	};
	uint32_t message;
	uint32_t sequence;
	uint32_t injected_ns;
	uint32_t latency_ns; /* accumulated contention latency (DRB) */
};

_Static_assert(sizeof(struct weft_packet) == 64, "one cache line");
