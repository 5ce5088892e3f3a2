/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A network of wormhole switches with Stop & Go flow control and hosts with in-transit buffers
 * (docs/explanation/wormhole.md), exact to the flit without moving any: messages are trains. A
 * channel carries at most one flit per cycle, so its history is a list of runs, and events occur
 * only where a run starts or ends, where a header arrives, and where a buffer passes a mark.
 * docs/explanation/wormhole.md defines the order of events within a cycle.
 *
 * The owner supplies the messages (struct wormhole_ops). One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "nic/itb_pool.h"
#include "topo/topology.h"

/* Stop & Go flow control of Myrinet (thesis 004, section 1.3.1): the receiver of a link has a slack
 * buffer with two marks. It sends STOP when the level rises above one and GO when it falls below
 * the other. The space above the stop mark holds the flits in flight until the sender reacts; the
 * flits below the go mark keep the buffer from running empty. Levels are in flits. */

struct stop_go_marks {
	uint32_t slack; /* size of the buffer */
	uint32_t stop;  /* STOP above it */
	uint32_t go;    /* GO below it */
};

/* Values of the thesis, section 4.3. */
#define STOP_GO_SLACK 80
#define STOP_GO_STOP  56
#define STOP_GO_GO    40

enum stop_go_signal { STOP_GO_NONE, STOP_GO_STOPS, STOP_GO_GOES };

/* True if the buffer of a link of 'delay' cycles never overflows: after the flit that passed the
 * mark, the flits of two more delays still arrive. */
static inline bool stop_go_never_over(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->stop >= marks->go && marks->slack >= marks->stop + 2 * delay;
}

/* True if the buffer never runs empty in the middle of a message: the flits below the mark last
 * until the first flit after GO arrives. */
static inline bool stop_go_never_empty(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->go >= 2 * delay + 2;
}

/* The signal that a receiver at this level sends; '*stopped' records whether the last signal was
 * STOP. */
static inline enum stop_go_signal stop_go_update(
	const struct stop_go_marks *marks, bool *stopped, uint64_t level)
{
	if (!*stopped && level > marks->stop) {
		*stopped = true;
		return STOP_GO_STOPS;
	}
	if (*stopped && level < marks->go) {
		*stopped = false;
		return STOP_GO_GOES;
	}
	return STOP_GO_NONE;
}

/* In cycles and flits of one byte (thesis 004, section 4.3). Link delays are in the topology. */
struct wormhole_parameters {
	weft_time cycle_ps;      /* time of one flit on a link */
	uint32_t routing_cycles; /* latency of the first flit through a switch; the others follow */
	/* Which reading of thesis 004, section 1.3.1: a header is routed when it gets its output
	 * (false), or when it is first in its buffer, so that only the cycle through the crossbar
	 * remains after that (docs/explanation/wormhole.md). */
	bool routed_before_grant;
	uint32_t detection_cycles;   /* until a host detects a message in transit */
	uint32_t programming_cycles; /* until it can re-inject it */
	uint64_t itb_pool_bytes;     /* per host, for messages in transit */
	struct stop_go_marks marks;
};

#define WORMHOLE_PARAMETERS_DEFAULT                                                            \
	{                                                                                      \
		.cycle_ps = 6250, .routing_cycles = 24, .detection_cycles = 44,                \
		.programming_cycles = 32, .itb_pool_bytes = ITB_POOL_BYTES_DEFAULT, .marks = { \
			.slack = STOP_GO_SLACK,                                                \
			.stop = STOP_GO_STOP,                                                  \
			.go = STOP_GO_GO                                                       \
		}                                                                              \
	}

#define WORMHOLE_NEVER UINT64_MAX

/* A message to send. The caller owns the route's bytes, which must stay valid. */
struct wormhole_offer {
	const uint8_t *route; /* elements as in a frame (route_set.h) */
	uint64_t generated;   /* the caller's: returned with the message */
	uint32_t tag;         /* the caller's, likewise */
	uint32_t bytes;       /* one flit per byte, at least 1 */
	uint16_t destination;
	uint8_t choice; /* the caller's, likewise */
	uint8_t entry;  /* likewise */
};

/* A message in flight, or its final state. */
struct wormhole_message {
	const uint8_t *route; /* next element */
	uint64_t generated;
	uint64_t started;   /* cycle in which the first flit leaves the source */
	uint64_t header_at; /* cycle in which the header arrives, or arrived, at the end of... */
	uint32_t channel;   /* ...this channel */
	uint32_t bytes;     /* 0: a free entry */
	uint32_t next;      /* next in the buffer or host where the header waits */
	uint32_t tag;
	uint16_t source, destination;
	uint8_t itbs; /* times absorbed */
	uint8_t choice;
	uint8_t entry;
	bool discarded;
	bool in_transit; /* absorbed, and not yet chosen for re-injection at that host */
	bool announced;  /* an event for header_at exists */
};

/* The owner's callbacks. Times are cycles. Called for a host only while its link is free. */
struct wormhole_ops {
	/* Cycle in which 'host' next has a message of its own; 'now' or earlier if one is
	 * waiting. */
	uint64_t (*due)(void *ctx, uint32_t host, uint64_t now);
	/* Number of waiting messages; called if messages in transit are also waiting. */
	uint32_t (*waiting)(void *ctx, uint32_t host, uint64_t now);
	/* Takes the first waiting message. Returns false if it has no route; the net then asks
	 * again. */
	bool (*take)(void *ctx, uint32_t host, uint64_t now, struct wormhole_offer *offer);
	/* The tail of a host's own message leaves the source in cycle 'last'; the header could have
	 * left in cycle 'first'. May be NULL. */
	void (*sent)(
		void *ctx, const struct wormhole_message *message, uint64_t first, uint64_t last);
	/* The tail is at the destination at the start of cycle 'at', which may be a link's delay
	 * after now. */
	void (*delivered)(void *ctx, const struct wormhole_message *message, uint64_t at);
	/* A host had no room to absorb the message. */
	void (*discarded)(void *ctx, const struct wormhole_message *message, uint64_t now);
	/* STOP or GO leaves the receiver of this channel, named by its sending end. May be NULL. */
	void (*signal)(void *ctx, uint64_t now, struct topology_port sender, bool stop);
};

struct wormhole_net;

/* Returns NULL with error set: links whose delay does not fit the marks, unequal rates, or no
 * memory. The topology outlives the net. */
struct wormhole_net *wormhole_net_create(const struct topology *topology,
	const struct wormhole_parameters *parameters, const struct wormhole_ops *ops, void *ctx,
	struct error *error);
void wormhole_net_destroy(struct wormhole_net *net);

/* Checks the links as wormhole_net_create() does. Returns 0 or -EINVAL. */
int wormhole_net_check_links(const struct topology *topology,
	const struct wormhole_parameters *parameters, struct error *error);

/* Returns 0, or -EINVAL with error set if this route does not lead from host to host. */
int wormhole_net_check_route(const struct wormhole_net *net, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length, struct error *error);

/* Processes all cycles before 'until'. Returns false if there is no event is left, or memory ran
 * out (wormhole_net_failed). Ends early, after the current event, if wormhole_net_halt() was
 * called. */
bool wormhole_net_run(struct wormhole_net *net, uint64_t until);
/* Ends wormhole_net_run() early; called from the owner's callbacks. */
void wormhole_net_halt(struct wormhole_net *net);
bool wormhole_net_failed(const struct wormhole_net *net);
/* The cycle up to which it has run, exclusive. */
uint64_t wormhole_net_now(const struct wormhole_net *net);

struct wormhole_counters {
	uint64_t taken, delivered, discarded; /* messages */
	uint64_t absorbed; /* in transit; a message may be absorbed several times */
	uint64_t stops, goes;
	uint64_t channels_passed; /* by tails */
	uint64_t events;
	uint64_t pool_peak_bytes; /* the host with the highest peak */
};

struct wormhole_counters wormhole_net_counters(const struct wormhole_net *net);

struct wormhole_host_counters {
	uint64_t absorbed, discarded; /* messages in transit */
	uint64_t in_transit;          /* absorbed, not yet chosen */
	uint64_t pool_peak_bytes;
};

struct wormhole_host_counters wormhole_net_host(const struct wormhole_net *net, uint32_t host);
/* Messages whose first flit left and whose tail has not arrived or been absorbed yet. */
uint64_t wormhole_net_under_way(const struct wormhole_net *net);

/* Flits carried by the channel of this sending end, and cycles for which it was stopped. */
uint64_t wormhole_net_carried(const struct wormhole_net *net, struct topology_port sender);
uint64_t wormhole_net_stopped(const struct wormhole_net *net, struct topology_port sender);

/* Finds a cycle of channels that wait for each other: each is stopped, and the first message in its
 * buffer waits for the next. Writes up to 'room' of them, by their sending ends; returns their
 * number, 0 without a cycle. */
unsigned wormhole_net_deadlock(
	const struct wormhole_net *net, struct topology_port *cycle, unsigned room);

/* Checks invariants: messages conserved, no level above the buffer, pools consistent with messages
 * in transit. Returns Returns NULL, or a description of the violation. For tests, between runs. */
const char *wormhole_net_check(const struct wormhole_net *net);
