/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_capture.h"

#include "measure/capture_reason.h"
#include "wire/frame_check.h"

/* The next frame that passes the quick test. Most frames fail it, at a cost of nine instructions
 * each. */
static inline unsigned skip(
	const struct capture_filter *filter, struct rte_mbuf **mbufs, unsigned from, unsigned count)
{
	const struct capture_quick quick = {filter->word, filter->mask};

#pragma GCC unroll 4
	for (; from < count; from++)
		if (__builtin_expect(capture_quick_matches(
					     quick, rte_pktmbuf_mtod(mbufs[from], const uint8_t *)),
			    0))
			break;
	return from;
}

unsigned poll_capture_next(
	const struct capture *capture, struct rte_mbuf **mbufs, unsigned from, unsigned count)
{
	const struct capture_filter *filter = capture_filter_of(capture);

	if (filter == NULL)
		return from;
	while ((from = skip(filter, mbufs, from, count)) < count &&
		!capture_filter_matches(filter, capture->held,
			rte_pktmbuf_mtod(mbufs[from], const uint8_t *),
			rte_pktmbuf_data_len(mbufs[from])))
		from++;
	return from;
}

void poll_capture_address(
	const struct port *port, enum pcapng_direction direction, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (!port->ether.used)
		return;
	if (direction == PCAPNG_OUT) {
		port_write_addresses(port, frame);
	} else if (port->ether.rx == NULL) {
		/* Except the number of the fabric, which is taken from the frame. */
		memcpy(frame, port->ether.out.from, sizeof(port->ether.out.from));
		memcpy(frame + 6, port->ether.out.to, 4);
	}
}

void poll_capture_frame(struct capture *capture, const struct port *port,
	enum pcapng_direction direction, struct rte_mbuf *mbuf, weft_time at,
	const struct capture_state *state)
{
	poll_capture_address(port, direction, mbuf);
	capture_frame(capture, direction, rte_pktmbuf_mtod(mbuf, const void *),
		rte_pktmbuf_data_len(mbuf), at, state);
}

bool poll_capture_begin(struct rte_mbuf *mbuf, uint16_t fabric, struct capture_state *state)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	enum frame_fault fault = frame_find_fault_in(frame, rte_pktmbuf_data_len(mbuf), fabric);

	*state = (struct capture_state){
		.credits_blocks = CAPTURE_UNKNOWN,
		.voq_depth_blocks = CAPTURE_UNKNOWN,
		.reason = capture_reason_fault(fault),
	};
	if (fault == FRAME_FAULT_OK)
		state->vc = frame_header_const(frame)->vc;
	return fault == FRAME_FAULT_OK;
}

uint32_t poll_capture_blocks_after(
	struct rte_mbuf **mbufs, unsigned from, unsigned count, unsigned vc)
{
	uint32_t blocks = 0;

	for (unsigned i = from; i < count; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
		const struct frame_header *header = frame_header_const(frame);

		if (header->kind == FRAME_DATA && header->vc == vc)
			blocks += frame_blocks(rte_pktmbuf_data_len(mbufs[i]));
	}
	return blocks;
}
