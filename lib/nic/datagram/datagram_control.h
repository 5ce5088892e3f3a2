/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An interface (datagram.h) with source control (source_control.h): it chooses messages' routes and
 * pauses flows. A message to a paused destination leaves the FIFO, so that messages to others can
 * pass, and waits here in order; after the pause one message returns to the head of its FIFO. If
 * the whole host pauses, or there is no room here, it waits in the FIFO.
 *
 * No allocation after datagram_control_create(). One thread. */

#include "datagram.h"

#define DATAGRAM_PAUSED_MAX 4096 /* messages that wait here */

struct datagram_paused {
	struct datagram_message message;
	uint32_t next;
	uint8_t vc;
};

/* Messages to one destination. */
struct datagram_lane {
	uint64_t since_ns; /* when the first could have left */
	uint32_t first, last;
	bool released; /* one of its messages is at the head of its FIFO */
};

struct datagram_due {
	uint64_t at_ns;
	uint16_t destination;
};

struct datagram_control {
	struct source_control *source;
	/* For kinds that throttle by destination: */
	struct datagram_paused *message; /* [DATAGRAM_PAUSED_MAX] */
	struct datagram_lane *lane;      /* [hosts] */
	struct datagram_due *due;        /* [hosts] a heap of lanes with messages, not released */
	uint32_t dues, free, used, held;
	/* Since when the whole host has paused; UINT64_MAX: it is not paused. */
	uint64_t host_since_ns;
};

/* Returns NULL with errno. */
struct datagram_control *datagram_control_create(const struct source_control_config *config);
void datagram_control_destroy(struct datagram_control *control);

/* Chooses a route for a message that leaves now. Returns false if there is none. */
bool datagram_control_route(
	struct datagram *nic, uint16_t destination, weft_time now, struct datagram_route *chosen);

/* Checks the heads of all FIFOs: moves those that must pause, returns one whose pause is over, and
 * gives the others their routes. Returns the set of VCs whose head must not leave. */
uint16_t datagram_control_heads(struct datagram *nic, weft_time now);

/* A frame has left. */
void datagram_control_sent(struct datagram *nic, const struct weft_packet *packet, weft_time now);

/* A frame has left again. */
void datagram_control_resent(struct datagram *nic, const struct weft_packet *packet, weft_time now);

/* When the next pause of a waiting message ends, or 'now' if one has ended and its message can move
 * to the head of its FIFO, or WEFT_TIME_NEVER. */
weft_time datagram_control_due(const struct datagram *nic, weft_time now);

/* Messages that wait here. */
static inline uint32_t datagram_control_held(const struct datagram *nic)
{
	return nic->control == NULL ? 0 : nic->control->held;
}

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_control_check(const struct datagram *nic);

/* FIFOs of the interface, for the files of this folder. */

/* Starts the message at the head of the FIFO. One without a route is dropped. */
void datagram_begin_head(struct datagram *nic, unsigned vc);

/* Removes the message at the head of the FIFO, and starts the next. */
void datagram_drop_head(struct datagram *nic, unsigned vc);
