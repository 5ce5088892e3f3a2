/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "datagram_recovery.h"

bool datagram_absorb(
	struct datagram *nic, struct weft_packet *packet, weft_time header_ps, weft_time now)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];

	credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	if (nic->itb == NULL || !itb_is_marked(packet) || !itb_is_route(packet)) {
		nic->misrouted++;
		return false;
	}
	return itb_absorb(nic->itb, packet, nic->config.sl_to_vc[packet->sl & 15], header_ps, now);
}

static bool has_own(const struct datagram *nic, weft_time now, bool may_begin)
{
	if (nic->recovery != NULL && datagram_recovery_waits(nic->recovery, now))
		return credit_suffices(
			&nic->link.tx[nic->recovery->again->vc], nic->recovery->again->blocks);
	if (!may_begin)
		return false;
	for (uint16_t vcs = nic->waiting; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);
		const struct datagram_fifo *fifo = &nic->fifo[vc];
		uint32_t left = fifo->message[fifo->head].bytes - fifo->sent_bytes;
		uint32_t payload = left < nic->config.mtu_bytes ? left : nic->config.mtu_bytes;

		if (credit_suffices(&nic->link.tx[vc],
			    frame_blocks(FRAME_HEADER_BYTES + fifo->chosen.length + payload)))
			return true;
	}
	return false;
}

uint32_t datagram_waiting(const struct datagram *nic)
{
	uint32_t count = 0;

	for (uint16_t vcs = nic->waiting; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		const struct datagram_fifo *fifo = &nic->fifo[__builtin_ctz(vcs)];

		count += fifo->count - (fifo->sent_bytes > 0);
	}
	return count;
}

struct weft_packet *datagram_transit(
	struct datagram *nic, uint32_t own_waiting, bool may_begin, weft_time now, bool *blocked)
{
	struct weft_packet *packet;
	uint32_t dry;
	unsigned vc = itb_ready(nic->itb, nic->link.tx, now, &dry);

	*blocked = vc == FRAME_VCS_MAX && dry != 0;
	if (vc == FRAME_VCS_MAX ||
		(itb_share_is_own(&nic->itb->turn, own_waiting) && has_own(nic, now, may_begin)))
		return NULL;
	packet = itb_next_data(nic->itb, vc, now);
	credit_take(&nic->link.tx[vc], packet->blocks);
	return packet;
}
