/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "tx_queue.h"

#include <string.h>

void tx_queue_init(struct tx_queue *tx, struct port *port, bool timed, uint64_t rate_bps,
	weft_time delay_ps, weft_time slack_ps, struct impairment *impairment)
{
	memset(tx, 0, sizeof(*tx));
	tx->port = port;
	tx->timed = timed;
	pacer_init(&tx->pacer, rate_bps, slack_ps);
	tx->delay_ps = delay_ps;
	tx->impairment = impairment;
}

bool tx_queue_flush(struct tx_queue *tx, weft_time now)
{
	uint16_t sent;

	if (tx->waiting == 0)
		return true;
	sent = port_tx(tx->port, tx->queue, tx->waiting, now);
	tx->waiting = (uint16_t)(tx->waiting - sent);
	memmove(tx->queue, tx->queue + sent, tx->waiting * sizeof(tx->queue[0]));
	return tx->waiting == 0;
}

static uint16_t impair_frames(
	struct impairment *impairment, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (impair_frame(impairment, rte_pktmbuf_mtod(mbufs[i], uint8_t *),
			    rte_pktmbuf_data_len(mbufs[i])))
			rte_pktmbuf_free(mbufs[i]);
		else
			mbufs[kept++] = mbufs[i];
	}
	return kept;
}

void tx_queue_send(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	uint16_t sent = 0;

	if (tx->impairment != NULL)
		count = impair_frames(tx->impairment, mbufs, count);
	if (tx->waiting == 0)
		sent = port_tx(tx->port, mbufs, count, now);
	for (; sent < count; sent++)
		tx->queue[tx->waiting++] = mbufs[sent];
}

static bool is_data(struct rte_mbuf *mbuf)
{
	return frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *))->kind == FRAME_DATA;
}

bool tx_queue_holds_data(const struct tx_queue *tx)
{
	for (uint16_t i = 0; i < tx->waiting; i++)
		if (is_data(tx->queue[i]))
			return true;
	return false;
}

/* Discards all waiting frames, or only data. */
static void discard(struct tx_queue *tx, bool all)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < tx->waiting; i++) {
		struct rte_mbuf *mbuf = tx->queue[i];
		bool data = is_data(mbuf);

		tx->lost += data;
		if (data || all)
			rte_pktmbuf_free(mbuf);
		else
			tx->queue[kept++] = mbuf;
	}
	tx->waiting = kept;
}

void tx_queue_drain(struct tx_queue *tx)
{
	discard(tx, true);
}

void tx_queue_purge(struct tx_queue *tx)
{
	discard(tx, false);
}
