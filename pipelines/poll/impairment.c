/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In a separate file, so that tests can intercept it (-Wl,--wrap). */

#include "tx_queue.h"

static bool is_lost(struct impairment *impairment, unsigned kind)
{
	if (kind == FRAME_CREDIT && rng_chance_ppm(&impairment->rng, impairment->credit_loss_ppm)) {
		impairment->credits_lost++;
		return true;
	}
	if (kind == FRAME_DATA && rng_chance_ppm(&impairment->rng, impairment->loss_ppm)) {
		impairment->frames_lost++;
		return true;
	}
	return false;
}

static void corrupt(struct impairment *impairment, uint8_t *frame, uint32_t bytes)
{
	if (!rng_chance_ppm(&impairment->rng, impairment->corrupt_ppm))
		return;
	frame[FRAME_HEADER_OFFSET + rng_below(&impairment->rng, bytes - FRAME_HEADER_OFFSET)] ^=
		(uint8_t)(1u << rng_below(&impairment->rng, 8));
	impairment->frames_corrupted++;
}

/* Jitter preserves the order of frames. A frame without jitter waits only for delayed frames. */
static void add_jitter(struct impairment *impairment, struct weft_packet *packet)
{
	weft_time jitter_ps = impairment->jitter_ps;

	if (jitter_ps > 0)
		packet->arrived_ps += rng_below(&impairment->rng, jitter_ps + 1);
	packet->arrived_ps = RTE_MAX(packet->arrived_ps, impairment->last_due);
	if (jitter_ps > 0)
		impairment->last_due = packet->arrived_ps;
}

/* Sends both frames. Only data may overtake, because a credit frame counts the data before it. */
static unsigned release_held(
	struct impairment *impairment, struct rte_mbuf *mbuf, bool data, struct rte_mbuf **out)
{
	struct rte_mbuf *held = impairment->held;
	struct weft_packet *late = mbuf_packet(held);

	impairment->held = NULL;
	out[data ? 1 : 0] = held;
	out[data ? 0 : 1] = mbuf;
	if (data) {
		late->arrived_ps = RTE_MAX(late->arrived_ps, mbuf_packet(mbuf)->arrived_ps);
		impairment->frames_swapped++;
	}
	return 2;
}

uint16_t impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs, uint16_t count,
	bool timed, struct rte_mbuf **out)
{
	unsigned kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
		unsigned kind = frame_header_const(frame)->kind;

		if (is_lost(impairment, kind)) {
			rte_pktmbuf_free(mbufs[i]);
			continue;
		}
		if (kind == FRAME_DATA)
			corrupt(impairment, frame, rte_pktmbuf_data_len(mbufs[i]));
		if (timed)
			add_jitter(impairment, mbuf_packet(mbufs[i]));
		if (impairment->held != NULL)
			kept += release_held(impairment, mbufs[i], kind == FRAME_DATA, out + kept);
		else if (kind == FRAME_DATA &&
			 rng_chance_ppm(&impairment->rng, impairment->reorder_ppm))
			impairment->held = mbufs[i];
		else
			out[kept++] = mbufs[i];
	}
	return (uint16_t)kept;
}
