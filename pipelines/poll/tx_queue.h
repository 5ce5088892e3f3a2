/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The transmit queue of a port in a poll loop. It holds the frames that the port has not accepted,
 * in order, enforces rate and delay (always on in-memory links, on request on others) and applies
 * impairments. Single-threaded, except tx_queue_pace().
 *
 * A caller checks tx_queue_ready() before it takes packets from a switch or an interface, and then
 * passes on all of them. For each frame it determines the start of the transmission
 * (tx_queue_begin()) and stamps the frame with its due arrival (tx_queue_stamp()), before which the
 * far end does not see it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/weft_time.h"
#include "link/pacer.h"
#include "port/port.h"

/* Impairment for experiments, at the transmitting end of a link. It drops a share of the credit
 * frames and of the data frames, flips a bit in a share of the data frames, adds a random delay to
 * each frame, and lets data frames overtake each other. No frame arrives earlier than it would
 * without impairment. Used only by the loop, but other threads may store the shares. */

struct rte_mbuf;

struct impairment {
	uint32_t credit_loss_ppm, loss_ppm, corrupt_ppm;
	/* Share of the data frames that are held until the next frame. If that is a data frame, it
	 * is sent first. */
	uint32_t reorder_ppm;
	weft_time jitter_ps; /* upper bound of the added delay, which is uniformly distributed */
	weft_time last_due;  /* due arrival of the last frame with jitter */
	struct rte_mbuf *held;
	struct rng rng;
	uint64_t credits_lost, frames_lost, frames_corrupted, frames_swapped;
};

/* Frees frames that are lost, and writes the others to 'out', which must have space for count + 1.
 * Returns how many it wrote. 'timed': frames are stamped with their due arrival. */
uint16_t impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs, uint16_t count,
	bool timed, struct rte_mbuf **out);

#define DELAY_LINE_FRAMES     256u
#define DELAY_LINE_FRAMES_MAX 2048u /* PORT_SHARED_SLOTS: no far end grants more */

/* Frames in flight, in a ring. Used only by the loop. */
struct delay_line {
	unsigned first, count, frames;
	struct rte_mbuf *frame[];
};

/* Returns the number of frames in flight that a delay line for this link must hold: a link full of
 * the shortest frames, within the limits. */
static inline unsigned delay_line_frames(uint64_t rate_bps, weft_time delay_ps)
{
	uint64_t frame_ps =
		bytes_ps(FRAME_BLOCK_BYTES + FRAME_WIRE_OVERHEAD, byte_time_of(rate_bps));
	uint64_t held = DELAY_LINE_FRAMES + (frame_ps > 0 ? delay_ps / frame_ps : 0);

	return held < DELAY_LINE_FRAMES_MAX ? (unsigned)held : DELAY_LINE_FRAMES_MAX;
}

/* Timing of a port's emulated wire. */
struct tx_timing {
	uint64_t rate_bps; /* 0: unlimited */
	weft_time delay_ps;
	weft_time catch_up_ps; /* see pacer.h */
	/* The far end is a switch that forwards a frame when its header has arrived. Otherwise the
	 * far end waits for the whole frame. */
	bool cut_through;
};

struct tx_queue {
	struct port *port;
	bool timed; /* rate and delay are enforced */
	bool paced; /* requested value of 'timed', applied at the next flush (atomic) */
	bool cut_through;
	/* For a port that does not handle due times: frames wait here until they are due. NULL if
	 * the port was never paced or handles due times (atomic). */
	struct delay_line *line;
	struct pacer pacer;
	weft_time delay_ps;
	weft_time last_due;            /* due arrival of the last frame; never decreases */
	struct impairment *impairment; /* NULL: none */
	uint16_t waiting;
	/* A burst, link-local frames after it, and a frame held by the impairment. */
	struct rte_mbuf *queue[2 * PORT_BURST + 1];
	uint64_t lost; /* waiting data frames that were discarded */
};

/* 'timing' is NULL for a port with its own rate and delay, such as an ethdev. */
void tx_queue_init(struct tx_queue *tx, struct port *port, const struct tx_timing *timing,
	struct impairment *impairment);

/* Paces a port that is not in-memory. From the next flush on, each frame is passed to the port when
 * its transmission at this rate and the delay are over; at rate 0 transmission takes no time. Rate
 * and delay 0 end the pacing, unless 'jitter' makes the impairment delay frames. 'frames' is the
 * maximum number in flight, set by the first call. Any thread. Returns 0 or -ENOMEM. */
int tx_queue_pace(
	struct tx_queue *tx, uint64_t rate_bps, weft_time delay_ps, bool jitter, unsigned frames);

/* Sends waiting frames. Returns true if none is left except those in flight. */
bool tx_queue_flush(struct tx_queue *tx, weft_time now);

/* Returns true if the queue is empty and the wire is free. */
static inline bool tx_queue_ready(const struct tx_queue *tx, weft_time now)
{
	return tx->waiting == 0 && (!tx->timed || pacer_ready(&tx->pacer, now));
}

/* Returns true if there is space for PORT_BURST link-local frames after a waiting burst. Under load
 * the port is never ready, which would otherwise block credits and hellos forever. */
static inline bool tx_queue_has_room(const struct tx_queue *tx)
{
	return tx->waiting <= PORT_BURST;
}

/* Returns the start of the transmission of a frame that an ideal device could have sent at 'ready'.
 * Call tx_queue_stamp() next. */
static inline weft_time tx_queue_begin(struct tx_queue *tx, weft_time ready, weft_time now)
{
	return tx->timed ? pacer_begin(&tx->pacer, ready, now) : now;
}

/* On a timed wire, adds the transmission of a frame that starts at 'begin' and stamps the frame. */
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

/* Both steps for a frame that the loop created, ready at 'ready' (pacer.h). */
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

/* Returns the start of the transmission of a stamped frame, for captures. */
static inline weft_time tx_queue_began(
	const struct tx_queue *tx, struct rte_mbuf *mbuf, weft_time now)
{
	uint64_t wire = rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD;

	if (!tx->timed)
		return now;
	return mbuf_packet(mbuf)->arrived_ps - tx->delay_ps -
	       (tx->cut_through ? 0 : bytes_ps(wire, tx->pacer.byte_time));
}

/* Sends up to PORT_BURST stamped frames. Queues those that the port does not accept. */
void tx_queue_send(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now);

/* Returns true if no frame is waiting or in flight before the port. */
bool tx_queue_is_empty(const struct tx_queue *tx);

/* Returns true if a data frame is waiting. */
bool tx_queue_holds_data(const struct tx_queue *tx);

/* Discards all waiting frames, when the link went down or the run ends. The credit totals count
 * them as sent and lost; the next credit frame corrects that. */
void tx_queue_drain(struct tx_queue *tx);
/* Discards waiting data frames. The other frames keep their order. */
void tx_queue_purge(struct tx_queue *tx);
/* Discards all frames and frees what tx_queue_pace() allocated. */
void tx_queue_fini(struct tx_queue *tx);
