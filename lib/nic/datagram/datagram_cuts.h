/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Frames that cut cables lose, for datagram_recovery.h. Nothing that arrives behind such a frame
 * reveals the loss, so the source waits for a timer, with the rules of the acknowledging interface
 * (flow_tx.c): after 'retry_ps' without progress it repeats one frame per destination, and waits
 * twice as long after each further loss, up to eight times, at most an eighth of 'give_up_ps'. If
 * that frame is not reported lost within 'retry_ps', it passed, and the others follow. After
 * 'give_up_ps' all are given up. No more than 'window_frames' per destination are lost first: later
 * ones wait with them. Thread as datagram_recovery.h. */

#include "datagram_recovery.h"

/* A destination that a cut cable separates. */
struct datagram_pair {
	struct weft_packet *first, *last; /* frames that wait; NULL: none */
	weft_time since;                  /* the first loss */
	weft_time due, probe_at;          /* the next look; the next repetition */
	uint32_t waits, cause;            /* frames; where the latest of them was lost */
	uint16_t destination;
	uint8_t timeouts;
	bool probing; /* a repeated frame may have passed */
};

/* The cause of a loss, in the frame's 'latency_ns': a cable by number, or, unless that is known, a
 * device. */
#define DATAGRAM_CAUSE_DEVICE 0x80000000u
#define DATAGRAM_CAUSE_ANY    UINT32_MAX

/* The report of a frame that waits for such a timer has arrived. */
void datagram_cuts_hold(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* Timers that have expired. */
void datagram_cuts_poll(struct datagram *nic, weft_time now);

/* Frames pass where those with this cause were lost: they are due now. */
void datagram_cuts_release(struct datagram *nic, uint32_t cause, weft_time now);

/* So many frames wait that the host sends nothing new. */
#define DATAGRAM_CUTS_ROOM 4096u
static inline bool datagram_cuts_are_full(const struct datagram *nic)
{
	return nic->recovery != NULL && nic->recovery->waits >= DATAGRAM_CUTS_ROOM;
}

/* True if the frame, which datagram_inject() has just filled, waits with others for its
 * destination. */
bool datagram_cuts_keep(struct datagram *nic, struct weft_packet *packet);
