/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The sending side of a port in a poll loop: what the port did not take waits here and nothing
 * overtakes it; in-memory links get their rate and delay; damage on purpose happens here. One
 * thread.
 *
 * A caller looks at tx_queue_ready() before it takes packets from a switch or an interface, and
 * hands over all that it took.
 */

#include <stdbool.h>
#include <stdint.h>

#include "impairment.h"
#include "pacer.h"
#include "port.h"

struct tx_queue {
	struct port *port;
	bool timed; /* rate and delay are ours to enforce (in-memory links) */
	struct pacer pacer;
	weft_time delay_ps;
	struct impairment *impairment; /* NULL: none */
	uint16_t waiting;
	struct rte_mbuf *queue[2 * PORT_BURST]; /* a burst, and link-local frames behind it */
	uint64_t lost; /* data frames that were thrown away while they waited */
};

/* 'slack_ps': see pacer.h. rate_bps 0 and delay 0: an ethdev, which has its own. */
void tx_queue_init(struct tx_queue *tx, struct port *port, bool timed, uint64_t rate_bps,
	weft_time delay_ps, weft_time slack_ps, struct impairment *impairment);

/* Sends what waits; true if nothing is left waiting. */
bool tx_queue_flush(struct tx_queue *tx, weft_time now);

/* Nothing waits, and the wire is free. */
static inline bool tx_queue_ready(const struct tx_queue *tx, weft_time now)
{
	return tx->waiting == 0 && (!tx->timed || pacer_ready(&tx->pacer, now));
}

/* Link-local frames may go behind a burst that waits: a port that is never free, because there is
 * always a next burst, would keep credits and hellos back for ever. Room for PORT_BURST of them. */
static inline bool tx_queue_has_room(const struct tx_queue *tx)
{
	return tx->waiting <= PORT_BURST;
}

/* Books the time that the frame takes on a timed wire. */
static inline void tx_queue_stamp(struct tx_queue *tx, struct rte_mbuf *mbuf, weft_time now)
{
	if (tx->timed)
		mbuf_packet(mbuf)->arrived_ps =
			pacer_send(
				&tx->pacer, now, rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD) +
			tx->delay_ps;
}

/* Sends up to PORT_BURST stamped frames; keeps what the port does not take yet. */
void tx_queue_send(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now);

/* Among what waits is a data frame. */
bool tx_queue_holds_data(const struct tx_queue *tx);

/* Throws away what waits: the link went down, or it is the end of a run. For the credits' totals it
 * has been sent and was lost on the way, which the next credit frame heals. */
void tx_queue_drain(struct tx_queue *tx);
/* The same for data alone; what else waits stays, in its order. */
void tx_queue_purge(struct tx_queue *tx);
