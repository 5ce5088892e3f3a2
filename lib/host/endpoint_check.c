/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "endpoint_private.h"

/* Invariants. */

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
	uint32_t held = 0, promised = 0;

	for (uint32_t i = 0; i < endpoint->receive_slots; i++)
		held += endpoint->owner[i] != 0;
	for (uint32_t i = 0; i < endpoint->frees; i++)
		if (endpoint->owner[endpoint->free[i]] != 0)
			return "a free slot with an owner";
	for (uint32_t i = 0; i < endpoint->pairs; i++) {
		uint32_t used = endpoint->pair[i].received - endpoint->pair[i].returned;

		if (used > endpoint->pair[i].window)
			return "more frames than the window";
		promised += endpoint->pair[i].window - used;
	}
	if (promised != endpoint->promised || promised > endpoint->frees)
		return "a window without slots";
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
