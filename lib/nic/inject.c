/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <string.h>

#include "base/port_set.h"
#include "flow.h"
#include "nic_control.h"
#include "nic_private.h"
#include "traffic/synthetic.h"
#include "wire/latency.h"

/* 'behind' is the number of bytes after the payload. */
static unsigned frame_bytes(unsigned route_length, unsigned payload_bytes, unsigned behind)
{
	unsigned bytes = FRAME_HEADER_BYTES + route_length + payload_bytes + behind;

	return bytes < FRAME_BYTES_MIN ? FRAME_BYTES_MIN : bytes;
}

static unsigned tag_bytes(const struct nic *nic, enum frame_kind kind)
{
	return nic->config.data_key != NULL && kind == FRAME_DATA ? DATA_TAG_BYTES : 0;
}

static void describe(struct nic *nic, struct weft_packet *packet, enum frame_kind kind,
	unsigned payload_bytes, weft_time now)
{
	nic->plan.bytes = payload_bytes;
	packet->next = NULL;
	packet->arrived_ps = now;
	packet->bytes = (uint16_t)frame_bytes(
		packet->route_length + (packet->flags & FRAME_F_LATENCY ? FRAME_LATENCY_BYTES : 0),
		payload_bytes, tag_bytes(nic, kind));
	packet->blocks = (uint16_t)frame_blocks(packet->bytes);
	packet->in_port = packet->out_port = 0;
	packet->vc_next = packet->vc;
	packet->mutable_word =
		frame_mutable_word(packet->vc, packet->vc_original, 0, packet->flags);
	packet->hop = packet->route_length > 0 ? packet->route[0] : 0;
	packet->control = kind != FRAME_DATA;
	packet->source = nic->config.host;
	packet->kind = (uint8_t)kind;
	packet->injected_ns = (uint32_t)(now / PS_PER_NS);
	packet->latency_ns = 0;
}

static bool inject_link_local(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	bool hello = (nic->link_due & LINK_SEND_HELLO) != 0;

	if (nic->link_due == 0)
		return false;
	nic->link_due &= hello ? ~LINK_SEND_HELLO : ~LINK_SEND_CREDIT;
	*packet = (struct weft_packet){.destination = FRAME_HOST_NONE};
	describe(nic, packet, hello ? FRAME_HELLO : FRAME_CREDIT,
		hello ? CONTROL_HELLO_BYTES : CONTROL_CREDIT_BYTES(nic->link.config.vcs), now);
	packet->source = FRAME_HOST_NONE;
	packet->arrived_ps = hello ? now : nic->credit_ps;
	return true;
}

/* Queues a request for the peer's time if one is due. */
static void ask_clock(struct nic *nic, uint16_t peer, weft_time now)
{
	if (!peer_clocks_wants(nic->clocks, peer, now))
		return;
	peer_clocks_ask(nic->clocks, peer, now);
	flow_due(nic, peer, FLOW_DUE_CLOCK_ASK);
}

static void plan_ack(struct nic *nic, uint16_t peer, weft_time now)
{
	if (nic->clocks != NULL)
		ask_clock(nic, peer, now);
	nic->plan.ack = flow_rx_take_ack(nic, peer);
	nic->count[NIC_ACKS_SENT]++;
	nic->count[NIC_AGAIN_SENT] += nic->plan.ack.again != 0;
}

/* Asks for the peer's time together with the offer, so that the peer answers before its data
 * arrives. */
static void offer_clock(struct nic *nic, uint16_t peer, weft_time now)
{
	const struct control_flow *flow = &nic->plan.flow;

	peer_clocks_offer(nic->clocks, peer,
		UINT64_C(1) << 63 | (uint64_t)flow->flow << 32 | flow->sequence, now);
	ask_clock(nic, peer, now);
}

static void plan_flow(struct nic *nic, uint16_t peer, enum flow_due kind, weft_time now)
{
	if (kind == FLOW_DUE_OFFER) {
		nic->plan.flow = flow_handshake_offer(nic, peer);
		nic->count[NIC_OFFERS_SENT]++;
		if (nic->clocks != NULL)
			offer_clock(nic, peer, now);
		return;
	}
	nic->plan.flow = flow_handshake_ask(nic, peer);
	nic->count[NIC_ASKS_SENT]++;
	flow_tx_asked(nic, peer, now);
}

static void plan_clock(struct nic *nic, enum flow_due kind)
{
	nic->plan.clock_answer = kind == FLOW_DUE_CLOCK_ANSWER;
	nic->count[nic->plan.clock_answer ? NIC_CLOCK_ANSWERS_SENT : NIC_CLOCK_ASKS_SENT]++;
}

/* Plans a control frame to the peer. Returns its payload length. */
static unsigned plan_due(
	struct nic *nic, uint16_t peer, enum flow_due kind, enum frame_kind *frame, weft_time now)
{
	switch (kind) {
	case FLOW_DUE_ACK:
		plan_ack(nic, peer, now);
		*frame = FRAME_ACK;
		return CONTROL_ACK_BYTES;
	case FLOW_DUE_CLOCK_ASK:
	case FLOW_DUE_CLOCK_ANSWER:
		plan_clock(nic, kind);
		*frame = FRAME_CLOCK;
		return CONTROL_CLOCK_BYTES;
	default:
		plan_flow(nic, peer, kind, now);
		*frame = FRAME_FLOW;
		return CONTROL_FLOW_BYTES;
	}
}

/* Returns false for a request whose offer has arrived meanwhile; it would name the flow that has
 * started. */
static bool flow_is_due(const struct nic *nic, uint16_t peer, enum flow_due kind)
{
	return kind != FLOW_DUE_ASK || nic->tx[peer].phase == FLOW_ASKING;
}

/* Describes the next notification. Returns false if there is none. */
static bool inject_cn(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	const struct nic_cn_generator *answer;
	struct nic_route_chosen chosen;

	if (nic->control == NULL || nic->link.state != LINK_UP)
		return false;
	do {
		answer = nic_control_next(nic);
		if (answer == NULL)
			return false;
	} while (!nic_routes_reaches(nic->config.routes, answer->peer));
	nic->plan.cn = answer->cn;
	nic->count[NIC_CNS_SENT]++;
	*packet = (struct weft_packet){.destination = answer->peer};
	packet->route = nic_choose_route(nic, answer->peer, CN_BYTES(answer->cn.flows), &chosen);
	packet->route_length = chosen.length;
	describe(nic, packet, FRAME_CN, CN_BYTES(answer->cn.flows), now);
	packet->arrived_ps = answer->due_ps;
	return true;
}

/* Describes the next acknowledgement, request, offer or time stamp. Returns false if none is due.
 */
static bool inject_due(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	struct nic_route_chosen chosen;
	enum frame_kind frame;
	enum flow_due kind;
	unsigned bytes;
	uint16_t peer;

	if (nic->link.state != LINK_UP)
		return false;
	do {
		peer = flow_next_due(nic, &kind);
		if (peer == ID_NONE)
			return false;
	} while (!nic_routes_reaches(nic->config.routes, peer) || !flow_is_due(nic, peer, kind));
	bytes = plan_due(nic, peer, kind, &frame, now);
	*packet = (struct weft_packet){.destination = peer};
	packet->route = nic_choose_route(nic, peer, bytes, &chosen);
	packet->route_length = chosen.length;
	describe(nic, packet, frame, bytes, now);
	if (frame != FRAME_CLOCK)
		packet->arrived_ps = weft_time_max(nic->rx[peer].due_ps, nic->up_ps);
	return true;
}

/* Moves the FIFO's next message to its peer's queue. Returns false if no message can move. */
static bool admit_next(struct nic *nic, unsigned vc, weft_time now)
{
	struct message_queue *backlog = &nic->backlog[vc];
	struct message *message;

	if (backlog->head == MESSAGE_NONE)
		return false;
	message = nic_message_at(nic, backlog->head);
	if (!nic_afi_admit(nic, message, now)) {
		message->ready_ps = WEFT_TIME_NEVER;
		return false;
	}
	if (message->ready_ps == WEFT_TIME_NEVER)
		message->ready_ps = now;
	flow_tx_admit(nic, message_queue_pop(&nic->pool, backlog), now);
	if (backlog->head == MESSAGE_NONE)
		nic->backlog_vcs &= ~(1u << vc);
	return true;
}

static void drop_head(struct nic *nic, enum ready_class class, unsigned vc)
{
	struct id_fifo *fifo = &nic->ready[class][vc];

	nic->tx[id_fifo_pop(fifo, nic->ready_next)].queued = false;
	if (fifo->head == ID_NONE)
		nic->ready_vcs[class] &= ~(1u << vc);
}

/* Returns the next peer of this class and VC, or ID_NONE. Its state may have changed since it was
 * queued, so it is rechecked and requeued if it belongs elsewhere. A new message is admitted only
 * if the earlier ones cannot use the VC, which makes the VC a FIFO. */
static uint16_t next_peer(struct nic *nic, enum ready_class class, unsigned vc, weft_time now)
{
	for (;;) {
		uint16_t peer = nic->ready[class][vc].head;
		enum ready_class found;
		unsigned found_vc;

		if (peer == ID_NONE) {
			if (class != READY_NEW || !admit_next(nic, vc, now))
				return ID_NONE;
			continue;
		}
		if (flow_tx_ready(nic, peer, &found, &found_vc) && found == class &&
			found_vc == vc &&
			!nic_afi_change(nic, nic_message_at(nic, nic->tx[peer].cursor), now)) {
			if (!nic_control_pauses(nic, peer, now))
				return peer;
			drop_head(nic, class, vc);
			continue;
		}
		drop_head(nic, class, vc);
		flow_tx_place(nic, peer);
	}
}

static uint32_t payload_bytes(const struct nic *nic, const struct message *message, uint32_t offset)
{
	uint32_t left = message->bytes - offset;

	return left < nic->config.mtu_bytes ? left : nic->config.mtu_bytes;
}

/* A stall of a VC lasts from the first frame without credits to the next frame sent. */
static void record_stall(struct nic *nic, unsigned vc, weft_time now)
{
	if ((nic->stalled_vcs & (1u << vc)) != 0)
		return;
	nic->count[NIC_STALL_CREDIT]++;
	nic->stalled_vcs |= 1u << vc;
	nic->stalled_at = now;
}

uint32_t nic_stalled(const struct nic *nic, weft_time *since)
{
	*since = nic->stalled_at;
	return nic->link.state == LINK_UP ? nic->stalled_vcs : 0;
}

static void describe_data(
	struct nic *nic, uint16_t peer, uint32_t offset, struct weft_packet *packet, weft_time now)
{
	const struct flow_tx *tx = &nic->tx[peer];
	const struct message *message = nic_message_at(nic, tx->cursor);
	bool tail = tx->send + 1 == message->first_sequence + message->frames;
	uint8_t vc_original = nic->config.sl_to_vc[message->sl];
	bool adapted = message->vc != vc_original;

	nic->count[NIC_FRAMES_ADAPTED] += adapted;
	*packet = (struct weft_packet){
		.vc = message->vc,
		.vc_original = vc_original,
		.flags = (uint8_t)((tail ? FRAME_F_TAIL : 0) | (adapted ? FRAME_F_ADAPTED : 0) |
				   (nic_control_measures(nic) ? FRAME_F_LATENCY : 0)),
		.route = message->route,
		.route_length = message->route_length,
		.sl = message->sl,
		.destination = peer,
		.message = (uint32_t)tx->flow << 16 | message->number,
		.sequence = tx->send,
	};
	describe(nic, packet, FRAME_DATA, payload_bytes(nic, message, offset), now);
	packet->arrived_ps =
		weft_time_max(flow_tx_ready_ps(nic, peer), nic_control_ready_ps(nic, peer));
	nic->plan.message = tx->cursor;
	nic->plan.offset = offset;
}

/* Records that the message is next; after that, only credits and windows can delay it. */
static void record_start(struct message *message, weft_time now)
{
	if (message->started)
		return;
	message->started = true;
	message->start_ps = now;
}

static bool inject_frame(struct nic *nic, enum ready_class class, unsigned vc, uint16_t peer,
	struct weft_packet *packet, weft_time now)
{
	const struct flow_tx *tx = &nic->tx[peer];
	struct message *message = nic_message_at(nic, tx->cursor);
	uint32_t offset = (tx->send - message->first_sequence) * nic->config.mtu_bytes;
	unsigned extension = nic_control_measures(nic) ? FRAME_LATENCY_BYTES : 0;
	unsigned bytes = frame_bytes(message->route_length + extension,
		payload_bytes(nic, message, offset), tag_bytes(nic, FRAME_DATA));

	record_start(message, now);
	if (nic->link.state != LINK_UP ||
		!credit_suffices(&nic->link.tx[vc], frame_blocks(bytes))) {
		record_stall(nic, vc, now);
		return false;
	}
	nic->stalled_vcs &= ~(1u << vc);
	describe_data(nic, peer, offset, packet, now);
	credit_take(&nic->link.tx[vc], packet->blocks);
	/* A FIFO whose messages move to another VC also makes progress. */
	nic->backlog_moved[vc] = nic->backlog_moved[packet->vc_original] = now;
	nic_control_sent(nic, message, tx->send, packet->bytes + FRAME_WIRE_OVERHEAD, now);
	flow_tx_sent(nic, peer, packet->bytes + FRAME_WIRE_OVERHEAD, now);
	drop_head(nic, class, vc);
	flow_tx_place(nic, peer);
	return true;
}

static uint64_t candidates(const struct nic *nic, enum ready_class class)
{
	return nic->ready_vcs[class] | (class == READY_NEW ? nic->backlog_vcs : 0);
}

static bool inject_class(
	struct nic *nic, enum ready_class class, weft_time now, struct weft_packet *packet)
{
	uint64_t blocked = 0, vcs;

	while ((vcs = candidates(nic, class) & ~blocked) != 0) {
		unsigned vc = bits_round_robin(vcs, nic->next_vc[class]);
		uint16_t peer = next_peer(nic, class, vc, now);

		if (peer == ID_NONE) {
			/* It is no longer a candidate, or its FIFO must wait. */
			blocked |= candidates(nic, class) & BIT64(vc);
			continue;
		}
		if (inject_frame(nic, class, vc, peer, packet, now)) {
			nic->next_vc[class] = (uint8_t)((vc + 1) % FRAME_VCS_MAX);
			return true;
		}
		blocked |= BIT64(vc);
	}
	return false;
}

/* Checking new frames may turn some into retransmissions, and admitting one may request a flow. */
static bool inject_own(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	return inject_class(nic, READY_RETRY, now, packet) ||
	       inject_class(nic, READY_NEW, now, packet) ||
	       inject_class(nic, READY_RETRY, now, packet) || inject_due(nic, now, packet);
}

/* Returns the VC of the next frame in transit that can be sent, or FRAME_VCS_MAX. */
static unsigned ready_transit(struct nic *nic, weft_time now)
{
	uint32_t blocked = 0;
	unsigned vc;

	if (nic->itb->waiting == 0 || nic->link.state != LINK_UP)
		return FRAME_VCS_MAX;
	vc = itb_ready(nic->itb, nic->link.tx, now, &blocked);
	for (; blocked != 0; blocked &= blocked - 1)
		record_stall(nic, (unsigned)__builtin_ctz(blocked), now);
	return vc;
}

static struct weft_packet *reinject(struct nic *nic, unsigned vc, weft_time now)
{
	struct weft_packet *packet = itb_next_data(nic->itb, vc, now);

	nic->stalled_vcs &= ~(1u << vc);
	credit_take(&nic->link.tx[vc], packet->blocks);
	nic->count[NIC_ITB_REINJECTED]++;
	return packet;
}

static struct weft_packet *pass_control(struct nic *nic, weft_time now)
{
	struct weft_packet *passing = itb_next_control(nic->itb, now);

	nic->count[NIC_ITB_CONTROL] += passing != NULL;
	return passing;
}

/* Used while own frames are held: sends only the link's frames and frames in transit. */
static struct weft_packet *inject_held(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	struct weft_packet *passing;
	unsigned vc;

	if (packet != NULL && inject_link_local(nic, now, packet))
		return packet;
	if (nic->itb == NULL)
		return NULL;
	passing = pass_control(nic, now);
	if (passing != NULL)
		return passing;
	vc = ready_transit(nic, now);
	return vc != FRAME_VCS_MAX ? reinject(nic, vc, now) : NULL;
}

/* Serves own or transit frames according to their shares, or the other kind if the selected one
 * cannot be sent. */
static struct weft_packet *inject_in_turn(
	struct nic *nic, weft_time now, struct weft_packet *packet)
{
	unsigned vc = ready_transit(nic, now);

	if ((vc == FRAME_VCS_MAX || itb_share_is_own(&nic->itb->turn, nic->own_waiting)) &&
		packet != NULL && inject_own(nic, now, packet)) {
		itb_share_sent_own(&nic->itb->turn);
		return packet;
	}
	return vc != FRAME_VCS_MAX ? reinject(nic, vc, now) : NULL;
}

struct weft_packet *nic_inject(struct nic *nic, weft_time now, struct weft_packet *packet)
{
	struct weft_packet *passing;

	if (nic->held != 0)
		return inject_held(nic, now, packet);
	if (packet != NULL && (inject_link_local(nic, now, packet) || inject_cn(nic, now, packet) ||
				      inject_due(nic, now, packet)))
		return packet;
	if (nic->itb == NULL)
		return packet != NULL && inject_own(nic, now, packet) ? packet : NULL;
	passing = pass_control(nic, now);
	return passing != NULL ? passing : inject_in_turn(nic, now, packet);
}

static void write_data(struct nic *nic, const struct weft_packet *packet, uint8_t *out)
{
	const struct message *message = nic_message_at(nic, nic->plan.message);
	struct synthetic synthetic = {.source = packet->source,
		.destination = packet->destination,
		.message = packet->message,
		.message_bytes = message->bytes,
		.entry = message->entry,
		.generated_ns = message->generated_ps / PS_PER_NS};

	if (message->payload == NULL)
		synthetic_fill(&synthetic, nic->plan.offset, out, nic->plan.bytes);
	else if (message->payload == nic_pulled)
		nic->programs.pull(
			nic->programs.ctx, message->cookie, nic->plan.offset, out, nic->plan.bytes);
	else
		memcpy(out, message->payload + nic->plan.offset, nic->plan.bytes);
}

static void write_clock(
	struct nic *nic, const struct weft_packet *packet, uint8_t *out, weft_time now)
{
	struct control_clock clock =
		nic->plan.clock_answer
			? peer_clocks_answer(nic->clocks, packet->destination, now)
			: peer_clocks_question(nic->clocks, packet->destination, now);

	control_clock_encode(&clock, out);
}

static void write_payload(
	struct nic *nic, const struct weft_packet *packet, uint8_t *out, weft_time now)
{
	struct control_credit credit;
	struct control_hello hello;

	switch (packet->kind) {
	case FRAME_CREDIT:
		link_end_fill_credit(&nic->link, &credit, now);
		control_credit_encode(&credit, out);
		break;
	case FRAME_HELLO:
		link_end_fill_hello(&nic->link, &hello, now);
		control_hello_encode(&hello, out);
		break;
	case FRAME_ACK:
		control_ack_encode(&nic->plan.ack, out);
		break;
	case FRAME_FLOW:
		control_flow_encode(&nic->plan.flow, out);
		break;
	case FRAME_CN:
		cn_encode(&nic->plan.cn, out);
		break;
	case FRAME_CLOCK:
		write_clock(nic, packet, out, now);
		break;
	default:
		write_data(nic, packet, out);
	}
}

static void write_extension(struct nic *nic, uint8_t *out)
{
	struct latency_extension extension;

	latency_begin(&extension, nic_message_at(nic, nic->plan.message)->which);
	memcpy(out, &extension, sizeof(extension));
}

void nic_frame_build(
	struct nic *nic, const struct weft_packet *packet, uint8_t *frame, weft_time now)
{
	struct frame_fields fields = {
		.kind = packet->kind,
		.fabric = nic->config.fabric,
		.source = packet->source,
		.destination = packet->destination,
		.sl = packet->sl,
		.vc = packet->vc,
		.vc_original = packet->vc_original,
		.flags = packet->flags,
		.message = packet->message,
		.sequence = packet->sequence,
		.injected_ns = packet->injected_ns,
		.route = packet->route,
		.route_length = packet->route_length,
		.payload_bytes = (uint16_t)nic->plan.bytes,
	};

	uint8_t *payload = frame + FRAME_HEADER_BYTES + packet->route_length;

	if (packet->flags & FRAME_F_LATENCY) {
		write_extension(nic, payload);
		payload += FRAME_LATENCY_BYTES;
	}
	write_payload(nic, packet, payload, now);
	frame_build(frame, &fields);
	/* The tag is for the receiver's session, known from its offer. */
	if (tag_bytes(nic, packet->kind) > 0)
		data_tag_write(
			nic->config.data_key, nic->tx[packet->destination].peer_session, frame);
}
