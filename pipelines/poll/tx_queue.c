/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "tx_queue.h"

#include <string.h>

void tx_queue_init(struct tx_queue *tx, struct port *port, const struct tx_timing *timing,
	struct impairment *impairment)
{
	memset(tx, 0, sizeof(*tx));
	tx->port = port;
	tx->impairment = impairment;
	if (timing == NULL)
		return;
	tx->timed = tx->paced = true;
	port->timed = true;
	tx->cut_through = timing->cut_through;
	pacer_init(&tx->pacer, timing->rate_bps, timing->catch_up_ps);
	tx->delay_ps = timing->delay_ps;
}

/* --- frames in flight --- */

static struct delay_line *line_of(const struct tx_queue *tx)
{
	return __atomic_load_n(&tx->line, __ATOMIC_ACQUIRE);
}

static struct rte_mbuf **line_place(struct delay_line *line, unsigned at)
{
	return &line->frame[(line->first + at) % line->frames];
}

/* Sends due frames in order: a due frame waits for those before it. */
static void release_due(struct tx_queue *tx, struct delay_line *line, weft_time now)
{
	struct rte_mbuf *due[PORT_BURST];
	uint16_t count, sent;

	do {
		for (count = 0; count < PORT_BURST && count < line->count; count++) {
			due[count] = *line_place(line, count);
			if (mbuf_packet(due[count])->arrived_ps > now)
				break;
		}
		sent = count > 0 ? port_tx(tx->port, due, count, now) : 0;
		line->first = (line->first + sent) % line->frames;
		line->count -= sent;
	} while (sent == PORT_BURST);
}

/* Adds frames to the line. Returns how many it accepted. */
static uint16_t line_take(struct delay_line *line, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t taken = 0;

	for (; taken < count && line->count < line->frames; taken++)
		*line_place(line, line->count++) = mbufs[taken];
	return taken;
}

/* --- the queue --- */

/* Passes the burst to the port or the delay line before it. Returns how many frames were accepted.
 */
static uint16_t pass_on(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct delay_line *line = line_of(tx);

	if (likely(line == NULL))
		return port_tx(tx->port, mbufs, count, now);
	for (uint16_t i = 0; i < count && !tx->timed; i++)
		mbuf_packet(mbufs[i])->arrived_ps = now;
	return line_take(line, mbufs, count);
}

/* Applied only while no frame is waiting, so that each frame is either stamped or not. */
static __attribute__((noinline)) void follow_pace(struct tx_queue *tx)
{
	if (tx->waiting != 0)
		return;
	tx->timed = !tx->timed;
	__atomic_store_n(&tx->port->timed, tx->timed, __ATOMIC_RELEASE);
}

bool tx_queue_flush(struct tx_queue *tx, weft_time now)
{
	struct delay_line *line = line_of(tx);
	uint16_t sent;

	if (unlikely(line != NULL) && line->count > 0)
		release_due(tx, line, now);
	if (unlikely(tx->timed != __atomic_load_n(&tx->paced, __ATOMIC_ACQUIRE)))
		follow_pace(tx);
	if (tx->waiting == 0)
		return true;
	sent = pass_on(tx, tx->queue, tx->waiting, now);
	tx->waiting = (uint16_t)(tx->waiting - sent);
	memmove(tx->queue, tx->queue + sent, tx->waiting * sizeof(tx->queue[0]));
	return tx->waiting == 0;
}

void tx_queue_send(struct tx_queue *tx, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct rte_mbuf *left[PORT_BURST + 1];
	uint16_t sent = 0;

	if (unlikely(tx->impairment != NULL)) {
		count = impair_frames(tx->impairment, mbufs, count, tx->timed, left);
		mbufs = left;
	}
	if (tx->waiting == 0)
		sent = pass_on(tx, mbufs, count, now);
	for (; sent < count; sent++)
		tx->queue[tx->waiting++] = mbufs[sent];
}

static bool is_data(struct rte_mbuf *mbuf)
{
	return frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *))->kind == FRAME_DATA;
}

bool tx_queue_is_empty(const struct tx_queue *tx)
{
	const struct delay_line *line = line_of(tx);

	return tx->waiting == 0 && (line == NULL || line->count == 0);
}

bool tx_queue_holds_data(const struct tx_queue *tx)
{
	struct delay_line *line = line_of(tx);

	if (tx->impairment != NULL && tx->impairment->held != NULL)
		return true;
	for (unsigned i = 0; line != NULL && i < line->count; i++)
		if (is_data(*line_place(line, i)))
			return true;
	for (uint16_t i = 0; i < tx->waiting; i++)
		if (is_data(tx->queue[i]))
			return true;
	return false;
}

/* Frees a frame if it is data or 'all' is set. Returns true if it was freed. */
static bool discard_frame(struct tx_queue *tx, struct rte_mbuf *mbuf, bool all)
{
	bool data = is_data(mbuf);

	tx->lost += data;
	if (data || all)
		rte_pktmbuf_free(mbuf);
	return data || all;
}

static void discard_line(struct tx_queue *tx, struct delay_line *line, bool all)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < line->count; i++) {
		struct rte_mbuf *mbuf = *line_place(line, i);

		if (!discard_frame(tx, mbuf, all))
			*line_place(line, kept++) = mbuf;
	}
	line->count = kept;
}

/* Discards all waiting frames, or only data frames. */
static void discard(struct tx_queue *tx, bool all)
{
	struct delay_line *line = line_of(tx);
	uint16_t kept = 0;

	if (line != NULL)
		discard_line(tx, line, all);
	if (tx->impairment != NULL && tx->impairment->held != NULL) {
		discard_frame(tx, tx->impairment->held, all);
		tx->impairment->held = NULL;
	}
	for (uint16_t i = 0; i < tx->waiting; i++)
		if (!discard_frame(tx, tx->queue[i], all))
			tx->queue[kept++] = tx->queue[i];
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
