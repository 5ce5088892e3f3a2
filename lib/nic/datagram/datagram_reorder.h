/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Restores the order of frames at an interface without end-to-end delivery (datagram.h), in fabrics
 * where frames can overtake each other because of adaptive routing or retransmission
 * (datagram_recovery.h). Frames of a source are passed on in sequence, and an early frame waits
 * here. Unlike in resequencer.h, waiting frames are descriptors: they take no memory of the
 * interface, and the caller sets their limit.
 *
 * A waiting frame is found by source and number, in O(1) unless the frames far outnumber the
 * chains. Memory is allocated only when the number table grows (pair_numbers.h). One thread. */

#include "datagram.h"

#define DATAGRAM_ORDER_CHAINS 512 /* a power of two */

struct datagram_reorder {
	struct weft_packet *held[DATAGRAM_ORDER_CHAINS];
	uint32_t held_max, max;     /* limit of held frames, and maximum so far */
	uint64_t reordered;         /* frames that were held */
	uint64_t overtaken;         /* frames that arrived after later ones */
	uint64_t no_room;           /* frames refused at the limit */
	weft_time held_ps;          /* total waiting time of held frames */
	struct pair_numbers latest; /* [source] latest held number, plus one */
};

enum datagram_arrival {
	DATAGRAM_DELIVERED,
	DATAGRAM_HELD,    /* owned by the interface now */
	DATAGRAM_REFUSED, /* remains the caller's */
};

/* held_max: maximum number of held frames. kind: same as the interface's. Returns NULL if out of
 * memory. */
struct datagram_reorder *datagram_reorder_create(
	uint32_t held_max, enum pair_numbers_kind kind, uint32_t hosts);
/* The caller must free held frames first. */
void datagram_reorder_destroy(struct datagram_reorder *order);

/* Returns true if this is the expected frame and none waits; datagram_receive() then suffices. */
static inline bool datagram_reorder_is_kept(
	const struct datagram *nic, const struct weft_packet *packet)
{
	return nic->held == 0 && packet->sequence == datagram_expected(nic, packet->source);
}

/* Like datagram_receive(), with the order restored. Sets a held frame's 'arrived_ps'. */
enum datagram_arrival datagram_reorder_receive(
	struct datagram *nic, struct weft_packet *packet, weft_time now);

/* Handles a frame for this host that was discarded in transit and will never arrive. Returns true
 * if it was the expected frame: the frame is then the caller's, the next one is expected, and
 * datagram_reorder_release() must follow. Returns false if it is held in sequence like a received
 * one. */
bool datagram_reorder_lose(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* Returns true for a lost frame from datagram_reorder_release(), which is not delivered. */
static inline bool datagram_reorder_is_lost(const struct weft_packet *packet)
{
	return packet->control != 0;
}

/* Returns the payload size, without extensions. */
static inline uint32_t datagram_payload_bytes(const struct weft_packet *packet)
{
	return packet->bytes - FRAME_HEADER_BYTES - packet->route_length -
	       (packet->flags & FRAME_F_LATENCY ? FRAME_LATENCY_BYTES : 0);
}

/* Call after a delivery. Returns the source's next held frame, now also delivered, or NULL. */
struct weft_packet *datagram_reorder_release(struct datagram *nic, uint16_t source, weft_time now);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_reorder_check(const struct datagram *nic);
