/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The in-transit buffer of a host (Flich, doctoral thesis, Valencia 2001, sections 3.1 and 3.4).
 * Frames whose next route element is the ITB mark leave the network regardless of the output, wait
 * in a pool of their own, and are re-injected with the elements after the mark. That ends the
 * channel dependency between the link on which they arrive and the link on which they leave.
 *
 * The unit is the frame: each is re-injected once it is received, detected and programmed, while
 * the rest of its message is still arriving (cut-through at frame granularity). One FIFO per VC
 * keeps the frames of a message in order; VCs are served round robin; control frames, which need no
 * credits, precede data. The caller discards frames that the pool cannot hold.
 *
 * End mark: if the sender pauses for longer than 'pause_ps' within a message after all its received
 * frames have been forwarded, re-injection has overtaken reception. Then the last frame of the
 * message leaves without FRAME_F_END_MARK, and the destination refuses it and requests it again.
 * Otherwise the last frame gets the mark, unless an earlier host withheld it.
 *
 * Passive: the interface (nic.h, datagram.h) reports arrivals and asks for departures. It holds
 * packets by pointer, allocates nothing after itb_create(), and does not read frames. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_time.h"
#include "itb_pool.h"
#include "link/credit.h"
#include "wire/packet.h"

/* The thesis' values for Myrinet: 44 and 32 bytes at 160 MB/s (chapter 5). */
#define ITB_DETECTION_DEFAULT_PS   (275 * PS_PER_NS)
#define ITB_PROGRAMMING_DEFAULT_PS (200 * PS_PER_NS)
/* The longest time that a frame is blocked in a network with the default watchdog. */
#define ITB_PAUSE_DEFAULT_PS (50 * PS_PER_MS)

#define ITB_OPEN_MESSAGES \
	64 /* multi-frame messages in transit; if there are more, some are forgotten */

struct itb_config {
	uint64_t pool_bytes;      /* 0: not an in-transit host */
	uint32_t frame_bytes_min; /* minimum that a frame takes from the pool */
	/* Minimum time from the start of a frame's reception to its re-injection; 0 on the real
	 * clock, where the host takes its actual time. */
	weft_time detection_ps, programming_ps;
	weft_time pause_ps;
};

struct itb_fifo {
	struct weft_packet *head, *tail;
};

/* A multi-frame message in transit. */
struct itb_message {
	uint16_t source, destination;
	uint32_t message;
	uint32_t held; /* frames it holds */
	bool open, overtaken;
	weft_time sent_at; /* when its last frame was forwarded */
};

struct itb {
	struct itb_config config;
	struct itb_pool pool;
	struct itb_share turn;
	struct itb_fifo data[FRAME_VCS_MAX], control;
	uint32_t waiting; /* VCs with data frames */
	uint32_t frames;  /* held, control and data */
	uint8_t next_vc;  /* round robin */
	struct itb_message open[ITB_OPEN_MESSAGES];
	/* absorbed = reinjected + abandoned + currently held; data frames only */
	uint64_t absorbed, reinjected, abandoned;
	uint64_t discarded;    /* pool full; includes control frames */
	uint64_t control_sent; /* control frames that were sent on */
	uint64_t messages;     /* last frames absorbed */
	uint64_t overtaken;    /* last frames without an end mark from here */
	uint64_t delay_ps;     /* sum over the forwarded frames: from reception to re-injection */
};

/* Returns NULL if out of memory. */
struct itb *itb_create(const struct itb_config *config);
/* The caller frees held packets first: itb_drain(). NULL is allowed. */
void itb_destroy(struct itb *itb);

/* True if the element at the cursor is the ITB mark. 'hop' need not be set. */
static inline bool itb_is_marked(const struct weft_packet *packet)
{
	return packet->cursor < packet->route_length &&
	       packet->route[packet->cursor] == ROUTE_TYPE_ITB;
}

/* True if a marked frame can be forwarded because a port follows; otherwise it is a routing
 * error. */
static inline bool itb_is_route(const struct weft_packet *packet)
{
	return packet->cursor + 1 < packet->route_length &&
	       ((packet->route[packet->cursor + 1] & ROUTE_PORT_BIT) != 0 ||
		       route_is_high(packet->route[packet->cursor + 1]));
}

/* True if the message's last frame must be refused: an in-transit host withheld its mark. */
static inline bool itb_was_overtaken(const struct weft_packet *packet)
{
	return (packet->flags & (FRAME_F_TAIL | FRAME_F_END_MARK)) == FRAME_F_TAIL &&
	       packet->route_length != 0 &&
	       memchr(packet->route, ROUTE_TYPE_ITB, packet->route_length) != NULL;
}

/* Takes a completely received frame for which itb_is_route() is true and whose header was received
 * at 'header_ps'; it leaves in 'vc'. Returns false if there is no room, which is counted; the
 * caller keeps the packet. */
bool itb_absorb(struct itb *itb, struct weft_packet *packet, uint8_t vc, weft_time header_ps,
	weft_time now);

/* Removes the next control frame, or NULL. */
struct weft_packet *itb_next_control(struct itb *itb, weft_time now);

/* The VC of the next data frame that has credits in 'tx'; FRAME_VCS_MAX: none. '*blocked' (may be
 * NULL) gets the VCs that lack only credits. */
unsigned itb_ready(
	const struct itb *itb, const struct credit_tx *tx, weft_time now, uint32_t *blocked);

/* Removes the head of that VC. The caller takes its credits. */
struct weft_packet *itb_next_data(struct itb *itb, unsigned vc, weft_time now);

/* When the next unready frame becomes ready, or WEFT_TIME_NEVER. */
weft_time itb_due(const struct itb *itb, weft_time now);

/* Empties the buffer: returns the held packets as a chain by 'next'. */
struct weft_packet *itb_drain(struct itb *itb);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *itb_check(const struct itb *itb);
