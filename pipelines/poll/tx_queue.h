/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The transmit queue of a port in a poll loop: holds the frames that the port did not take, in
 * order; enforces rate and delay of in-memory links, and of others on request; applies impairments.
 * One thread, except tx_queue_pace().
 *
 * A caller checks tx_queue_ready() before it takes packets from a switch or an interface, and then
 * passes on all of them. For each frame it determines when the transmission starts
 * (tx_queue_begin()) and stamps the frame with its due arrival (tx_queue_stamp()), before which the
 * far end does not see it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/weft_time.h"
#include "link/pacer.h"
#include "port/port.h"

/* Impairment for experiments, at the transmitting end of a link: drops shares of the credit and
 * data frames, flips a bit in a share of the data frames, adds a random delay to each frame, and
 * lets data frames overtake each other. No frame arrives earlier than it would without impairment.
 * Used by the loop only, but other threads may store the shares. */

struct rte_mbuf;

struct impairment {
	uint32_t credit_loss_ppm, loss_ppm, corrupt_ppm;
	/* Share of the data frames that are held until the next frame. If that is a data frame, it
	 * leaves first. */
	uint32_t reorder_ppm;
	weft_time jitter_ps; /* upper bound of the added delay, which is uniform */
	weft_time last_due;  /* due arrival of the last frame with jitter */
	struct rte_mbuf *held;
	struct rng rng;
	uint64_t credits_lost, frames_lost, frames_corrupted, frames_swapped;
};

/* Frees frames that are lost, and writes the others to 'out', which has room for count + 1. Returns
 * how many. 'timed': frames are stamped with their due arrival. */
uint16_t impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs, uint16_t count,
	bool timed, struct rte_mbuf **out);

#define DELAY_LINE_FRAMES     256u
#define DELAY_LINE_FRAMES_MAX 2048u /* PORT_SHARED_SLOTS: no other end grants more */

/* Frames in flight, in a ring. Only the loop uses it. */
struct delay_line {
	unsigned first, count, frames;
	struct rte_mbuf *frame[];
};

/* The minimum number of frames in flight that fills this link with the shortest frames. */
static inline unsigned delay_line_frames(uint64_t rate_bps, weft_time delay_ps)
{
	uint64_t frame_ps =
		bytes_ps(FRAME_BLOCK_BYTES + FRAME_WIRE_OVERHEAD, byte_time_of(rate_bps));
	uint64_t held = DELAY_LINE_FRAMES + (frame_ps > 0 ? delay_ps / frame_ps : 0);

	return held < DELAY_LINE_FRAMES_MAX ? (unsigned)held : DELAY_LINE_FRAMES_MAX;
}

/* The wire of a timed port. */
struct tx_timing {
	uint64_t rate_bps; /* 0: unlimited */
	weft_time delay_ps;
	weft_time catch_up_ps; /* pacer.h */
	/* The far end is a switch that forwards a frame once its header has arrived. Otherwise it
	 * waits for the whole frame. */
	bool cut_through;
};

struct tx_queue {
	struct port *port;
	bool timed; /* enforce rate and delay */
	bool paced; /* the same, set by command; the loop applies it at its next flush (atomic) */
	bool cut_through;
	/* For a port that does not know when a frame is due: frames wait here until then. NULL: the
	 * port was never paced, or knows the due times (atomic). */
	struct delay_line *line;
	struct pacer pacer;
	weft_time delay_ps;
	weft_time last_due;            /* when the last frame was due; never decreases */
	struct impairment *impairment; /* NULL: none */
	uint16_t waiting;
	/* A burst, link-local frames after it, and one that the impairment held. */
	struct rte_mbuf *queue[2 * PORT_BURST + 1];
	uint64_t lost; /* waiting data frames that were discarded */
};

/* 'timing': NULL for a port with a rate and a delay of its own, such as an ethdev. */
void tx_queue_init(struct tx_queue *tx, struct port *port, const struct tx_timing *timing,
	struct impairment *impairment);

/* Paces a port that is not in-memory: from the next flush on, each frame goes to the port when its
 * transmission at this rate and the delay are over; at rate 0 transmission takes no time. Rate and
 * delay 0 end the pacing, unless 'jitter' makes the impairment delay frames. 'frames': how many may
 * be in flight, from the first call on. Any thread. Returns 0 or -ENOMEM. */
int tx_queue_pace(
	struct tx_queue *tx, uint64_t rate_bps, weft_time delay_ps, bool jitter, unsigned frames);

/* Sends waiting frames; true if none is left except those in flight. */
bool tx_queue_flush(struct tx_queue *tx, weft_time now);

/* The queue is empty and the wire is free. */
static inline bool tx_queue_ready(const struct tx_queue *tx, weft_time now)
{
	return tx->waiting == 0 && (!tx->timed || pacer_ready(&tx->pacer, now));
}

/* Room for PORT_BURST link-local frames behind a waiting burst: under load the port is never ready,
 * which would hold back credits and hellos forever. */
static inline bool tx_queue_has_room(const struct tx_queue *tx)
{
	return tx->waiting <= PORT_BURST;
}

/* Start of the transmission of a frame that an ideal device could have sent at 'ready'. The caller
 * stamps it next. */
static inline weft_time tx_queue_begin(struct tx_queue *tx, weft_time ready, weft_time now)
{
	return tx->timed ? pacer_begin(&tx->pacer, ready, now) : now;
}

/* Charges the frame's transmission, which starts at 'begin', to a timed wire. */
static inline void tx_queue_stamp(struct tx_queue *tx, struct rte_mbuf *mbuf, weft_time begin)
{
	weft_time due;

	if (!tx->timed)
		return;
	due = pacer_send(&tx->pacer, begin, rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD);
	due = (tx->cut_through ? begin : due) + tx->delay_ps;
	if (due < tx->last_due)
		due = tx->last_due;
	tx->last_due = mbuf_packet(mbuf)->arrived_ps = due;
}

/* Both steps for a frame that the loop itself made, ready at 'ready' (pacer.h). */
static inline void tx_queue_stamp_own(
	struct tx_queue *tx, struct rte_mbuf *mbuf, weft_time ready, weft_time now)
{
	uint32_t bytes = rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD;
	weft_time begin;

	if (!tx->timed)
		return;
	begin = pacer_send_own(&tx->pacer, ready, now, bytes);
	mbuf_packet(mbuf)->arrived_ps =
		begin + (tx->cut_through ? 0 : bytes_ps(bytes, tx->pacer.byte_time)) + tx->delay_ps;
}

/* Start of the transmission of a stamped frame, for captures. */
static inline weft_time tx_queue_began(
	const struct tx_queue *tx, struct rte_mbuf *mbuf, weft_time now)
{
	uint64_t wire = rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD;

	if (!tx->timed)
		return now;
	return mbuf_packet(mbuf)->arrived_ps - tx->delay_ps -
	       (tx->cut_through ? 0 : bytes_ps(wire, tx->pacer.byte_time));
}

/* Sends up to PORT_BURST stamped frames; queues those that the port does not take. */
void tx_queue_send(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now);

/* No frame is waiting, or in flight in front of the port. */
bool tx_queue_is_empty(const struct tx_queue *tx);

/* A data frame is waiting. */
bool tx_queue_holds_data(const struct tx_queue *tx);

/* Discards all waiting frames because the link went down or the run ends. The credit totals count
 * them as sent and lost; the next credit frame corrects that. */
void tx_queue_drain(struct tx_queue *tx);
/* Discards waiting data frames only; the others keep their order. */
void tx_queue_purge(struct tx_queue *tx);
/* Discards everything, and frees what tx_queue_pace() allocated. */
void tx_queue_fini(struct tx_queue *tx);
