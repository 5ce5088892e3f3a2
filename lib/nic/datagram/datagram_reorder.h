/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Keeps the order of frames at an interface without end-to-end delivery (datagram.h) in fabrics
 * where they can overtake each other, by adaptive routing or retransmission (datagram_recovery.h).
 * It passes on the frames of a source in sequence; an early one waits here. It is like
 * resequencer.h, but for descriptors: a waiting frame takes no memory of the interface, and the
 * caller sets the limit.
 *
 * A waiting frame is found by source and number, in O(1) unless they far outnumber the chains.
 * Memory is allocated only when the table of numbers grows (pair_numbers.h). One thread. */

#include "datagram.h"

#define DATAGRAM_ORDER_CHAINS 512 /* a power of two */

struct datagram_reorder {
	struct weft_packet *held[DATAGRAM_ORDER_CHAINS];
	uint32_t held_max, max;     /* concurrent frames: limit; maximum so far */
	uint64_t reordered;         /* frames that were held */
	uint64_t overtaken;         /* frames that arrived after later ones */
	uint64_t no_room;           /* frames refused at the limit */
	weft_time held_ps;          /* total waiting time of frames */
	struct pair_numbers latest; /* one more than the latest held number, by source */
};

enum datagram_arrival {
	DATAGRAM_DELIVERED,
	DATAGRAM_HELD,    /* now belongs to the interface */
	DATAGRAM_REFUSED, /* the caller keeps it */
};

/* held_max: maximum number of concurrently held frames. kind: the same as the interface's. Returns
 * NULL if out of memory. */
struct datagram_reorder *datagram_reorder_create(
	uint32_t held_max, enum pair_numbers_kind kind, uint32_t hosts);
/* The caller freed held frames. */
void datagram_reorder_destroy(struct datagram_reorder *order);

/* True if nothing waits and the frame is the expected one: then datagram_receive() suffices. */
static inline bool datagram_reorder_is_kept(
	const struct datagram *nic, const struct weft_packet *packet)
{
	return nic->held == 0 && packet->sequence == datagram_expected(nic, packet->source);
}

/* datagram_receive() for an interface that keeps the order. A waiting frame has 'arrived_ps'. */
enum datagram_arrival datagram_reorder_receive(
	struct datagram *nic, struct weft_packet *packet, weft_time now);

/* The frame, addressed to this host, was discarded in transit and will never arrive. Returns true
 * if it was the expected one. The next one is then expected, the frame is the caller's, and
 * datagram_reorder_release() must follow. Returns false if it is held in sequence like a received
 * one. */
bool datagram_reorder_lose(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* True if a frame from datagram_reorder_release() is a lost one, removed but not delivered. */
static inline bool datagram_reorder_is_lost(const struct weft_packet *packet)
{
	return packet->control != 0;
}

/* Payload, without extensions. */
static inline uint32_t datagram_payload_bytes(const struct weft_packet *packet)
{
	return packet->bytes - FRAME_HEADER_BYTES - packet->route_length -
	       (packet->flags & FRAME_F_LATENCY ? FRAME_LATENCY_BYTES : 0);
}

/* After a delivery: the next held frame of that source, now also delivered, or NULL. */
struct weft_packet *datagram_reorder_release(struct datagram *nic, uint16_t source, weft_time now);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_reorder_check(const struct datagram *nic);
