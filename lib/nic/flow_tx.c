/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "flow_tx.h"

#include <errno.h>

/* Retry intervals double up to this many: a peer that is away, or behind a long queue, is not
 * flooded with its own window. */
#define BACKOFF_MAX 7

/* Names of flows need to differ from those of the interface's former lives. */
static uint16_t first_flow(uint32_t session)
{
	return (uint16_t)(session ^ (session >> 16));
}

void flow_tx_init(struct nic *nic)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++) {
		nic->tx[peer].flow = first_flow(nic->config.link.session);
		nic->tx[peer].cursor = MESSAGE_NONE;
		message_queue_init(&nic->tx[peer].messages);
	}
}

static void number_frames(struct flow_tx *tx, struct message *message)
{
	message->first_sequence = tx->next;
	message->number = tx->number++;
	tx->next += message->frames;
}

void flow_tx_admit(struct nic *nic, uint32_t index, weft_time now)
{
	struct message *message = nic_message_at(nic, index);
	struct flow_tx *tx = &nic->tx[message->destination];

	number_frames(tx, message);
	message->route = nic_choose_route(nic, message->destination, &message->route_length);
	message_queue_push(&nic->pool, &tx->messages, index);
	if (tx->cursor == MESSAGE_NONE)
		tx->cursor = index;
	if (!deadline_queue_armed(&nic->retry, message->destination)) {
		tx->progress_at = now;
		deadline_queue_arm(&nic->retry, message->destination, now);
	}
	flow_tx_place(nic, message->destination);
}

bool flow_tx_ready(const struct nic *nic, uint16_t peer, enum ready_class *class, unsigned *vc)
{
	const struct flow_tx *tx = &nic->tx[peer];

	if (tx->cursor == MESSAGE_NONE || tx->send - tx->acked >= nic->config.window_frames)
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

void flow_tx_sent(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];
	struct message *message = nic_message_at(nic, tx->cursor);

	/* The wait for an answer begins now, not when the message began to wait for credits. */
	if (tx->send == tx->acked)
		deadline_queue_arm(&nic->retry, peer, now);
	if (tx->send++ == tx->high) {
		tx->high = tx->send;
		nic->count[NIC_FRAMES_INJECTED]++;
		nic->count[NIC_MESSAGES_INJECTED] += !message->injected;
		nic->count[NIC_BYTES_INJECTED] += nic->plan.bytes;
		message->injected = true;
	} else {
		nic->count[NIC_FRAMES_RETRANSMITTED]++;
		nic->count[NIC_BYTES_RETRANSMITTED] += nic->plan.bytes;
	}
	if (tx->send == message->first_sequence + message->frames)
		tx->cursor = message->next;
}

void flow_tx_finish(struct nic *nic, uint32_t index, int error)
{
	struct message *message = nic_message_at(nic, index);
	struct nic_outcome outcome = {.destination = message->destination,
		.error = error,
		.bytes = message->bytes,
		.cookie = message->cookie};

	nic->count[error == 0 ? NIC_MESSAGES_ACKED : NIC_MESSAGES_FAILED]++;
	message_pool_put(&nic->pool, index);
	if (nic->config.above.done != NULL)
		nic->config.above.done(nic->config.above.ctx, &outcome);
}

/* Everything from 'acked' on is sent once more. */
static void go_back(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (tx->send == tx->acked)
		return;
	tx->send = tx->acked;
	tx->cursor = tx->messages.head;
	nic->count[NIC_GO_BACKS]++;
	flow_tx_place(nic, peer);
}

/* Ends the flow: what is in flight is forgotten, the next flow begins with frame 0. */
static void end_flow(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_FRAMES_ABANDONED] += tx->high - tx->acked;
	tx->flow++;
	tx->number = 0;
	tx->acked = tx->send = tx->high = tx->next = 0;
	tx->last_again = tx->backoff = tx->backoff_left = 0;
	tx->cursor = tx->messages.head;
}

/* The receiver has no memory of the flow: a new flow with all messages that it did not acknowledge
 * whole, from their first frames on. */
static void restart_flow(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_FLOW_RESTARTS]++;
	end_flow(nic, peer);
	for (uint32_t i = tx->messages.head; i != MESSAGE_NONE; i = nic_message_at(nic, i)->next)
		number_frames(tx, nic_message_at(nic, i));
	deadline_queue_cancel(&nic->retry, peer);
	if (tx->messages.head != MESSAGE_NONE) {
		tx->progress_at = now;
		deadline_queue_arm(&nic->retry, peer, now);
	}
	flow_tx_place(nic, peer);
}

static void acknowledge(struct nic *nic, uint16_t peer, uint32_t expected, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_FRAMES_ACKED] += expected - tx->acked;
	tx->acked = expected;
	tx->progress_at = now;
	tx->backoff = tx->backoff_left = 0;
	while (tx->messages.head != MESSAGE_NONE) {
		const struct message *message = nic_message_at(nic, tx->messages.head);
		uint32_t end = message->first_sequence + message->frames;

		if (sequence_before(expected, end))
			break;
		flow_tx_finish(nic, message_queue_pop(&nic->pool, &tx->messages), 0);
	}
	/* Frames that were about to be repeated have turned out to be there. */
	if (sequence_before(tx->send, expected)) {
		tx->send = expected;
		tx->cursor = tx->messages.head;
	}
	if (tx->messages.head == MESSAGE_NONE)
		deadline_queue_cancel(&nic->retry, peer);
	else
		deadline_queue_arm(&nic->retry, peer, now);
	flow_tx_place(nic, peer);
}

/* True if the acknowledgement speaks of this flow in its present state. */
static bool belongs(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];
	bool changed = tx->peer_session != 0 && tx->peer_session != ack->session;

	if (ack->flow != tx->flow || (!changed && sequence_before(ack->expected, tx->acked))) {
		nic->count[NIC_ACKS_STALE]++;
		return false;
	}
	tx->peer_session = ack->session;
	/* Another life of the receiver than the one that has the first part of this flow; or one
	 * that takes this flow for another of the same name, which it knew before. */
	if (changed || sequence_before(tx->high, ack->expected)) {
		restart_flow(nic, peer, now);
		return false;
	}
	return true;
}

void flow_tx_on_ack(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	nic->count[NIC_ACKS_RECEIVED]++;
	nic->count[NIC_AGAIN_RECEIVED] += ack->again != 0;
	if (!belongs(nic, peer, ack, now))
		return;
	if (ack->expected != tx->acked)
		acknowledge(nic, peer, ack->expected, now);
	/* Each request is obeyed once, however often it arrives. */
	if (ack->again != 0 && ack->again != tx->last_again) {
		tx->last_again = ack->again;
		go_back(nic, peer);
	}
}

/* Nothing was acknowledged for too long: all messages of the peer fail. */
static void give_up(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];
	struct message_queue failed = tx->messages;

	nic->count[NIC_GIVE_UPS]++;
	message_queue_init(&tx->messages);
	end_flow(nic, peer);
	while (failed.head != MESSAGE_NONE)
		flow_tx_finish(nic, message_queue_pop(&nic->pool, &failed), -ETIMEDOUT);
}

static void retry(struct nic *nic, uint16_t peer, weft_time now)
{
	struct flow_tx *tx = &nic->tx[peer];

	if (now - tx->progress_at >= nic->config.give_up_ps) {
		give_up(nic, peer);
		return;
	}
	deadline_queue_arm(&nic->retry, peer, now);
	if (tx->send == tx->acked)
		return; /* nothing is out there, or it is waiting to go already */
	if (tx->backoff_left > 0) {
		tx->backoff_left--;
		return;
	}
	tx->backoff = tx->backoff < BACKOFF_MAX ? (uint8_t)(tx->backoff * 2 + 1) : BACKOFF_MAX;
	tx->backoff_left = tx->backoff;
	nic->count[NIC_RETRY_TIMEOUTS]++;
	go_back(nic, peer);
}

void flow_tx_poll(struct nic *nic, weft_time now)
{
	uint16_t peer;

	while ((peer = deadline_queue_expired(&nic->retry, now)) != DEADLINE_NONE)
		retry(nic, peer, now);
}
