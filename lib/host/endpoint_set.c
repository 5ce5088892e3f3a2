/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The endpoints of a host as users of its interface. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "endpoint_private.h"
#include "nic/nic_programs.h"
#include "wire/big_endian.h"
#include "wire/frame.h"

#define PIECES_A_TURN 32
#define PROBE_PS      (100 * PS_PER_MS) /* how long a piece waits for a grant before it asks */

/* Cookies of messages: never 0, which other users of the interface have. */
#define COOKIE_PIECE   (UINT64_C(1) << 62)
#define COOKIE_CONTROL (UINT64_C(1) << 63)

const char *endpoint_counter_name(unsigned counter)
{
	static const char *const name[] = {ENDPOINT_COUNTERS(WORD_TEXT)};

	return counter < ENDPOINT_COUNTER_COUNT ? name[counter] : NULL;
}

struct endpoint_set *endpoint_set_create(
	uint16_t host, uint16_t hosts, uint16_t endpoints, uint32_t mtu_bytes, weft_time give_up_ps)
{
	struct endpoint_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	set->host = host;
	set->hosts = hosts;
	set->endpoints = endpoints;
	set->mtu_bytes = mtu_bytes;
	set->give_up_ps = give_up_ps;
	ARRAYS_ADD(set, current, hosts);
	ARRAYS_ADD(set, scratch, mtu_bytes);
	if (set->arrays.failed) {
		endpoint_set_destroy(set);
		return NULL;
	}
	for (unsigned i = 0; i < hosts; i++)
		set->current[i].pair = PAIR_NONE;
	return set;
}

void endpoint_set_destroy(struct endpoint_set *set)
{
	if (set == NULL)
		return;
	arrays_free(&set->arrays);
	free(set);
}

void endpoint_set_add(struct endpoint_set *set, struct endpoint *endpoint)
{
	set->at[endpoint->config.number] = endpoint;
}

bool endpoint_set_has(const struct endpoint_set *set, unsigned number)
{
	return set->at[number] != NULL;
}

static bool is_known(const struct pair *pair)
{
	return pair->used || pair->rx_life != 0;
}

void endpoint_set_close(struct endpoint_set *set, unsigned number)
{
	struct endpoint *endpoint = set->at[number];

	if (endpoint == NULL || endpoint->closing)
		return;
	endpoint->closing = true;
	for (unsigned i = 0; i < set->hosts; i++)
		if (set->current[i].endpoint == number)
			set->current[i].pair = PAIR_NONE;
	for (uint32_t i = 0; i < endpoint->pairs; i++) {
		endpoint_fail_pair(endpoint, i, -ESHUTDOWN, false, set->count);
		endpoint->pair[i].owes &= (uint8_t)~OWES_PROBE;
		/* A grant that is due goes first: it says that the program was there. */
		if (is_known(&endpoint->pair[i]))
			endpoint_owe(endpoint, i, OWES_GONE);
	}
}

struct endpoint *endpoint_set_remove(struct endpoint_set *set, unsigned number)
{
	struct endpoint *endpoint = set->at[number];

	if (endpoint == NULL || !endpoint->closing || endpoint->sent > 0 ||
		endpoint->owed.head != PAIR_NONE)
		return NULL;
	set->at[number] = NULL;
	return endpoint;
}

/* --- the interface's fields --- */

static void encode(const struct endpoint_wire *wire, uint8_t *out)
{
	out[0] = ENDPOINT_MARK;
	out[1] = wire->kind;
	put16(out + 2, wire->from);
	put16(out + 4, wire->to);
	put16(out + 6, 0);
	put32(out + 8, wire->from_life);
	put32(out + 12, wire->to_life);
	put32(out + 16, wire->number);
	put32(out + 20, 0);
}

/* The caller has ENDPOINT_WIRE_BYTES. */
static bool decode(struct endpoint_wire *wire, const uint8_t *in)
{
	*wire = (struct endpoint_wire){.kind = in[1],
		.from = get16(in + 2),
		.to = get16(in + 4),
		.from_life = get32(in + 8),
		.to_life = get32(in + 12),
		.number = get32(in + 16)};
	return in[0] == ENDPOINT_MARK && wire->kind < ENDPOINT_KINDS;
}

static void write_front(struct endpoint *endpoint, const struct order *order, uint8_t *out)
{
	const struct endpoint_wire wire = {.kind = ENDPOINT_DATA,
		.from = endpoint->config.number,
		.to = (uint16_t)(order->pair % endpoint->config.endpoints),
		.from_life = endpoint->config.life,
		.to_life = order->life};

	encode(&wire, out);
	memcpy(out + ENDPOINT_WIRE_BYTES - ENDPOINT_HEAD_BYTES, order->head, ENDPOINT_HEAD_BYTES);
}

void endpoint_set_pull(
	struct endpoint_set *set, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	struct endpoint *endpoint;
	unsigned slot = (uint16_t)cookie;

	if (cookie & COOKIE_CONTROL) {
		memset(out, 0, bytes);
		encode(&set->control[slot].wire, out);
		return;
	}
	endpoint = set->at[(cookie >> 32) & (ENDPOINTS_MAX - 1)];
	if (offset == 0) {
		write_front(endpoint, &endpoint->order[slot], out);
		out += ENDPOINT_WIRE_BYTES;
		bytes -= ENDPOINT_WIRE_BYTES;
		offset = ENDPOINT_WIRE_BYTES;
	}
	memcpy(out,
		endpoint->send + (size_t)slot * endpoint->piece_bytes + offset -
			ENDPOINT_WIRE_BYTES,
		bytes);
}

/* --- arrivals --- */

static void take_control(struct endpoint_set *set, uint16_t host, const struct endpoint_wire *wire);

/* The record of a message of the interface; it is sent by the next poll. False: there are too many.
 */
static struct endpoint_control *get_control(struct endpoint_set *set)
{
	for (unsigned i = 0; i < CONTROLS; i++)
		if (!set->control[i].used)
			return &set->control[i];
	return NULL;
}

/* 0, or a negative errno of nic_send(). 'nic' NULL: only for this host. */
static int send_control(struct endpoint_set *set, struct nic *nic, uint16_t host,
	const struct endpoint_wire *wire, weft_time now)
{
	struct endpoint_control *control = get_control(set);
	struct nic_message message = {.destination = host,
		.payload = nic_pulled,
		.bytes = ENDPOINT_WIRE_BYTES,
		.generated_ps = now};
	int result;

	if (host == set->host) {
		take_control(set, host, wire);
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

static struct endpoint *find(struct endpoint_set *set, const struct endpoint_wire *wire)
{
	struct endpoint *endpoint = wire->to < set->endpoints ? set->at[wire->to] : NULL;

	if (endpoint == NULL || endpoint->closing ||
		(wire->to_life != 0 && wire->to_life != endpoint->config.life))
		return NULL;
	return endpoint;
}

/* The peer has ended, or never was there. Lives are its own and this endpoint's. */
static void take_gone(struct endpoint_set *set, struct endpoint *endpoint, uint32_t index,
	const struct endpoint_wire *wire)
{
	struct pair *pair = &endpoint->pair[index];
	bool receives = pair->rx_life == wire->from_life && wire->from_life != 0;

	if (pair->tx_life == wire->from_life && pair->used)
		endpoint_fail_pair(endpoint, index, -ECONNRESET, !receives, set->count);
	if (receives)
		endpoint_store_gone(endpoint, index, wire->from_life);
}

static void take_control(struct endpoint_set *set, uint16_t host, const struct endpoint_wire *wire)
{
	struct endpoint *endpoint = find(set, wire);
	uint32_t index = (uint32_t)host * set->endpoints + wire->from;

	if (wire->from >= set->endpoints || wire->to_life == 0) {
		set->count[ENDPOINT_BAD_FRAMES]++;
		return;
	}
	if (endpoint == NULL)
		return; /* the program ended meanwhile */
	if (wire->kind == ENDPOINT_CREDIT)
		endpoint_take_grant(endpoint, index, wire->from_life, wire->number, set->count);
	else if (wire->kind == ENDPOINT_PROBE && endpoint->pair[index].rx_life == wire->from_life)
		endpoint_owe(endpoint, index, OWES_CREDIT);
	else if (wire->kind == ENDPOINT_GONE)
		take_gone(set, endpoint, index, wire);
}

static void owe_answer(struct endpoint_set *set, uint16_t host, const struct endpoint_wire *to)
{
	/* Waits among the records until the next poll, because a callback of the interface cannot
	 * be refused. */
	struct endpoint_control *control = get_control(set);
	const struct endpoint_wire gone = {.kind = ENDPOINT_GONE,
		.from = to->to,
		.to = to->from,
		.from_life = to->to_life,
		.to_life = to->from_life};

	set->count[ENDPOINT_UNCLAIMED]++;
	if (host == set->host)
		take_control(set, host, &gone);
	else if (control != NULL)
		*control = (struct endpoint_control){.used = true, .host = host, .wire = gone};
	if (host != set->host && control != NULL)
		set->answers |= UINT64_C(1) << (control - set->control);
}

/* The first frame of a message. */
static void begin(struct endpoint_set *set, const struct nic_delivery *delivery)
{
	struct endpoint_current *current = &set->current[delivery->source];
	struct endpoint *endpoint;
	struct endpoint_wire wire;

	current->pair = PAIR_NONE;
	if (!decode(&wire, delivery->payload) || wire.from >= set->endpoints ||
		(wire.from_life == 0 && wire.kind != ENDPOINT_GONE)) {
		set->count[ENDPOINT_BAD_FRAMES]++;
		return;
	}
	endpoint = find(set, &wire);
	if (wire.kind != ENDPOINT_DATA && !(wire.kind == ENDPOINT_PROBE && endpoint == NULL)) {
		take_control(set, delivery->source, &wire);
		return;
	}
	if (endpoint == NULL) {
		owe_answer(set, delivery->source, &wire);
		return;
	}
	current->endpoint = wire.to;
	current->pair = (uint32_t)delivery->source * set->endpoints + wire.from;
	if (endpoint_receive_from(endpoint, current->pair, wire.from_life))
		return;
	current->pair = PAIR_NONE;
	owe_answer(set, delivery->source, &wire);
}

void endpoint_set_deliver(struct endpoint_set *set, const struct nic_delivery *delivery)
{
	struct endpoint_current *current = &set->current[delivery->source];

	if (delivery->first)
		begin(set, delivery);
	if (current->pair == PAIR_NONE)
		return;
	if (endpoint_store(set->at[current->endpoint], current->pair, delivery)) {
		set->count[ENDPOINT_FRAMES_RECEIVED]++;
		set->count[ENDPOINT_BYTES_RECEIVED] += delivery->bytes;
		return;
	}
	current->pair = PAIR_NONE;
	set->count[ENDPOINT_OVERRUN]++;
}

void endpoint_set_done(struct endpoint_set *set, const struct nic_outcome *outcome)
{
	unsigned slot = (uint16_t)outcome->cookie;
	struct endpoint *endpoint;
	uint32_t pair;

	if (outcome->cookie & COOKIE_CONTROL)
		set->control[slot].used = false;
	if ((outcome->cookie & COOKIE_PIECE) == 0)
		return;
	endpoint = set->at[(outcome->cookie >> 32) & (ENDPOINTS_MAX - 1)];
	pair = endpoint->order[slot].pair;
	endpoint_end_piece(endpoint, slot, outcome->error, set->count);
	if (outcome->error != 0 && !endpoint->closing)
		endpoint_fail_pair(endpoint, pair, outcome->error, true, set->count);
}

/* --- departures --- */

/* Between endpoints of this host nothing goes through the fabric: frames are copied here. */
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

/* 0: the piece has left. -EAGAIN: not now. Else its pair has failed. */
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

	if (result == -ENETUNREACH && pair->refused_ps == 0)
		pair->refused_ps = now;
	if (result == -ENETUNREACH && now - pair->refused_ps < set->give_up_ps)
		return -EAGAIN;
	if (result == -EHOSTDOWN)
		return -EAGAIN;
	if (result < 0)
		return result;
	pair->refused_ps = 0;
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

/* Round robin over the pairs with an open window. */
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

/* Answers that waited for this poll. One that cannot be sent is dropped: the peer probes. */
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

unsigned endpoint_set_poll(struct endpoint_set *set, struct nic *nic, weft_time now)
{
	unsigned moved = 0;

	send_answers(set, nic, now);
	for (unsigned i = 0; i < set->endpoints; i++) {
		struct endpoint *endpoint = set->at[i];

		if (endpoint == NULL)
			continue;
		if (!endpoint->closing) {
			moved += endpoint_take_returns(endpoint, set->count);
			moved += endpoint_take_orders(endpoint, set->count);
			probe(endpoint, now);
		}
		moved += send_pieces(set, endpoint, nic, now);
		moved += send_controls(set, endpoint, nic, now);
	}
	return moved;
}

/* --- sleep --- */

uint64_t endpoint_set_bells(struct endpoint_set *set)
{
	uint64_t bells = 0;

	for (unsigned i = 0; i < set->endpoints; i++) {
		struct endpoint *endpoint = set->at[i];

		if (endpoint == NULL || !endpoint->dirty)
			continue;
		endpoint->dirty = false;
		atomic_thread_fence(memory_order_seq_cst);
		if (atomic_load_explicit(&endpoint->marks->sleeps, memory_order_relaxed) == 0)
			continue;
		atomic_store_explicit(&endpoint->marks->sleeps, 0, memory_order_relaxed);
		bells |= UINT64_C(1) << i;
	}
	return bells;
}

bool endpoint_set_rest(struct endpoint_set *set, bool rests)
{
	bool empty = set->answers == 0;

	for (unsigned i = 0; i < set->endpoints; i++) {
		const struct endpoint *endpoint = set->at[i];

		if (endpoint == NULL)
			continue;
		atomic_store(&endpoint->marks->rests, rests);
		empty = empty && !endpoint->closing && endpoint->queued == 0 &&
			endpoint->owed.head == PAIR_NONE &&
			atomic_load(&endpoint->marks->ordered) == endpoint->ordered &&
			atomic_load(&endpoint->marks->returned) == endpoint->returned;
	}
	return empty;
}

uint64_t *endpoint_set_counters(struct endpoint_set *set)
{
	return set->count;
}

/* --- invariants --- */

static const char *check_orders(const struct endpoint *endpoint)
{
	unsigned queued = 0, sent = 0, held = 0, linked = 0;

	for (unsigned i = 0; i < ENDPOINT_SEND_SLOTS; i++) {
		queued += endpoint->order[i].state == ORDER_QUEUED;
		sent += endpoint->order[i].state == ORDER_SENT;
		held += endpoint->order[i].state == ORDER_HELD;
	}
	for (uint32_t i = 0; i < endpoint->pairs; i++)
		for (unsigned slot = endpoint->pair[i].head;
			slot != SLOT_NONE && linked <= ENDPOINT_SEND_SLOTS;
			slot = endpoint->order[slot].next) {
			if (endpoint->order[slot].state != ORDER_QUEUED ||
				endpoint->order[slot].pair != i)
				return "an order in the queue of another pair";
			linked++;
		}
	return queued == endpoint->queued && sent == endpoint->sent && held == endpoint->held &&
			       linked == queued
		       ? NULL
		       : "orders are not queued + sent + held";
}

static const char *check_slots(const struct endpoint *endpoint)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < endpoint->receive_slots; i++)
		held += endpoint->owner[i] != 0;
	for (uint32_t i = 0; i < endpoint->frees; i++)
		if (endpoint->owner[endpoint->free[i]] != 0)
			return "a free slot with an owner";
	for (uint32_t i = 0; i < endpoint->pairs; i++)
		if (endpoint->pair[i].received - endpoint->pair[i].returned >
			endpoint->pair[i].window)
			return "more frames than the window";
	return held + endpoint->frees == endpoint->receive_slots ? NULL
								 : "slots are not free + held";
}

const char *endpoint_set_check(const struct endpoint_set *set)
{
	const char *wrong = NULL;

	for (unsigned i = 0; i < set->endpoints && wrong == NULL; i++)
		if (set->at[i] != NULL) {
			wrong = check_orders(set->at[i]);
			wrong = wrong != NULL ? wrong : check_slots(set->at[i]);
		}
	return wrong;
}
