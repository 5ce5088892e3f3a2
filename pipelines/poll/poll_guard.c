/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_guard.h"

enum frame_fault poll_guard_find_fault(
	struct poll_guard *guard, const uint8_t *frame, uint32_t bytes)
{
	enum frame_fault fault = frame_find_fault_in(frame, bytes, guard->fabric);

	if (fault == FRAME_FAULT_FABRIC && frame_header_const(frame)->kind == FRAME_HELLO)
		guard->stranger = POLL_GUARD_STRANGER | frame_fabric(frame);
	else if (fault == FRAME_FAULT_OK && frame_header_const(frame)->kind == FRAME_HELLO)
		guard->stranger = 0;
	return fault;
}

static void set_length(struct rte_mbuf *mbuf, unsigned bytes)
{
	rte_pktmbuf_data_len(mbuf) = rte_pktmbuf_pkt_len(mbuf) = (uint16_t)bytes;
}

bool poll_guard_open(struct poll_guard *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	unsigned bytes;

	if (guard->seal.key == NULL || !link_seal_covers(frame_header_const(frame)->kind))
		return true;
	bytes = link_seal_open(&guard->seal, end, frame, rte_pktmbuf_data_len(mbuf));
	if (bytes == 0)
		return false;
	set_length(mbuf, bytes);
	return true;
}

bool poll_guard_seal(struct poll_guard *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	unsigned room = rte_pktmbuf_data_len(mbuf) + rte_pktmbuf_tailroom(mbuf);
	unsigned bytes;

	if (!link_seal_covers(frame_header_const(frame)->kind))
		return true;
	bytes = link_seal_close(&guard->seal, end, frame, room);
	if (bytes == 0)
		return false;
	set_length(mbuf, bytes);
	return true;
}
