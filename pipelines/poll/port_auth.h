/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides which frames a port of a poll loop accepts: frames of its own fabric and, with a link
 * key, only control frames that are authentic and new (link_seal.h). Records whether the neighbour
 * belongs to a different fabric, to help find a wrong cable.
 *
 * Replies to a padded hello with a padded hello.
 *
 * Selects the neighbour if several ports of the fabric share one Ethernet segment: the one in the
 * plan, or without a plan the first that sends a hello.
 *
 * Used only by the loop's thread; other threads may read counters and 'foreign_fabric' at any time.
 */

#include <rte_mbuf.h>

#include "link/link_seal.h"
#include "port/port.h"
#include "wire/frame.h"

/* The port at the other end of the cable according to the plan. */
struct port_auth_plan {
	uint64_t device; /* identity of the device; 0: no plan */
	uint8_t port;
	bool binding;                  /* no other port is accepted */
	struct rte_mempool *full_pool; /* for padded hellos; borrowed */
	uint32_t full_bytes;           /* length of the longest frame */
};

/* A test of the path MTU: a hello padded to the length of the longest frame. The last byte is one
 * of these values; receivers of hellos ignore padding. */
enum port_auth_full { PORT_AUTH_FULL_NONE, PORT_AUTH_FULL_ASK, PORT_AUTH_FULL_REPLY };

struct port_auth {
	struct port *port;
	struct port_auth_plan plan;
	struct frame_identity identity; /* header fields of data that needs no further checks */
	uint16_t fabric;                /* own fabric */
	struct link_seal seal;
	/* Number of the neighbour's fabric and PORT_AUTH_FOREIGN; 0 if its last hello was from this
	 * fabric, or if there was none. */
	uint32_t foreign_fabric;
	/* Sender of the last hello (device << 8 | port) if a binding plan names a different port,
	 * or 0. */
	uint64_t misplaced;
	uint8_t full_due; /* padding of the next hello, enum port_auth_full; any thread may set it
			   */
	/* Unpadded hellos before the next padded one, so that requests cannot take the link down.
	 */
	uint8_t full_rest;
	uint64_t full_sent, full_received; /* padded hellos */
};

#define PORT_AUTH_FOREIGN 0x10000u
/* Minimum length of a padded hello; unpadded ones are shorter with any seal. */
#define PORT_AUTH_PADDED 256u

/* Copies the address of 'end' to the port, if the port has none. 'port' and 'key' are borrowed;
 * 'key' may be NULL. Call before 'end' sends anything. */
void port_auth_init(struct port_auth *guard, struct port *port, uint16_t fabric,
	const struct link_key *key, struct link_end *end);

/* Sets the plan. Call before the first frame. */
void port_auth_expect(
	struct port_auth *guard, const struct port_auth_plan *plan, const struct link_end *end);

/* Returns true if a valid link-local frame (credit, hello, arn) is from the neighbour, or a hello
 * from a port that may become the neighbour. */
bool port_auth_admits(struct port_auth *guard, const struct link_end *end, const uint8_t *frame);

/* Call when a hello arrived or the link went down: directs frames to the current neighbour. */
void port_auth_follow(struct port_auth *guard, const struct link_end *end);

/* frame_find_fault_in() for the port's fabric. */
enum frame_fault port_auth_find_fault(
	struct port_auth *guard, const uint8_t *frame, uint32_t bytes);

/* Checks and removes the seal of a valid frame. Returns false, and counts the frame, if the seal is
 * invalid. */
bool port_auth_open(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf);

/* Seals a frame that is about to be sent, if its kind has a seal. Returns false if its buffer is
 * too small. Without a key this costs one load and one branch. */
bool port_auth_seal(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf);

static inline bool port_auth_close(
	struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	return __builtin_expect(guard->seal.key == NULL, 1) || port_auth_seal(guard, end, mbuf);
}

/* Pads a frame, after sealing, if it is a hello and padding is due. Returns the frame to send. */
struct rte_mbuf *port_auth_pad(struct port_auth *guard, struct rte_mbuf *mbuf);

static inline struct rte_mbuf *port_auth_fill(struct port_auth *guard, struct rte_mbuf *mbuf)
{
	return __builtin_expect(guard->full_due == 0, 1) ? mbuf : port_auth_pad(guard, mbuf);
}
