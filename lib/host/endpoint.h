/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface's side of one host's endpoints. Programs send and receive messages over the fabric
 * through shared memory (endpoint_memory.h), bypassing TAP and kernel. This module accepts the
 * programs' orders, passes pieces to the interface, and stores arriving data in the destination's
 * memory.
 *
 * A slow program must not block the interface. Each pair of endpoints therefore has a window, in
 * frames: the sender's interface sends no more than the receiver's interface has granted (absolute
 * limits, like link credits), so every arriving frame finds a free slot. Pieces for a peer whose
 * window is closed wait in the pair's queue. The interface (nic.h) preserves the order and
 * retransmits lost frames. If a peer's program ends, or the interface gives up on the peer, all
 * pieces for that life of the peer fail.
 *
 * This module uses no descriptors, clock or system calls: the driver owns the memory and the bells.
 * The interface's loop calls all functions except endpoint_create() and endpoint_destroy(), which
 * any thread may call. */

#include <stdbool.h>
#include <stddef.h>

#include "endpoint_memory.h"
#include "nic/nic.h"

#define ENDPOINT_COUNTERS(X)                                                                 \
	X(MESSAGES_OUT, "endpoint_messages_out") /* pieces, grants and notices sent */       \
	X(PIECES_SENT, "endpoint_pieces_sent")                                               \
	X(BYTES_SENT, "endpoint_bytes_sent")                                                 \
	X(PIECES_RECEIVED, "endpoint_pieces_received")                                       \
	X(FRAMES_RECEIVED, "endpoint_frames_received")                                       \
	X(BYTES_RECEIVED, "endpoint_bytes_received")                                         \
	X(PIECES_FAILED, "endpoint_pieces_failed")  /* completed with an error */            \
	X(BAD_ORDERS, "endpoint_bad_orders")        /* invalid values from a program */      \
	X(BAD_FRAMES, "endpoint_bad_frames")        /* invalid data from an interface */     \
	X(UNCLAIMED, "endpoint_messages_unclaimed") /* destination program does not exist */ \
	X(OVERRUN, "endpoint_overruns") /* sent beyond the window; peer is disconnected */   \
	/* the remaining counters are gauges */                                              \
	X(PROGRAMS, "endpoint_programs")                                                     \
	X(WAITING, "endpoint_pieces_waiting")                                                \
	X(UNEXPECTED, "endpoint_messages_unexpected")

enum endpoint_counter {
#define X(id, text) ENDPOINT_##id,
	ENDPOINT_COUNTERS(X)
#undef X
		ENDPOINT_COUNTER_COUNT
};

/* Returns NULL if 'counter' is out of range. */
const char *endpoint_counter_name(unsigned counter);

struct endpoint_config {
	uint16_t host, hosts;
	uint16_t number, endpoints; /* per host, up to ENDPOINTS_MAX */
	uint32_t life;              /* not 0, and unique among all programs so far */
	uint32_t mtu_bytes;
};

struct endpoint;

/* Returns the size of the shared memory. */
size_t endpoint_memory_bytes(const struct endpoint_config *config);
/* Lays out 'memory', which must be zeroed and shared, and must outlive the endpoint. Returns NULL
 * if out of memory. */
struct endpoint *endpoint_create(const struct endpoint_config *config, void *memory);
void endpoint_destroy(struct endpoint *endpoint);

/* All endpoints of a host. */
struct endpoint_set;

/* Returns NULL if out of memory. */
struct endpoint_set *endpoint_set_create(uint16_t host, uint16_t hosts, uint16_t endpoints,
	uint32_t mtu_bytes, weft_time give_up_ps);
/* The endpoints remain the caller's. */
void endpoint_set_destroy(struct endpoint_set *set);

/* No other endpoint of the set may have this number. */
void endpoint_set_add(struct endpoint_set *set, struct endpoint *endpoint);
bool endpoint_set_has(const struct endpoint_set *set, unsigned number);
/* Call when the program has ended: sends its earlier orders, then notifies the peers. */
void endpoint_set_close(struct endpoint_set *set, unsigned number);
/* Removes a closed endpoint that is no longer referenced. Returns NULL if it is not ready or does
 * not exist. */
struct endpoint *endpoint_set_remove(struct endpoint_set *set, unsigned number);

/* Processes orders and returned slots, and sends messages. Returns the number processed. */
unsigned endpoint_set_poll(struct endpoint_set *set, struct nic *nic, weft_time now);
/* Returns a bit set of sleeping programs' endpoints with new events. Each is reported once. */
uint64_t endpoint_set_bells(struct endpoint_set *set);
/* Sets whether the programs must ring the bell with their next order or return. Returns true if no
 * work is pending. */
bool endpoint_set_rest(struct endpoint_set *set, bool rests);

/* Returns true if the payload of a message's first frame is for an endpoint. */
static inline bool endpoint_is(const uint8_t *payload, uint32_t bytes)
{
	return bytes >= ENDPOINT_WIRE_BYTES && payload[0] == ENDPOINT_MARK;
}

/* Callbacks for nic_host and nic_programs. */
void endpoint_set_deliver(struct endpoint_set *set, const struct nic_delivery *delivery);
void endpoint_set_done(struct endpoint_set *set, const struct nic_outcome *outcome);
void endpoint_set_pull(
	struct endpoint_set *set, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes);

uint64_t *endpoint_set_counters(struct endpoint_set *set); /* [ENDPOINT_COUNTER_COUNT] */
/* Checks all invariants. Returns NULL, or a description of the first violation. */
const char *endpoint_set_check(const struct endpoint_set *set);
