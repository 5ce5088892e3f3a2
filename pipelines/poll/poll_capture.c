/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_capture.h"

#include "measure/capture_reason.h"
#include "poll_switch_private.h"
#include "wire/frame_check.h"

/* Returns the index of the next frame that passes the quick test. Most frames fail it, at a cost of
 * nine instructions each. */
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

/* Writes the link's addresses into the frame, because a port omits them where not needed. */
static void poll_capture_address(
	const struct port *port, enum pcapng_direction direction, struct rte_mbuf *mbuf)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);

	if (!port->ether.used)
		return;
	if (direction == PCAPNG_OUT) {
		port_write_addresses(port, frame);
	} else if (port->ether.rx == NULL) {
		/* The fabric number in the frame remains. */
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

void poll_switch_capture_begin(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now, struct poll_switch_captured *frame)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	bool good = poll_capture_begin(mbuf, ps->port[at].guard.fabric, &frame->state);

	if (good && !frame_link_local(frame_header_const(bytes)->kind) &&
		!poll_switch_source_passes(ps, at, bytes)) {
		frame->state.reason = CAPTURE_REASON_SOURCE_SPOOFED;
		good = false;
	}

	poll_capture_address(ps->port[at].port, PCAPNG_IN, mbuf);
	frame->packet =
		good && frame_header_const(bytes)->kind == FRAME_DATA ? mbuf_packet(mbuf) : NULL;
	frame->slot = capture_begin(capture, PCAPNG_IN, bytes, rte_pktmbuf_data_len(mbuf),
		port_due(ps->port[at].port, mbuf, now));
}

void poll_switch_capture_end(const struct poll_switch *ps, unsigned at, struct capture *capture,
	unsigned passed, struct poll_switch_captured *frame)
{
	struct capture_state *state = &frame->state;
	unsigned output;

	if (frame->packet == NULL) {
		capture_end(capture, frame->slot, state);
		return;
	}
	if (passed != SWITCH_PORT_NONE) {
		state->credits_blocks = credit_expected(&ps->sw->port[at].link.rx[state->vc], 0);
		state->voq_depth_blocks = 0;
	} else {
		capture_decision(ps->sw, frame->packet, frame->packet->out_port, state);
	}
	if (passed == SWITCH_PORT_NONE && frame->packet->out_port != SWITCH_PORT_NONE)
		state->voq_depth_blocks -= frame->packet->blocks;
	/* The queue belongs to another shard. */
	output = passed != SWITCH_PORT_NONE ? passed : frame->packet->out_port;
	if (ps->shard != NULL && output != SWITCH_PORT_NONE &&
		switch_shard_is_foreign(ps->shard, output))
		state->voq_depth_blocks = CAPTURE_UNKNOWN;
	capture_end(capture, frame->slot, state);
}

void poll_switch_capture_discard(
	const struct poll_switch *ps, struct weft_packet *packet, weft_time now)
{
	const struct port *port = ps->port[packet->in_port].port;
	/* The input may belong to another shard. */
	struct capture *capture = port != NULL ? capture_of((struct port *)port) : NULL;
	struct rte_mbuf *mbuf = packet_mbuf(packet);
	const struct capture_state state = {.credits_blocks = CAPTURE_UNKNOWN,
		.voq_depth_blocks = CAPTURE_UNKNOWN,
		.vc = packet->vc,
		.reason = capture_reason_switch(packet->discard)};

	if (capture != NULL && poll_capture_next(capture, &mbuf, 0, 1) == 0)
		poll_capture_frame(capture, port, PCAPNG_UNKNOWN, mbuf, now, &state);
}

/* Returns the blocks of later frames in the burst that were in the same queue. */
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

static void capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned i, unsigned count, bool queued, weft_time now)
{
	const struct weft_switch *sw = ps->sw;
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbufs[i], const uint8_t *));
	const struct weft_packet *packet = mbuf_packet(mbufs[i]);
	struct capture_state state = {
		.credits_blocks = CAPTURE_UNKNOWN,
		.voq_depth_blocks = CAPTURE_UNKNOWN,
		.vc = header->vc,
	};

	if (header->kind == FRAME_DATA) {
		state.credits_blocks = credit_available(&sw->port[at].link.tx[header->vc]) +
				       poll_capture_blocks_after(mbufs, i + 1, count, header->vc);
		state.voq_depth_blocks = 0;
	}
	if (header->kind == FRAME_DATA && queued) {
		state.voq_depth_blocks = switch_queues(sw, at, packet->in_port)[packet->vc].blocks +
					 depth_after(mbufs, i + 1, count, packet);
		if (packet->stalled)
			state.reason = capture_reason_switch(SWITCH_STALL_CREDIT);
	}
	poll_capture_frame(capture, ps->port[at].port, PCAPNG_OUT, mbufs[i],
		tx_queue_began(&ps->port[at].tx, mbufs[i], now), &state);
}

void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now)
{
	for (unsigned i = 0; (i = poll_capture_next(capture, mbufs, i, count)) < count; i++)
		capture_out(ps, at, capture, mbufs, i, count, queued, now);
}
