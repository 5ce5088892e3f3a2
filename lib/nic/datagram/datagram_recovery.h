/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Recovery for an interface without acknowledgements (datagram.h), in fabrics whose hosts can
 * discard what is in transit. Nothing else discards there, so nobody acknowledges:
 * who discards a frame reports it to its source, which sends it again. The destination keeps the
 * order (datagram_order.h). So nothing is lost, doubled or reordered, whatever pools discard.
 *
 * Our choice, because an acknowledgement for each frame would be one more event for each: the
 * report carries the descriptor, which is all there is of a frame on the virtual clock; how long it
 * takes is the caller's to say. A destination that can hold no more refuses what comes too early,
 * which is reported in the same way; the frame that it waits for is always taken.
 *
 * A plain state machine, no allocation after datagram_recovery_create(). One thread.
 */

#include "datagram.h"

struct datagram_recovery {
	/* Reported, to be sent again, the earliest first; 'arrived_ps' says when the report comes.
	 */
	struct weft_packet *again;
	uint32_t again_count;
	uint64_t reported;      /* frames of this host that somebody discarded */
	uint64_t retransmitted; /* reported = retransmitted + those in 'again' */
};

/* NULL: no memory. */
struct datagram_recovery *datagram_recovery_create(void);
/* What is to be sent again is the caller's to free first. NULL is fine. */
void datagram_recovery_destroy(struct datagram_recovery *recovery);

/* At the source: the frame was discarded, and the report comes at 'due'. The frame is the
 * interface's again, its header as at first. */
void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due);

/* True if a frame is to be sent again by now. */
static inline bool datagram_recovery_waits(const struct datagram_recovery *recovery, weft_time now)
{
	return recovery->again != NULL && recovery->again->arrived_ps <= now;
}

/* The frame that is sent again next, its credits taken; NULL: none, or it has no credits. */
struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now);

/* When the next report comes; WEFT_TIME_NEVER: none is under way. */
weft_time datagram_recovery_due(const struct datagram_recovery *recovery, weft_time now);

/* Invariants. NULL, or what is wrong. */
const char *datagram_recovery_check(const struct datagram_recovery *recovery);
