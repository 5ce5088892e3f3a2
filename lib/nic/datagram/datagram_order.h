/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The order of frames at an interface without end-to-end delivery (datagram.h), in fabrics where
 * they can overtake each other: by adaptive routing, or because some come a
 * second time (datagram_recovery.h). The frames of a source are handed on by their numbers; one
 * that comes too early waits here. The counterpart of resequencer.h, of descriptors instead of
 * frames: a frame that waits takes no memory of the interface, and how many may wait is the
 * caller's to say.
 *
 * What waits is found by source and number, in O(1) as long as there are not many more than chains.
 * No allocation after datagram_order_create(). One thread.
 */

#include "datagram.h"

#define DATAGRAM_ORDER_CHAINS 512 /* a power of two */

struct datagram_order {
	struct weft_packet *held[DATAGRAM_ORDER_CHAINS];
	uint32_t held_max, most; /* frames at a time: allowed; seen */
	uint64_t reordered;      /* frames that were held */
	uint64_t overtaken;      /* frames that came after later ones */
	uint64_t no_room;        /* frames refused because no more can be held */
	weft_time held_ps;       /* time that frames have waited, together */
	uint32_t *latest;        /* [hosts] the number after the latest that was held, by source */
};

enum datagram_arrival {
	DATAGRAM_DELIVERED,
	DATAGRAM_HELD,    /* belongs to the interface now */
	DATAGRAM_REFUSED, /* the caller's */
};

/* held_max: frames held at a time. NULL: no memory. */
struct datagram_order *datagram_order_create(uint32_t held_max, uint16_t hosts);
/* What is held is the caller's to free first. NULL is fine. */
void datagram_order_destroy(struct datagram_order *order);

/* Nothing waits, and the frame is the one that is expected: datagram_receive() does for it. */
static inline bool datagram_order_is_kept(
	const struct datagram *nic, const struct weft_packet *packet)
{
	return nic->held == 0 &&
	       packet->sequence == nic->come[(size_t)packet->source * nic->come_step].expected;
}

/* datagram_receive() of an interface that keeps the order. A frame that waits has 'arrived_ps'. */
enum datagram_arrival datagram_order_receive(
	struct datagram *nic, struct weft_packet *packet, weft_time now);

/* The frame, which is for this host, was discarded on the way and will never come. True: it was the
 * expected one, which the next one is now; the frame is the caller's, and datagram_order_release()
 * is due. False: it waits for its turn like one that has come. */
bool datagram_order_lose(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* What datagram_order_release() returns is a lost frame: taken off, not delivered. */
static inline bool datagram_order_is_lost(const struct weft_packet *packet)
{
	return packet->control != 0;
}

/* After a delivery: the frame of that source that has been held and is next, now delivered as well;
 * NULL: none. */
struct weft_packet *datagram_order_release(struct datagram *nic, uint16_t source, weft_time now);

/* Invariants. NULL, or what is wrong. */
const char *datagram_order_check(const struct datagram *nic);
