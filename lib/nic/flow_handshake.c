/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "flow.h"

#include <sodium/crypto_shorthash.h>

#include "wire/big_endian.h"

_Static_assert(NIC_SECRET_BYTES == crypto_shorthash_KEYBYTES, "the secret is the hash's key");

/* Uses of the hash, whose results are independent of each other. */
enum use { USE_ASK, USE_NAME, USE_NUMBERS };

void flow_due(struct nic *nic, uint16_t peer, enum flow_due kind)
{
	uint8_t *due = &nic->rx[peer].due;

	if (*due == 0)
		id_fifo_push(&nic->acks, nic->ack_next, peer);
	*due |= (uint8_t)kind;
	if (nic->rx[peer].due_ps < nic->due_ps)
		nic->rx[peer].due_ps = nic->due_ps;
}

uint16_t flow_next_due(struct nic *nic, enum flow_due *kind)
{
	uint16_t peer;
	uint8_t *due;

	if (nic->acks.head == ID_NONE)
		return ID_NONE;
	peer = id_fifo_pop(&nic->acks, nic->ack_next);
	due = &nic->rx[peer].due;
	*kind = (enum flow_due)(*due & -*due);
	*due &= (uint8_t)(*due - 1);
	if (*due != 0)
		id_fifo_push(&nic->acks, nic->ack_next, peer);
	return peer;
}

static uint64_t keyed(
	const struct nic *nic, enum use use, uint16_t peer, uint16_t flow, uint32_t count)
{
	uint8_t in[12], out[crypto_shorthash_BYTES];
	uint64_t hash = 0;

	put32(put32(put32(in, (uint32_t)nic->config.host << 16 | peer), (uint32_t)use << 16 | flow),
		count);
	crypto_shorthash(out, in, sizeof(in), nic->config.secret);
	for (unsigned i = 0; i < sizeof(out); i++)
		hash = hash << 8 | out[i];
	return hash;
}

void flow_handshake_name(struct nic *nic, uint16_t peer)
{
	struct flow_tx *tx = &nic->tx[peer];
	uint64_t hash = keyed(nic, USE_ASK, peer, 0, ++tx->asks);

	tx->flow = (uint16_t)(hash >> 32);
	tx->acked = tx->send = tx->high = tx->next = tx->repeat_end = (uint32_t)hash;
}

struct control_flow flow_handshake_ask(const struct nic *nic, uint16_t peer)
{
	const struct flow_tx *tx = &nic->tx[peer];

	return (struct control_flow){
		.step = CONTROL_FLOW_ASK, .flow = tx->flow, .sequence = tx->acked};
}

void flow_handshake_answer(struct nic *nic, uint16_t peer, uint16_t flow, uint32_t sequence)
{
	nic->rx[peer].unknown_flow = flow;
	nic->rx[peer].unknown_sequence = sequence;
	flow_due(nic, peer, FLOW_DUE_OFFER);
}

/* Returns a name different from the flow of the answered frame and from the current flow. */
static uint16_t name(const struct nic *nic, uint16_t peer)
{
	const struct flow_rx *rx = &nic->rx[peer];
	uint16_t offered = (uint16_t)keyed(nic, USE_NAME, peer, rx->unknown_flow, rx->taken_up);

	while (offered == rx->unknown_flow || offered == rx->flow)
		offered++;
	return offered;
}

struct control_flow flow_handshake_offer(const struct nic *nic, uint16_t peer)
{
	const struct flow_rx *rx = &nic->rx[peer];
	uint16_t offered = name(nic, peer);
	uint64_t numbers = keyed(nic, USE_NUMBERS, peer, offered, rx->taken_up);

	return (struct control_flow){.step = CONTROL_FLOW_OFFER,
		.flow = rx->unknown_flow,
		.sequence = rx->unknown_sequence,
		.offered = offered,
		.number = (uint16_t)(numbers >> 32),
		.first = (uint32_t)numbers,
		.session = nic->config.link.session};
}

bool flow_handshake_offers(const struct nic *nic, uint16_t peer, uint16_t flow)
{
	return name(nic, peer) == flow;
}

bool flow_handshake_is_on_offer(const struct nic *nic, uint16_t peer, uint16_t flow,
	uint32_t sequence, struct flow_start *start)
{
	const struct flow_rx *rx = &nic->rx[peer];
	uint64_t numbers = keyed(nic, USE_NUMBERS, peer, flow, rx->taken_up);

	start->first = (uint32_t)numbers;
	start->number = (uint16_t)(numbers >> 32);
	return sequence - start->first < FLOW_FLIGHT && !(rx->known && rx->flow == flow);
}
