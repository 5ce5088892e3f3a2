/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "flow.h"

#include <errno.h>

#include "nic_control.h"

/* Each consecutive timeout doubles the wait, up to this many times. A message gets at least this
 * many tries, however long answers take. */
#define DOUBLINGS_MAX 3
#define TRIES_MIN     8
/* Consecutive timeouts after which a peer counts as silent. A single lost frame causes one. */
#define TIMEOUTS_SILENT 2

static uint16_t window_of(const struct nic *nic, uint16_t peer)
{
	if (nic->config.routes == NULL || !nic_routes_reaches(nic->config.routes, peer))
		return 0;
	return (uint16_t)nic->config.window_frames;
}

static void set_phase(struct flow_tx *tx, enum flow_phase phase)
{
	tx->phase = (uint8_t)phase;
	tx->open = phase == FLOW_ASKING ? 0 : tx->window;
	if (phase == FLOW_OFFERED && tx->open > FLOW_FLIGHT)
		tx->open = FLOW_FLIGHT;
}

/* No frame of the flow could have been sent before the input that is being handled. */
static void wait_for_this(const struct nic *nic, struct flow_tx *tx)
{
	if (tx->since < nic->due_ps)
		tx->since = nic->due_ps;
}

void flow_tx_init(struct nic *nic)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++) {
		flow_handshake_name(nic, (uint16_t)peer);
		nic->tx[peer].cursor = nic->tx[peer].fresh = MESSAGE_NONE;
		nic->tx[peer].window = window_of(nic, (uint16_t)peer);
		message_queue_init(&nic->tx[peer].messages);
	}
}

static void number_frames(struct flow_tx *tx, struct message *message)
{
	message->first_sequence = tx->next;
	message->number = tx->number++;
	message->started = false;
	message->wire_bytes = 0;
	tx->next += message->frames;
}

/* Returns the number of retry intervals until the next timeout: the smoothed round trip plus four
 * times its deviation, as in TCP (RFC 6298), doubled for each consecutive timeout. */
static uint16_t intervals(const struct nic *nic, const struct flow_tx *tx)
{
	weft_time usual = (tx->rtt_ns + 4 * (weft_time)tx->rtt_deviation_ns) * PS_PER_NS;
	weft_time max = nic->config.give_up_ps / (TRIES_MIN * nic->config.retry_ps);
	weft_time wait = (1 + usual / nic->config.retry_ps) << tx->timeouts;

	if (max == 0)
		max = 1;
	if (max > UINT16_MAX)
		max = UINT16_MAX;
	return (uint16_t)(wait < max ? wait : max);
}

static void start_timer(struct nic *nic, uint16_t peer, weft_time now)
{
	nic->tx[peer].wait = intervals(nic, &nic->tx[peer]);
	deadline_queue_arm(&nic->retry, peer, now);
}

static void choose_route(struct nic *nic, struct message *message, weft_time now)
{
	uint16_t peer = message->destination;
	struct nic_route_chosen chosen;

	if (nic_control_spreads(nic) && nic->config.routes->to[peer].count > 0)
		message->route =
			nic_take_route(nic, peer, nic_control_choose(nic, peer, now), &chosen);
	else
		message->route = nic_choose_route(nic, peer, message->bytes, &chosen);
	message->route_length = chosen.length;
	message->which = chosen.which;
	message->alternatives = chosen.alternatives;
}

static void record_injected(struct nic *nic, struct message *message)
{
	nic->count[NIC_MESSAGES_INJECTED] += !message->injected;
	nic->own_waiting -= !message->injected;
	message->injected = true;
}

/* Asks the receiver for the flow's start, unless it has started. */
static void ask(struct nic *nic, uint16_t peer)
{
	if (nic->tx[peer].phase == FLOW_ASKING)
		flow_due(nic, peer, FLOW_DUE_ASK);
}

/* Counts the first message as injected, because it may fail before any of its frames is sent. */
void flow_tx_asked(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (tx->messages.head == MESSAGE_NONE)
		return;
	record_injected(nic, nic_message_at(nic, tx->messages.head));
	start_timer(nic, peer, now);
}

void flow_tx_admit(struct nic *nic, uint32_t index, weft_time now)
{
	struct message *message = nic_message_at(nic, index);
	struct flow_tx *tx = &nic->tx[message->destination];

	number_frames(tx, message);
	choose_route(nic, message, now);
	nic->count[NIC_MESSAGES_STRANDED] += tx->window == 0;
	message_queue_push(&nic->pool, &tx->messages, index);
	if (tx->cursor == MESSAGE_NONE)
		tx->cursor = index;
	if (tx->fresh == MESSAGE_NONE)
		tx->fresh = index;
	if (!deadline_queue_armed(&nic->retry, message->destination)) {
		tx->progress_at = now;
		start_timer(nic, message->destination, now);
		ask(nic, message->destination);
	}
	flow_tx_place(nic, message->destination);
}

weft_time flow_tx_ready_ps(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];
	weft_time ready = nic_message_at(nic, tx->cursor)->ready_ps;
	weft_time opened = limit_times_of(&tx->opened, tx->send + 1);

	ready = ready > opened ? ready : opened;
	ready = ready > tx->since ? ready : tx->since;
	return ready > nic->up_ps ? ready : nic->up_ps;
}

bool flow_tx_ready(const struct nic *nic, uint16_t peer, enum ready_class *class, unsigned *vc)
{
	const struct flow_tx *tx = &nic->tx[peer];

	if (tx->cursor == MESSAGE_NONE || tx->send - tx->acked >= tx->open)
		return false;
	*class = tx->send != tx->high ? READY_RETRY : READY_NEW;
	*vc = nic->pool.message[tx->cursor].vc;
	return true;
}

void flow_tx_place(struct nic *nic, uint16_t peer)
{
	enum ready_class class;
	unsigned vc;

	if (nic->tx[peer].queued || !flow_tx_ready(nic, peer, &class, &vc))
		return;
	nic->tx[peer].queued = true;
	id_fifo_push(&nic->ready[class][vc], nic->ready_next, peer);
	nic->ready_vcs[class] |= 1u << vc;
}

/* Reports the performance of the route when a message's last frame is first sent. */
static void record_end(
	struct nic *nic, const struct message *message, uint32_t last_bytes, weft_time now)
{
	weft_time last_ps = last_bytes * nic->choice.byte_fs / 1000;

	route_choice_sent(&nic->choice, message->destination, message->alternatives, message->which,
		message->start_ps, now + last_ps, message->wire_bytes);
}

static void sent_fresh(struct nic *nic, struct flow_tx *tx, struct message *message,
	uint32_t wire_bytes, weft_time now)
{
	message->wire_bytes += wire_bytes;
	if (tx->high + 1 == message->first_sequence + message->frames)
		record_end(nic, message, wire_bytes, now);
	if (!tx->timing) {
		tx->timing = true;
		tx->timed = tx->high;
		tx->timed_at = now;
	}
	nic->count[NIC_FRAMES_INJECTED]++;
	nic->count[NIC_BYTES_INJECTED] += nic->plan.bytes;
	record_injected(nic, message);
	tx->high++;
}

/* After the last retransmission, continues with frames that were never sent. */
static void end_repetition(struct flow_tx *tx)
{
	if (sequence_before(tx->send, tx->repeat_end) && sequence_before(tx->send, tx->high))
		return;
	tx->send = tx->high;
	tx->cursor = tx->fresh;
}

void flow_tx_sent(struct nic *nic, uint16_t peer, uint32_t wire_bytes, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];
	struct message *message = nic_message_at(nic, tx->cursor);
	bool fresh = tx->send == tx->high;

	/* The wait for an answer starts now, not when the message started to wait for credits. */
	if (tx->send == tx->acked)
		start_timer(nic, peer, now);
	tx->send++;
	if (tx->send == message->first_sequence + message->frames)
		tx->cursor = message->next;
	if (fresh) {
		sent_fresh(nic, tx, message, wire_bytes, now);
		tx->fresh = tx->cursor;
		return;
	}
	nic->count[NIC_FRAMES_RETRANSMITTED]++;
	nic->count[NIC_BYTES_RETRANSMITTED] += nic->plan.bytes;
	end_repetition(tx);
}

void flow_tx_finish(struct nic *nic, uint32_t index, int error)
{
	struct message *message = nic_message_at(nic, index);
	struct flow_tx *tx = &nic->tx[message->destination];
	struct nic_outcome outcome = {.destination = message->destination,
		.error = error,
		.bytes = message->bytes,
		.cookie = message->cookie};

	nic->own_waiting -= !message->injected;
	nic->count[error == 0 ? NIC_MESSAGES_ACKED : NIC_MESSAGES_FAILED]++;
	vc_share_put(&nic->message_share, message->share);
	tx->held--;
	nic->room_ps = nic->due_ps;
	if (message->payload != NULL && message->payload == nic_pulled) {
		message_pool_put(&nic->pool, index);
		nic->programs.done(nic->programs.ctx, &outcome);
		return;
	}
	if (message->payload != NULL) {
		vc_share_put(&nic->payload_share, message->share);
		tx->held_payloads--;
	}
	message_pool_put(&nic->pool, index);
	if (nic->config.above.done != NULL)
		nic->config.above.done(nic->config.above.ctx, &outcome);
}

static void go_back(struct nic *nic, uint16_t peer, uint32_t count)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (tx->high == tx->acked)
		return;
	wait_for_this(nic, tx);
	tx->send = tx->acked;
	tx->cursor = tx->messages.head;
	tx->repeat_end = tx->acked + count;
	tx->timing = false; /* the answer would be ambiguous (Karn) */
	nic->count[NIC_GO_BACKS]++;
	flow_tx_place(nic, peer);
}

/* Resets the state of frames in flight. */
static void clear_flow(struct nic *nic, struct flow_tx *tx)
{
	nic->count[NIC_FRAMES_ABANDONED] += tx->high - tx->acked;
	tx->repeat = 0;
	tx->last_again = tx->timeouts = 0;
	tx->timing = false;
	tx->cursor = tx->fresh = tx->messages.head;
}

/* Starts the flow offered by the receiver and renumbers all messages that are not fully
 * acknowledged, each from its first frame. */
static void begin_flow(
	struct nic *nic, uint16_t peer, const struct control_flow *offer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	clear_flow(nic, tx);
	tx->flow = offer->offered;
	tx->number = offer->number;
	tx->acked = tx->send = tx->high = tx->next = tx->repeat_end = offer->first;
	tx->peer_session = offer->session;
	set_phase(tx, FLOW_OFFERED);
	limit_times_init(&tx->opened, tx->acked + tx->open);
	wait_for_this(nic, tx);
	for (uint32_t i = tx->messages.head; i != MESSAGE_NONE; i = nic_message_at(nic, i)->next)
		number_frames(tx, nic_message_at(nic, i));
	deadline_queue_cancel(&nic->retry, peer);
	if (tx->messages.head != MESSAGE_NONE) {
		tx->progress_at = now;
		start_timer(nic, peer, now);
	}
	flow_tx_place(nic, peer);
}

/* Handles an offer, which answers the request or frames in flight. A receiver that makes an offer
 * has not accepted this flow. It never will, because all frames up to the first acknowledgement are
 * valid until a different flow is accepted. No session therefore receives a frame twice. */
void flow_tx_on_offer(
	struct nic *nic, uint16_t peer, const struct control_flow *offer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];
	uint32_t in_flight = tx->phase == FLOW_ASKING ? 1 : tx->high - tx->acked;

	if (offer->flow != tx->flow || offer->sequence - tx->acked >= in_flight) {
		nic->count[NIC_OFFERS_FOREIGN]++;
		return;
	}
	nic->count[NIC_FLOW_RESTARTS] += tx->phase != FLOW_ASKING;
	begin_flow(nic, peer, offer, now);
}

/* Measures the round trip, smoothed as in RFC 6298. Only a measurement ends the longer waits after
 * timeouts. If any answer did, the round trip of a slow receiver would never be measured (Karn). */
static void take_time(struct flow_tx *tx, weft_time now)
{
	uint64_t ns = (now - tx->timed_at) / PS_PER_NS;
	uint32_t took = ns < UINT32_MAX / 8 ? (uint32_t)ns : UINT32_MAX / 8;
	uint32_t off = took > tx->rtt_ns ? took - tx->rtt_ns : tx->rtt_ns - took;

	tx->timing = false;
	tx->timeouts = 0;
	if (tx->rtt_ns == 0) {
		tx->rtt_ns = took;
		tx->rtt_deviation_ns = took / 2;
		return;
	}
	tx->rtt_deviation_ns = (3 * tx->rtt_deviation_ns + off) / 4;
	tx->rtt_ns = (7 * tx->rtt_ns + took) / 8;
}

static void finish_messages(struct nic *nic, struct flow_tx *tx, uint32_t expected)
{
	while (tx->messages.head != MESSAGE_NONE) {
		const struct message *message = nic_message_at(nic, tx->messages.head);

		if (sequence_before(expected, message->first_sequence + message->frames))
			return;
		flow_tx_finish(nic, message_queue_pop(&nic->pool, &tx->messages), 0);
	}
}

static void acknowledge(struct nic *nic, uint16_t peer, uint32_t expected, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_FRAMES_ACKED] += expected - tx->acked;
	if (tx->timing && sequence_before(tx->timed, expected))
		take_time(tx, now);
	tx->acked = expected;
	tx->progress_at = now;
	tx->silent = false;
	finish_messages(nic, tx, expected);
	/* Frames about to be repeated have arrived after all. */
	if (sequence_before(tx->send, expected)) {
		tx->send = expected;
		tx->cursor = tx->messages.head;
		end_repetition(tx);
	}
	if (tx->messages.head == MESSAGE_NONE)
		deadline_queue_cancel(&nic->retry, peer);
	else
		start_timer(nic, peer, now);
	flow_tx_place(nic, peer);
}

/* Continues after a timeout, when it is unknown which frames are missing. The first frame is
 * repeated. While answers show that exactly the repeated frames were missing, twice as many follow
 * each time. An answer beyond them means that more had arrived. It was then only late, or the
 * receiver will request the rest. */
static void continue_after_timeout(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];
	uint32_t left = tx->recover - tx->acked;

	if ((int32_t)left <= 0)
		tx->repeat = 0;
	if (tx->repeat == 0 || tx->acked != tx->repeat_end)
		return; /* done, part of the answer is missing, or it covers more frames */
	if (tx->repeat < nic->config.window_frames)
		tx->repeat = (uint16_t)(tx->repeat * 2);
	go_back(nic, peer, tx->repeat < left ? tx->repeat : left);
}

/* Returns true if the acknowledgement belongs to this flow and session, and to frames that were
 * sent. A receiver that restarts makes an offer before it acknowledges anything. */
static bool belongs(struct nic *nic, const struct flow_tx *tx, const struct control_ack *ack)
{
	if (tx->phase == FLOW_ASKING || ack->flow != tx->flow || ack->session != tx->peer_session ||
		sequence_before(tx->high, ack->expected)) {
		nic->count[NIC_ACKS_FOREIGN]++;
		return false;
	}
	if (sequence_before(ack->expected, tx->acked)) {
		nic->count[NIC_ACKS_STALE]++;
		return false;
	}
	return true;
}

/* Opens the flow, which the receiver has accepted. */
static void open_flow(struct nic *nic, uint16_t peer)
{
	set_phase(&nic->tx[peer], FLOW_OPEN);
	flow_tx_place(nic, peer);
}

void flow_tx_on_ack(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_ACKS_RECEIVED]++;
	nic->count[NIC_AGAIN_RECEIVED] += ack->again != 0;
	if (!belongs(nic, tx, ack))
		return;
	if (tx->phase == FLOW_OFFERED)
		open_flow(nic, peer);
	if (ack->expected != tx->acked) {
		acknowledge(nic, peer, ack->expected, now);
		if (tx->repeat > 0)
			continue_after_timeout(nic, peer);
	}
	limit_times_raise(&tx->opened, tx->acked + tx->open, nic->due_ps);
	/* Each request is served once, however often it arrives. */
	if (ack->again != 0 && ack->again != tx->last_again) {
		tx->last_again = ack->again;
		go_back(nic, peer, ack->missing != 0 ? ack->missing : tx->high - tx->acked);
	}
}

/* Fails all messages of the peer, because nothing was acknowledged for too long. */
static void give_up(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];
	struct message_queue failed = tx->messages;

	nic->count[NIC_GIVE_UPS]++;
	message_queue_init(&tx->messages);
	clear_flow(nic, tx);
	flow_handshake_name(nic, peer);
	set_phase(tx, FLOW_ASKING);
	while (failed.head != MESSAGE_NONE)
		flow_tx_finish(nic, message_queue_pop(&nic->pool, &failed), -ETIMEDOUT);
}

static void repeat_first(struct nic *nic, uint16_t peer)
{
	nic->tx[peer].repeat = 1;
	nic->tx[peer].recover = nic->tx[peer].high;
	go_back(nic, peer, 1);
}

static bool waits_for_answer(const struct nic *nic, uint16_t peer)
{
	const struct flow_tx *tx = &nic->tx[peer];

	if (tx->phase == FLOW_ASKING)
		return tx->window != 0 && (nic->rx[peer].due & FLOW_DUE_ASK) == 0;
	return tx->window != 0 && tx->send != tx->acked;
}

static void retry(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (now - tx->progress_at >= nic->config.give_up_ps) {
		give_up(nic, peer);
		return;
	}
	deadline_queue_arm(&nic->retry, peer, now);
	if (!waits_for_answer(nic, peer))
		return; /* nothing is in flight, or it is already queued or blocked */
	if (--tx->wait > 0)
		return;
	if (tx->timeouts < DOUBLINGS_MAX)
		tx->timeouts++;
	if (tx->timeouts >= TIMEOUTS_SILENT)
		tx->silent = true;
	tx->wait = intervals(nic, tx);
	nic->count[NIC_RETRY_TIMEOUTS]++;
	if (tx->phase == FLOW_ASKING)
		ask(nic, peer);
	else
		repeat_first(nic, peer);
}

void flow_tx_poll(struct nic *nic, weft_time now)
{
	uint16_t peer;

	while ((peer = deadline_queue_expired(&nic->retry, now)) != DEADLINE_NONE)
		retry(nic, peer, now);
}

/* Updates a message in flight. 'same': its routes are unchanged, at a new address. */
static void reroute_message(struct nic *nic, struct message *message, bool same, weft_time now)
{
	uint8_t length;

	if (same && message->route != NULL) {
		message->route = nic_routes_get(
			nic->config.routes, message->destination, message->which, &length);
		return;
	}
	choose_route(nic, message, now);
	/* Measurements of its frames would combine several routes. */
	if (message->started)
		message->alternatives = 0;
}

/* Resumes when a route exists again. Frames in flight were sent long ago. Repeating the first one
 * shows, without a timeout, whether any has arrived. */
static void resume_with_route(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (tx->messages.head == MESSAGE_NONE)
		return;
	wait_for_this(nic, tx);
	tx->progress_at = now;
	tx->timeouts = 0;
	start_timer(nic, peer, now);
	ask(nic, peer);
	if (tx->high != tx->acked)
		repeat_first(nic, peer);
	flow_tx_place(nic, peer);
}

void flow_tx_reroute(struct nic *nic, uint16_t peer, bool same, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];
	bool reached = tx->window != 0;

	tx->window = window_of(nic, peer);
	set_phase(tx, (enum flow_phase)tx->phase);
	for (uint32_t i = tx->messages.head; i != MESSAGE_NONE; i = nic_message_at(nic, i)->next) {
		reroute_message(nic, nic_message_at(nic, i), same, now);
		nic->count[NIC_MESSAGES_REROUTED] += !same;
		nic->count[NIC_MESSAGES_STRANDED] += reached && tx->window == 0;
	}
	if (!reached && tx->window != 0)
		resume_with_route(nic, peer, now);
}

void flow_tx_resume(struct nic *nic, weft_time held_ps, weft_time now)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++) {
		struct flow_tx *tx = &nic->tx[peer];

		wait_for_this(nic, tx);
		if (tx->messages.head == MESSAGE_NONE)
			continue;
		/* The peer may have made progress while frames were held. */
		tx->progress_at +=
			held_ps < now - tx->progress_at ? held_ps : now - tx->progress_at;
		tx->timing = false;
		start_timer(nic, (uint16_t)peer, now);
		for (uint32_t i = tx->messages.head; i != MESSAGE_NONE;
			i = nic_message_at(nic, i)->next)
			nic_message_at(nic, i)->start_ps += held_ps;
	}
}
