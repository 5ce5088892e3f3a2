/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Resends frames lost on cut cables, for datagram_recovery.h. Nothing that arrives behind such a
 * frame reveals the loss, so the source waits for a timer, with the rules of the acknowledging
 * interface (flow_tx.c). After 'retry_ps' without progress it resends one frame per destination,
 * and doubles its wait after each further loss, up to eight times 'retry_ps' or, if that is less,
 * an eighth of 'give_up_ps'. If the resent frame is not reported lost within 'retry_ps', it passed,
 * and the others follow. After 'give_up_ps' all frames are given up. At most 'window_frames' per
 * destination are lost first; later ones wait with them. Same thread as datagram_recovery.h. */

#include "datagram_recovery.h"

/* A destination behind a cut cable. */
struct datagram_pair {
	struct weft_packet *first, *last; /* frames that wait; NULL: none */
	weft_time since;                  /* the first loss */
	weft_time due, probe_at;          /* the next look; the next repetition */
	uint32_t waits, cause;            /* frames; where the last one was lost */
	uint16_t destination;
	uint8_t timeouts;
	bool probing; /* a repeated frame may have passed */
};

/* The place of a loss, in the frame's 'latency_ns': the number of a cable or, if that is unknown, a
 * device. */
#define DATAGRAM_CAUSE_DEVICE 0x80000000u
#define DATAGRAM_CAUSE_ANY    UINT32_MAX

/* A frame was reported lost on a cut cable: it waits for the timer of its destination. */
void datagram_cuts_hold(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* A frame to the destination is resent now. If it is the one that tries the path, the wait for its
 * report starts. */
void datagram_cuts_sent(struct datagram *nic, uint16_t destination, weft_time now);

/* Handles expired timers. */
void datagram_cuts_poll(struct datagram *nic, weft_time now);

/* Frames pass again where frames with this cause were lost: these are due now. */
void datagram_cuts_release(struct datagram *nic, uint32_t cause, weft_time now);

/* With this many waiting frames the host sends nothing new. */
#define DATAGRAM_CUTS_ROOM 4096u
static inline bool datagram_cuts_are_full(const struct datagram *nic)
{
	return nic->recovery != NULL && nic->recovery->waits >= DATAGRAM_CUTS_ROOM;
}

/* True if the frame, which datagram_inject() has just filled, waits with others for its
 * destination. It then does not count as sent. */
bool datagram_cuts_keep(struct datagram *nic, struct weft_packet *packet);
