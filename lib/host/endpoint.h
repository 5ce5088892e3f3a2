/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface's side of the endpoints of one host: programs that send and receive messages of
 * the fabric through shared memory (endpoint_memory.h), without TAP and kernel. It takes orders,
 * hands pieces to the interface, and puts what arrives into the memory of the destination.
 *
 * A slow program must not block the interface. So each pair of endpoints has a window, in frames:
 * the sender's interface sends no more than the receiver's has granted (absolute limits, as the
 * credits of links), and a frame that arrives finds a slot. Pieces to a peer with a closed window
 * wait in a queue of that pair. The interface (nic.h) keeps order and repeats lost frames. A peer
 * whose program has ended, or which the interface gave up, fails all pieces to this life of it.
 *
 * No descriptors, no clock, no system calls: the driver owns memory and bells. Callers: the loop of
 * the interface; endpoint_create() and endpoint_destroy() any thread. */

#include <stdbool.h>
#include <stddef.h>

#include "endpoint_memory.h"
#include "nic/nic.h"

#define ENDPOINT_COUNTERS(X)                                                                  \
	X(MESSAGES_OUT, "endpoint_messages_out") /* of the fabric: pieces, grants, notices */ \
	X(PIECES_SENT, "endpoint_pieces_sent")                                                \
	X(BYTES_SENT, "endpoint_bytes_sent")                                                  \
	X(FRAMES_RECEIVED, "endpoint_frames_received")                                        \
	X(BYTES_RECEIVED, "endpoint_bytes_received")                                          \
	X(PIECES_FAILED, "endpoint_pieces_failed")  /* the program got an error */            \
	X(BAD_ORDERS, "endpoint_bad_orders")        /* nonsense in the program's memory */    \
	X(BAD_FRAMES, "endpoint_bad_frames")        /* nonsense from another interface */     \
	X(UNCLAIMED, "endpoint_messages_unclaimed") /* for a program that is not there */     \
	X(OVERRUN, "endpoint_overruns")             /* frames beyond the window: peer cut off */

enum endpoint_counter {
#define X(id, text) ENDPOINT_##id,
	ENDPOINT_COUNTERS(X)
#undef X
		ENDPOINT_COUNTER_COUNT
};

/* NULL out of range. */
const char *endpoint_counter_name(unsigned counter);

struct endpoint_config {
	uint16_t host, hosts;
	uint16_t number, endpoints; /* per host, up to ENDPOINTS_MAX */
	uint32_t life;              /* not 0; no earlier program had it */
	uint32_t mtu_bytes;
};

struct endpoint;

/* Of the shared memory. */
size_t endpoint_memory_bytes(const struct endpoint_config *config);
/* Lays out 'memory', which is zeroed, shared, and outlives the endpoint. NULL: no memory. */
struct endpoint *endpoint_create(const struct endpoint_config *config, void *memory);
void endpoint_destroy(struct endpoint *endpoint);

/* All endpoints of a host. */
struct endpoint_set;

/* NULL: no memory. */
struct endpoint_set *endpoint_set_create(uint16_t host, uint16_t hosts, uint16_t endpoints,
	uint32_t mtu_bytes, weft_time give_up_ps);
/* Its endpoints stay the caller's. */
void endpoint_set_destroy(struct endpoint_set *set);

/* The number of the endpoint is free. */
void endpoint_set_add(struct endpoint_set *set, struct endpoint *endpoint);
bool endpoint_set_has(const struct endpoint_set *set, unsigned number);
/* The program has ended: no more orders are taken, and the peers get notice. */
void endpoint_set_close(struct endpoint_set *set, unsigned number);
/* Takes out a closed endpoint that nothing refers to any more; NULL: it is not ready, or not there.
 */
struct endpoint *endpoint_set_remove(struct endpoint_set *set, unsigned number);

/* Takes orders and hands messages to the interface. The number of pieces and slots moved. */
unsigned endpoint_set_poll(struct endpoint_set *set, struct nic *nic, weft_time now);
/* The endpoints whose programs sleep and have something to look at: a bit each. Each is reported
 * once. */
uint64_t endpoint_set_bells(struct endpoint_set *set);
/* Asks the programs for a bell with their next order ('rests'). True: nothing waits in their
 * memory. */
bool endpoint_set_rest(struct endpoint_set *set, bool rests);

/* A first frame's payload: of an endpoint, or of another program? */
static inline bool endpoint_is(const uint8_t *payload, uint32_t bytes)
{
	return bytes >= ENDPOINT_WIRE_BYTES && payload[0] == ENDPOINT_MARK;
}

/* For nic_host and nic_programs. */
void endpoint_set_deliver(struct endpoint_set *set, const struct nic_delivery *delivery);
void endpoint_set_done(struct endpoint_set *set, const struct nic_outcome *outcome);
void endpoint_set_pull(
	struct endpoint_set *set, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes);

uint64_t *endpoint_set_counters(struct endpoint_set *set); /* [ENDPOINT_COUNTER_COUNT] */
/* NULL, or a description of the broken invariant; visits everything. */
const char *endpoint_set_check(const struct endpoint_set *set);
