/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_client_private.h"

#include <string.h>
#include <sys/eventfd.h>

/* Fills send slots with pieces, and handles their completions. */

#define PIECES_A_TURN (ENDPOINT_WINDOW / ENDPOINT_PIECE_FRAMES)

void client_ring(struct weft *weft)
{
	atomic_thread_fence(memory_order_seq_cst);
	/* One write is enough: the interface takes longer to wake up than copying a piece takes. */
	if (atomic_load_explicit(&weft->marks->rests, memory_order_relaxed) != 0 &&
		atomic_exchange(&weft->marks->rests, 0) != 0)
		eventfd_write(weft->socket.door, 1);
}

/* Orders a filled slot, which the interface sends while the next slot is filled. If 'waits' is set,
 * the slot's completion is reported to the operation. */
static void order(struct weft *weft, struct operation *op, unsigned slot, const struct piece *piece,
	uint32_t bytes, bool waits)
{
	struct endpoint_order *to = &weft->orders[weft->ordered++ & (ENDPOINT_SEND_SLOTS - 1)];

	*to = (struct endpoint_order){.slot = (uint16_t)slot,
		.host = op->peer.host,
		.endpoint = op->peer.endpoint,
		.life = op->peer.life,
		.bytes = bytes};
	memcpy(to->head, piece, sizeof(*piece));
	weft->slot_op[slot] = waits ? op : NULL;
	op->pieces += waits;
	atomic_store_explicit(&weft->marks->ordered, weft->ordered, memory_order_release);
	client_ring(weft);
}

static bool is_early(const struct operation *op)
{
	return (op->flags & WEFT_EARLY) != 0;
}

void client_sent(struct weft *weft, struct operation *op)
{
	if (op->pieces == 0)
		operation_finish(weft, op, op->error);
	else
		operation_move(&weft->acking, op);
}

/* Copies the next bytes of the message, up to 'end', to a slot and sends the slot. */
static void send_bytes(struct weft *weft, struct operation *op, const struct piece *piece,
	uint64_t end, bool waits)
{
	unsigned slot = weft->free_slot[--weft->free_slots];
	uint64_t left = end - op->moved;
	uint32_t bytes =
		left < weft->layout.piece_bytes ? (uint32_t)left : weft->layout.piece_bytes;

	if (bytes > 0)
		memcpy(weft->send + (size_t)slot * weft->layout.piece_bytes, op->buffer + op->moved,
			bytes);
	op->moved += bytes;
	order(weft, op, slot, piece, bytes, waits);
}

static void send_part(struct weft *weft, struct operation *op)
{
	const struct piece piece = {.kind = PIECE_PART, .id = op->back, .bytes = op->moved};

	send_bytes(weft, op, &piece, op->agreed, !is_early(op));
	if (op->moved == op->agreed)
		client_sent(weft, op);
	else
		operation_move(&weft->sending, op);
}

static void send_whole(struct weft *weft, struct operation *op)
{
	const struct piece piece = {.kind = PIECE_WHOLE,
		.space = op->space,
		.has_data = op->has_data,
		.tag = op->tag,
		.data = op->data,
		.bytes = op->message};

	send_bytes(weft, op, &piece, op->message, !is_early(op));
	client_sent(weft, op);
}

static void send_ask(struct weft *weft, struct operation *op)
{
	const struct piece piece = {.kind = PIECE_ASK,
		.space = op->space,
		.has_data = op->has_data,
		.id = op->id,
		.tag = op->tag,
		.data = op->data,
		.bytes = op->message};

	send_bytes(weft, op, &piece, op->message, true);
	operation_move(&weft->asking, op);
}

static void send_grant(struct weft *weft, struct operation *op)
{
	const struct piece piece = {.kind = PIECE_GRANT,
		.resend = op->kept < op->message,
		.id = op->back,
		.back = op->id,
		.tag = op->kept,
		.bytes = op->agreed};

	order(weft, op, weft->free_slot[--weft->free_slots], &piece, 0, false);
	operation_move(&weft->moving, op);
	client_finish_long(weft, op);
}

/* Fills at most as many free slots as a window holds, so that the interface, or a peer on the same
 * CPU, gets its turn. A program that polls too rarely to keep the interface busy fills all of them.
 * A long message sends one piece and is then queued again. */
void client_send_pieces(struct weft *weft)
{
	unsigned max = weft->dry ? ENDPOINT_SEND_SLOTS : PIECES_A_TURN;
	struct operation *op;

	for (unsigned i = 0; i < max && client_can_send(weft); i++) {
		op = weft->sending.head;
		if (op->kind == WEFT_RECEIVED)
			send_grant(weft, op);
		else if (op->granted)
			send_part(weft, op);
		else if (op->message <= weft->layout.piece_bytes)
			send_whole(weft, op);
		else
			send_ask(weft, op);
	}
}

static void take_completion(struct weft *weft, const struct endpoint_completion *completion)
{
	struct operation *op = weft->slot_op[completion->slot];

	weft->free_slot[weft->free_slots++] = (uint16_t)completion->slot;
	weft->slot_op[completion->slot] = NULL;
	if (op == NULL)
		return;
	op->pieces--;
	if (completion->error != 0)
		operation_finish(weft, op, completion->error);
	else if (op->list == &weft->acking && op->pieces == 0)
		operation_finish(weft, op, 0);
}

unsigned client_take_completions(struct weft *weft)
{
	uint32_t completed = atomic_load_explicit(&weft->marks->completed, memory_order_acquire);
	unsigned count = completed - weft->completed;

	for (; weft->completed != completed; weft->completed++)
		take_completion(
			weft, &weft->completions[weft->completed & (ENDPOINT_SEND_SLOTS - 1)]);
	return count;
}
