/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weft_client_private.h"

/* Handles frames in receive slots, and notices that peers have ended. */

#define RETURNS_A_TURN (ENDPOINT_WINDOW / 4) /* the interface grants this many at a time */

static void take_grant(
	struct weft *weft, const struct weft_address *from, const struct piece *piece)
{
	struct operation *op = operation_find_id(weft, piece->id, WEFT_SENT, from);

	if (op == NULL || op->granted || piece->bytes > op->message)
		return;
	op->granted = true;
	op->agreed = piece->bytes;
	op->back = piece->back;
	if (piece->resend && piece->tag < op->moved)
		op->moved = piece->tag;
	if (op->agreed <= op->moved)
		client_sent(weft, op);
	else
		operation_move(&weft->sending, op);
}

static void begin_piece(struct weft *weft, struct arriving *arriving,
	const struct weft_address *from, const struct piece *piece)
{
	*arriving = (struct arriving){.life = from->life};
	switch (piece->kind) {
	case PIECE_WHOLE:
		if (piece->bytes <= weft->layout.piece_bytes)
			client_meet(weft, arriving, from, piece);
		break;
	case PIECE_ASK:
		client_meet(weft, arriving, from, piece);
		break;
	case PIECE_GRANT:
		take_grant(weft, from, piece);
		break;
	case PIECE_PART:
		arriving->into = operation_find_id(weft, piece->id, WEFT_RECEIVED, from);
		arriving->at = piece->bytes;
	}
}

/* Copies the part of the data that fits in the receive's buffer. */
static void copy_into(struct operation *op, uint64_t at, const uint8_t *data, uint32_t bytes)
{
	uint64_t room = at < op->agreed ? op->agreed - at : 0;
	uint64_t part = bytes < room ? bytes : room;

	if (part > 0)
		memcpy(op->buffer + at, data, part);
	op->moved += part;
}

static void end_piece(struct weft *weft, struct arriving *arriving)
{
	struct operation *op = arriving->into;
	struct unexpected *stored = arriving->stored;

	*arriving = (struct arriving){0};
	if (op != NULL && op->id == OPERATION_NO_ID)
		operation_finish_receive(weft, op);
	else if (op != NULL)
		client_finish_long(weft, op);
	if (stored == NULL)
		return;
	stored->whole = true;
	if (stored->claimed != NULL)
		client_copy_stored(weft, stored->claimed, stored);
}

/* Fails operations that are waiting for the peer. Messages that have arrived are kept. */
static void lose(struct weft *weft, struct operation_list *list, const struct weft_address *peer,
	bool receives_only, int error)
{
	struct operation *op = list->head, *next;

	for (; op != NULL; op = next) {
		next = op->next;
		if (!op->any && client_is_same(&op->peer, peer) &&
			(!receives_only || op->kind == WEFT_RECEIVED))
			operation_finish(weft, op, error);
	}
}

/* Fails the operation whose piece will not arrive completely. */
static void abandon(struct weft *weft, struct arriving *arriving)
{
	if (arriving->into != NULL)
		operation_finish(weft, arriving->into, -ECONNRESET);
	if (arriving->stored != NULL && arriving->stored->claimed != NULL) {
		operation_finish(weft, arriving->stored->claimed, -ECONNRESET);
		free(arriving->stored);
	}
	*arriving = (struct arriving){0};
}

static void lose_peer(struct weft *weft, struct arriving *arriving, const struct weft_address *peer)
{
	struct unexpected **at = &weft->unexpected;

	/* The notice may arrive after pieces of the next program. */
	if (peer->life == 0 || peer->life == arriving->life)
		abandon(weft, arriving);
	while (*at != NULL) {
		struct unexpected *stored = *at;

		if (client_is_same(&stored->from, peer) &&
			(!stored->whole || stored->piece.kind == PIECE_ASK)) {
			client_unlink(weft, at);
			free(stored);
		} else {
			at = &stored->next;
		}
	}
	lose(weft, &weft->posted, peer, true, -ECONNRESET);
	lose(weft, &weft->moving, peer, true, -ECONNRESET);
	lose(weft, &weft->asking, peer, false, -ECONNRESET);
	/* Sends fail with the errors of their pieces. */
	lose(weft, &weft->sending, peer, true, -ECONNRESET);
}

static void store_more(struct unexpected *stored, const struct endpoint_arrival *arrival)
{
	if (arrival->offset + (uint64_t)arrival->bytes > stored->bytes)
		return;
	memcpy(stored->data + arrival->offset, arrival + 1, arrival->bytes);
	if (arrival->offset == stored->got)
		stored->got += arrival->bytes;
}

static void take_arrival(struct weft *weft, const struct endpoint_arrival *arrival)
{
	const struct weft_address from = {arrival->host, arrival->endpoint, arrival->life};
	struct arriving *arriving =
		&weft->from[(uint32_t)from.host * weft->layout.endpoints + from.endpoint];
	struct piece piece;

	if (arrival->kind == ENDPOINT_ARRIVAL_GONE) {
		lose_peer(weft, arriving, &from);
		return;
	}
	if (arrival->first) {
		memcpy(&piece, arrival->head, sizeof(piece));
		begin_piece(weft, arriving, &from, &piece);
	}
	if (arriving->into != NULL)
		copy_into(arriving->into, arriving->at + arrival->offset,
			(const uint8_t *)(arrival + 1), arrival->bytes);
	if (arriving->stored != NULL)
		store_more(arriving->stored, arrival);
	if (arrival->tail)
		end_piece(weft, arriving);
}

unsigned client_take_arrivals(struct weft *weft)
{
	uint32_t arrived = atomic_load_explicit(&weft->marks->arrived, memory_order_acquire);
	uint32_t mask = weft->layout.receive_slots - 1;
	unsigned count = arrived - weft->arrived;

	while (weft->arrived != arrived) {
		uint32_t slot = weft->arrivals[weft->arrived & mask];

		take_arrival(weft, (const void *)(weft->receive +
						  (size_t)slot * weft->layout.receive_slot_bytes));
		weft->returns[weft->arrived++ & mask] = slot;
		/* Slots are returned early, so that the sender continues while the rest is read. */
		if (weft->arrived % RETURNS_A_TURN != 0 && weft->arrived != arrived)
			continue;
		atomic_store_explicit(&weft->marks->returned, weft->arrived, memory_order_release);
		client_ring(weft);
	}
	return count;
}

/* Matches messages with receives. */

static bool matches(
	const struct operation *op, const struct weft_address *from, const struct piece *piece)
{
	return op->space == piece->space && ((op->tag ^ piece->tag) & op->mask) == 0 &&
	       (op->any || client_is_same(&op->peer, from));
}

/* Stores the properties of the matched message in the receive. */
static void bind_to(
	struct operation *op, const struct weft_address *from, const struct piece *piece)
{
	op->any = false;
	op->peer = *from;
	op->tag = piece->tag;
	op->data = piece->data;
	op->has_data = piece->has_data;
	op->message = piece->bytes;
	op->agreed = op->bytes < piece->bytes ? op->bytes : piece->bytes;
	op->kept = piece->bytes;
}

/* Queues the answer to an ask. Returns false if the receive has failed. */
static bool grant(struct weft *weft, struct operation *op, const struct piece *piece)
{
	bool good = operation_give_id(weft, op);

	op->back = piece->id;
	if (good)
		operation_move(&weft->sending, op);
	else
		operation_finish(weft, op, -ENOMEM);
	return good;
}

void client_finish_long(struct weft *weft, struct operation *op)
{
	uint32_t from = (uint32_t)op->peer.host * weft->layout.endpoints + op->peer.endpoint;

	if (op->list == &weft->moving && op->moved >= op->agreed && weft->from[from].into != op)
		operation_finish_receive(weft, op);
}

void client_copy_stored(struct weft *weft, struct operation *op, struct unexpected *stored)
{
	op->kept = stored->got;
	op->moved = op->agreed < stored->got ? op->agreed : stored->got;
	if (op->moved > 0)
		memcpy(op->buffer, stored->data, op->moved);
	if (stored->piece.kind == PIECE_ASK)
		grant(weft, op, &stored->piece);
	else
		operation_finish_receive(weft, op);
	free(stored);
}

struct unexpected **client_find_unexpected(struct weft *weft, const struct operation *op)
{
	struct unexpected **at = &weft->unexpected;

	while (*at != NULL && !matches(op, &(*at)->from, &(*at)->piece))
		at = &(*at)->next;
	return at;
}

static void count_unexpected(struct weft *weft, int change)
{
	atomic_fetch_add_explicit(&weft->marks->unexpected, (uint32_t)change, memory_order_relaxed);
}

void client_unlink(struct weft *weft, struct unexpected **at)
{
	count_unexpected(weft, -1);
	weft->stored_left += (int64_t)(*at)->bytes;
	*at = (*at)->next;
	if (*at == NULL)
		weft->unexpected_end = at;
}

void client_post(struct weft *weft, struct operation *op)
{
	struct unexpected **at = client_find_unexpected(weft, op), *stored = *at;

	if (stored == NULL) {
		operation_put(&weft->posted, op);
		return;
	}
	client_unlink(weft, at);
	bind_to(op, &stored->from, &stored->piece);
	if (stored->whole)
		client_copy_stored(weft, op, stored);
	else
		stored->claimed = op;
}

static void store(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece)
{
	uint64_t bytes =
		piece->bytes < weft->layout.piece_bytes ? piece->bytes : weft->layout.piece_bytes;
	struct unexpected *stored;

	if (piece->kind == PIECE_ASK && (int64_t)bytes > weft->stored_left)
		bytes = 0;
	stored = malloc(sizeof(*stored) + bytes);
	if (stored == NULL) {
		weft->broken = true;
		return;
	}
	*stored = (struct unexpected){.from = *from, .piece = *piece, .bytes = bytes};
	count_unexpected(weft, 1);
	weft->stored_left -= (int64_t)bytes;
	*weft->unexpected_end = stored;
	weft->unexpected_end = &stored->next;
	arriving->stored = stored;
}

void client_meet(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece)
{
	struct operation *op = weft->posted.head;

	while (op != NULL && !matches(op, from, piece))
		op = op->next;
	if (op == NULL) {
		store(weft, arriving, from, piece);
		return;
	}
	operation_take_out(op);
	bind_to(op, from, piece);
	if (piece->kind != PIECE_ASK || grant(weft, op, piece))
		arriving->into = op;
}
