/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Resends frames lost on cut cables, for datagram_recovery.h. No later arrival reveals such a loss,
 * so the source waits for a timer, with the rules of the acknowledging interface (flow_tx.c). After
 * 'retry_ps' without progress, it resends one frame per destination. It doubles its wait after each
 * further loss, up to eight times 'retry_ps' or an eighth of 'give_up_ps', whichever is shorter. If
 * the resent frame is not reported lost within 'retry_ps', it arrived, and the others follow. After
 * 'give_up_ps', all frames are given up. At most 'window_frames' per destination are lost at first;
 * later frames wait with them. Same thread as datagram_recovery.h. */

#include "datagram_recovery.h"

/* A destination behind a cut cable. */
struct datagram_pair {
	struct weft_packet *first, *last; /* waiting frames; NULL: none */
	weft_time since;                  /* time of the first loss */
	weft_time due, probe_at;          /* next timer check, and next probe */
	uint32_t waits, cause;            /* number of waiting frames; cause of the last loss */
	uint16_t destination;
	uint8_t timeouts;
	bool probing; /* a resent frame may have arrived */
};

/* Cause of a loss, stored in the frame's 'latency_ns': the number of a cable or, if that is
 * unknown, of a device. */
#define DATAGRAM_CAUSE_DEVICE 0x80000000u
#define DATAGRAM_CAUSE_ANY    UINT32_MAX

/* Handles a frame reported lost on a cut cable, which then waits for its destination's timer. */
void datagram_cuts_hold(struct datagram *nic, struct weft_packet *packet, weft_time now);

/* Call when a frame to the destination is resent. If the frame probes the path, the wait for its
 * report starts. */
void datagram_cuts_sent(struct datagram *nic, uint16_t destination, weft_time now);

/* Handles expired timers. */
void datagram_cuts_poll(struct datagram *nic, weft_time now);

/* Makes frames that were lost for this cause due now, because the cause has gone. */
void datagram_cuts_release(struct datagram *nic, uint32_t cause, weft_time now);

/* Number of waiting frames from which the host sends no new ones. */
#define DATAGRAM_CUTS_ROOM 4096u
static inline bool datagram_cuts_are_full(const struct datagram *nic)
{
	return nic->recovery != NULL && nic->recovery->waits >= DATAGRAM_CUTS_ROOM;
}

/* Returns true if the frame that datagram_inject() has just filled must wait with others for its
 * destination. It then does not count as sent. */
bool datagram_cuts_keep(struct datagram *nic, struct weft_packet *packet);
