/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Recovery for an interface without acknowledgements (datagram.h), in fabrics whose hosts can
 * discard packets in transit. No other device discards packets, so acknowledgements are
 * unnecessary: a host that discards a frame reports it to the source, which resends it. The
 * destination restores the order (datagram_reorder.h). No frame is therefore lost, duplicated or
 * reordered, however much the pools discard.
 *
 * Weft's own design, because acknowledging each frame would add an event per frame. The report
 * contains the descriptor, which is the whole frame on the virtual clock; the caller determines its
 * delay. A destination without room for another held frame refuses early frames and reports them in
 * the same manner. It always accepts the expected frame.
 *
 * A state machine; no allocation except for a pair separated by a cut cable. Single-threaded. */

#include "datagram.h"

/* Values of 'stalled' in a frame that waits to be resent. */
enum datagram_wait {
	DATAGRAM_WAIT_REPORT, /* waits for its report */
	DATAGRAM_WAIT_TIMER,  /* also waits for the timer (waits_for_timer()) */
	DATAGRAM_WAIT_CUT,    /* was lost on a cut cable (datagram_cuts.h) */
	DATAGRAM_WAIT_FIRST,  /* never sent: waits behind frames lost on a cut cable */
};

struct datagram_pair;

struct datagram_recovery {
	/* Reported frames to resend, earliest first. 'arrived_ps' is the arrival time of the
	 * report, and 'latency_ns' breaks ties. */
	struct weft_packet *again, *latest; /* latest: last of the list, if it is not empty */
	uint32_t again_count;               /* number of all waiting frames */
	uint64_t reported;                  /* frames of this host that other hosts discarded */
	uint64_t retransmitted;             /* reported = retransmitted + abandoned + waiting */
	uint64_t abandoned;                 /* given up after 'give_up_ps' */
	bool rerouted, failed;        /* frames may have old routes; out of memory for a pair */
	struct datagram_pair *pair;   /* [pairs] destinations behind cut cables */
	uint32_t pairs, room, waits;  /* waits: number of frames in 'pair' */
	uint32_t unsent;              /* number of these frames that were never sent */
	weft_time pairs_due;          /* earliest timer; WEFT_TIME_NEVER: no pairs */
	struct weft_packet *given_up; /* frames for the driver to collect */
};

/* Returns NULL if out of memory. */
struct datagram_recovery *datagram_recovery_create(void);
void datagram_recovery_destroy(struct datagram_recovery *recovery); /* NULL is allowed */

/* Call at host 'host' when it discards the frame. Stores the key that orders reports with equal
 * arrival times: the frame that was further along its path was discarded earlier, and a host
 * discards at most one frame at a time. */
void datagram_recovery_discard(struct weft_packet *packet, uint16_t host);

/* Call at the source when the frame was discarded. The report arrives at 'due'. The frame belongs
 * to the interface again, with its original header. */
void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due);

/* Inserts linked frames with equal 'arrived_ps' into 'again'. */
void datagram_recovery_insert(
	struct datagram_recovery *recovery, struct weft_packet *first, struct weft_packet *last);

/* Call before sending anything. Due frames that must wait for a timer start to wait; frames whose
 * timer has expired become due or are given up. */
void datagram_recovery_settle(struct datagram *nic, weft_time now);

/* Returns true if a frame is due to be resent. */
static inline bool datagram_recovery_waits(const struct datagram_recovery *recovery, weft_time now)
{
	return recovery->again != NULL && recovery->again->arrived_ps <= now;
}

/* Returns the next frame to resend and takes its credits; NULL: none, or no credits. */
struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now);

/* Returns when the next report arrives or a timer expires; WEFT_TIME_NEVER if neither will, or if a
 * due frame precedes them. */
weft_time datagram_recovery_due(const struct datagram_recovery *recovery, weft_time now);

/* Checks invariants. Returns NULL, or a description of the violation. */
const char *datagram_recovery_check(const struct datagram_recovery *recovery);
