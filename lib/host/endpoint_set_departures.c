/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>

#include "endpoint_private.h"
#include "nic/nic.h"
#include "wire/frame.h"

/* Messages to other endpoints: the programs' pieces, and the interface's control messages. */

#define PIECES_A_TURN 32
#define PROBE_PS      (100 * PS_PER_MS) /* wait for a grant before a probe */

struct endpoint_control *endpoint_set_get_control(struct endpoint_set *set)
{
	for (unsigned i = 0; i < CONTROLS; i++)
		if (!set->control[i].used)
			return &set->control[i];
	return NULL;
}

/* Returns 0, or a negative errno of nic_send(). 'nic' may be NULL if 'host' is this host. */
static int send_control(struct endpoint_set *set, struct nic *nic, uint16_t host,
	const struct endpoint_wire *wire, weft_time now)
{
	struct endpoint_control *control = endpoint_set_get_control(set);
	struct nic_message message = {.destination = host,
		.payload = nic_pulled,
		.bytes = ENDPOINT_WIRE_BYTES,
		.generated_ps = now};
	int result;

	if (host == set->host) {
		endpoint_set_take_control(set, host, wire);
		return 0;
	}
	if (control == NULL)
		return -EAGAIN;
	control->host = host;
	control->wire = *wire;
	message.cookie = COOKIE_CONTROL | (uint64_t)(control - set->control);
	result = nic_send(nic, &message, now);
	control->used = result == 0;
	set->count[ENDPOINT_MESSAGES_OUT] += result == 0;
	return result;
}

/* Copies the frames of a message to an endpoint of this host, without using the fabric. */
static void deliver_here(struct endpoint_set *set, uint64_t cookie, uint32_t bytes, weft_time now)
{
	struct nic_delivery delivery = {.source = set->host, .payload = set->scratch, .now = now};

	for (uint32_t offset = 0; offset < bytes; offset += delivery.bytes) {
		uint32_t left = bytes - offset;

		delivery.bytes = left < set->mtu_bytes ? left : set->mtu_bytes;
		delivery.offset = offset;
		delivery.first = offset == 0;
		delivery.tail = left == delivery.bytes;
		endpoint_set_pull(set, cookie, offset, set->scratch, delivery.bytes);
		endpoint_set_deliver(set, &delivery);
	}
}

/* Hides a missing route (-ENETUNREACH) as -EAGAIN until the give-up time has passed. */
static int wait_for_route(struct endpoint_set *set, struct pair *pair, int result, weft_time now)
{
	if (result == 0)
		pair->refused_ps = 0;
	if (result != -ENETUNREACH)
		return result;
	if (pair->refused_ps == 0)
		pair->refused_ps = now;
	return now - pair->refused_ps < set->give_up_ps ? -EAGAIN : result;
}

/* Returns 0 if the piece was sent, or -EAGAIN if it cannot be sent now. After any other error, the
 * pair must fail. */
static int send_piece(struct endpoint_set *set, struct endpoint *endpoint, uint32_t index,
	struct nic *nic, weft_time now)
{
	struct pair *pair = &endpoint->pair[index];
	unsigned slot = pair->head;
	struct order *order = &endpoint->order[slot];
	uint64_t cookie = COOKIE_PIECE | (uint64_t)endpoint->config.number << 32 | slot;
	struct nic_message message = {.destination = (uint16_t)(index / set->endpoints),
		.payload = nic_pulled,
		.bytes = order->bytes + ENDPOINT_WIRE_BYTES,
		.generated_ps = now,
		.cookie = cookie};
	int result = message.destination == set->host ? 0 : nic_send(nic, &message, now);

	result = wait_for_route(set, pair, result, now);
	if (result < 0)
		return result == -EHOSTDOWN ? -EAGAIN : result;
	if (order->life == 0)
		order->life = pair->tx_life;
	pair->used = true;
	pair->head = order->next;
	pair->sent += frame_count(message.bytes, set->mtu_bytes);
	order->state = ORDER_SENT;
	endpoint->queued--;
	endpoint->sent++;
	set->count[ENDPOINT_MESSAGES_OUT] += message.destination != set->host;
	set->count[ENDPOINT_PIECES_SENT]++;
	set->count[ENDPOINT_BYTES_SENT] += order->bytes;
	if (message.destination == set->host) {
		deliver_here(set, cookie, message.bytes, now);
		endpoint_end_piece(endpoint, slot, 0, set->count);
	}
	return 0;
}

static bool window_is_open(
	const struct endpoint_set *set, const struct endpoint *endpoint, const struct pair *pair)
{
	uint32_t bytes;

	if (pair->head == SLOT_NONE)
		return false;
	bytes = endpoint->order[pair->head].bytes + ENDPOINT_WIRE_BYTES;
	return (int32_t)(pair->limit - pair->sent - frame_count(bytes, set->mtu_bytes)) >= 0;
}

/* Serves the pairs with an open window round robin. */
static unsigned send_pieces(
	struct endpoint_set *set, struct endpoint *endpoint, struct nic *nic, weft_time now)
{
	unsigned count = 0, refused = 0;
	uint32_t index;

	while (count + refused < PIECES_A_TURN &&
		(index = pair_fifo_pop(endpoint, &endpoint->ready, false)) != PAIR_NONE) {
		struct pair *pair = &endpoint->pair[index];
		int result = window_is_open(set, endpoint, pair)
				     ? send_piece(set, endpoint, index, nic, now)
				     : -ENOBUFS;

		pair->ready = false;
		if (result < 0 && result != -EAGAIN && result != -ENOBUFS)
			endpoint_fail_pair(endpoint, index, result, false, set->count);
		refused += result == -EAGAIN;
		count += result == 0;
		if (pair->head != SLOT_NONE && !pair->ready && result != -ENOBUFS) {
			pair->ready = true;
			pair_fifo_push(endpoint, &endpoint->ready, index, false);
		}
	}
	return count;
}

static int send_owed(struct endpoint_set *set, struct endpoint *endpoint, uint32_t index,
	struct nic *nic, weft_time now)
{
	struct pair *pair = &endpoint->pair[index];
	uint8_t what = (uint8_t)(pair->owes & -pair->owes);
	struct endpoint_wire wire = {.from = endpoint->config.number,
		.to = (uint16_t)(index % set->endpoints),
		.from_life = endpoint->config.life,
		.to_life = what == OWES_PROBE || (what == OWES_GONE && pair->rx_life == 0)
				   ? pair->tx_life
				   : pair->rx_life};
	int result;

	wire.kind = what == OWES_CREDIT  ? ENDPOINT_CREDIT
		    : what == OWES_PROBE ? ENDPOINT_PROBE
					 : ENDPOINT_GONE;
	if (what == OWES_CREDIT)
		wire.number = endpoint_grant(endpoint, index);
	result = wire.to_life == 0 && what != OWES_PROBE
			 ? 0
			 : send_control(set, nic, (uint16_t)(index / set->endpoints), &wire, now);
	if (result != -EAGAIN)
		pair->owes &= (uint8_t)~what;
	if (what == OWES_PROBE && wait_for_route(set, pair, result, now) == -ENETUNREACH)
		endpoint_fail_pair(endpoint, index, -ENETUNREACH, false, set->count);
	return result;
}

static unsigned send_controls(
	struct endpoint_set *set, struct endpoint *endpoint, struct nic *nic, weft_time now)
{
	unsigned count = 0;
	uint32_t index;

	while (count < PIECES_A_TURN &&
		(index = pair_fifo_pop(endpoint, &endpoint->owed, true)) != PAIR_NONE) {
		int result = endpoint->pair[index].owes != 0
				     ? send_owed(set, endpoint, index, nic, now)
				     : 0;

		if (endpoint->pair[index].owes != 0)
			pair_fifo_push(endpoint, &endpoint->owed, index, true);
		if (result == -EAGAIN)
			break;
		count++;
	}
	return count;
}

/* Sends the answers recorded for this poll. An answer that cannot be sent is dropped, because the
 * peer probes again. */
static void send_answers(struct endpoint_set *set, struct nic *nic, weft_time now)
{
	for (; set->answers != 0; set->answers &= set->answers - 1) {
		struct endpoint_control *control = &set->control[__builtin_ctzll(set->answers)];

		control->used = false;
		send_control(set, nic, control->host, &control->wire, now);
	}
}

static void probe(struct endpoint *endpoint, weft_time now)
{
	bool waits = endpoint->queued + endpoint->held > 0;

	if (!waits || now < endpoint->probe_ps) {
		if (!waits)
			endpoint->probe_ps = now + PROBE_PS;
		return;
	}
	endpoint->probe_ps = now + PROBE_PS;
	for (uint32_t i = 0; i < endpoint->pairs; i++)
		if ((endpoint->pair[i].head != SLOT_NONE && !endpoint->pair[i].ready) ||
			endpoint->pair[i].held != SLOT_NONE)
			endpoint_owe(endpoint, i, OWES_PROBE);
}

static bool is_known(const struct pair *pair)
{
	return pair->used || pair->rx_life != 0;
}

/* Closes an endpoint when its orders have been sent or have waited for the give-up time. */
static void close_drained(struct endpoint_set *set, struct endpoint *endpoint, weft_time now)
{
	if (!endpoint->closing || endpoint->closed)
		return;
	if (endpoint->closing_ps == 0)
		endpoint->closing_ps = now;
	if (endpoint->queued > 0 && now - endpoint->closing_ps < set->give_up_ps)
		return;
	endpoint->closed = true;
	for (uint32_t i = 0; i < endpoint->pairs; i++) {
		endpoint_fail_pair(endpoint, i, -ESHUTDOWN, false, set->count);
		endpoint->pair[i].owes &= (uint8_t)~OWES_PROBE;
		/* A due grant is sent first, because it shows that the program was attached. */
		if (is_known(&endpoint->pair[i]))
			endpoint_owe(endpoint, i, OWES_GONE);
	}
}

static void gauge(struct endpoint_set *set, const struct endpoint *endpoint)
{
	set->count[ENDPOINT_PROGRAMS] += !endpoint->closing;
	set->count[ENDPOINT_WAITING] += endpoint->queued + endpoint->held;
	set->count[ENDPOINT_UNEXPECTED] +=
		atomic_load_explicit(&endpoint->marks->unexpected, memory_order_relaxed);
}

unsigned endpoint_set_poll(struct endpoint_set *set, struct nic *nic, weft_time now)
{
	unsigned moved = 0;

	send_answers(set, nic, now);
	for (unsigned i = ENDPOINT_PROGRAMS; i < ENDPOINT_COUNTER_COUNT; i++)
		set->count[i] = 0;
	for (unsigned i = 0; i < set->endpoints; i++) {
		struct endpoint *endpoint = set->at[i];

		if (endpoint == NULL)
			continue;
		if (!endpoint->closing) {
			moved += endpoint_take_returns(endpoint, set->count);
			moved += endpoint_take_orders(endpoint, set->count);
		}
		if (!endpoint->closed)
			probe(endpoint, now);
		moved += send_pieces(set, endpoint, nic, now);
		close_drained(set, endpoint, now);
		gauge(set, endpoint);
		moved += send_controls(set, endpoint, nic, now);
	}
	return moved;
}
