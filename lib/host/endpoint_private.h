/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of one endpoint (endpoint.c: memory; endpoint_send.c: orders;
 * endpoint_receive.c: windows) and of a host's set of endpoints (endpoint_set.c;
 * endpoint_set_arrivals.c and endpoint_set_departures.c: messages between endpoints). */

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

/* The interface's fields of a message, which precede the head. */
struct endpoint_wire {
	uint8_t kind;
	uint16_t from, to; /* endpoint numbers */
	uint32_t from_life, to_life;
	uint32_t number; /* CREDIT: the new limit */
};

/* HELD: the piece has arrived at the other interface, which has not yet confirmed that a program is
 * attached. */
enum order_state { ORDER_FREE, ORDER_QUEUED, ORDER_SENT, ORDER_HELD };

/* The interface's copy of the order in a send slot. */
struct order {
	uint32_t pair, life, bytes;
	uint16_t next;             /* next in the pair's list of queued or held orders */
	uint8_t state, generation; /* generation: pair's tx_generation when queued */
	uint8_t head[ENDPOINT_HEAD_BYTES];
};

/* Messages, other than pieces, that must be sent to a pair. */
#define OWES_CREDIT 1
#define OWES_PROBE  2
#define OWES_GONE   4

/* State of this endpoint and one peer. Lives are the peer's; 0: unknown. */
struct pair {
	uint32_t tx_life, sent, limit; /* sent, limit: frames */
	uint32_t ready_next, owed_next;
	weft_time refused_ps; /* when the route was first missing; 0: there is a route */
	uint16_t head, tail;  /* queued orders */
	uint16_t held;        /* list of held orders, latest first */
	int16_t error;        /* reason why tx_life ended; 0: it has not ended */
	bool ready, used;     /* used: at least one piece has been sent */
	bool confirmed;       /* tx_life is known to be attached */
	uint8_t tx_generation;
	uint8_t owes;
	bool cut;        /* rx_life exceeded its window */
	bool partial;    /* a piece has arrived only in part */
	bool gone_waits; /* a notice that gone_life has ended is waiting for a slot */
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
	uint32_t *owner;       /* [receive slot] pair + 1; 0: free */
	uint32_t *owner_life;  /* [receive slot] rx_life of the sender; 0: a notice */
	uint32_t *free, frees; /* stack of receive slots */
	struct pair_fifo ready, owed;
	unsigned queued, sent, held; /* number of orders in each state */
	uint32_t promised;           /* free slots reserved for windows */
	uint32_t gone_waiting;       /* notices waiting for a slot */
	weft_time probe_ps;
	weft_time closing_ps;
	bool closing; /* the program has ended; its orders are still being sent */
	bool closed;  /* no more pieces are sent; peers are notified */
	bool dirty;   /* arrivals or completions were published since the last bell */
};

#define CONTROLS 64

/* Kinds of message cookies. Cookies are never 0, which other users of the interface use. */
#define COOKIE_PIECE   (UINT64_C(1) << 62)
#define COOKIE_CONTROL (UINT64_C(1) << 63)

/* A message between interfaces that has not been acknowledged yet. */
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
	/* [host] destination of the message that is arriving from this host */
	struct endpoint_current {
		uint32_t pair; /* PAIR_NONE: discard the message */
		uint16_t endpoint;
	} * current;
	struct endpoint_control control[CONTROLS];
	uint64_t answers; /* bit set of the records to send in the next poll */
	uint8_t *scratch; /* frame between two endpoints of this host */
	uint64_t count[ENDPOINT_COUNTER_COUNT];
};

void pair_fifo_push(struct endpoint *endpoint, struct pair_fifo *fifo, uint32_t pair, bool owed);
uint32_t pair_fifo_pop(struct endpoint *endpoint, struct pair_fifo *fifo, bool owed);
void endpoint_owe(struct endpoint *endpoint, uint32_t pair, uint8_t what);

/* Copies and checks new orders; counts invalid ones. Returns the number of orders read. */
unsigned endpoint_take_orders(struct endpoint *endpoint, uint64_t *count);
/* Frees the receive slots that the program has returned. Returns their number. */
unsigned endpoint_take_returns(struct endpoint *endpoint, uint64_t *count);
/* Completes the order in a send slot, which returns the slot to the program. */
void endpoint_complete(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count);
/* Call when the interface has finished with a piece; 'error' is 0 or a negative errno. */
void endpoint_end_piece(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count);
/* Fails all pieces of the pair, and later ones for this life. 'tell': notifies the program. */
void endpoint_fail_pair(
	struct endpoint *endpoint, uint32_t pair, int error, bool tell, uint64_t *count);
/* Call at the start of a message from this peer. Returns false if the sender is disconnected. */
bool endpoint_receive_from(struct endpoint *endpoint, uint32_t pair, uint32_t life);
/* Stores a frame in a receive slot. Returns false if the sender exceeds its window or the MTU. */
bool endpoint_store(struct endpoint *endpoint, uint32_t pair, const struct nic_delivery *delivery);
void endpoint_store_gone(struct endpoint *endpoint, uint32_t pair, uint32_t life);
/* Returns the sender's new limit. */
uint32_t endpoint_grant(struct endpoint *endpoint, uint32_t pair);
void endpoint_take_grant(
	struct endpoint *endpoint, uint32_t pair, uint32_t life, uint32_t limit, uint64_t *count);

/* Writes the interface's fields to the start of a message. */
void endpoint_wire_encode(const struct endpoint_wire *wire, uint8_t *out);
/* Reads ENDPOINT_WIRE_BYTES of 'in'. Returns false if they are invalid. */
bool endpoint_wire_decode(struct endpoint_wire *wire, const uint8_t *in);
/* Returns the endpoint that a message addresses; NULL if its program has ended or never existed. */
struct endpoint *endpoint_set_find(struct endpoint_set *set, const struct endpoint_wire *wire);
/* Returns a free record, or NULL if all are in use. */
struct endpoint_control *endpoint_set_get_control(struct endpoint_set *set);
/* Handles a message from the interface of 'host', which may be this one. */
void endpoint_set_take_control(
	struct endpoint_set *set, uint16_t host, const struct endpoint_wire *wire);
