/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The in-transit buffer of a host (Flich, doctoral thesis, Valencia 2001, sections 3.1 and 3.4).
 * Frames whose next route element is the ITB mark leave the network whether or not the output is
 * free, wait in a separate pool, and are re-injected with the elements after the mark. This ends
 * the channel dependency between the link on which they arrive and the link on which they are sent.
 *
 * The unit is the frame: each is re-injected once it has been received, detected and programmed,
 * while the rest of its message is still arriving (cut-through at frame granularity). One FIFO per
 * VC preserves the order of a message's frames; VCs are served round robin; control frames, which
 * need no credits, precede data. The caller discards frames that do not fit in the pool.
 *
 * End mark: if the sender pauses for longer than 'pause_ps' within a message after all its received
 * frames have been forwarded, re-injection has overtaken reception. The last frame of the message
 * is then sent without FRAME_F_END_MARK, and the destination refuses it and requests it again.
 * Otherwise the last frame gets the mark, unless an earlier host withheld it.
 *
 * Passive: the interface (nic.h, datagram.h) reports arrivals and requests departures. The buffer
 * references packets by pointer, allocates nothing after itb_create(), and does not read frames. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_time.h"
#include "itb_pool.h"
#include "link/credit.h"
#include "wire/packet.h"

/* Values of the thesis for Myrinet: 44 and 32 bytes at 160 MB/s (chapter 5). */
#define ITB_DETECTION_DEFAULT_PS   (275 * PS_PER_NS)
#define ITB_PROGRAMMING_DEFAULT_PS (200 * PS_PER_NS)
/* Maximum time that a frame is blocked in a network with the default watchdog. */
#define ITB_PAUSE_DEFAULT_PS (50 * PS_PER_MS)

#define ITB_OPEN_MESSAGES \
	64 /* maximum number of tracked multi-frame messages; others are evicted */

struct itb_config {
	uint64_t pool_bytes;      /* 0: not an in-transit host */
	uint32_t frame_bytes_min; /* minimum number of bytes that a frame takes from the pool */
	/* Minimum time from the start of a frame's reception to its re-injection; 0 on the real
	 * clock, where the host takes its actual time. */
	weft_time detection_ps, programming_ps;
	weft_time pause_ps;
};

struct itb_fifo {
	struct weft_packet *head, *tail;
};

/* A tracked multi-frame message in transit. */
struct itb_message {
	uint16_t source, destination;
	uint32_t message;
	uint32_t held; /* number of its frames in the buffer */
	bool open, overtaken;
	weft_time sent_at; /* when its latest frame was forwarded */
};

struct itb {
	struct itb_config config;
	struct itb_pool pool;
	struct itb_share turn;
	struct itb_fifo data[FRAME_VCS_MAX], control;
	uint32_t waiting; /* bit set of VCs with data frames */
	uint32_t frames;  /* frames in the buffer, control and data */
	uint8_t next_vc;  /* next VC in round robin */
	struct itb_message open[ITB_OPEN_MESSAGES];
	/* absorbed = reinjected + abandoned + currently held; data frames only */
	uint64_t absorbed, reinjected, abandoned;
	uint64_t discarded;    /* did not fit in the pool; includes control frames */
	uint64_t control_sent; /* control frames forwarded */
	uint64_t messages;     /* messages whose last frame was absorbed */
	uint64_t overtaken;    /* last frames whose end mark was withheld here */
	uint64_t delay_ps; /* total time from reception to re-injection of the forwarded frames */
};

/* Returns NULL if out of memory. */
struct itb *itb_create(const struct itb_config *config);
/* The caller must empty the buffer first with itb_drain(). NULL is allowed. */
void itb_destroy(struct itb *itb);

/* Returns true if the element at the cursor is the ITB mark. 'hop' need not be set. */
static inline bool itb_is_marked(const struct weft_packet *packet)
{
	return packet->cursor < packet->route_length &&
	       packet->route[packet->cursor] == ROUTE_TYPE_ITB;
}

/* Returns true if a marked frame can be forwarded, because a port follows the mark; otherwise it is
 * a routing error. */
static inline bool itb_is_route(const struct weft_packet *packet)
{
	return packet->cursor + 1 < packet->route_length &&
	       ((packet->route[packet->cursor + 1] & ROUTE_PORT_BIT) != 0 ||
		       route_is_high(packet->route[packet->cursor + 1]));
}

/* Returns true if the last frame must be refused: a host in transit withheld its end mark. */
static inline bool itb_was_overtaken(const struct weft_packet *packet)
{
	return (packet->flags & (FRAME_F_TAIL | FRAME_F_END_MARK)) == FRAME_F_TAIL &&
	       packet->route_length != 0 &&
	       memchr(packet->route, ROUTE_TYPE_ITB, packet->route_length) != NULL;
}

/* Absorbs a complete frame for which itb_is_route() is true and whose header arrived at
 * 'header_ps', to be sent on 'vc'. Returns false if there is no room, which is counted; the packet
 * remains the caller's. */
bool itb_absorb(struct itb *itb, struct weft_packet *packet, uint8_t vc, weft_time header_ps,
	weft_time now);

/* Removes and returns the next control frame, or NULL. */
struct weft_packet *itb_next_control(struct itb *itb, weft_time now);

/* Returns the VC of the next data frame that has credits in 'tx', or FRAME_VCS_MAX. '*blocked' (may
 * be NULL) is set to the VCs that lack only credits. */
unsigned itb_ready(
	const struct itb *itb, const struct credit_tx *tx, weft_time now, uint32_t *blocked);

/* Removes and returns the head of a VC. The caller takes its credits. */
struct weft_packet *itb_next_data(struct itb *itb, unsigned vc, weft_time now);

/* Returns when the next unready frame becomes ready, or WEFT_TIME_NEVER. */
weft_time itb_due(const struct itb *itb, weft_time now);

/* Empties the buffer. Returns the packets as a chain linked by 'next'. */
struct weft_packet *itb_drain(struct itb *itb);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *itb_check(const struct itb *itb);
