/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Source control (source_control.h) for an interface (datagram.h): chooses the routes of messages
 * and pauses flows. A message to a paused destination is moved from its FIFO to a queue here, in
 * order, so that messages to others can pass. After the pause, one message returns to the head of
 * its FIFO. If the whole host pauses, or there is no room here, the message waits in its FIFO.
 *
 * No allocation after datagram_control_create(). Single-threaded. */

#include "datagram.h"

#define DATAGRAM_PAUSED_MAX 4096 /* maximum number of paused messages */

struct datagram_paused {
	struct datagram_message message;
	uint32_t next;
	uint8_t vc;
};

/* Paused messages to one destination. */
struct datagram_lane {
	uint64_t since_ns; /* when the first message could have been sent */
	uint32_t first, last;
	bool released; /* one of its messages is at the head of a FIFO */
};

struct datagram_due {
	uint64_t at_ns;
	uint16_t destination;
};

struct datagram_control {
	struct source_control *source;
	/* For kinds that throttle per destination: */
	struct datagram_paused *message; /* [DATAGRAM_PAUSED_MAX] */
	struct datagram_lane *lane;      /* [hosts] */
	struct datagram_due *due;        /* [hosts] heap of unreleased lanes with messages */
	uint32_t dues, free, used, held;
	/* Start of the current pause of the whole host; UINT64_MAX: not paused. */
	uint64_t host_since_ns;
};

/* Returns NULL with errno set. */
struct datagram_control *datagram_control_create(const struct source_control_config *config);
void datagram_control_destroy(struct datagram_control *control);

/* Chooses a route for a message that starts now. Returns false if there is none. */
bool datagram_control_route(
	struct datagram *nic, uint16_t destination, weft_time now, struct datagram_route *chosen);

/* Handles the heads of all FIFOs: moves messages that must pause, returns one whose pause is over,
 * and assigns routes to the others. Returns the set of VCs whose head must not be sent. */
uint16_t datagram_control_heads(struct datagram *nic, weft_time now);

/* Call when a frame has been sent. */
void datagram_control_sent(struct datagram *nic, const struct weft_packet *packet, weft_time now);

/* Call when a frame has been resent. */
void datagram_control_resent(struct datagram *nic, const struct weft_packet *packet, weft_time now);

/* Returns when the next pause of a waiting message ends; 'now' if a pause has ended and its message
 * can return to the head of its FIFO; otherwise WEFT_TIME_NEVER. */
weft_time datagram_control_due(const struct datagram *nic, weft_time now);

/* Returns the number of paused messages. */
static inline uint32_t datagram_control_held(const struct datagram *nic)
{
	return nic->control == NULL ? 0 : nic->control->held;
}

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_control_check(const struct datagram *nic);

/* FIFO functions of the interface, for the files of this folder. */

/* Starts the message at the head of the FIFO. Messages without a route are dropped. */
void datagram_begin_head(struct datagram *nic, unsigned vc);

/* Removes the message at the head of the FIFO, and starts the next one. */
void datagram_drop_head(struct datagram *nic, unsigned vc);
