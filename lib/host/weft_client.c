/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* libweft. A message that fits into a piece is sent at once. For a longer one the sender asks; the
 * receiver answers when a receive matches, and the data goes straight into its buffer. So an
 * unexpected message takes no more memory than a piece. */

#include "weft_client.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "endpoint_memory.h"
#include "weft_client_socket.h"

#define IDLE_POLLS 4096 /* empty ones between looks at the socket */
#define SPIN_POLLS 64   /* empty ones before the poll loops of the lab get the CPU */
#define ID_NONE    UINT32_MAX

enum piece_kind { PIECE_WHOLE, PIECE_ASK, PIECE_GRANT, PIECE_PART };

/* The head of a piece. Peers are not trusted: numbers are checked before use. */
struct piece {
	uint8_t kind, space, has_data, unused;
	uint32_t id;   /* ASK: the sender's operation; GRANT: the same; PART: the receiver's */
	uint32_t back; /* GRANT: the receiver's operation */
	uint32_t unused_either;
	uint64_t tag, data;
	uint64_t bytes; /* WHOLE, ASK: message length; GRANT: granted; PART: offset */
};
_Static_assert(sizeof(struct piece) == ENDPOINT_HEAD_BYTES, "the interface carries it");

/* A send or a receive. It is in one list, or its piece is arriving. */
struct operation {
	struct operation *next, *previous;
	struct operation_list *list;
	enum weft_event_kind kind;
	unsigned flags;
	bool any;     /* receives from any sender */
	bool granted; /* both ends have agreed on a long message */
	uint8_t space, has_data;
	int error;
	struct weft_address peer;
	uint64_t tag, mask, data;
	uint8_t *buffer;
	uint64_t bytes;   /* length of the buffer */
	uint64_t message; /* length of the message */
	uint64_t agreed, moved;
	uint32_t id, back; /* for a long message: its own id and the peer's */
	unsigned pieces;   /* in send slots */
	void *context;
};

struct operation_list {
	struct operation *head, *tail;
};

/* A message that has arrived, or is arriving, without a receive. */
struct unexpected {
	struct unexpected *next;
	struct weft_address from;
	struct piece piece;
	bool whole;                /* all of it has arrived */
	struct operation *claimed; /* by this receive, while it arrives */
	uint8_t data[];
};

/* The piece that is arriving from an endpoint. */
struct arriving {
	struct operation *into;
	struct unexpected *stored;
	uint64_t at; /* offset of the piece in its message */
};

struct weft {
	struct weft_socket socket;
	uint8_t *memory;
	struct endpoint_layout layout;
	struct endpoint_marks *marks;
	struct endpoint_order *orders;
	const struct endpoint_completion *completions;
	const uint32_t *arrivals;
	uint32_t *returns;
	uint8_t *send;
	const uint8_t *receive;
	uint32_t ordered, returned, completed, arrived; /* positions */
	struct operation *slot_op[ENDPOINT_SEND_SLOTS]; /* NULL: its end does not matter */
	uint16_t free_slot[ENDPOINT_SEND_SLOTS]; /* stack: the last one used is in the cache */
	unsigned free_slots;
	/* sending: have a piece to send. asking: wait for a grant. acking: all pieces are sent.
	 * posted: receives without a message. moving: long messages that arrive. */
	struct operation_list sending, asking, acking, posted, moving;
	struct operation **by_id; /* long messages */
	uint32_t ids, next_id;    /* a power of two */
	struct operation *spare;
	struct unexpected *unexpected, **unexpected_end;
	struct arriving *from; /* [host * endpoints + endpoint] */
	struct weft_event *event;
	uint32_t events, event_head, event_room, live; /* live: operations that may have one */
	unsigned idle;
	int timer; /* -1: none yet */
	bool down;
	bool broken; /* the process has ended, or there was no memory for an arrival */
};

/* --- operations --- */

static void put(struct operation_list *list, struct operation *op)
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

static void take_out(struct operation *op)
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

static void move(struct operation_list *list, struct operation *op)
{
	take_out(op);
	put(list, op);
}

/* Makes sure that the event of each live operation has space. */
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

/* NULL: no memory. */
static struct operation *begin(struct weft *weft, enum weft_event_kind kind)
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
	*op = (struct operation){.kind = kind, .id = ID_NONE};
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

/* The operation ends, with an event. */
static void finish(struct weft *weft, struct operation *op, int error)
{
	take_out(op);
	if (op->id != ID_NONE)
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

static void finish_receive(struct weft *weft, struct operation *op)
{
	finish(weft, op, op->message > op->bytes ? -EMSGSIZE : 0);
}

/* --- numbers of long messages --- */

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

/* A number is not used again soon, so that a late piece of an ended message finds nothing. */
static bool give_id(struct weft *weft, struct operation *op)
{
	for (uint32_t tried = 0; tried < weft->ids || grow_ids(weft); tried++) {
		uint32_t id = weft->next_id++;

		if (id == ID_NONE || weft->by_id[id & (weft->ids - 1)] != NULL)
			continue;
		op->id = id;
		weft->by_id[id & (weft->ids - 1)] = op;
		return true;
	}
	return false;
}

static bool is_same(const struct weft_address *a, const struct weft_address *b)
{
	return a->host == b->host && a->endpoint == b->endpoint &&
	       (a->life == b->life || a->life == 0 || b->life == 0);
}

/* The operation that a peer names; NULL: there is none of this kind with this peer. */
static struct operation *find_id(const struct weft *weft, uint32_t id, enum weft_event_kind kind,
	const struct weft_address *from)
{
	struct operation *op = weft->by_id[id & (weft->ids - 1)];

	return op != NULL && op->id == id && op->kind == kind && is_same(&op->peer, from) ? op
											  : NULL;
}

/* --- sending --- */

/* The data is in the slot. 'waits': the operation wants to know the end. */
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
}

static void ring(struct weft *weft)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&weft->marks->rests, memory_order_relaxed) != 0)
		eventfd_write(weft->socket.door, 1);
}

static void publish_orders(struct weft *weft)
{
	if (atomic_load_explicit(&weft->marks->ordered, memory_order_relaxed) == weft->ordered)
		return;
	atomic_store_explicit(&weft->marks->ordered, weft->ordered, memory_order_release);
	ring(weft);
}

static bool is_early(const struct operation *op)
{
	return (op->flags & WEFT_EARLY) != 0;
}

/* All data is in slots. */
static void sent(struct weft *weft, struct operation *op)
{
	if (op->pieces == 0)
		finish(weft, op, op->error);
	else
		move(&weft->acking, op);
}

static void send_part(struct weft *weft, struct operation *op)
{
	unsigned slot = weft->free_slot[--weft->free_slots];
	uint64_t left = op->agreed - op->moved;
	uint32_t bytes =
		left < weft->layout.piece_bytes ? (uint32_t)left : weft->layout.piece_bytes;
	const struct piece piece = {.kind = PIECE_PART, .id = op->back, .bytes = op->moved};

	memcpy(weft->send + (size_t)slot * weft->layout.piece_bytes, op->buffer + op->moved, bytes);
	order(weft, op, slot, &piece, bytes, !is_early(op));
	op->moved += bytes;
	if (op->moved == op->agreed)
		sent(weft, op);
	else
		move(&weft->sending, op);
}

static void send_whole(struct weft *weft, struct operation *op)
{
	unsigned slot = weft->free_slot[--weft->free_slots];
	const struct piece piece = {.kind = PIECE_WHOLE,
		.space = op->space,
		.has_data = op->has_data,
		.tag = op->tag,
		.data = op->data,
		.bytes = op->message};

	if (op->message > 0)
		memcpy(weft->send + (size_t)slot * weft->layout.piece_bytes, op->buffer,
			op->message);
	order(weft, op, slot, &piece, (uint32_t)op->message, !is_early(op));
	sent(weft, op);
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

	order(weft, op, weft->free_slot[--weft->free_slots], &piece, 0, true);
	move(&weft->asking, op);
}

static void send_grant(struct weft *weft, struct operation *op)
{
	const struct piece piece = {
		.kind = PIECE_GRANT, .id = op->back, .back = op->id, .bytes = op->agreed};

	order(weft, op, weft->free_slot[--weft->free_slots], &piece, 0, false);
	if (op->agreed == 0)
		finish_receive(weft, op);
	else
		move(&weft->moving, op);
}

/* Fills free slots. A long message sends a piece, and stands in line again. */
static void send_pieces(struct weft *weft)
{
	struct operation *op;

	while (weft->free_slots > 0 && (op = weft->sending.head) != NULL) {
		if (op->kind == WEFT_RECEIVED)
			send_grant(weft, op);
		else if (op->granted)
			send_part(weft, op);
		else if (op->message <= weft->layout.piece_bytes)
			send_whole(weft, op);
		else
			send_ask(weft, op);
	}
	publish_orders(weft);
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
		finish(weft, op, completion->error);
	else if (op->list == &weft->acking && op->pieces == 0)
		finish(weft, op, 0);
}

static unsigned take_completions(struct weft *weft)
{
	uint32_t completed = atomic_load_explicit(&weft->marks->completed, memory_order_acquire);
	unsigned count = completed - weft->completed;

	for (; weft->completed != completed; weft->completed++)
		take_completion(
			weft, &weft->completions[weft->completed & (ENDPOINT_SEND_SLOTS - 1)]);
	return count;
}

/* --- matching --- */

static bool matches(
	const struct operation *op, const struct weft_address *from, const struct piece *piece)
{
	return op->space == piece->space && ((op->tag ^ piece->tag) & op->mask) == 0 &&
	       (op->any || is_same(&op->peer, from));
}

/* The receive has found its message. */
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
}

/* The receive answers an ask. */
static void grant(struct weft *weft, struct operation *op, const struct piece *piece)
{
	op->back = piece->id;
	if (give_id(weft, op))
		move(&weft->sending, op);
	else
		finish(weft, op, -ENOMEM);
}

static void copy_stored(struct weft *weft, struct operation *op, struct unexpected *stored)
{
	if (op->agreed > 0)
		memcpy(op->buffer, stored->data, op->agreed);
	free(stored);
	finish_receive(weft, op);
}

static struct unexpected **find_unexpected(struct weft *weft, const struct operation *op)
{
	struct unexpected **at = &weft->unexpected;

	while (*at != NULL && !matches(op, &(*at)->from, &(*at)->piece))
		at = &(*at)->next;
	return at;
}

static void unlink_unexpected(struct weft *weft, struct unexpected **at)
{
	*at = (*at)->next;
	if (*at == NULL)
		weft->unexpected_end = at;
}

/* Gives a message that has arrived to the receive, or lets the receive wait. */
static void post(struct weft *weft, struct operation *op)
{
	struct unexpected **at = find_unexpected(weft, op), *stored = *at;

	if (stored == NULL) {
		put(&weft->posted, op);
		return;
	}
	unlink_unexpected(weft, at);
	bind_to(op, &stored->from, &stored->piece);
	if (stored->piece.kind == PIECE_ASK) {
		grant(weft, op, &stored->piece);
		free(stored);
	} else if (stored->whole) {
		copy_stored(weft, op, stored);
	} else {
		stored->claimed = op;
	}
}

/* --- arrivals --- */

static void store(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece)
{
	size_t bytes = piece->kind == PIECE_WHOLE ? piece->bytes : 0;
	struct unexpected *stored = malloc(sizeof(*stored) + bytes);

	if (stored == NULL) {
		weft->broken = true;
		return;
	}
	*stored = (struct unexpected){
		.from = *from, .piece = *piece, .whole = piece->kind == PIECE_ASK};
	*weft->unexpected_end = stored;
	weft->unexpected_end = &stored->next;
	if (piece->kind == PIECE_WHOLE)
		arriving->stored = stored;
}

/* A new message. */
static void meet(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece)
{
	struct operation *op = weft->posted.head;

	while (op != NULL && !matches(op, from, piece))
		op = op->next;
	if (op == NULL) {
		store(weft, arriving, from, piece);
		return;
	}
	take_out(op);
	bind_to(op, from, piece);
	if (piece->kind == PIECE_ASK)
		grant(weft, op, piece);
	else
		arriving->into = op;
}

static void take_grant(
	struct weft *weft, const struct weft_address *from, const struct piece *piece)
{
	struct operation *op = find_id(weft, piece->id, WEFT_SENT, from);

	if (op == NULL || op->granted || piece->bytes > op->message)
		return;
	op->granted = true;
	op->agreed = piece->bytes;
	op->back = piece->back;
	if (op->agreed == 0)
		sent(weft, op);
	else
		move(&weft->sending, op);
}

static void begin_piece(struct weft *weft, struct arriving *arriving,
	const struct weft_address *from, const struct piece *piece)
{
	*arriving = (struct arriving){0};
	switch (piece->kind) {
	case PIECE_WHOLE:
		if (piece->bytes <= weft->layout.piece_bytes)
			meet(weft, arriving, from, piece);
		break;
	case PIECE_ASK:
		meet(weft, arriving, from, piece);
		break;
	case PIECE_GRANT:
		take_grant(weft, from, piece);
		break;
	case PIECE_PART:
		arriving->into = find_id(weft, piece->id, WEFT_RECEIVED, from);
		arriving->at = piece->bytes;
	}
}

/* Copies into the buffer of the receive as much as fits. */
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
	if (op != NULL && (op->id == ID_NONE || op->moved >= op->agreed))
		finish_receive(weft, op);
	if (stored == NULL)
		return;
	stored->whole = true;
	if (stored->claimed != NULL)
		copy_stored(weft, stored->claimed, stored);
}

/* Fails what waits for the peer. Messages that have arrived from it stay. */
static void lose(struct weft *weft, struct operation_list *list, const struct weft_address *peer,
	bool receives_only, int error)
{
	struct operation *op = list->head, *next;

	for (; op != NULL; op = next) {
		next = op->next;
		if (!op->any && is_same(&op->peer, peer) &&
			(!receives_only || op->kind == WEFT_RECEIVED))
			finish(weft, op, error);
	}
}

static void lose_peer(struct weft *weft, struct arriving *arriving, const struct weft_address *peer)
{
	struct unexpected **at = &weft->unexpected;

	if (arriving->into != NULL)
		finish(weft, arriving->into, -ECONNRESET);
	if (arriving->stored != NULL && arriving->stored->claimed != NULL) {
		finish(weft, arriving->stored->claimed, -ECONNRESET);
		free(arriving->stored);
	}
	*arriving = (struct arriving){0};
	while (*at != NULL) {
		struct unexpected *stored = *at;

		if (is_same(&stored->from, peer) &&
			(!stored->whole || stored->piece.kind == PIECE_ASK)) {
			unlink_unexpected(weft, at);
			free(stored);
		} else {
			at = &stored->next;
		}
	}
	lose(weft, &weft->posted, peer, true, -ECONNRESET);
	lose(weft, &weft->moving, peer, true, -ECONNRESET);
	lose(weft, &weft->asking, peer, false, -ECONNRESET);
	/* The pieces of sends end with errors of their own. */
	lose(weft, &weft->sending, peer, true, -ECONNRESET);
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
	if (arriving->stored != NULL &&
		arrival->offset + (uint64_t)arrival->bytes <= arriving->stored->piece.bytes)
		memcpy(arriving->stored->data + arrival->offset, arrival + 1, arrival->bytes);
	if (arrival->tail)
		end_piece(weft, arriving);
}

static unsigned take_arrivals(struct weft *weft)
{
	uint32_t arrived = atomic_load_explicit(&weft->marks->arrived, memory_order_acquire);
	uint32_t mask = weft->layout.receive_slots - 1;
	unsigned count = arrived - weft->arrived;

	for (; weft->arrived != arrived; weft->arrived++) {
		uint32_t slot = weft->arrivals[weft->arrived & mask];

		take_arrival(weft, (const void *)(weft->receive +
						  (size_t)slot * weft->layout.receive_slot_bytes));
		weft->returns[weft->returned++ & mask] = slot;
	}
	if (count == 0)
		return 0;
	atomic_store_explicit(&weft->marks->returned, weft->returned, memory_order_release);
	ring(weft);
	return count;
}

/* --- progress --- */

static void go_down(struct weft *weft)
{
	struct operation_list *const all[] = {
		&weft->sending, &weft->asking, &weft->acking, &weft->posted, &weft->moving};

	weft->down = true;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		while (all[i]->head != NULL)
			finish(weft, all[i]->head, -ENETDOWN);
	for (uint32_t i = 0; i < (uint32_t)weft->layout.hosts * weft->layout.endpoints; i++) {
		struct arriving *arriving = &weft->from[i];

		if (arriving->into != NULL && arriving->into->id == ID_NONE)
			finish(weft, arriving->into, -ENETDOWN);
		if (arriving->stored != NULL && arriving->stored->claimed != NULL) {
			finish(weft, arriving->stored->claimed, -ENETDOWN);
			free(arriving->stored);
		}
		*arriving = (struct arriving){0};
	}
}

static void progress(struct weft *weft)
{
	if (weft->down)
		return;
	if (take_completions(weft) + take_arrivals(weft) > 0)
		weft->idle = 0;
	else if (++weft->idle > SPIN_POLLS)
		sched_yield();
	if (weft->idle % IDLE_POLLS == IDLE_POLLS - 1 && weft_socket_is_dead(&weft->socket))
		weft->broken = true;
	if (weft->broken) {
		go_down(weft);
		return;
	}
	if (weft->sending.head != NULL)
		send_pieces(weft);
}

int weft_poll(struct weft *weft, struct weft_event *events, int max)
{
	int count = 0;

	progress(weft);
	for (; count < max && weft->events > 0; count++, weft->events--)
		events[count] = weft->event[weft->event_head++ & (weft->event_room - 1)];
	return count;
}

/* Also if there is an event already. */
static bool has_news(const struct weft *weft)
{
	return weft->events > 0 || weft->down ||
	       atomic_load(&weft->marks->completed) != weft->completed ||
	       atomic_load(&weft->marks->arrived) != weft->arrived;
}

int weft_arm(struct weft *weft)
{
	eventfd_t value;

	eventfd_read(weft->socket.bell, &value);
	atomic_store(&weft->marks->sleeps, 1);
	return !has_news(weft);
}

int weft_fd(const struct weft *weft)
{
	return weft->socket.bell;
}

/* The descriptor is readable after 'timeout_ms'; -1: never. */
static int set_timer(struct weft *weft, int timeout_ms)
{
	const struct itimerspec at = {
		.it_value = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L}};

	if (timeout_ms < 0)
		return -1;
	if (weft->timer < 0)
		weft->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (weft->timer >= 0)
		timerfd_settime(weft->timer, 0, &at, NULL);
	return weft->timer;
}

int weft_wait(struct weft *weft, int timeout_ms)
{
	struct pollfd watched[] = {{weft->socket.bell, POLLIN, 0},
		{weft->socket.connection, POLLIN, 0}, {-1, POLLIN, 0}};

	for (bool timed = false; !timed; timed = watched[2].revents != 0) {
		progress(weft);
		if (weft->events > 0)
			return 1;
		if (weft->down)
			return -ENETDOWN;
		if (timeout_ms == 0)
			return 0;
		if (watched[2].fd < 0)
			watched[2].fd = set_timer(weft, timeout_ms);
		if (timeout_ms > 0 && watched[2].fd < 0)
			return -errno;
		if (!weft_arm(weft))
			continue;
		if (poll(watched, 3, -1) < 0)
			return -errno;
		if (watched[1].revents != 0 && weft_socket_is_dead(&weft->socket))
			go_down(weft);
	}
	progress(weft);
	return weft->events > 0;
}

/* --- requests --- */

int weft_post_send(struct weft *weft, const struct weft_message *message)
{
	struct operation *op;
	bool eager = message->bytes <= weft->layout.piece_bytes;

	if (message->to.host >= weft->layout.hosts ||
		message->to.endpoint >= weft->layout.endpoints)
		return -EINVAL;
	if (weft->down)
		return -ENETDOWN;
	if ((message->flags & WEFT_IMMEDIATE) &&
		(!eager || weft->sending.head != NULL || weft->free_slots == 0))
		return -EAGAIN;
	op = begin(weft, WEFT_SENT);
	if (op == NULL)
		return -ENOMEM;
	op->flags = message->flags | (message->flags & WEFT_IMMEDIATE ? WEFT_EARLY : 0);
	op->peer = message->to;
	op->space = message->space;
	op->has_data = message->has_data;
	op->tag = message->tag;
	op->data = message->data;
	op->buffer = (uint8_t *)message->buffer;
	op->message = op->bytes = message->bytes;
	op->context = message->context;
	if (!eager && !give_id(weft, op)) {
		weft->live--;
		op->next = weft->spare;
		weft->spare = op;
		return -ENOMEM;
	}
	put(&weft->sending, op);
	send_pieces(weft);
	return 0;
}

int weft_send(struct weft *weft, const struct weft_address *to, uint64_t tag, const void *buffer,
	uint64_t bytes, void *context)
{
	const struct weft_message message = {
		.to = *to, .tag = tag, .buffer = buffer, .bytes = bytes, .context = context};

	return weft_post_send(weft, &message);
}

static void describe(struct operation *op, const struct weft_receive *receive)
{
	op->flags = receive->flags;
	op->any = receive->from == NULL;
	if (receive->from != NULL)
		op->peer = *receive->from;
	op->space = receive->space;
	op->tag = receive->tag;
	op->mask = receive->mask;
	op->buffer = receive->buffer;
	op->bytes = receive->bytes;
	op->context = receive->context;
}

int weft_post_recv(struct weft *weft, const struct weft_receive *receive)
{
	struct operation *op;

	if (weft->down)
		return -ENETDOWN;
	op = begin(weft, WEFT_RECEIVED);
	if (op == NULL)
		return -ENOMEM;
	describe(op, receive);
	post(weft, op);
	if (weft->sending.head != NULL)
		send_pieces(weft);
	return 0;
}

int weft_recv(struct weft *weft, const struct weft_address *from, uint64_t tag, uint64_t mask,
	void *buffer, uint64_t bytes, void *context)
{
	const struct weft_receive receive = {.from = from,
		.tag = tag,
		.mask = mask,
		.buffer = buffer,
		.bytes = bytes,
		.context = context};

	return weft_post_recv(weft, &receive);
}

int weft_peek(struct weft *weft, const struct weft_receive *receive, struct weft_event *event)
{
	struct operation op = {.kind = WEFT_RECEIVED};
	const struct unexpected *stored;

	progress(weft);
	describe(&op, receive);
	stored = *find_unexpected(weft, &op);
	if (stored == NULL)
		return weft->down ? -ENETDOWN : -EAGAIN;
	*event = (struct weft_event){.kind = WEFT_RECEIVED,
		.context = receive->context,
		.bytes = stored->piece.bytes,
		.tag = stored->piece.tag,
		.data = stored->piece.data,
		.space = stored->piece.space,
		.has_data = stored->piece.has_data,
		.from = stored->from};
	return 0;
}

int weft_cancel(struct weft *weft, void *context)
{
	for (struct operation *op = weft->posted.head; op != NULL; op = op->next)
		if (op->context == context) {
			finish(weft, op, -ECANCELED);
			return 0;
		}
	return -ENOENT;
}

/* --- opening --- */

static void map(struct weft *weft)
{
	const struct endpoint_layout *layout = &weft->layout;

	weft->marks = (void *)(weft->memory + layout->marks);
	weft->orders = (void *)(weft->memory + layout->orders);
	weft->completions = (void *)(weft->memory + layout->completions);
	weft->arrivals = (void *)(weft->memory + layout->arrivals);
	weft->returns = (void *)(weft->memory + layout->returns);
	weft->send = weft->memory + layout->send;
	weft->receive = weft->memory + layout->receive;
	weft->unexpected_end = &weft->unexpected;
	for (unsigned i = ENDPOINT_SEND_SLOTS; i-- > 0;)
		weft->free_slot[weft->free_slots++] = (uint16_t)i;
}

static int prepare(struct weft *weft)
{
	weft->memory = mmap(NULL, weft->socket.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		weft->socket.memory, 0);
	if (weft->memory == MAP_FAILED) {
		weft->memory = NULL;
		return -ENOMEM;
	}
	memcpy(&weft->layout, weft->memory, sizeof(weft->layout));
	if (weft->layout.magic != ENDPOINT_MAGIC || weft->layout.version != ENDPOINT_VERSION ||
		weft->layout.bytes > weft->socket.bytes)
		return -EPROTO;
	map(weft);
	weft->ids = 64;
	weft->by_id = calloc(weft->ids, sizeof(struct operation *));
	weft->from =
		calloc((size_t)weft->layout.hosts * weft->layout.endpoints, sizeof(*weft->from));
	return weft->by_id != NULL && weft->from != NULL ? 0 : -ENOMEM;
}

int weft_open_endpoint(const char *host, int endpoint, struct weft **opened)
{
	struct weft *weft = calloc(1, sizeof(*weft));
	int result;

	if (weft == NULL)
		return -ENOMEM;
	weft->timer = -1;
	result = weft_socket_open(
		&weft->socket, host, endpoint < 0 ? ENDPOINT_ANY : (uint16_t)endpoint);
	if (result == 0)
		result = prepare(weft);
	if (result < 0) {
		weft_close(weft);
		return result;
	}
	*opened = weft;
	return 0;
}

int weft_open(const char *host, struct weft **weft)
{
	return weft_open_endpoint(host, -1, weft);
}

static void free_operations(struct operation *op)
{
	while (op != NULL) {
		struct operation *next = op->next;

		free(op);
		op = next;
	}
}

void weft_close(struct weft *weft)
{
	if (weft == NULL)
		return;
	if (weft->from != NULL)
		go_down(weft);
	while (weft->unexpected != NULL) {
		struct unexpected *next = weft->unexpected->next;

		free(weft->unexpected);
		weft->unexpected = next;
	}
	free_operations(weft->spare);
	if (weft->memory != NULL)
		munmap(weft->memory, weft->socket.bytes);
	weft_socket_close(&weft->socket);
	if (weft->timer >= 0)
		close(weft->timer);
	free(weft->by_id);
	free(weft->from);
	free(weft->event);
	free(weft);
}

struct weft_address weft_address(const struct weft *weft)
{
	return (struct weft_address){weft->layout.host, weft->layout.endpoint, weft->layout.life};
}

uint64_t weft_eager_bytes(const struct weft *weft)
{
	return weft->layout.piece_bytes;
}

int weft_find(struct weft *weft, const char *host, unsigned endpoint, struct weft_address *address)
{
	struct endpoint_answer answer;
	int result = weft_socket_ask(&weft->socket, ENDPOINT_FIND, host, 0, &answer);

	if (result < 0)
		return result;
	if (endpoint >= weft->layout.endpoints)
		return -ENOENT;
	*address = (struct weft_address){answer.host, (uint16_t)endpoint, 0};
	return 0;
}

int weft_host_name(struct weft *weft, unsigned host, char *name, unsigned bytes)
{
	struct endpoint_answer answer;
	int result = weft_socket_ask(&weft->socket, ENDPOINT_NAME, "", (uint16_t)host, &answer);

	if (result < 0)
		return result;
	answer.name[sizeof(answer.name) - 1] = '\0';
	if (strlen(answer.name) >= bytes)
		return -ENAMETOOLONG;
	strcpy(name, answer.name);
	return 0;
}
