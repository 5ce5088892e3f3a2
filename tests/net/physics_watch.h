/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Watches every wire of fabrics on the real clock for physics_test.c: what each transmitter stamps,
 * and when the far end sees it. From that it knows for each frame what an ideal device would have
 * waited for: the frame's own arrival, the credit frame that it needed, the acknowledgement that
 * opened the window, the notification that it obeys, the program that sent it; and for each credit
 * frame, the packets that had left the buffer. Jitter and reordering come after that, and make no
 * frame earlier.
 */

#include <arpa/inet.h>

#include "nic/flow.h"
#include "poll/poll_switch_private.h"
#include "real/real_private.h"
#include "traffic/synthetic.h"
#include "unit.h"
#include "wire/control.h"
#include "wire/frame_check.h"

#define WATCH_ENDS    128
#define WATCH_HOSTS   16
#define WATCH_GRANTS  256
#define WATCH_GONE    4096
#define WATCH_WINDOW  512 /* more than any */
#define WATCH_VCS     4
#define WATCH_SAMPLES 8192
#define WATCH_DEVICES 32
#define WATCH_MARK    0x5EE4600Du /* marks a program's packet */

struct watch_grant {
	weft_time due;
	uint32_t limit;
};

/* Limits on the transmitter of an end, per VC. */
struct watch_credits {
	struct watch_grant grant[WATCH_GRANTS];
	unsigned grants;
	uint32_t known, sent; /* limit, blocks */
};

/* A packet that arrived at an end and has left the device. */
struct watch_gone {
	weft_time end; /* end of its tail */
	uint32_t blocks;
	uint8_t vc;
};

struct watch_wire {
	const struct real_end *end; /* NULL: no device here */
	struct tx_queue *tx;
	struct link_end *link;
	struct weft_switch *sw; /* NULL: a host's */
	port_tx_fn *send;
	port_rx_fn *receive;
	bool impaired;          /* frames are looked at before their jitter */
	unsigned in_line;       /* checked frames of its delay line */
	unsigned unsure;        /* frames stamped before a change and not checked yet */
	weft_time free_at, due; /* for the last frame, except for the device's own control frames */
	weft_time first, last, taken, longest; /* all: from, until, busy time */
	struct watch_credits credits[WATCH_VCS];
	struct watch_gone gone[WATCH_GONE];
	unsigned gones;
	uint32_t gone_before[WATCH_VCS]; /* blocks that are no longer in 'gone' */
};

/* A credit frame that an end has sent. */
struct watch_granted {
	const struct watch_wire *wire;
	weft_time begin;
	struct control_credit credit;
};

/* From one host to another. */
struct watch_flow {
	bool open;
	uint16_t flow;
	uint32_t high, limit;
	weft_time freed[WATCH_WINDOW]; /* by sequence number */
};

/* A timed IP packet that a program wrote to a TAP. */
struct watch_written {
	uint8_t ip[20];
	uint32_t mark;
	weft_time at;
} __attribute__((packed));

/* Violations, by the cause for which a frame did not wait. */
#define WATCH_FINDINGS(X) \
	X(arrival)        \
	X(path)           \
	X(birth)          \
	X(program)        \
	X(credits) X(window) X(notification) X(release) X(wire) X(order) X(impairment) X(sight)

struct watch {
	struct watch_wire wire[WATCH_ENDS];
	struct watch_flow flow[WATCH_HOSTS][WATCH_HOSTS];
	unsigned ends;
	uint32_t window;
	uint32_t distance[WATCH_HOSTS][WATCH_HOSTS]; /* timed links */
	weft_time delay_ps, byte_time;               /* shortest so far over all links */
	bool store_and_forward;
	weft_time now; /* time of the device that runs */
	uint64_t frames, bound_by_window, bound_by_notification, of_programs, jittered, swapped;
	/* By device and destination: due time of the first notification of the current series. */
	weft_time told[WATCH_DEVICES][WATCH_HOSTS], told_at[WATCH_DEVICES][WATCH_HOSTS];
#define X(name) uint64_t name;
	struct {
		WATCH_FINDINGS(X)
	} early;
#undef X
	struct watch_granted granted[WATCH_ENDS]; /* in this turn of a device */
	unsigned grants;
	weft_time latency[WATCH_SAMPLES]; /* due, of frames that left when their message arrived */
	unsigned samples;
};

static struct watch watch;

/* A received frame passing through a device, in the mbuf. */
struct watch_note {
	weft_time due, seen;
	weft_time ideal; /* due at the far end without jitter */
	uint32_t input;
	uint16_t blocks;
	uint8_t vc;
	bool adapted;
};

_Static_assert(sizeof(struct watch_note) <= sizeof(((struct rte_mbuf *)NULL)->dynfield1),
	"in the fields for users");

static const struct frame_header *watch_header(struct rte_mbuf *mbuf)
{
	return frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));
}

static const uint8_t *watch_payload(const struct frame_header *header)
{
	return (const uint8_t *)header - FRAME_HEADER_OFFSET + frame_payload_offset(header);
}

static struct watch_wire *watch_wire_of(const struct port *port)
{
	for (unsigned i = 0; i < watch.ends; i++)
		if (watch.wire[i].end != NULL && &watch.wire[i].end->port == port)
			return &watch.wire[i];
	fail_msg("%s is not watched", port->name);
	return NULL;
}

/* --- what leaves --- */

/* The device's own control frames may be out of order with others; together they take no more time
 * than there is. */
static void watch_rate(struct watch_wire *wire, weft_time begin, weft_time takes)
{
	if (wire->first == 0 || begin < wire->first)
		wire->first = begin;
	if (begin + takes > wire->last)
		wire->last = begin + takes;
	if (takes > wire->longest)
		wire->longest = takes;
	wire->taken += takes;
	watch.early.wire += wire->taken > wire->last - wire->first + wire->longest;
}

/* The device has created the frame for itself or its link. */
static bool watch_is_own(const struct real_end *end, const struct frame_header *header)
{
	return frame_link_local(header->kind) ||
	       (header->kind != FRAME_DATA && end->at.kind == DEVICE_HOST &&
		       ntohs(header->source_be) == end->at.device);
}

static bool watch_is_forwarded(const struct real_end *end, const struct frame_header *header)
{
	return !frame_link_local(header->kind) &&
	       (end->at.kind == DEVICE_SWITCH || ntohs(header->source_be) != end->at.device);
}

static void watch_took_credits(
	struct watch_wire *wire, const struct frame_header *header, unsigned bytes, weft_time begin)
{
	struct watch_credits *credits = &wire->credits[header->vc];
	unsigned done = 0;

	credits->sent += frame_blocks(bytes);
	while (done < credits->grants && (int32_t)(credits->grant[done].limit - credits->sent) < 0)
		done++;
	credits->grants -= done;
	memmove(credits->grant, credits->grant + done, credits->grants * sizeof(credits->grant[0]));
	watch.early.credits += credits->grants == 0 || begin < credits->grant[0].due;
}

static void watch_used_window(
	const struct watch_wire *wire, const struct frame_header *header, weft_time begin)
{
	struct watch_flow *flow = &watch.flow[wire->end->at.device][ntohs(header->destination_be)];
	uint32_t sequence = ntohl(header->sequence_be);

	if ((int32_t)(sequence - flow->high) < 0)
		return; /* again */
	watch.early.window += !flow->open || (int32_t)(sequence - flow->limit) >= 0 ||
			      begin < flow->freed[sequence % WATCH_WINDOW];
	watch.bound_by_window += begin == flow->freed[sequence % WATCH_WINDOW];
	flow->high = sequence + 1;
}

/* The device's number here: switches after the hosts. */
static unsigned watch_device(const struct topology_port *at)
{
	unsigned device = at->device + (at->kind == DEVICE_HOST ? 0 : WATCH_HOSTS);

	assert_true(device < WATCH_DEVICES);
	return device;
}

/* A frame that is adapted from now on. A switch decides on arrival, so the notification came no
 * later; or the switch itself had found a root. */
static void watch_adapted(const struct watch_wire *wire, const struct frame_header *header,
	weft_time seen, weft_time begin)
{
	unsigned device = watch_device(&wire->end->at), to = ntohs(header->destination_be);
	weft_time told = watch.told[device][to];

	if (wire->sw != NULL && seen < watch.told_at[device][to])
		return;
	watch.early.notification += begin < told;
	watch.bound_by_notification += begin == told;
}

/* Keeps packets that left; if too many, only counts the oldest, without times. */
static void watch_left(struct watch_wire *input, uint32_t vc, uint32_t blocks, weft_time end)
{
	if (input->gones == WATCH_GONE) {
		for (unsigned i = 0; i < WATCH_GONE / 2; i++)
			input->gone_before[input->gone[i].vc] += input->gone[i].blocks;
		input->gones = WATCH_GONE / 2;
		memcpy(input->gone, input->gone + WATCH_GONE / 2,
			WATCH_GONE / 2 * sizeof(input->gone[0]));
	}
	input->gone[input->gones++] =
		(struct watch_gone){.end = end, .blocks = blocks, .vc = (uint8_t)vc};
}

/* A credit frame grants what has left the buffer when its transmission begins. Checked when
 * everything that the device sent in its turn is known. */
static void watch_granted(
	struct watch_wire *wire, const struct frame_header *header, weft_time begin)
{
	struct watch_granted *granted = &watch.granted[watch.grants++];

	assert_true(watch.grants <= WATCH_ENDS);
	granted->wire = wire;
	granted->begin = begin;
	assert_true(control_credit_decode(
		&granted->credit, watch_payload(header), ntohs(header->payload_bytes_be)));
}

static void watch_grant(const struct watch_granted *granted)
{
	const struct watch_wire *wire = granted->wire;
	uint32_t gone[WATCH_VCS];

	memcpy(gone, wire->gone_before, sizeof(gone));
	for (unsigned i = 0; i < wire->gones; i++)
		if (wire->gone[i].end <= granted->begin)
			gone[wire->gone[i].vc] += wire->gone[i].blocks;
	for (unsigned vc = 0; vc < granted->credit.vcs; vc++)
		watch.early.release += (int32_t)(granted->credit.limit[vc] -
						 wire->link->rx[vc].capacity - gone[vc]) > 0;
}

/* Compares the start of a transmission, which ends at 'end', with everything it waited for. */
static void watch_waits(
	struct watch_wire *wire, struct rte_mbuf *mbuf, weft_time begin, weft_time end)
{
	const struct frame_header *header = watch_header(mbuf);
	struct watch_note note;

	memcpy(&note, mbuf->dynfield1, sizeof(note));
	if (watch_is_forwarded(wire->end, header)) {
		watch.early.arrival += begin < note.due;
		if (header->kind == FRAME_DATA && wire->end->at.kind == DEVICE_SWITCH)
			watch_left(&watch.wire[note.input], note.vc, note.blocks, end);
	} else if (header->kind == FRAME_DATA) {
		watch_used_window(wire, header, begin);
	}
	if (header->kind == FRAME_DATA && (header->flags & FRAME_F_ADAPTED) != 0 &&
		!(watch_is_forwarded(wire->end, header) && note.adapted))
		watch_adapted(wire, header, note.seen, begin);
	if (header->kind == FRAME_DATA)
		watch_took_credits(wire, header, rte_pktmbuf_data_len(mbuf), begin);
	if (header->kind == FRAME_CREDIT)
		watch_granted(wire, header, begin);
}

/* A frame stamped just now. Where the delay has become shorter frames stay in order, so some starts
 * are unknown: assumed late enough. */
static void watch_sent(struct watch_wire *wire, struct rte_mbuf *mbuf)
{
	const struct tx_queue *tx = wire->tx;
	weft_time due = mbuf_packet(mbuf)->arrived_ps, begin = watch.now, takes = 0;
	bool own = watch_is_own(wire->end, watch_header(mbuf));
	bool known = wire->unsure == 0 && (!tx->timed || own || due != wire->due);

	watch.frames++;
	wire->unsure -= wire->unsure > 0;
	if (tx->timed) {
		takes = bytes_ps(
			rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD, tx->pacer.byte_time);
		begin = known ? due - tx->delay_ps - (tx->cut_through ? 0 : takes) : wire->free_at;
	}
	if (tx->timed && known) {
		watch_rate(wire, begin, takes);
		watch.early.wire += !own && begin < wire->free_at;
		watch.early.order += !own && due < wire->due;
	}
	watch_waits(wire, mbuf, known ? begin : WEFT_TIME_NEVER, begin + takes);
	if (own)
		return;
	wire->free_at = tx->timed ? begin + takes : 0;
	wire->due = tx->timed ? due : 0;
}

/* Frames that entered a delay line since the last check. */
static void watch_lines(weft_time now)
{
	watch.now = now;
	for (unsigned i = 0; i < watch.ends; i++) {
		struct watch_wire *wire = &watch.wire[i];
		struct delay_line *line =
			wire->end != NULL && !wire->impaired ? wire->tx->line : NULL;

		for (; line != NULL && wire->in_line < line->count; wire->in_line++)
			watch_sent(wire, line->frame[(line->first + wire->in_line) % line->frames]);
	}
}

/* After each turn of a device. */
static void watch_turn(weft_time now)
{
	watch_lines(now);
	for (unsigned i = 0; i < watch.grants; i++)
		watch_grant(&watch.granted[i]);
	watch.grants = 0;
}

static uint16_t watch_tx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct watch_wire *wire = watch_wire_of(port);
	uint16_t sent;

	watch_lines(now);
	if (wire->impaired)
		return wire->send(port, mbufs, count, now);
	/* Frames of a delay line were stamped long ago. */
	for (uint16_t i = wire->in_line < count ? (uint16_t)wire->in_line : count; i < count; i++)
		watch_sent(wire, mbufs[i]);
	sent = wire->send(port, mbufs, count, now);
	assert_int_equal(sent, count);
	wire->in_line -= wire->in_line < count ? wire->in_line : count;
	return sent;
}

/* --- what an impairment delays --- */

/* From now on, frames leaving an end are checked before its impairment. */
static void watch_impair(unsigned i, weft_time now)
{
	struct watch_wire *wire = &watch.wire[i];

	if (wire->impaired)
		return;
	watch_lines(now);
	for (uint16_t at = 0; at < wire->tx->waiting; at++)
		watch_sent(wire, wire->tx->queue[at]);
	wire->impaired = true;
}

static weft_time *watch_ideal(struct rte_mbuf *mbuf)
{
	return (weft_time *)((char *)mbuf->dynfield1 + offsetof(struct watch_note, ideal));
}

uint16_t __real_impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs,
	uint16_t count, bool timed, struct rte_mbuf **out);
uint16_t __wrap_impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs,
	uint16_t count, bool timed, struct rte_mbuf **out);

uint16_t __wrap_impair_frames(struct impairment *impairment, struct rte_mbuf **mbufs,
	uint16_t count, bool timed, struct rte_mbuf **out)
{
	struct watch_wire *wire = watch.wire;
	uint64_t swapped = impairment->frames_swapped;

	while (wire->end == NULL || &wire->end->impairment != impairment)
		assert_true(++wire < watch.wire + watch.ends);
	for (uint16_t i = 0; i < count; i++) {
		watch_sent(wire, mbufs[i]);
		memcpy(watch_ideal(mbufs[i]), &mbuf_packet(mbufs[i])->arrived_ps,
			sizeof(weft_time));
	}
	count = __real_impair_frames(impairment, mbufs, count, timed, out);
	for (uint16_t i = 0; i < count && timed; i++) {
		weft_time ideal, due = mbuf_packet(out[i])->arrived_ps;

		memcpy(&ideal, watch_ideal(out[i]), sizeof(ideal));
		watch.early.impairment += due < ideal;
		watch.jittered += due > ideal;
	}
	watch.swapped += impairment->frames_swapped - swapped;
	return count;
}

/* --- what arrives --- */

/* Frames carry it modulo 2^32 ns. */
static weft_time watch_injected(const struct frame_header *header, weft_time due)
{
	uint32_t before = (uint32_t)(due / PS_PER_NS) - ntohl(header->injected_ns_be);

	return (due / PS_PER_NS - before) * PS_PER_NS;
}

/* The first frame of a message gives its creation time: nothing leaves before. Returns true if it
 * left then. */
static bool watch_birth(const struct frame_header *header, weft_time injected)
{
	struct synthetic synthetic = {.source = ntohs(header->source_be),
		.destination = ntohs(header->destination_be),
		.message = ntohl(header->message_be)};

	if (!synthetic_open(&synthetic, watch_payload(header), ntohs(header->payload_bytes_be)))
		return false;
	watch.early.birth += injected + PS_PER_NS <= synthetic.generated_ns * PS_PER_NS;
	return injected <= (synthetic.generated_ns + 1) * PS_PER_NS;
}

/* A program must have written the packet that begins in this frame. */
static void watch_program(const struct frame_header *header, weft_time injected)
{
	struct watch_written written;

	if (ntohs(header->payload_bytes_be) < sizeof(written))
		return;
	memcpy(&written, watch_payload(header), sizeof(written));
	if (written.mark != WATCH_MARK)
		return;
	watch.of_programs++;
	watch.early.program += injected + PS_PER_NS <= written.at;
}

/* Data at its destination, or at a host that will re-inject it: never below the latency of an empty
 * path. The host frees its buffer at once. */
static void watch_delivered(
	struct watch_wire *wire, const struct frame_header *header, unsigned bytes, weft_time due)
{
	uint32_t links = watch.distance[ntohs(header->source_be)][wire->end->at.device];
	weft_time takes = bytes_ps(bytes + FRAME_WIRE_OVERHEAD, watch.byte_time);
	weft_time injected = watch_injected(header, due);

	watch_left(wire, header->vc, frame_blocks(bytes), due);
	watch.early.path += due < injected + links * watch.delay_ps +
					  (watch.store_and_forward ? links : links > 0) * takes;
	watch_program(header, injected);
	if (watch_birth(header, injected) && watch.samples < WATCH_SAMPLES)
		watch.latency[watch.samples++] = due - injected;
}

static void watch_credited(
	struct watch_wire *wire, const struct control_credit *credit, weft_time due)
{
	if (credit->peer_session != wire->link->config.session)
		return;
	for (unsigned vc = 0; vc < credit->vcs; vc++) {
		struct watch_credits *credits = &wire->credits[vc];

		if ((int32_t)(credit->limit[vc] - credits->known) <= 0)
			continue;
		/* The older time holds for both. */
		if (credits->grants == WATCH_GRANTS) {
			credits->grants--;
			memmove(credits->grant + 1, credits->grant + 2,
				(credits->grants - 1) * sizeof(credits->grant[0]));
			credits->grant[0].limit = credits->grant[1].limit;
		}
		credits->known = credit->limit[vc];
		credits->grant[credits->grants++] =
			(struct watch_grant){.due = due, .limit = credit->limit[vc]};
	}
}

static void watch_opened(struct watch_flow *flow, uint32_t limit, weft_time due)
{
	for (; (int32_t)(limit - flow->limit) > 0; flow->limit++)
		flow->freed[flow->limit % WATCH_WINDOW] = due;
}

static void watch_offered(struct watch_flow *flow, const struct control_flow *offer, weft_time due)
{
	if (offer->step != CONTROL_FLOW_OFFER || flow->open)
		return;
	flow->open = true;
	flow->flow = offer->offered;
	flow->high = flow->limit = offer->first;
	watch_opened(flow, offer->first + (watch.window < FLOW_FLIGHT ? watch.window : FLOW_FLIGHT),
		due);
}

/* The device had no entry for the destination, and just got none. */
static void watch_notified(
	struct watch_wire *wire, const struct control_arn *arn, weft_time due, weft_time now)
{
	unsigned device = watch_device(&wire->end->at);
	const struct weft_switch *sw = wire->sw;

	if (arn->destination >= WATCH_HOSTS || watch.told_at[device][arn->destination] == now)
		return;
	if (sw == NULL ? watch.told[device][arn->destination] != 0
		       : sw->congestion == NULL ||
				 arn_table_concerns(sw->congestion->table, arn->destination))
		return;
	watch.told[device][arn->destination] = due;
	watch.told_at[device][arn->destination] = now;
}

static void watch_control(
	struct watch_wire *wire, const struct frame_header *header, weft_time due, weft_time now)
{
	const uint8_t *payload = watch_payload(header);
	unsigned bytes = ntohs(header->payload_bytes_be), source = ntohs(header->source_be);
	struct control_credit credit;
	struct control_flow offer;
	struct control_ack ack;
	struct control_arn arn;

	if (header->kind == FRAME_ARN && control_arn_decode(&arn, payload, bytes))
		watch_notified(wire, &arn, due, now);
	if (header->kind == FRAME_CREDIT && control_credit_decode(&credit, payload, bytes))
		watch_credited(wire, &credit, due);
	if (wire->end->at.kind != DEVICE_HOST ||
		ntohs(header->destination_be) != wire->end->at.device)
		return;
	if (header->kind == FRAME_FLOW && control_flow_decode(&offer, payload, bytes))
		watch_offered(&watch.flow[wire->end->at.device][source], &offer, due);
	if (header->kind == FRAME_ACK && control_ack_decode(&ack, payload, bytes) &&
		ack.flow == watch.flow[wire->end->at.device][source].flow)
		watch_opened(&watch.flow[wire->end->at.device][source], ack.expected + watch.window,
			due);
}

static void watch_received(struct watch_wire *wire, struct rte_mbuf *mbuf, weft_time now)
{
	const struct frame_header *header = watch_header(mbuf);
	unsigned bytes = rte_pktmbuf_data_len(mbuf);
	struct watch_note note = {.due = mbuf_packet(mbuf)->arrived_ps,
		.seen = now,
		.input = (uint32_t)(wire - watch.wire),
		.blocks = (uint16_t)frame_blocks(bytes),
		.vc = header->vc,
		.adapted = (header->flags & FRAME_F_ADAPTED) != 0};

	watch.early.sight += note.due > now;
	memcpy(mbuf->dynfield1, &note, sizeof(note));
	if (header->kind != FRAME_DATA)
		watch_control(wire, header, note.due, now);
	else if (wire->end->at.kind == DEVICE_HOST)
		watch_delivered(wire, header, bytes, note.due);
}

static uint16_t watch_rx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct watch_wire *wire = watch_wire_of(port);
	uint16_t received = wire->receive(port, mbufs, count, now);

	for (uint16_t i = 0; i < received; i++)
		watch_received(wire, mbufs[i], now);
	return received;
}

/* --- begin and end --- */

static void watch_begin(uint32_t links)
{
	memset(&watch, 0, sizeof(watch));
	watch.ends = 2 * links;
	assert_true(watch.ends <= WATCH_ENDS);
}

/* The end 'i' belongs to a device of this fabric. */
static void watch_end(unsigned i, struct real_end *end, struct tx_queue *tx, struct link_end *link,
	struct weft_switch *sw)
{
	struct watch_wire *wire = &watch.wire[i];

	wire->end = end;
	wire->tx = tx;
	wire->link = link;
	wire->sw = sw;
	wire->send = end->port.tx;
	wire->receive = end->port.rx;
	end->port.tx = watch_tx;
	end->port.rx = watch_rx;
}

static void watch_frame_lost(unsigned i, struct rte_mbuf *mbuf, weft_time now)
{
	const struct frame_header *header = watch_header(mbuf);

	if (header->kind == FRAME_DATA)
		watch_left(&watch.wire[i ^ 1], header->vc, frame_blocks(rte_pktmbuf_data_len(mbuf)),
			now);
}

/* Data that a purge removes from an end's delay line never fills the buffer at the far end. */
static void watch_line_lost(unsigned i, weft_time now)
{
	const struct tx_queue *tx = watch.wire[i].tx;
	const struct delay_line *line = tx->line;

	for (unsigned at = 0; line != NULL && at < line->count; at++)
		watch_frame_lost(i, line->frame[(line->first + at) % line->frames], now);
	if (tx->impairment != NULL && tx->impairment->held != NULL)
		watch_frame_lost(i, tx->impairment->held, now);
}

/* A mapper's purge empties the switch: packets lost from buffers have left now. Not while frames
 * wait for their rings, because their contents are not known. */
static void watch_purge(struct poll_switch *poll, weft_time now)
{
	uint32_t before[WATCH_ENDS][WATCH_VCS];

	watch_lines(now);
	for (unsigned i = 0; i < watch.ends; i++) {
		const struct watch_wire *wire = &watch.wire[i];

		if (wire->end == NULL || wire->sw != poll->sw)
			continue;
		if (wire->tx->waiting > 0)
			return;
		for (unsigned vc = 0; vc < poll->sw->vcs; vc++)
			before[i][vc] = wire->link->rx[vc].released;
	}
	for (unsigned i = 0; i < watch.ends; i++)
		if (watch.wire[i].end != NULL && watch.wire[i].sw == poll->sw)
			watch_line_lost(i, now);
	poll_switch_control_purge(poll, now);
	for (unsigned i = 0; i < watch.ends; i++) {
		struct watch_wire *wire = &watch.wire[i];

		if (wire->end == NULL || wire->sw != poll->sw)
			continue;
		if (wire->tx->line != NULL && !wire->impaired)
			wire->in_line = wire->tx->line->count;
		for (unsigned vc = 0; vc < poll->sw->vcs; vc++)
			watch_left(wire, vc, wire->link->rx[vc].released - before[i][vc], now);
	}
}

/* Call before rate and delay of an end change. */
static void watch_change(unsigned i)
{
	struct watch_wire *wire = &watch.wire[i];

	wire->unsure = wire->impaired ? 0 : wire->tx->waiting;
	wire->first = wire->last = wire->taken = 0;
}

static uint64_t watch_violations(void)
{
	uint64_t sum = 0;

#define X(name) sum += watch.early.name;
	WATCH_FINDINGS(X)
#undef X
	return sum;
}
