/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Captures of the frames of an interface. */

#include "frame_check.h"
#include "poll_capture.h"
#include "poll_nic_private.h"

static bool is_data_of(const struct link_end *link, const struct frame_header *header)
{
	return header->kind == FRAME_DATA && header->vc < link->config.vcs;
}

void poll_nic_capture_in(
	const struct poll_nic *pn, struct capture *capture, struct rte_mbuf *mbuf, weft_time now)
{
	const struct link_end *link = nic_link(pn->nic);
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));
	struct capture_state state;

	if (poll_capture_begin(mbuf, pn->guard.fabric, &state) && is_data_of(link, header))
		state.credits_blocks = credit_expected(
			&link->rx[header->vc], frame_blocks(rte_pktmbuf_data_len(mbuf)));
	poll_capture_frame(
		capture, pn->port, PCAPNG_IN, mbuf, port_due(pn->port, mbuf, now), &state);
}

void poll_nic_capture_out(const struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now)
{
	const struct link_end *link = nic_link(pn->nic);

	for (unsigned i = 0; i < count; i++) {
		const struct frame_header *header =
			frame_header_const(rte_pktmbuf_mtod(mbufs[i], const uint8_t *));
		struct capture_state state = {
			.credits_blocks = CAPTURE_UNKNOWN,
			.voq_depth_blocks = CAPTURE_UNKNOWN,
			.vc = header->vc,
		};

		if (is_data_of(link, header))
			state.credits_blocks =
				credit_available(&link->tx[header->vc]) +
				poll_capture_blocks_after(mbufs, i + 1, count, header->vc);
		poll_capture_frame(capture, pn->port, PCAPNG_OUT, mbufs[i],
			tx_queue_began(&pn->tx, mbufs[i], now), &state);
	}
}
