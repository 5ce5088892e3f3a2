/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_client_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
