/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of one endpoint (endpoint.c: memory; endpoint_send.c: orders;
 * endpoint_receive.c: windows) and of a host's endpoints (endpoint_set.c, and the messages between
 * endpoints in endpoint_set_arrivals.c and endpoint_set_departures.c). */

#include "base/arrays.h"
#include "endpoint.h"

#define SLOT_NONE UINT16_MAX
#define PAIR_NONE UINT32_MAX

enum endpoint_kind {
	ENDPOINT_DATA,
	ENDPOINT_CREDIT,
	ENDPOINT_PROBE,
	ENDPOINT_GONE,
	ENDPOINT_KINDS
};

/* The interface's fields of a message, before the head. */
struct endpoint_wire {
	uint8_t kind;
	uint16_t from, to; /* endpoints */
	uint32_t from_life, to_life;
	uint32_t number; /* CREDIT: the new limit */
};

/* HELD: the piece is at the other interface, but it is not yet known whether a program is
 * attached. */
enum order_state { ORDER_FREE, ORDER_QUEUED, ORDER_SENT, ORDER_HELD };

/* The interface's copy of the order for a send slot. */
struct order {
	uint32_t pair, life, bytes;
	uint16_t next;             /* in the pair's list of queued or held orders */
	uint8_t state, generation; /* state and generation in tx_life */
	uint8_t head[ENDPOINT_HEAD_BYTES];
};

/* Messages other than pieces that are due to a pair. */
#define OWES_CREDIT 1
#define OWES_PROBE  2
#define OWES_GONE   4

/* A pair of this endpoint and a peer. Lives are the peer's; 0: unknown. */
struct pair {
	uint32_t tx_life, sent, limit; /* frames */
	uint32_t ready_next, owed_next;
	weft_time refused_ps; /* when the route was found missing; 0: there is one */
	uint16_t head, tail;  /* queued orders */
	uint16_t held;        /* stack of orders */
	int16_t error;        /* why this life ended; 0: it has not */
	bool ready, used;     /* used: pieces have left */
	bool confirmed;       /* a message from the program has arrived */
	uint8_t tx_generation;
	uint8_t owes;
	bool cut;        /* rx_life sent beyond its window */
	bool partial;    /* in the middle of a piece */
	bool gone_waits; /* the notice that gone_life has ended waits for a slot */
	uint8_t window;  /* frames */
	uint32_t rx_life, received, returned, granted, gone_life;
};

struct pair_fifo {
	uint32_t head, tail;
};

struct endpoint {
	struct endpoint_config config;
	struct arrays arrays;
	uint32_t pairs, receive_slots, piece_bytes;
	struct endpoint_marks *marks;
	const struct endpoint_order *orders;
	struct endpoint_completion *completions;
	uint32_t *arrivals;
	const uint32_t *returns;
	const uint8_t *send;
	uint8_t *receive;
	uint32_t receive_slot_bytes;
	uint32_t ordered, returned, completed, arrived; /* positions */
	struct order order[ENDPOINT_SEND_SLOTS];
	struct pair *pair;     /* [host * endpoints + endpoint] */
	uint32_t *owner;       /* [receive slot] pair + 1, or 0: free */
	uint32_t *owner_life;  /* [receive slot] rx_life; 0: a notice */
	uint32_t *free, frees; /* stack of receive slots */
	struct pair_fifo ready, owed;
	unsigned queued, sent, held; /* orders */
	uint32_t promised;           /* free slots that windows may use */
	uint32_t gone_waiting;       /* notices that wait for a slot */
	weft_time probe_ps;
	weft_time closing_ps;
	bool closing; /* the program has ended; its orders are still sent */
	bool closed;  /* nothing more is sent, and peers know */
	bool dirty;   /* something has been published since the last bell */
};

#define CONTROLS 64

/* Cookies of messages, never 0: other users of the interface use 0. */
#define COOKIE_PIECE   (UINT64_C(1) << 62)
#define COOKIE_CONTROL (UINT64_C(1) << 63)

/* A message of the interface itself, until it is acknowledged. */
struct endpoint_control {
	bool used;
	uint16_t host;
	struct endpoint_wire wire;
};

struct endpoint_set {
	uint16_t host, hosts, endpoints;
	uint32_t mtu_bytes;
	weft_time give_up_ps;
	struct arrays arrays;
	struct endpoint *at[ENDPOINTS_MAX];
	/* [host] destination of the message that is arriving from there */
	struct endpoint_current {
		uint32_t pair; /* PAIR_NONE: nowhere */
		uint16_t endpoint;
	} * current;
	struct endpoint_control control[CONTROLS];
	uint64_t answers; /* bit set of the records that wait for the next poll */
	uint8_t *scratch; /* a frame between endpoints of this host */
	uint64_t count[ENDPOINT_COUNTER_COUNT];
};

void pair_fifo_push(struct endpoint *endpoint, struct pair_fifo *fifo, uint32_t pair, bool owed);
uint32_t pair_fifo_pop(struct endpoint *endpoint, struct pair_fifo *fifo, bool owed);
void endpoint_owe(struct endpoint *endpoint, uint32_t pair, uint8_t what);

/* Copies and checks new orders; counts bad ones. Returns the number taken. */
unsigned endpoint_take_orders(struct endpoint *endpoint, uint64_t *count);
/* Takes back the slots that the program has returned. */
unsigned endpoint_take_returns(struct endpoint *endpoint, uint64_t *count);
/* Returns the send slot to the program. */
void endpoint_complete(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count);
/* The interface has finished with a piece; 'error' is 0 or the error. */
void endpoint_end_piece(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count);
/* Fails all queued and held pieces of the pair, and later ones to this life, with 'error'. */
void endpoint_fail_pair(
	struct endpoint *endpoint, uint32_t pair, int error, bool tell, uint64_t *count);
/* A message from this peer starts. Returns false if the sender is disconnected. */
bool endpoint_receive_from(struct endpoint *endpoint, uint32_t pair, uint32_t life);
/* False: beyond the window. */
bool endpoint_store(struct endpoint *endpoint, uint32_t pair, const struct nic_delivery *delivery);
void endpoint_store_gone(struct endpoint *endpoint, uint32_t pair, uint32_t life);
/* The window that the sender may use now. */
uint32_t endpoint_grant(struct endpoint *endpoint, uint32_t pair);
void endpoint_take_grant(
	struct endpoint *endpoint, uint32_t pair, uint32_t life, uint32_t limit, uint64_t *count);

/* The interface's fields, at the start of a message. */
void endpoint_wire_encode(const struct endpoint_wire *wire, uint8_t *out);
/* The caller has ENDPOINT_WIRE_BYTES. */
bool endpoint_wire_decode(struct endpoint_wire *wire, const uint8_t *in);
/* The endpoint that a message names; NULL if its program has ended or never existed. */
struct endpoint *endpoint_set_find(struct endpoint_set *set, const struct endpoint_wire *wire);
/* Returns a free record, or NULL if too many messages are under way. */
struct endpoint_control *endpoint_set_get_control(struct endpoint_set *set);
/* Handles a message of another interface, or of this one. */
void endpoint_set_take_control(
	struct endpoint_set *set, uint16_t host, const struct endpoint_wire *wire);
