/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The in-transit buffer of a host (Flich, doctoral thesis, Valencia 2001, sections 3.1
 * and 3.4): frames whose next route element is the mark leave the network, whatever the output
 * does, wait in a pool of their own, and are sent on past the mark as in a first injection. That
 * ends the channel dependency between the link they came by and the one they leave by.
 *
 * The unit is the frame: each goes on when it is there and has been detected and programmed, while
 * the rest of its message is still to come (cut-through at frame granularity). One FIFO per VC, so
 * frames of a message keep their order; VCs take turns; control frames, which are not under
 * credits, go before data. What the pool has no room for is the caller's to discard.
 *
 * End mark: should the sender pause for longer than 'pause_ps' within a message, when all that came
 * of it has been sent on, re-injection has overtaken reception. The message's last frame then goes
 * on without FRAME_F_END_MARK, and the destination refuses it and has it sent again. Else the last
 * frame gets the mark, unless a host before has already withheld it.
 *
 * Passive: the interface (nic.h, datagram.h) says what arrived and asks what may go. It holds
 * packets by pointer, allocates nothing after itb_create(), and does not look into frames.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "credit.h"
#include "itb_pool.h"
#include "itb_share.h"
#include "packet.h"
#include "weft_time.h"

/* The thesis' figures of Myrinet: 44 and 32 bytes at 160 MB/s (chapter 5). */
#define ITB_DETECTION_DEFAULT_PS   (275 * PS_PER_NS)
#define ITB_PROGRAMMING_DEFAULT_PS (200 * PS_PER_NS)
/* No frame stands still for longer in a network whose watchdog has its default. */
#define ITB_PAUSE_DEFAULT_PS (50 * PS_PER_MS)

#define ITB_OPEN_MESSAGES                                                      \
	64 /* of several frames, passing at a time; of more some are forgotten \
	    */

struct itb_config {
	uint64_t pool_bytes;      /* 0: the host absorbs nothing */
	uint32_t frame_bytes_min; /* a frame takes as much of the pool at least */
	/* From the beginning of a frame's reception to that of its re-injection at the earliest; on
	 * the real clock 0: the host takes the time that it takes. */
	weft_time detection_ps, programming_ps;
	weft_time pause_ps;
};

struct itb_fifo {
	struct weft_packet *head, *tail;
};

/* A message of several frames that is passing. */
struct itb_message {
	uint16_t source, destination;
	uint32_t message;
	uint32_t held; /* of its frames */
	bool open, overtaken;
	weft_time sent_at; /* the last one that went on */
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
	/* absorbed = reinjected + abandoned + those held; of data frames alone */
	uint64_t absorbed, reinjected, abandoned;
	uint64_t discarded;    /* the pool was full; control frames too */
	uint64_t control_sent; /* control frames that were sent on */
	uint64_t messages;     /* last frames absorbed */
	uint64_t overtaken;    /* last frames that got no end mark here */
	uint64_t delay_ps;     /* sum over the frames sent on: from reception to re-injection */
};

/* NULL: no memory. */
struct itb *itb_create(const struct itb_config *config);
/* What it still holds is the caller's to free first: itb_drain(). NULL is fine. */
void itb_destroy(struct itb *itb);

/* True if the element at the cursor is the mark; 'hop' need not be filled. */
static inline bool itb_is_marked(const struct weft_packet *packet)
{
	return packet->cursor < packet->route_length &&
	       packet->route[packet->cursor] == ROUTE_TYPE_ITB;
}

/* True if a marked frame can be sent on: a port comes next. Else it is a routing error. */
static inline bool itb_is_route(const struct weft_packet *packet)
{
	return packet->cursor + 1 < packet->route_length &&
	       (packet->route[packet->cursor + 1] & ROUTE_PORT_BIT) != 0;
}

/* True if the message's last frame is worth nothing: an in-transit host has withheld its mark. */
static inline bool itb_was_overtaken(const struct weft_packet *packet)
{
	return (packet->flags & (FRAME_F_TAIL | FRAME_F_END_MARK)) == FRAME_F_TAIL &&
	       packet->route_length != 0 &&
	       memchr(packet->route, ROUTE_TYPE_ITB, packet->route_length) != NULL;
}

/* Takes a frame that itb_is_route(), wholly received by now, whose header came at 'header_ps'; it
 * goes on in 'vc'. False: no room; counted; the packet is the caller's. */
bool itb_absorb(struct itb *itb, struct weft_packet *packet, uint8_t vc, weft_time header_ps,
	weft_time now);

/* Takes out the control frame that goes next; NULL: none. */
struct weft_packet *itb_next_control(struct itb *itb, weft_time now);

/* The VC whose data frame would go next by the credits 'tx'; FRAME_VCS_MAX: none can. '*blocked'
 * (may be NULL) gets the VCs that only want credits. */
unsigned itb_ready(
	const struct itb *itb, const struct credit_tx *tx, weft_time now, uint32_t *blocked);

/* Takes out the head of that VC. Its credits are the caller's to take. */
struct weft_packet *itb_next_data(struct itb *itb, unsigned vc, weft_time now);

/* When the next of the frames that are not ready yet will be; WEFT_TIME_NEVER: there is none. */
weft_time itb_due(const struct itb *itb, weft_time now);

/* Forgets all: a chain of what was held, by 'next'. */
struct weft_packet *itb_drain(struct itb *itb);

/* Invariants. NULL, or what is wrong. */
const char *itb_check(const struct itb *itb);
