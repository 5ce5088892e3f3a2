/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A network of wormhole switches with Stop & Go flow control and hosts with in-transit buffers
 * (wormhole.md), exact to the flit without moving any: messages are trains. A channel
 * carries one flit or none a cycle, so what passed it is a list of runs, and something happens only
 * where a run begins or ends, where a header arrives, and where a buffer passes a mark.
 * docs/wormhole.md tells what happens in which cycle, in which order.
 *
 * It knows nothing of where messages come from: its owner is asked (struct wormhole_ops). One
 * thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "topology.h"
#include "wormhole_parameters.h"

#define WORMHOLE_NEVER UINT64_MAX

/* A message to be sent. The route's bytes are the caller's and stay. */
struct wormhole_offer {
	const uint8_t *route; /* elements as in a frame (route_set.h) */
	uint64_t generated;   /* the caller's: comes back with the message */
	uint32_t tag;         /* likewise */
	uint32_t bytes;       /* 1 or more: as many flits */
	uint16_t destination;
	uint8_t choice; /* likewise the caller's */
};

/* One under way, or as it was when it came to its end. */
struct wormhole_message {
	const uint8_t *route; /* the element that comes next */
	uint64_t generated;
	uint64_t started;   /* cycle in which the first flit leaves the source */
	uint64_t header_at; /* cycle in which the header arrives, or arrived, at the end of... */
	uint32_t channel;   /* ...this channel */
	uint32_t bytes;     /* 0: a free entry */
	uint32_t next;      /* in the buffer or host where the header waits */
	uint32_t tag;
	uint16_t source, destination;
	uint8_t itbs; /* absorbed so often */
	uint8_t choice;
	bool discarded;
	bool in_transit; /* absorbed, and its turn has not come at that host */
	bool announced;  /* there is an event for header_at */
};

/* The owner's side. Cycles. Asked of a host only while its link is free. */
struct wormhole_ops {
	/* When 'host' has a message of its own: at or before 'now' if one waits. */
	uint64_t (*due)(void *ctx, uint32_t host, uint64_t now);
	/* How many wait; asked when messages in transit wait too. */
	uint32_t (*waiting)(void *ctx, uint32_t host, uint64_t now);
	/* Takes the first one that waits; false: it goes nowhere, ask again. */
	bool (*take)(void *ctx, uint32_t host, uint64_t now, struct wormhole_offer *offer);
	/* The tail of an own message leaves the source in cycle 'last'; the header could have left
	 * in cycle 'first'. May be NULL. */
	void (*sent)(
		void *ctx, const struct wormhole_message *message, uint64_t first, uint64_t last);
	/* The tail is at the destination at the beginning of cycle 'at', which may lie a link's
	 * delay ahead of now. */
	void (*delivered)(void *ctx, const struct wormhole_message *message, uint64_t at);
	/* No room at a host where it was to be absorbed. */
	void (*discarded)(void *ctx, const struct wormhole_message *message, uint64_t now);
	/* STOP or GO leaves the receiver of this channel, named by its sending end. May be NULL. */
	void (*signal)(void *ctx, uint64_t now, struct topology_port sender, bool stop);
};

struct wormhole_net;

/* NULL and fault: links that the marks do not suit, unequal rates; no memory. The topology outlives
 * the net. */
struct wormhole_net *wormhole_net_create(const struct topology *topology,
	const struct wormhole_parameters *parameters, const struct wormhole_ops *ops, void *ctx,
	struct fault *fault);
void wormhole_net_destroy(struct wormhole_net *net);

/* What wormhole_net_create() would refuse of the links. 0 or -EINVAL. */
int wormhole_net_check_links(const struct topology *topology,
	const struct wormhole_parameters *parameters, struct fault *fault);

/* 0, or -EINVAL and what is wrong if this route does not lead from host to host. */
int wormhole_net_check_route(const struct wormhole_net *net, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length, struct fault *fault);

/* All that happens in cycles before 'until'. False: nothing will ever happen again, or there was no
 * memory (wormhole_net_failed). Ends early, after the event in hand, if wormhole_net_halt(). */
bool wormhole_net_run(struct wormhole_net *net, uint64_t until);
/* From within the owner's functions: that is enough. */
void wormhole_net_halt(struct wormhole_net *net);
bool wormhole_net_failed(const struct wormhole_net *net);
/* The cycle up to which it has run, exclusive. */
uint64_t wormhole_net_now(const struct wormhole_net *net);

struct wormhole_counters {
	uint64_t taken, delivered, discarded; /* messages */
	uint64_t absorbed;                    /* in transit; a message may be so several times */
	uint64_t stops, goes;
	uint64_t channels_passed; /* by tails */
	uint64_t events;
	uint64_t pool_peak_bytes; /* of the host that had most */
};

struct wormhole_counters wormhole_net_counters(const struct wormhole_net *net);

struct wormhole_host_counters {
	uint64_t absorbed, discarded; /* messages in transit */
	uint64_t in_transit;          /* of those absorbed, not yet chosen */
	uint64_t pool_peak_bytes;
};

struct wormhole_host_counters wormhole_net_host(const struct wormhole_net *net, uint32_t host);
/* Messages between their first flit's leaving and their tail's arrival, or absorbed. */
uint64_t wormhole_net_under_way(const struct wormhole_net *net);

/* Flits that the channel of this sending end has carried, and cycles for which it was stopped. */
uint64_t wormhole_net_carried(const struct wormhole_net *net, struct topology_port sender);
uint64_t wormhole_net_stopped(const struct wormhole_net *net, struct topology_port sender);

/* Channels that wait for each other in a circle, found in the buffers: each is stopped, and what is
 * first in its buffer waits for the next. Writes up to 'room' of them, by their sending ends;
 * returns how many there are, 0 if there is no circle. */
unsigned wormhole_net_deadlock(
	const struct wormhole_net *net, struct topology_port *cycle, unsigned room);

/* Invariants: messages conserved, no level above the buffer, pools in agreement with what is in
 * transit. NULL, or what is wrong. Between runs, for tests. */
const char *wormhole_net_check(const struct wormhole_net *net);
