/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of libweft: operations (weft_client_operation.c), sending
 * (weft_client_send.c), arrivals and matching (weft_client_arrivals.c), and the public calls
 * (weft_client.c). */

#include <stdbool.h>

#include "endpoint_memory.h"
#include "weft_client.h"
#include "weft_client_socket.h"

#define OPERATION_NO_ID UINT32_MAX

enum piece_kind { PIECE_WHOLE, PIECE_ASK, PIECE_GRANT, PIECE_PART };

/* The head of a piece. Peers are untrusted: values are checked before use. */
struct piece {
	uint8_t kind, space, has_data;
	uint8_t resend; /* GRANT: the receiver dropped the data from offset 'tag' on */
	uint32_t id;    /* ASK, GRANT: id of the sender's operation; PART: id of the receiver's */
	uint32_t back;  /* GRANT: id of the receiver's operation */
	uint32_t unused_either;
	uint64_t tag, data;
	uint64_t bytes; /* WHOLE, ASK: message length; GRANT: granted bytes; PART: offset */
};
_Static_assert(sizeof(struct piece) == ENDPOINT_HEAD_BYTES, "the interface carries it");

/* A send or a receive. A receive whose piece is arriving may be in none of the lists. */
struct operation {
	struct operation *next, *previous;
	struct operation_list *list;
	enum weft_event_kind kind;
	unsigned flags;
	bool any;     /* accepts any sender */
	bool granted; /* the receiver has granted a long message */
	uint8_t space, has_data;
	int error;
	struct weft_address peer;
	uint64_t tag, mask, data;
	uint8_t *buffer;
	uint64_t bytes;   /* length of the buffer */
	uint64_t message; /* length of the message */
	uint64_t agreed, moved;
	uint64_t kept;     /* receive: bytes of the first piece that were not dropped */
	uint32_t id, back; /* ids at this end and at the peer, for a long message */
	unsigned pieces;   /* pieces in send slots that have not completed */
	void *context;
};

struct operation_list {
	struct operation *head, *tail;
};

/* A message that has arrived, or is arriving, and matched no posted receive. */
struct unexpected {
	struct unexpected *next;
	struct weft_address from;
	struct piece piece;
	uint64_t bytes; /* size of 'data': the message, or a long one's first piece; 0: dropped */
	uint64_t got;   /* data received so far; a peer may send none with PIECE_ASK */
	bool whole;     /* all frames of the piece have arrived */
	struct operation *claimed; /* receive that gets the message when it is complete, or NULL */
	uint8_t data[];
};

/* The piece that is arriving from an endpoint. */
struct arriving {
	struct operation *into;
	struct unexpected *stored;
	uint64_t at;   /* offset of the piece in its message */
	uint32_t life; /* sender's life */
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
	struct operation *slot_op[ENDPOINT_SEND_SLOTS]; /* NULL: the completion is ignored */
	/* A stack, because the most recently freed slot is in the cache. */
	uint16_t free_slot[ENDPOINT_SEND_SLOTS];
	unsigned free_slots;
	/* sending: has a piece to send. asking: waits for a grant. acking: all pieces are in slots.
	 * posted: unmatched receives. moving: long messages that are arriving. */
	struct operation_list sending, asking, acking, posted, moving;
	struct operation **by_id; /* [ids] operations of long messages */
	uint32_t ids, next_id;    /* ids: a power of two */
	struct operation *spare;
	struct unexpected *unexpected, **unexpected_end;
	int64_t stored_left;   /* STORED_MAX, less the bytes of unexpected messages */
	struct arriving *from; /* [host * endpoints + endpoint] */
	struct weft_event *event;
	uint32_t events, event_head, event_room, live; /* live: operations without an event yet */
	unsigned idle;                                 /* consecutive polls that found nothing */
	bool dry;  /* all send slots were free although the program polls without waiting */
	int timer; /* -1: not created yet */
	int waits; /* epoll descriptor */
	bool down;
	bool broken; /* the lab process has ended, or memory for an arrival ran out */
};

/* --- operations --- */

void operation_put(struct operation_list *list, struct operation *op);
void operation_take_out(struct operation *op);
void operation_move(struct operation_list *list, struct operation *op);
/* Creates an operation and reserves its event. Returns NULL if out of memory. */
struct operation *operation_begin(struct weft *weft, enum weft_event_kind kind);
/* Ends the operation and adds its event. */
void operation_finish(struct weft *weft, struct operation *op, int error);
void operation_finish_receive(struct weft *weft, struct operation *op);
/* Assigns an id to a long message. Returns false if out of memory. */
bool operation_give_id(struct weft *weft, struct operation *op);
/* Returns the operation with this id if its kind and peer match, otherwise NULL. */
struct operation *operation_find_id(const struct weft *weft, uint32_t id, enum weft_event_kind kind,
	const struct weft_address *from);
bool client_is_same(const struct weft_address *a, const struct weft_address *b);

/* --- departures --- */

/* Wakes the interface if it sleeps. */
void client_ring(struct weft *weft);
/* Call when all data of a send is in slots. */
void client_sent(struct weft *weft, struct operation *op);
/* Fills free slots with pieces of pending operations. */
void client_send_pieces(struct weft *weft);
static inline bool client_can_send(const struct weft *weft)
{
	return weft->free_slots > 0 && weft->sending.head != NULL;
}
unsigned client_take_completions(struct weft *weft);

/* --- arrivals --- */

/* Returns the link to the first unexpected message that matches; the link is NULL if none does. */
struct unexpected **client_find_unexpected(struct weft *weft, const struct operation *op);
void client_unlink(struct weft *weft, struct unexpected **at);
/* Matches the receive with an unexpected message, or queues the receive. */
void client_post(struct weft *weft, struct operation *op);
/* Matches a new message with a posted receive, or stores the message. */
void client_meet(struct weft *weft, struct arriving *arriving, const struct weft_address *from,
	const struct piece *piece);
void client_copy_stored(struct weft *weft, struct operation *op, struct unexpected *stored);
/* Completes the receive of a long message if its grant is sent and all its data has arrived. */
void client_finish_long(struct weft *weft, struct operation *op);
unsigned client_take_arrivals(struct weft *weft);
