/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_switch.h"

#include <stdlib.h>

#include "poll_capture.h"
#include "poll_division.h"
#include "poll_switch_private.h"
#include "rx_meta.h"
#include "switch/contention.h"
#include "switch/forward.h"
#include "wire/frame_check.h"
#include "wire/latency.h"

struct poll_switch *poll_switch_create(struct weft_switch *sw, struct rte_mempool *pool)
{
	struct poll_switch *ps = calloc(1, sizeof(*ps));

	if (ps == NULL)
		return NULL;
	ps->sw = sw;
	ps->pool = pool;
	ps->ports = sw->ports;
	return ps;
}

void poll_switch_attach(struct poll_switch *ps, unsigned at, struct port *port,
	const struct tx_timing *timing, struct impairment *impairment)
{
	ps->port[at].port = port;
	poll_switch_guard(ps, at, FRAME_FABRIC_NONE, NULL);
	tx_queue_init(&ps->port[at].tx, port, timing, impairment);
	ps->present |= port_set_of(at);
	if (port->idle != NULL)
		ps->needs_idle |= port_set_of(at);
	if (timing == NULL && ps->sw->arbitration == NULL)
		ps->direct |= port_set_of(at);
}

/* Records that a packet from this input was, or will have been, sent by 'at'. */
static inline void note_left(struct poll_switch *ps, unsigned input, weft_time at)
{
	ps->port[input].left_at = RTE_MAX(ps->port[input].left_at, at);
}

void poll_switch_free_discards(struct poll_switch *ps, bool stored, weft_time now)
{
	struct weft_packet *discards = switch_take_discards(ps->sw);

	for (struct weft_packet *packet = discards; packet != NULL; packet = packet->next) {
		note_left(ps, packet->in_port, now);
		if (stored || packet->control)
			poll_switch_capture_discard(ps, packet, now);
	}
	packet_free_list(discards);
}

void poll_switch_destroy(struct poll_switch *ps)
{
	if (ps == NULL)
		return;
	switch_drain(ps->sw);
	packet_free_list(switch_take_discards(ps->sw));
	poll_switch_control_end(ps);
	for (unsigned at = 0; at < ps->ports; at++)
		if (ps->port[at].port != NULL)
			tx_queue_fini(&ps->port[at].tx);
	free(ps);
}

/* Writes the header for the next device. Done on arrival, while the header is in the cache. */
static inline void update_frame(uint8_t *frame, const struct weft_packet *packet)
{
	frame_update_mutable(frame, packet->mutable_word);
}

/* Handles a control frame that passes through the switch. Returns false if it is refused. */
static bool receive_control(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct weft_packet *packet = mbuf_packet(mbuf);

	if (!port_auth_open(&ps->port[at].guard, &ps->sw->port[at].link, mbuf))
		return false;
	if (!poll_switch_source_passes(ps, at, frame)) {
		ps->port[at].source.control_spoofed++;
		return false;
	}
	rx_meta_fill(packet, frame, rte_pktmbuf_data_len(mbuf), at, true);
	packet->kind = frame_header(frame)->kind;
	packet->arrived_ps = port_due(ps->port[at].port, mbuf, now);
	switch_receive_control(ps->sw, packet, now);
	update_frame(frame, packet);
	if (ps->sw->for_agent != NULL)
		poll_switch_control_up(ps);
	return true;
}

struct latency_extension *poll_switch_extension(void *ctx, const struct weft_packet *packet)
{
	const uint8_t *frame = packet->route - FRAME_HEADER_BYTES;

	/* The switch owns the frame, although the route is const. */
	return latency_of_frame((uint8_t *)(uintptr_t)frame);
}

/* Handles a valid data frame that must be stored or discarded. Reads the frame again, because
 * values kept for this rare case would cost registers in the calling loop. */
static __attribute__((noinline)) void receive_queued(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct weft_packet *packet = mbuf_packet(mbuf);

	rx_meta_fill(packet, frame, rte_pktmbuf_data_len(mbuf), at, false);
	packet->arrived_ps = port_due(ps->port[at].port, mbuf, now);
	if (__builtin_expect(ps->shard == NULL, 1))
		switch_receive(ps->sw, packet, now);
	else
		switch_shard_receive(ps->shard, packet, now);
	update_frame(frame, packet);
}

/* Handles valid data from a source other than the port's host. Returns false if it is refused. */
static bool receive_foreign_data(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	uint32_t bytes = rte_pktmbuf_data_len(mbuf);

	if (!poll_switch_source_passes(ps, at, rte_pktmbuf_mtod(mbuf, const uint8_t *))) {
		poll_switch_source_refuse(ps, at, mbuf);
		return false;
	}
	switch_count_in(&ps->sw->port[at], 1, bytes);
	receive_queued(ps, at, mbuf, now);
	return true;
}

/* Handles frames other than the port's plain data: invalid frames, the neighbour's control frames,
 * control frames that pass through the switch, and data that the port's host did not create. */
static __attribute__((noinline)) void receive_slow(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	enum frame_fault fault =
		port_auth_find_fault(&ps->port[at].guard, frame, rte_pktmbuf_data_len(mbuf));
	unsigned kind = frame_header_const(frame)->kind;
	bool kept = false;

	if (fault != FRAME_FAULT_OK)
		ps->port[at].faults[fault]++;
	else if (kind == FRAME_DATA)
		kept = receive_foreign_data(ps, at, mbuf, now);
	else if (frame_link_local(kind)) {
		ps->carried--;
		poll_switch_receive_link(ps, at, mbuf, now);
	} else
		kept = receive_control(ps, at, mbuf, now);
	if (!kept)
		rte_pktmbuf_free(mbuf);
}

/* Captures frames, then passes them to the port. Without a capture this costs one load and one
 * branch per burst. 'fresh': the frames have just arrived. */
static inline void send_burst(struct poll_switch *ps, unsigned at, struct rte_mbuf **mbufs,
	unsigned count, const bool fresh, bool queued, weft_time now)
{
	struct capture *capture = capture_of(ps->port[at].port);

	if (__builtin_expect(capture != NULL, 0) &&
		(!fresh || ps->unwanted == NULL || capture_filter_of(capture) != ps->unwanted) &&
		poll_capture_next(capture, mbufs, 0, count) < count)
		poll_switch_capture_out(ps, at, capture, mbufs, count, queued, now);
	tx_queue_send(&ps->port[at].tx, mbufs, (uint16_t)count, now);
	if (ps->port[at].tx.waiting != 0)
		ps->direct &= ~port_set_of(at);
}

/* Sends the frames that bypassed the queues from 'input' to 'output'. */
static void flush_burst(struct poll_switch *ps, unsigned input, unsigned output, weft_time now)
{
	struct poll_switch_burst *burst = &ps->burst[output];

	switch_count_passed(ps->sw, input, burst->vc, output, burst->count, burst->bytes);
	note_left(ps, input, now);
	send_burst(ps, output, ps->burst_mbuf[output], burst->count, true, false, now);
	*burst = (struct poll_switch_burst){.count = 0};
}

/* Moves a plain packet to its output or another shard, bypassing the queues. Returns the output,
 * and adds outputs to be flushed to 'filled'. Returns SWITCH_PORT_NONE if the packet must be
 * stored. */
static inline __attribute__((always_inline)) unsigned pass_on(struct poll_switch *ps,
	struct switch_port *port, struct rte_mbuf *mbuf, struct weft_packet *packet,
	port_set *filled, weft_time now, const bool voq, const bool parted)
{
	uint32_t word = packet->mutable_word, bytes = packet->bytes;
	unsigned output;

	output = parted ? switch_receive_sharded(ps->shard, port, packet, ps->direct)
			: switch_receive_direct(ps->sw, port, packet, ps->direct, voq);
	if (__builtin_expect(output == SWITCH_PORT_NONE, 0))
		return output;
	frame_change_mutable(rte_pktmbuf_mtod(mbuf, uint8_t *), word, packet->mutable_word);
	if (parted && switch_shard_is_foreign(ps->shard, output)) {
		mbuf_packet(mbuf)->arrived_ps = port_due(ps->port[packet->in_port].port, mbuf, now);
		switch_shard_hand(ps->shard, mbuf_packet(mbuf), packet, output);
		return output;
	}
	poll_switch_append(ps, output, mbuf, bytes, packet->vc);
	*filled |= port_set_of(output);
	return output;
}

static bool receive_wanted(struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now);

/* Checks a burst and moves each packet as far as possible, all in one pass. Returns the output
 * through which the last data frame bypassed the queues, or SWITCH_PORT_NONE if it did not.
 * 'captured': 'capture' is not NULL. */
static inline __attribute__((always_inline)) unsigned receive_burst(struct poll_switch *ps,
	unsigned at, struct rte_mbuf **mbufs, unsigned count, weft_time now, const bool voq,
	const bool parted, struct capture *capture, const bool captured)
{
	struct switch_port *port = &ps->sw->port[at];
	const struct frame_identity identity = ps->port[at].guard.identity;
	const struct capture_quick quick =
		captured ? capture_quick_of(capture) : (struct capture_quick){0, 0};
	port_set filled = PORT_SET_NONE;
	uint64_t data_bytes = 0;
	unsigned slow = 0, output = SWITCH_PORT_NONE;

	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
		uint32_t bytes = rte_pktmbuf_data_len(mbuf);
		struct weft_packet packet;

		if (captured && __builtin_expect(capture_quick_matches(quick, frame), 0) &&
			receive_wanted(ps, at, capture, mbuf, now)) {
			slow++;
			continue;
		}
		if (__builtin_expect(!frame_is_good_data_as(frame, bytes, &identity), 0)) {
			receive_slow(ps, at, mbuf, now);
			slow++;
			continue;
		}
		data_bytes += bytes;
		rx_meta_read(&packet, frame, bytes);
		packet.in_port = (uint8_t)at;
		packet.bytes = (uint16_t)bytes;
		output = pass_on(ps, port, mbuf, &packet, &filled, now, voq, parted);
		if (__builtin_expect(output == SWITCH_PORT_NONE, 0))
			receive_queued(ps, at, mbuf, now);
	}
	ps->filled |= filled;
	switch_count_in(port, count - slow, data_bytes);
	return output;
}

static __attribute__((noinline)) unsigned receive_all(
	struct poll_switch *ps, unsigned at, struct rte_mbuf **mbufs, unsigned count, weft_time now)
{
	if (__builtin_expect(ps->shard != NULL, 0))
		return receive_burst(ps, at, mbufs, count, now, true, true, NULL, false);
	if (ps->sw->voq)
		return receive_burst(ps, at, mbufs, count, now, true, false, NULL, false);
	return receive_burst(ps, at, mbufs, count, now, false, false, NULL, false);
}

/* Receives a frame that passes the quick test. Returns true if the capture includes the frame. Such
 * frames are received singly, to be captured with the state on arrival and the decision. */
static __attribute__((noinline)) bool receive_wanted(struct poll_switch *ps, unsigned at,
	struct capture *capture, struct rte_mbuf *mbuf, weft_time now)
{
	struct poll_switch_captured frame;

	ps->unwanted = NULL;
	if (poll_capture_next(capture, &mbuf, 0, 1) > 0)
		return false;
	poll_switch_capture_begin(ps, at, capture, mbuf, now, &frame);
	poll_switch_capture_end(ps, at, capture, receive_all(ps, at, &mbuf, 1, now), &frame);
	return true;
}

static __attribute__((noinline)) void receive_captured(struct poll_switch *ps, unsigned at,
	struct capture *capture, struct rte_mbuf **mbufs, unsigned count, weft_time now)
{
	if (ps->shard != NULL) {
		receive_burst(ps, at, mbufs, count, now, true, true, capture, true);
		return;
	}
	ps->unwanted = capture_filter_of(capture);
	if (ps->sw->voq)
		receive_burst(ps, at, mbufs, count, now, true, false, capture, true);
	else
		receive_burst(ps, at, mbufs, count, now, false, false, capture, true);
}

static unsigned receive(struct poll_switch *ps, unsigned at, weft_time now)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	unsigned count = port_rx(ps->port[at].port, mbufs, PORT_BURST, now);
	struct capture *capture;

	if (count == 0)
		return 0;
	ps->unwanted = NULL;
	capture = capture_of(ps->port[at].port);
	if (__builtin_expect(capture != NULL, 0))
		receive_captured(ps, at, capture, mbufs, count, now);
	else
		receive_all(ps, at, mbufs, count, now);
	if (ps->sw->discarded != NULL)
		poll_switch_free_discards(ps, false, now);
	return count;
}

void poll_switch_flush(struct poll_switch *ps, unsigned input, weft_time now)
{
	for (; !port_set_is_empty(ps->filled); ps->filled = port_set_rest(ps->filled))
		flush_burst(ps, input, port_set_first(ps->filled), now);
}

/* Collects the packets that can be sent now through a port without a wire time. */
static inline unsigned collect(
	struct poll_switch *ps, unsigned at, struct rte_mbuf **mbufs, weft_time now)
{
	struct weft_packet *packets[PORT_BURST];
	unsigned count = switch_transmit(ps->sw, at, packets, PORT_BURST, now);

	for (unsigned i = 0; i < count; i++) {
		note_left(ps, packets[i]->in_port, now);
		mbufs[i] = packet_mbuf(packets[i]);
	}
	return count;
}

/* Seals the control frames in a burst from the queues, which are at its start. */
static __attribute__((noinline)) void seal_control(
	struct poll_switch *ps, unsigned at, struct rte_mbuf **mbufs, unsigned count)
{
	for (unsigned i = 0; i < count && mbuf_packet(mbufs[i])->control; i++)
		ps->port[at].no_mbuf +=
			!port_auth_seal(&ps->port[at].guard, &ps->sw->port[at].link, mbufs[i]);
}

/* Returns the time at which an ideal switch could have sent a data packet from its queue: the
 * packet had arrived and had credits, and without VOQs its input had read the previous packet. */
static weft_time ready_at(struct poll_switch *ps, unsigned at, const struct weft_packet *packet)
{
	const struct credit_tx *tx = &ps->sw->port[at].link.tx[packet->vc_next];
	weft_time credits = credit_times_of(&ps->port[at].credits, packet->vc_next, tx->sent);
	weft_time ready = RTE_MAX(packet->arrived_ps, credits);

	return ps->sw->voq ? ready : RTE_MAX(ready, ps->port[packet->in_port].left_at);
}

/* The data packet's space is released when its tail has been sent (hold_leaving()). Without VOQs
 * its input sends no further packet until then, not even through other outputs. */
static void note_leaving(
	struct poll_switch *ps, unsigned at, const struct weft_packet *packet, weft_time now)
{
	weft_time end = ps->port[at].tx.pacer.free_at;

	ps->port[at].leaving = (struct poll_switch_leaving){
		.end = end, .blocks = packet->blocks, .input = packet->in_port, .vc = packet->vc};
	ps->port[packet->in_port].leaving_by |= port_set_of(at);
	note_left(ps, packet->in_port, end);
	if (!ps->sw->voq && end > now)
		switch_hold(ps->sw, packet->in_port);
}

/* Stamps a packet that is sent through a port with a wire time. */
static void depart(struct poll_switch *ps, unsigned at, struct weft_packet *packet, weft_time now)
{
	struct tx_queue *tx = &ps->port[at].tx;
	weft_time ready = packet->control ? packet->arrived_ps : ready_at(ps, at, packet);
	weft_time begin = tx_queue_begin(tx, ready, now);

	if (!packet->control && ps->sw->contention != NULL)
		contention_leave(ps->sw, packet, at, begin);
	tx_queue_stamp(tx, packet_mbuf(packet), begin);
	if (!packet->control)
		note_leaving(ps, at, packet, now);
}

/* Like collect(), for a port with a wire time: one frame at a time, until the wire is busy. */
static unsigned collect_timed(
	struct poll_switch *ps, unsigned at, struct rte_mbuf **mbufs, weft_time now)
{
	struct weft_packet *packet;
	unsigned count = 0;

	if (ps->sw->contention != NULL)
		ps->sw->contention->driven |= port_set_of(at);
	while (count < PORT_BURST && tx_queue_ready(&ps->port[at].tx, now) &&
		switch_transmit(ps->sw, at, &packet, 1, now) == 1) {
		depart(ps, at, packet, now);
		mbufs[count++] = packet_mbuf(packet);
	}
	return count;
}

static unsigned transmit(struct poll_switch *ps, unsigned at, weft_time now)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	unsigned count;

	if (!tx_queue_flush(&ps->port[at].tx, now))
		return 0;
	if (!ps->port[at].tx.timed) {
		if (ps->sw->arbitration == NULL)
			ps->direct |= port_set_of(at);
		if (ps->sw->contention != NULL)
			ps->sw->contention->driven &= ~port_set_of(at);
	} else {
		ps->direct &= ~port_set_of(at);
	}
	count = ps->port[at].tx.timed ? collect_timed(ps, at, mbufs, now)
				      : collect(ps, at, mbufs, now);
	if (__builtin_expect(ps->port[at].guard.seal.key != NULL, 0))
		seal_control(ps, at, mbufs, count);
	if (count > 0)
		send_burst(ps, at, mbufs, count, false, true, now);
	return count;
}

/* Serves inputs without VOQs that have read a packet. As on the virtual clock, that packet's output
 * picks its next packet first, and then the outputs of the waiting heads, in VC order. */
static __attribute__((noinline)) unsigned let_go(struct poll_switch *ps, weft_time now)
{
	unsigned moved = 0;

	PORT_SET_EACH(held, ps->sw->held) {
		unsigned input = port_set_first(held);

		if (ps->port[input].left_at > now)
			continue;
		switch_let_go(ps->sw, input);
		PORT_SET_EACH(by, ps->port[input].leaving_by)
			if (ps->port[port_set_first(by)].leaving.input == input)
				moved += transmit(ps, port_set_first(by), now);
		for (unsigned vc = 0; vc < ps->sw->vcs; vc++) {
			const struct weft_packet *head = switch_queues(ps->sw, 0, input)[vc].head;

			moved += head != NULL ? transmit(ps, head->out_port, now) : 0;
		}
	}
	return moved;
}

void poll_switch_send_own(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time ready, weft_time now)
{
	tx_queue_stamp_own(&ps->port[at].tx, mbuf, ready, now);
	send_burst(ps, at, &mbuf, 1, false, false, now);
}

static __attribute__((noinline)) void keep_house(struct poll_switch *ps, weft_time now)
{
	PORT_SET_EACH(ports, ps->needs_idle)
		port_idle(ps->port[port_set_first(ports)].port, now);
}

/* Counts an output as blocked if it is so at the end of this iteration and of the previous one. It
 * was then blocked throughout, because credits arrive only during an iteration. A packet that
 * arrives after a pause of the loop has not been waiting yet. */
static inline void note_blocked(struct poll_switch *ps, unsigned at, weft_time now)
{
	const struct switch_output *output = &ps->sw->port[at].output;
	port_set bit = port_set_of(at);

	if (__builtin_expect(
		    port_set_is_empty(output->stalled) || !port_set_is_empty(output->ready), 1)) {
		ps->blocked &= ~bit;
		return;
	}
	if (port_set_has(ps->blocked, at))
		ps->port[at].blocked_ps += now - ps->before;
	ps->blocked |= bit;
}

unsigned poll_switch_run(struct poll_switch *ps, weft_time now)
{
	unsigned moved = 0;

	ps->carried = 0;
	if (__builtin_expect(!port_set_is_empty(ps->sw->held), 0))
		moved = let_go(ps, now);
	if (__builtin_expect(ps->shard != NULL, 0))
		moved += poll_switch_accept(ps, now);
	for (unsigned at = 0; at < ps->ports; at++) {
		if (!port_set_has(ps->present, at))
			continue;
		moved += receive(ps, at, now);
		/* Flush before the arbiter picks again, so that no packet overtakes another. */
		poll_switch_flush(ps, at, now);
		PORT_SET_EACH(busy, ps->sw->busy & ps->present)
			moved += transmit(ps, port_set_first(busy), now);
	}
	/* Flush once for all ports, so that the other core's cache line moves less often. */
	if (__builtin_expect(ps->shard != NULL, 0))
		switch_shard_flush(ps->shard);
	for (unsigned at = 0; at < ps->ports; at++) {
		if (port_set_has(ps->present, at)) {
			if (!tx_queue_flush(&ps->port[at].tx, now) || ps->port[at].tx.timed ||
				ps->sw->arbitration != NULL)
				ps->direct &= ~port_set_of(at);
			else
				ps->direct |= port_set_of(at);
			note_blocked(ps, at, now);
			poll_switch_poll_link(ps, at, now);
		}
	}
	ps->before = now;
	if (__builtin_expect(ps->sw->congestion != NULL, 0))
		poll_switch_poll_congestion(ps, now);
	switch_poll_watchdog(ps->sw, now);
	if (__builtin_expect(ps->mapper.control != NULL, 0))
		poll_switch_control_poll(ps, now);
	if (ps->sw->discarded != NULL)
		poll_switch_free_discards(ps, true, now);
	if (__builtin_expect(ps->shard != NULL, 0))
		poll_switch_push(ps, now);
	ps->carried += moved;
	if (moved == 0 && !port_set_is_empty(ps->needs_idle))
		keep_house(ps, now);
	return moved;
}
