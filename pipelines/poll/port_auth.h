/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides which frames a port of a poll loop accepts: frames of its own fabric and, with a link
 * key, only control frames that are genuine and new (link_seal.h). It also remembers that the
 * neighbour belongs to another fabric, to help find a wrong cable.
 *
 * It answers a padded hello with another one.
 *
 * It chooses the neighbour where several ports of the fabric share one Ethernet segment: the one in
 * the plan, if there is a plan, otherwise the first that sends a hello.
 *
 * One thread, the loop's; others may read counters and 'foreign_fabric' at any time. */

#include <rte_mbuf.h>

#include "link/link_seal.h"
#include "port/port.h"
#include "wire/frame.h"

/* The port at the other end of the cable according to the plan. */
struct port_auth_plan {
	uint64_t device; /* its identity; 0: no plan */
	uint8_t port;
	bool binding;                  /* no other one may be there */
	struct rte_mempool *full_pool; /* for padded hellos, of the caller */
	uint32_t full_bytes;           /* length of the longest frame */
};

/* A test of the path MTU: a hello is padded to the length of the longest frame. Its last byte is
 * one of these; receivers of hellos ignore padding. */
enum port_auth_full { PORT_AUTH_FULL_NONE, PORT_AUTH_FULL_ASK, PORT_AUTH_FULL_REPLY };

struct port_auth {
	struct port *port;
	struct port_auth_plan plan;
	struct frame_identity identity; /* header fields of data that needs no further check */
	uint16_t fabric;                /* ours */
	struct link_seal seal;
	/* Number of the neighbour's fabric and PORT_AUTH_FOREIGN; 0: its last hello was from this
	 * fabric, or there was none. */
	uint32_t foreign_fabric;
	/* Device << 8 | port that sent the last hello, if a binding plan names another port;
	 * else 0. */
	uint64_t misplaced;
	uint8_t full_due; /* how the next hello is padded, enum port_auth_full; any thread requests
			     it */
	/* Minimum number of unpadded hellos between padded ones, so that no number of requests
	 * takes the link down. */
	uint8_t full_rest;
	uint64_t full_sent, full_received; /* padded hellos */
};

#define PORT_AUTH_FOREIGN 0x10000u
/* Without padding a hello is shorter, with any seal. */
#define PORT_AUTH_PADDED 256u

/* Gives the port the address of 'end' if it has none. 'port' and 'key' remain the caller's; 'key'
 * may be NULL. Call it before 'end' sends anything. */
void port_auth_init(struct port_auth *guard, struct port *port, uint16_t fabric,
	const struct link_key *key, struct link_end *end);

/* Before the first frame. */
void port_auth_expect(
	struct port_auth *guard, const struct port_auth_plan *plan, const struct link_end *end);

/* True if a good frame for the link (credit, hello, arn) is the neighbour's, or a hello from a port
 * that may become the neighbour. */
bool port_auth_admits(struct port_auth *guard, const struct link_end *end, const uint8_t *frame);

/* A hello arrived, or the link went down: frames go to the present neighbour. */
void port_auth_follow(struct port_auth *guard, const struct link_end *end);

/* frame_find_fault_in() of the port's fabric. */
enum frame_fault port_auth_find_fault(
	struct port_auth *guard, const uint8_t *frame, uint32_t bytes);

/* Checks and removes the seal of a frame without fault. Returns false if it is refused, and
 * counted. */
bool port_auth_open(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf);

/* Seals a frame that is about to leave, if its kind has a seal. Returns false if there is no room
 * in its buffer. Without a key this costs one load and a branch. */
bool port_auth_seal(struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf);

static inline bool port_auth_close(
	struct port_auth *guard, const struct link_end *end, struct rte_mbuf *mbuf)
{
	return __builtin_expect(guard->seal.key == NULL, 1) || port_auth_seal(guard, end, mbuf);
}

/* Pads a closed frame if it is a hello and that is due. Returns the frame to send. */
struct rte_mbuf *port_auth_pad(struct port_auth *guard, struct rte_mbuf *mbuf);

static inline struct rte_mbuf *port_auth_fill(struct port_auth *guard, struct rte_mbuf *mbuf)
{
	return __builtin_expect(guard->full_due == 0, 1) ? mbuf : port_auth_pad(guard, mbuf);
}
