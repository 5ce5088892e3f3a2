/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of libweft: operations (weft_client_operation.c), departures
 * (weft_client_send.c), arrivals and the receives that they match (weft_client_match.c,
 * weft_client_arrivals.c), and the calls of programs (weft_client.c). */

#include <stdbool.h>

#include "endpoint_memory.h"
#include "weft_client.h"
#include "weft_client_socket.h"

#define ID_NONE UINT32_MAX

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

/* A message without a receive that has arrived or is arriving. */
struct unexpected {
	struct unexpected *next;
	struct weft_address from;
	struct piece piece;
	uint64_t bytes; /* room for data: a message, or the first piece of a long one */
	uint64_t got;   /* bytes of data so far; a peer may send none with its question */
	bool whole;     /* all of it has arrived */
	struct operation *claimed; /* by this receive, while the message arrives */
	uint8_t data[];
};

/* The piece that is arriving from an endpoint. */
struct arriving {
	struct operation *into;
	struct unexpected *stored;
	uint64_t at;   /* offset of the piece in its message */
	uint32_t life; /* sender's */
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
	uint32_t ordered, completed, arrived;           /* positions */
	struct operation *slot_op[ENDPOINT_SEND_SLOTS]; /* NULL: its end does not matter */
	/* A stack, because the last one used is in the cache. */
	uint16_t free_slot[ENDPOINT_SEND_SLOTS];
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
	int waits; /* epoll descriptor */
	bool down;
	bool broken; /* the process has ended, or memory ran out for an arrival */
};

/* --- operations --- */

void operation_put(struct operation_list *list, struct operation *op);
void operation_take_out(struct operation *op);
void operation_move(struct operation_list *list, struct operation *op);
/* Returns NULL if out of memory. */
struct operation *operation_begin(struct weft *weft, enum weft_event_kind kind);
/* The operation ends, with an event. */
void operation_finish(struct weft *weft, struct operation *op, int error);
void operation_finish_receive(struct weft *weft, struct operation *op);
/* Numbers a long message. Returns false if out of memory. */
bool operation_give_id(struct weft *weft, struct operation *op);
/* The operation that a peer refers to, or NULL if there is none of this kind with this peer. */
struct operation *operation_find_id(const struct weft *weft, uint32_t id, enum weft_event_kind kind,
	const struct weft_address *from);
bool client_is_same(const struct weft_address *a, const struct weft_address *b);

/* --- what leaves --- */

/* Wakes the interface if it sleeps. */
void client_ring(struct weft *weft);
/* All data is in slots. */
void client_sent(struct weft *weft, struct operation *op);
/* Fills free slots. */
void client_send_pieces(struct weft *weft);
static inline bool client_can_send(const struct weft *weft)
{
	return weft->free_slots > 0 && weft->sending.head != NULL;
}
unsigned client_take_completions(struct weft *weft);

/* --- what arrives --- */

/* Points to the link to the first unexpected message that the receive matches, or to NULL. */
struct unexpected **client_find_unexpected(struct weft *weft, const struct operation *op);
void client_unlink(struct weft *weft, struct unexpected **at);
/* Matches the receive with an arrived message, or lets it wait. */
void client_post(struct weft *weft, struct operation *op);
/* A new message. */
void client_meet(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece);
void client_copy_stored(struct weft *weft, struct operation *op, struct unexpected *stored);
/* Ends the receive of a long message if its grant has left and all its data is here. */
void client_finish_long(struct weft *weft, struct operation *op);
unsigned client_take_arrivals(struct weft *weft);
