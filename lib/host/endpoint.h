/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface's side of the endpoints of one host. Programs send and receive messages over the
 * fabric through shared memory (endpoint_memory.h), without TAP and kernel. This module accepts
 * their orders, passes pieces to the interface, and stores arriving data in the destination's
 * memory.
 *
 * A slow program must not block the interface. So each pair of endpoints has a window, in frames:
 * the sender's interface sends no more than the receiver's interface has granted (absolute limits,
 * like link credits), so there is a slot for each arriving frame. Pieces to a peer with a closed
 * window wait in a queue of that pair. The interface (nic.h) keeps the order and resends lost
 * frames. If a peer's program ended or the interface gave up on the peer, all pieces to that life
 * of the peer fail.
 *
 * No descriptors, no clock, no system calls: the driver owns memory and bells. The interface's loop
 * calls these functions; any thread may call endpoint_create() and endpoint_destroy(). */

#include <stdbool.h>
#include <stddef.h>

#include "endpoint_memory.h"
#include "nic/nic.h"

#define ENDPOINT_COUNTERS(X)                                                                  \
	X(MESSAGES_OUT, "endpoint_messages_out") /* sent: pieces, grants, notices */          \
	X(PIECES_SENT, "endpoint_pieces_sent")                                                \
	X(BYTES_SENT, "endpoint_bytes_sent")                                                  \
	X(PIECES_RECEIVED, "endpoint_pieces_received")                                        \
	X(FRAMES_RECEIVED, "endpoint_frames_received")                                        \
	X(BYTES_RECEIVED, "endpoint_bytes_received")                                          \
	X(PIECES_FAILED, "endpoint_pieces_failed")  /* the program got an error */            \
	X(BAD_ORDERS, "endpoint_bad_orders")        /* invalid values from the program */     \
	X(BAD_FRAMES, "endpoint_bad_frames")        /* invalid data from an interface */      \
	X(UNCLAIMED, "endpoint_messages_unclaimed") /* for a program that does not exist */   \
	X(OVERRUN, "endpoint_overruns")             /* beyond the window: disconnects peer */ \
	/* gauges from here on */                                                             \
	X(PROGRAMS, "endpoint_programs")                                                      \
	X(WAITING, "endpoint_pieces_waiting")                                                 \
	X(UNEXPECTED, "endpoint_messages_unexpected")

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
	uint32_t life;              /* not 0; not used by any earlier program */
	uint32_t mtu_bytes;
};

struct endpoint;

/* Size of the shared memory. */
size_t endpoint_memory_bytes(const struct endpoint_config *config);
/* Lays out 'memory', which is zeroed, shared, and outlives the endpoint. Returns NULL if out of
 * memory. */
struct endpoint *endpoint_create(const struct endpoint_config *config, void *memory);
void endpoint_destroy(struct endpoint *endpoint);

/* All endpoints of a host. */
struct endpoint_set;

/* Returns NULL if out of memory. */
struct endpoint_set *endpoint_set_create(uint16_t host, uint16_t hosts, uint16_t endpoints,
	uint32_t mtu_bytes, weft_time give_up_ps);
/* The caller keeps ownership of its endpoints. */
void endpoint_set_destroy(struct endpoint_set *set);

/* The endpoint's number must be free. */
void endpoint_set_add(struct endpoint_set *set, struct endpoint *endpoint);
bool endpoint_set_has(const struct endpoint_set *set, unsigned number);
/* The program has ended: sends its earlier orders and notifies the peers. */
void endpoint_set_close(struct endpoint_set *set, unsigned number);
/* Removes a closed endpoint that nothing refers to any more. Returns NULL if not ready, or not
 * found. */
struct endpoint *endpoint_set_remove(struct endpoint_set *set, unsigned number);

/* Takes orders and passes messages to the interface. Returns how many pieces and slots moved. */
unsigned endpoint_set_poll(struct endpoint_set *set, struct nic *nic, weft_time now);
/* Bit set of the endpoints that have new events and whose programs sleep. Each is reported once. */
uint64_t endpoint_set_bells(struct endpoint_set *set);
/* With 'rests', asks the programs to ring the bell with their next order. Returns true if nothing
 * waits in their memory. */
bool endpoint_set_rest(struct endpoint_set *set, bool rests);

/* True if this payload of a first frame belongs to an endpoint. */
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
/* Checks all invariants. Returns NULL, or a description of the violation. */
const char *endpoint_set_check(const struct endpoint_set *set);
