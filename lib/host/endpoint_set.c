/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A host's set of endpoints: creation, message fields and bells. */

#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "endpoint_private.h"
#include "wire/big_endian.h"

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
	ARRAYS_DESTROY(set);
}

void endpoint_set_add(struct endpoint_set *set, struct endpoint *endpoint)
{
	set->at[endpoint->config.number] = endpoint;
}

bool endpoint_set_has(const struct endpoint_set *set, unsigned number)
{
	return set->at[number] != NULL;
}

void endpoint_set_close(struct endpoint_set *set, unsigned number)
{
	struct endpoint *endpoint = set->at[number];

	if (endpoint == NULL || endpoint->closing)
		return;
	endpoint_take_orders(endpoint, set->count);
	endpoint->closing = true;
	for (unsigned i = 0; i < set->hosts; i++)
		if (set->current[i].endpoint == number)
			set->current[i].pair = PAIR_NONE;
}

struct endpoint *endpoint_set_remove(struct endpoint_set *set, unsigned number)
{
	struct endpoint *endpoint = set->at[number];

	if (endpoint == NULL || !endpoint->closed || endpoint->sent > 0 ||
		endpoint->owed.head != PAIR_NONE)
		return NULL;
	set->at[number] = NULL;
	return endpoint;
}

/* --- message fields --- */

void endpoint_wire_encode(const struct endpoint_wire *wire, uint8_t *out)
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

bool endpoint_wire_decode(struct endpoint_wire *wire, const uint8_t *in)
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

	endpoint_wire_encode(&wire, out);
	memcpy(out + ENDPOINT_WIRE_BYTES - ENDPOINT_HEAD_BYTES, order->head, ENDPOINT_HEAD_BYTES);
}

void endpoint_set_pull(
	struct endpoint_set *set, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	struct endpoint *endpoint;
	unsigned slot = (uint16_t)cookie;

	if (cookie & COOKIE_CONTROL) {
		memset(out, 0, bytes);
		endpoint_wire_encode(&set->control[slot].wire, out);
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

/* --- bells --- */

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
