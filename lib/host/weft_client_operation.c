/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_client_private.h"

#include <errno.h>
#include <stdlib.h>

/* Sends and receives: lists, events and ids. */

void operation_put(struct operation_list *list, struct operation *op)
{
	op->list = list;
	op->next = NULL;
	op->previous = list->tail;
	if (list->tail != NULL)
		list->tail->next = op;
	else
		list->head = op;
	list->tail = op;
}

void operation_take_out(struct operation *op)
{
	struct operation_list *list = op->list;

	if (list == NULL)
		return;
	if (op->previous != NULL)
		op->previous->next = op->next;
	else
		list->head = op->next;
	if (op->next != NULL)
		op->next->previous = op->previous;
	else
		list->tail = op->previous;
	op->list = NULL;
}

void operation_move(struct operation_list *list, struct operation *op)
{
	operation_take_out(op);
	operation_put(list, op);
}

/* Ensures that there is room for the event of each live operation and one more. */
static bool reserve_event(struct weft *weft)
{
	uint32_t needed = weft->live + weft->events + 1, room = weft->event_room;
	struct weft_event *grown;

	if (needed <= room)
		return true;
	for (room = room == 0 ? 64 : room; room < needed;)
		room *= 2;
	grown = malloc(room * sizeof(*grown));
	if (grown == NULL)
		return false;
	for (uint32_t i = 0; i < weft->events; i++)
		grown[i] = weft->event[(weft->event_head + i) & (weft->event_room - 1)];
	free(weft->event);
	weft->event = grown;
	weft->event_head = 0;
	weft->event_room = room;
	return true;
}

struct operation *operation_begin(struct weft *weft, enum weft_event_kind kind)
{
	struct operation *op = weft->spare;

	if (!reserve_event(weft))
		return NULL;
	if (op != NULL)
		weft->spare = op->next;
	else
		op = malloc(sizeof(*op));
	if (op == NULL)
		return NULL;
	*op = (struct operation){.kind = kind, .id = OPERATION_NO_ID};
	weft->live++;
	return op;
}

static void tell(struct weft *weft, const struct operation *op, int error)
{
	if (error == 0 && (op->flags & WEFT_NO_EVENT))
		return;
	weft->event[(weft->event_head + weft->events++) & (weft->event_room - 1)] =
		(struct weft_event){.kind = op->kind,
			.error = error,
			.context = op->context,
			.bytes = op->message,
			.tag = op->tag,
			.data = op->data,
			.space = op->space,
			.has_data = op->has_data,
			.from = op->peer};
}

void operation_finish(struct weft *weft, struct operation *op, int error)
{
	operation_take_out(op);
	if (op->id != OPERATION_NO_ID)
		weft->by_id[op->id & (weft->ids - 1)] = NULL;
	for (unsigned i = 0; op->pieces > 0 && i < ENDPOINT_SEND_SLOTS; i++)
		if (weft->slot_op[i] == op) {
			weft->slot_op[i] = NULL;
			op->pieces--;
		}
	weft->live--;
	tell(weft, op, error);
	op->next = weft->spare;
	weft->spare = op;
}

void operation_finish_receive(struct weft *weft, struct operation *op)
{
	operation_finish(weft, op,
		op->moved < op->agreed    ? -EPROTO /* fewer bytes than the piece's head says */
		: op->message > op->bytes ? -EMSGSIZE
					  : 0);
}

/* --- ids of long messages --- */

static bool grow_ids(struct weft *weft)
{
	uint32_t room = weft->ids * 2;
	struct operation **grown = calloc(room, sizeof(struct operation *));

	if (grown == NULL)
		return false;
	for (uint32_t i = 0; i < weft->ids; i++)
		if (weft->by_id[i] != NULL)
			grown[weft->by_id[i]->id & (room - 1)] = weft->by_id[i];
	free(weft->by_id);
	weft->by_id = grown;
	weft->ids = room;
	return true;
}

/* An id is not reused soon, so a late piece of an ended message finds no operation. */
bool operation_give_id(struct weft *weft, struct operation *op)
{
	for (uint32_t tried = 0; tried < weft->ids || grow_ids(weft); tried++) {
		uint32_t id = weft->next_id++;

		if (id == OPERATION_NO_ID || weft->by_id[id & (weft->ids - 1)] != NULL)
			continue;
		op->id = id;
		weft->by_id[id & (weft->ids - 1)] = op;
		return true;
	}
	return false;
}

bool client_is_same(const struct weft_address *a, const struct weft_address *b)
{
	return a->host == b->host && a->endpoint == b->endpoint &&
	       (a->life == b->life || a->life == 0 || b->life == 0);
}

struct operation *operation_find_id(const struct weft *weft, uint32_t id, enum weft_event_kind kind,
	const struct weft_address *from)
{
	struct operation *op = weft->by_id[id & (weft->ids - 1)];

	return op != NULL && op->id == id && op->kind == kind && client_is_same(&op->peer, from)
		       ? op
		       : NULL;
}
