/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The passage from one part of a virtual fabric to another (virtual_parts.h): packets, credit
 * frames, notifications and reports of discarded packets, by value, because each part has packets
 * and records of its own. A part writes into a box for each other part, which that one reads in
 * the next round. There are two sides of each box: one is filled while the other is read. */

#include "virtual_private.h"

/* Kinds of crossing. A report is of a packet that goes back to its source (virtual_dispatch.h),
 * a loss of one that its destination shall not wait for (virtual_dispatch.h). */
enum virtual_crossing { VIRTUAL_CROSSING_DATA, VIRTUAL_CROSSING_REPORT, VIRTUAL_CROSSING_LOSS };

struct virtual_crossing_packet {
	struct weft_packet packet;
	struct datagram_origin origin;
	weft_time at;   /* the event at the far end */
	uint32_t order; /* of a device there, of a report */
	enum virtual_crossing kind;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct virtual_crossing_packet) == 128, "two cache lines");

enum virtual_crossing_control_kind {
	VIRTUAL_CROSSING_CREDIT,
	VIRTUAL_CROSSING_ARN,
	VIRTUAL_CROSSING_ANSWER,
	/* A message of a schedule was accepted for a host in another process, which has a replay of
	 * its own: it knows before any of the message's frames can arrive. No event. */
	VIRTUAL_CROSSING_ACCEPT
};

struct virtual_crossing_control {
	weft_time at;
	uint32_t order;
	enum virtual_crossing_control_kind kind;
	/* That sent it; only its address counts. NULL: it passes no link. */
	const struct virtual_tx *channel;
	union {
		struct virtual_credit credit[FRAME_VCS_MAX];
		struct control_arn arn;
		struct virtual_answer answer;
		uint32_t op; /* of the schedule */
	};
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct virtual_crossing_control, credit[4]) <= 64,
	"the totals of four VCs are in the first cache line");

/* Grows while a run finds its size. The origins of packets, which are in no cache, are fetched
 * while the round goes on and copied at its end. */
struct virtual_box {
	struct virtual_crossing_packet *packet;
	struct weft_packet **left; /* each packet in its former part, until the end of the round */
	struct latency_extension *extension; /* of each packet, where packets have them */
	struct virtual_crossing_control *control;
	uint32_t packets, packet_room, left_room, extension_room, controls, control_room;
	uint32_t complete; /* packets with an origin */
	weft_time first;   /* the earliest of them; WEFT_TIME_NEVER: it is empty */
} __attribute__((aligned(64)));

/* Elements of a box that are asked for at a time. */
#define VIRTUAL_BOX_FETCHED 16u

/* The part of a box that its reader needs. */
struct virtual_box_contents {
	const struct virtual_crossing_packet *packet;
	const struct latency_extension *extension; /* NULL: none */
	const struct virtual_crossing_control *control;
	uint32_t packets, controls;
};

static inline struct virtual_box_contents virtual_box_look(const struct virtual_box *box)
{
	return (struct virtual_box_contents){
		box->packet, box->extension, box->control, box->packets, box->controls};
}

void virtual_box_free(struct virtual_box *box);

/* The rest of virtual_start() for a special channel: the packet is at the far end at 'at', or is
 * traced. A packet that crosses is this part's until the end of the round, and no event's. */
void virtual_start_special(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now);

/* A packet for the part of the device of 'order', where it arrives at 'at'. */
void virtual_cross_packet(struct virtual_fabric *fabric, struct weft_packet *packet,
	enum virtual_crossing kind, weft_time at, uint32_t order);
/* A control frame, likewise; the caller fills in what its kind has in the union. 'channel': NULL if
 * it passes no link. NULL without memory: the run has failed. */
struct virtual_crossing_control *virtual_cross_control(struct virtual_fabric *fabric,
	enum virtual_crossing_control_kind kind, const struct virtual_tx *channel, uint32_t order,
	weft_time at);

/* Ends a round: completes the packets in the boxes that the part has filled. */
void virtual_cross_complete(struct virtual_fabric *fabric);

/* Of the packets that have left the part in this round, one whose memory is free then; NULL: there
 * is none. For an empty pool. */
struct weft_packet *virtual_cross_reclaim(struct virtual_fabric *fabric);

/* All that is in a box becomes events of this part. Its sender clears it before it fills it again.
 */
void virtual_cross_take(struct virtual_fabric *fabric, const struct virtual_box_contents *contents);
/* The same for one of them, which has come in another way. Packets become events with
 * virtual_cross_end_packets(), which is called after the last one of a sender. */
void virtual_cross_take_packet(struct virtual_fabric *fabric,
	const struct virtual_crossing_packet *crossing, const struct latency_extension *extension);
void virtual_cross_end_packets(struct virtual_fabric *fabric);
void virtual_cross_take_control(
	struct virtual_fabric *fabric, const struct virtual_crossing_control *crossing);

/* Empties a box so that its side can be filled again. Prefetches as many elements as it had:
 * another core has read them, and a store would wait for their lines. */
static inline void virtual_box_clear(struct virtual_box *box)
{
	for (uint32_t i = 0; i < box->packets && i < VIRTUAL_BOX_FETCHED; i++) {
		__builtin_prefetch(&box->packet[i].packet, 1);
		__builtin_prefetch(&box->packet[i].origin, 1);
	}
	for (uint32_t i = 0; i < box->controls && i < VIRTUAL_BOX_FETCHED; i++)
		__builtin_prefetch(&box->control[i], 1);
	box->packets = box->complete = box->controls = 0;
	box->first = WEFT_TIME_NEVER;
}
