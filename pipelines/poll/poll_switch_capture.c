/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_switch_capture.h"

#include "capture_foresee.h"
#include "capture_reason.h"
#include "frame_check.h"
#include "poll_capture.h"
#include "rx_meta.h"

/* What will become of a data frame, before it does. */
static void foresee(const struct weft_switch *sw, unsigned at, const uint8_t *frame, uint32_t bytes,
	weft_time now, struct capture_state *state)
{
	struct weft_packet packet = {.in_port = (uint8_t)at};
	struct arrival arrival;

	rx_meta_read(&arrival, frame, bytes);
	rx_meta_fill(&packet, &arrival, bytes, at, false);
	capture_foresee(sw, &packet, now, state);
}

void poll_switch_capture_in(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct capture_state state;

	if (poll_capture_begin(mbuf, &state) && frame_header_const(frame)->kind == FRAME_DATA)
		foresee(ps->sw, at, frame, rte_pktmbuf_data_len(mbuf), now, &state);
	poll_capture_frame(capture, PCAPNG_IN, mbuf, now, &state);
}

/* Blocks of later frames of the same burst that were in the same queue. */
static uint32_t depth_after(
	struct rte_mbuf **mbufs, unsigned from, unsigned count, const struct weft_packet *packet)
{
	uint32_t blocks = 0;

	for (unsigned i = from; i < count; i++) {
		const struct weft_packet *later = mbuf_packet(mbufs[i]);

		if (!later->control && later->in_port == packet->in_port && later->vc == packet->vc)
			blocks += later->blocks;
	}
	return blocks;
}

void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now)
{
	const struct weft_switch *sw = ps->sw;

	for (unsigned i = 0; i < count; i++) {
		const struct frame_header *header =
			frame_header_const(rte_pktmbuf_mtod(mbufs[i], const uint8_t *));
		const struct weft_packet *packet = mbuf_packet(mbufs[i]);
		struct capture_state state = {
			.credits_blocks = CAPTURE_UNKNOWN,
			.voq_depth_blocks = CAPTURE_UNKNOWN,
			.vc = header->vc,
		};

		if (header->kind == FRAME_DATA) {
			state.credits_blocks =
				credit_available(&sw->port[at].link.tx[header->vc]) +
				poll_capture_blocks_after(mbufs, i + 1, count, header->vc);
			state.voq_depth_blocks = 0;
		}
		if (header->kind == FRAME_DATA && queued) {
			state.voq_depth_blocks =
				switch_queues(sw, at, packet->in_port)[packet->vc].blocks +
				depth_after(mbufs, i + 1, count, packet);
			if (packet->stalled)
				state.reason = capture_reason_switch(SWITCH_STALL_CREDIT);
		}
		poll_capture_frame(capture, PCAPNG_OUT, mbufs[i], now, &state);
	}
}
