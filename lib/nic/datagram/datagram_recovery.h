/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Recovery for an interface without acknowledgements (datagram.h), in fabrics whose hosts can
 * discard packets in transit. Nothing else discards there, so no acknowledgement is needed: a host
 * that discards a frame reports it to the source, which sends it again. The destination keeps the
 * order (datagram_reorder.h). So no frame is lost, duplicated or reordered, however much the pools
 * discard.
 *
 * Weft's own design, because acknowledging each frame would add an event per frame. The report
 * carries the descriptor, which is the whole frame on the virtual clock; the caller sets its delay.
 * A destination without room for another held frame refuses early frames and reports them in the
 * same way; it always accepts the expected frame.
 *
 * A plain state machine, no allocation except for a pair that a cut cable separates. One thread. */

#include "datagram.h"

/* 'stalled' of a frame that waits to be resent: */
enum datagram_wait {
	DATAGRAM_WAIT_REPORT, /* for its report */
	DATAGRAM_WAIT_TIMER,  /* also for the timer (waits_for_timer()) */
	DATAGRAM_WAIT_CUT,    /* it was lost on a cut cable (datagram_cuts.h) */
	DATAGRAM_WAIT_FIRST,  /* never sent: it waits behind such frames */
};

struct datagram_pair;

struct datagram_recovery {
	/* Reported frames to resend, earliest first; 'arrived_ps' is the arrival time of the
	 * report, and 'latency_ns' breaks ties. */
	struct weft_packet *again, *latest; /* the last of them, if there are any */
	uint32_t again_count;               /* all that wait */
	uint64_t reported;                  /* frames of this host that another host discarded */
	uint64_t retransmitted;       /* reported = retransmitted + abandoned + those that wait */
	uint64_t abandoned;           /* after 'give_up_ps' */
	bool rerouted, failed;        /* frames may have old routes; memory ran out for a pair */
	struct datagram_pair *pair;   /* [pairs]: destinations behind cut cables */
	uint32_t pairs, room, waits;  /* 'waits': frames in 'pair', */
	uint32_t unsent;              /* and those among them that were never sent */
	weft_time pairs_due;          /* the earliest; WEFT_TIME_NEVER: no pairs */
	struct weft_packet *given_up; /* for the driver */
};

/* Returns NULL if out of memory. */
struct datagram_recovery *datagram_recovery_create(void);
void datagram_recovery_destroy(struct datagram_recovery *recovery); /* or NULL */

/* At host 'host', which discards the frame: records what decides the order of reports. If two
 * reports arrive at the same time, the frame that was further along its path was discarded earlier;
 * a host discards at most one frame at a time. */
void datagram_recovery_discard(struct weft_packet *packet, uint16_t host);

/* At the source: the frame was discarded, and the report arrives at 'due'. The frame belongs to the
 * interface again, with its original header. */
void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due);

/* Puts linked frames of one 'arrived_ps' into 'again'. */
void datagram_recovery_insert(
	struct datagram_recovery *recovery, struct weft_packet *first, struct weft_packet *last);

/* Call this before anything is sent. Due frames that must wait for a timer start to wait; frames
 * whose timer has expired become due or are given up. */
void datagram_recovery_settle(struct datagram *nic, weft_time now);

/* True if a frame is due to be resent. */
static inline bool datagram_recovery_waits(const struct datagram_recovery *recovery, weft_time now)
{
	return recovery->again != NULL && recovery->again->arrived_ps <= now;
}

/* The next frame to resend, its credits taken; NULL: none, or no credits. */
struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now);

/* When the next report arrives, or a timer expires; WEFT_TIME_NEVER: neither, or a frame that is
 * due goes first. */
weft_time datagram_recovery_due(const struct datagram_recovery *recovery, weft_time now);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_recovery_check(const struct datagram_recovery *recovery);
