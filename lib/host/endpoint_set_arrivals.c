/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>

#include "endpoint_private.h"

/* Messages from other endpoints. */

struct endpoint *endpoint_set_find(struct endpoint_set *set, const struct endpoint_wire *wire)
{
	struct endpoint *endpoint = wire->to < set->endpoints ? set->at[wire->to] : NULL;

	if (endpoint == NULL || endpoint->closed ||
		(wire->to_life != 0 && wire->to_life != endpoint->config.life))
		return NULL;
	return endpoint;
}

/* Handles a notice that the peer has ended or never existed. It contains the peer's and this
 * endpoint's lives. */
static void take_gone(struct endpoint_set *set, struct endpoint *endpoint, uint32_t index,
	const struct endpoint_wire *wire)
{
	struct pair *pair = &endpoint->pair[index];
	bool receives = pair->rx_life == wire->from_life && wire->from_life != 0;

	if (pair->tx_life == wire->from_life && pair->used && pair->error != -ECONNRESET)
		endpoint_fail_pair(endpoint, index, -ECONNRESET, !receives, set->count);
	if (receives)
		endpoint_store_gone(endpoint, index, wire->from_life);
	/* The program needs only one notice. */
	if (receives)
		pair->rx_life = 0;
}

static void owe_answer(struct endpoint_set *set, uint16_t host, const struct endpoint_wire *to)
{
	/* The answer waits in a record until the next poll, because the interface may refuse to
	 * send during a callback. */
	struct endpoint_control *control = endpoint_set_get_control(set);
	const struct endpoint_wire gone = {.kind = ENDPOINT_GONE,
		.from = to->to,
		.to = to->from,
		.from_life = to->to_life,
		.to_life = to->from_life};

	set->count[ENDPOINT_UNCLAIMED]++;
	if (host == set->host)
		endpoint_set_take_control(set, host, &gone);
	else if (control != NULL)
		*control = (struct endpoint_control){.used = true, .host = host, .wire = gone};
	if (host != set->host && control != NULL)
		set->answers |= UINT64_C(1) << (control - set->control);
}

/* Answers a peer that asks whether its pieces are accepted or were for a different program. */
static void take_probe(struct endpoint_set *set, struct endpoint *endpoint, uint16_t host,
	uint32_t index, const struct endpoint_wire *wire)
{
	if (endpoint == NULL || endpoint->pair[index].rx_life != wire->from_life)
		owe_answer(set, host, wire);
	else if (!endpoint->closing)
		endpoint_owe(endpoint, index, OWES_CREDIT);
}

void endpoint_set_take_control(
	struct endpoint_set *set, uint16_t host, const struct endpoint_wire *wire)
{
	struct endpoint *endpoint = endpoint_set_find(set, wire);
	uint32_t index = (uint32_t)host * set->endpoints + wire->from;

	if (wire->from >= set->endpoints || (wire->to_life == 0 && wire->kind != ENDPOINT_PROBE)) {
		set->count[ENDPOINT_BAD_FRAMES]++;
		return;
	}
	if (wire->kind == ENDPOINT_PROBE)
		take_probe(set, endpoint, host, index, wire);
	else if (endpoint == NULL)
		return; /* the program has ended meanwhile */
	else if (wire->kind == ENDPOINT_CREDIT)
		endpoint_take_grant(endpoint, index, wire->from_life, wire->number, set->count);
	else
		take_gone(set, endpoint, index, wire);
}

/* Handles the first frame of a message. */
static void begin(struct endpoint_set *set, const struct nic_delivery *delivery)
{
	struct endpoint_current *current = &set->current[delivery->source];
	struct endpoint *endpoint;
	struct endpoint_wire wire;

	current->pair = PAIR_NONE;
	if (!endpoint_wire_decode(&wire, delivery->payload) || wire.from >= set->endpoints ||
		(wire.from_life == 0 && wire.kind != ENDPOINT_GONE)) {
		set->count[ENDPOINT_BAD_FRAMES]++;
		return;
	}
	endpoint = endpoint_set_find(set, &wire);
	if (wire.kind != ENDPOINT_DATA) {
		endpoint_set_take_control(set, delivery->source, &wire);
		return;
	}
	if (endpoint == NULL) {
		owe_answer(set, delivery->source, &wire);
		return;
	}
	if (endpoint->closing)
		return; /* the notice is sent after the program's messages */
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
		set->count[ENDPOINT_PIECES_RECEIVED] += delivery->tail;
		set->count[ENDPOINT_BYTES_RECEIVED] += delivery->bytes;
		return;
	}
	current->pair = PAIR_NONE;
	set->count[ENDPOINT_OVERRUN]++;
}

/* An unanswered probe has the same effect as an unanswered piece. */
static void end_control(struct endpoint_set *set, struct endpoint_control *control, int error)
{
	const struct endpoint_wire *wire = &control->wire;
	struct endpoint *endpoint = set->at[wire->from];

	control->used = false;
	if (error != 0 && wire->kind == ENDPOINT_PROBE && endpoint != NULL &&
		endpoint->config.life == wire->from_life && !endpoint->closed)
		endpoint_fail_pair(endpoint, (uint32_t)control->host * set->endpoints + wire->to,
			error, true, set->count);
}

void endpoint_set_done(struct endpoint_set *set, const struct nic_outcome *outcome)
{
	unsigned slot = (uint16_t)outcome->cookie;
	struct endpoint *endpoint;
	uint32_t pair;

	if (outcome->cookie & COOKIE_CONTROL)
		end_control(set, &set->control[slot], outcome->error);
	if ((outcome->cookie & COOKIE_PIECE) == 0)
		return;
	endpoint = set->at[(outcome->cookie >> 32) & (ENDPOINTS_MAX - 1)];
	pair = endpoint->order[slot].pair;
	endpoint_end_piece(endpoint, slot, outcome->error, set->count);
	if (outcome->error != 0 && !endpoint->closed)
		endpoint_fail_pair(endpoint, pair, outcome->error, true, set->count);
}
