/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic_private.h"

static const enum nic_counter receive_discards[] = {NIC_DISCARD_DUPLICATE,
	NIC_DISCARD_BEYOND_WINDOW, NIC_DISCARD_NO_WINDOW, NIC_DISCARD_OLD_FLOW,
	NIC_DISCARD_FLOW_END, NIC_DISCARD_PAYLOAD_CRC, NIC_DISCARD_DATA_TAG,
	NIC_DISCARD_ROUTING_ERROR, NIC_DISCARD_MISROUTED, NIC_DISCARD_SOURCE, NIC_DISCARD_VC,
	NIC_DISCARD_CREDIT_VIOLATION, NIC_DISCARD_DRAINED, NIC_DISCARD_END_MARK, NIC_ITB_DISCARDED,
	NIC_ITB_ABSORBED};

static uint32_t find_message(const struct nic *nic, const struct flow_tx *tx, uint32_t sequence)
{
	uint32_t i = tx->messages.head;

	for (; i != MESSAGE_NONE; i = nic->pool.message[i].next)
		if (sequence_before(sequence,
			    nic->pool.message[i].first_sequence + nic->pool.message[i].frames))
			break;
	return i;
}

/* Checks that a peer's queue is numbered without gaps from 'acked' to 'next'. */
static const char *check_flow(const struct nic *nic, uint16_t peer)
{
	const struct flow_tx *tx = &nic->tx[peer];
	uint32_t sequence = tx->acked;

	if (sequence_before(tx->send, tx->acked) || sequence_before(tx->high, tx->send) ||
		sequence_before(tx->next, tx->high))
		return "acked <= send <= high <= next does not hold";
	if (tx->high - tx->acked > nic->config.window_frames)
		return "more frames in flight than the window admits";
	for (uint32_t i = tx->messages.head; i != MESSAGE_NONE; i = nic->pool.message[i].next) {
		const struct message *message = &nic->pool.message[i];
		uint32_t end = message->first_sequence + message->frames;

		if (message->first_sequence != sequence &&
			(i != tx->messages.head ||
				sequence_before(sequence, message->first_sequence)))
			return "a gap in the numbers of a flow";
		sequence = end;
	}
	if (sequence != tx->next)
		return "the numbers of a flow do not end at 'next'";
	if (find_message(nic, tx, tx->send) != tx->cursor)
		return "the cursor of a flow is not at the message that is sent next";
	if (find_message(nic, tx, tx->high) != tx->fresh)
		return "a flow lost its first message that was not completely sent";
	if ((tx->messages.head != MESSAGE_NONE) != deadline_queue_armed(&nic->retry, peer))
		return "a flow has messages but no timer, or a timer but no messages";
	return NULL;
}

static uint32_t queue_length(const struct nic *nic, const struct message_queue *queue)
{
	uint32_t length = 0;

	for (uint32_t i = queue->head; i != MESSAGE_NONE; i = nic->pool.message[i].next)
		length++;
	return length;
}

static uint32_t count_waiting(const struct nic *nic)
{
	uint32_t waiting = 0;

	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		waiting += queue_length(nic, &nic->backlog[vc]);
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		for (uint32_t i = nic->tx[peer].messages.head; i != MESSAGE_NONE;
			i = nic->pool.message[i].next)
			waiting += !nic->pool.message[i].injected;
	return waiting;
}

static const char *check_transit(const struct nic *nic)
{
	const struct itb *itb = nic->itb;

	if (count_waiting(nic) != nic->own_waiting)
		return "the number of messages of which no frame has been sent is wrong";
	if (itb == NULL)
		return NULL;
	if (itb->absorbed != nic->count[NIC_ITB_ABSORBED] ||
		itb->reinjected != nic->count[NIC_ITB_REINJECTED] ||
		itb->abandoned != nic->count[NIC_ITB_ABANDONED])
		return "the interface has a different count of frames in transit";
	return itb_check(itb);
}

/* Counts the messages of a queue per VC in 'used', and those with a payload in 'payloads'. */
static void add_shares(const struct nic *nic, const struct message_queue *queue, uint32_t *used,
	uint32_t *payloads)
{
	for (uint32_t i = queue->head; i != MESSAGE_NONE; i = nic->pool.message[i].next) {
		const struct message *message = &nic->pool.message[i];

		used[message->share]++;
		payloads[message->share] += message_has_slot(message);
	}
}

static bool is_share(const struct vc_share *share, const uint32_t *used, unsigned vcs)
{
	uint32_t common = 0;

	for (unsigned vc = 0; vc < vcs; vc++) {
		if (used[vc] != share->used[vc])
			return false;
		common += used[vc] > share->reserved ? used[vc] - share->reserved : 0;
	}
	return common == share->common_used && common <= share->common;
}

static const char *check_shares(const struct nic *nic)
{
	uint32_t used[FRAME_VCS_MAX] = {0}, payloads[FRAME_VCS_MAX] = {0};

	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		add_shares(nic, &nic->backlog[vc], used, payloads);
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		add_shares(nic, &nic->tx[peer].messages, used, payloads);
	if (is_share(&nic->message_share, used, nic->config.link.vcs) &&
		is_share(&nic->payload_share, payloads, nic->config.link.vcs))
		return NULL;
	return "the VCs' shares of the pool are wrong";
}

/* Subtracts the messages of a queue from the peer's counts of held messages. */
static void take_off_held(
	const struct nic *nic, const struct message_queue *queue, uint16_t peer, struct flow_tx *tx)
{
	for (uint32_t i = queue->head; i != MESSAGE_NONE; i = nic->pool.message[i].next) {
		bool its = nic->pool.message[i].destination == peer;

		tx->held -= its;
		tx->held_payloads -= its && message_has_slot(&nic->pool.message[i]);
	}
}

static const char *check_held(const struct nic *nic, uint16_t peer)
{
	struct flow_tx tx = nic->tx[peer];

	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		take_off_held(nic, &nic->backlog[vc], peer, &tx);
	take_off_held(nic, &nic->tx[peer].messages, peer, &tx);
	return tx.held == 0 && tx.held_payloads == 0 ? NULL : "a peer's share of the pool is wrong";
}

static const char *check_messages(const struct nic *nic)
{
	uint32_t held = 0;

	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++) {
		held += queue_length(nic, &nic->backlog[vc]);
		if ((nic->backlog[vc].head != MESSAGE_NONE) != ((nic->backlog_vcs >> vc) & 1))
			return "the set of VCs with a backlog is wrong";
	}
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		held += queue_length(nic, &nic->tx[peer].messages);
	if (held != nic->pool.used)
		return "a message is in no queue";
	if (nic->count[NIC_MESSAGES_QUEUED] !=
		nic->count[NIC_MESSAGES_ACKED] + nic->count[NIC_MESSAGES_FAILED] + held)
		return "queued messages differ from acked + failed + held";
	return NULL;
}

static const char *check_frames(const struct nic *nic)
{
	uint64_t in_flight = 0, gone = 0;

	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		in_flight += nic->tx[peer].high - nic->tx[peer].acked;
	if (nic->count[NIC_FRAMES_INJECTED] !=
		nic->count[NIC_FRAMES_ACKED] + nic->count[NIC_FRAMES_ABANDONED] + in_flight)
		return "injected frames differ from acked + abandoned + in flight";
	for (unsigned i = 0; i < sizeof(receive_discards) / sizeof(receive_discards[0]); i++)
		gone += nic->count[receive_discards[i]];
	if (nic->count[NIC_FRAMES_RECEIVED] !=
		nic->count[NIC_FRAMES_DELIVERED] + gone + nic->resequencer.total)
		return "received frames differ from delivered + discarded + held";
	return NULL;
}

static const char *check_windows(const struct nic *nic)
{
	unsigned open = 0;

	for (unsigned peer = 0; peer < nic->config.hosts; peer++) {
		uint16_t window = nic->rx[peer].window;

		if (window == RESEQUENCER_NONE)
			continue;
		open++;
		if (nic->resequencer.held[window] == 0)
			return "a peer has an empty resequencing window";
		if (!deadline_queue_armed(&nic->gap, (uint16_t)peer))
			return "frames are waiting for others, but no timer runs";
	}
	if (open + nic->resequencer.free_count != nic->resequencer.windows)
		return "a resequencing window is lost";
	return NULL;
}

static const char *check_ready(const struct nic *nic)
{
	for (unsigned peer = 0; peer < nic->config.hosts; peer++) {
		const struct flow_tx *tx = &nic->tx[peer];

		if (tx->cursor != MESSAGE_NONE && tx->send - tx->acked < tx->open && !tx->queued)
			return "a peer that may send is not queued";
	}
	for (unsigned vc = 0; vc < nic->link.config.vcs; vc++)
		if (credit_stored(&nic->link.rx[vc]) != 0)
			return "the interface's buffer is not empty";
	return NULL;
}

const char *nic_check(const struct nic *nic)
{
	const char *wrong = check_messages(nic);

	for (unsigned peer = 0; wrong == NULL && peer < nic->config.hosts; peer++)
		wrong = check_flow(nic, (uint16_t)peer);
	for (unsigned peer = 0; wrong == NULL && peer < nic->config.hosts; peer++)
		wrong = check_held(nic, (uint16_t)peer);
	if (wrong == NULL)
		wrong = check_shares(nic);
	if (wrong == NULL)
		wrong = check_frames(nic);
	if (wrong == NULL)
		wrong = check_windows(nic);
	if (wrong == NULL)
		wrong = check_transit(nic);
	return wrong != NULL ? wrong : check_ready(nic);
}
