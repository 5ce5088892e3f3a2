/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A network of wormhole switches with Stop & Go flow control and hosts with in-transit buffers
 * (docs/explanation/wormhole.md). Results are exact to the flit without moving flits individually:
 * messages are trains. A channel carries at most one flit per cycle, so its history is a list of
 * runs. Events occur only where a run starts or ends, where a header arrives, and where a buffer
 * level crosses a mark. docs/explanation/wormhole.md defines the order of events within a cycle.
 *
 * The owner supplies the messages (struct wormhole_ops). Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "nic/itb_pool.h"
#include "topo/topology.h"

/* Stop & Go flow control of Myrinet (thesis 004, section 1.3.1): the receiver of a link has a slack
 * buffer with two marks. It sends STOP when the level rises above the stop mark and GO when it
 * falls below the go mark. The space above the stop mark holds the flits in flight until the sender
 * reacts. The flits below the go mark keep the buffer from running empty. Levels are in flits. */

struct stop_go_marks {
	uint32_t slack; /* size of the buffer */
	uint32_t stop;  /* send STOP above this level */
	uint32_t go;    /* send GO below this level */
};

/* Values from the thesis, section 4.3. */
#define STOP_GO_SLACK 80
#define STOP_GO_STOP  56
#define STOP_GO_GO    40

enum stop_go_signal { STOP_GO_NONE, STOP_GO_STOPS, STOP_GO_GOES };

/* Returns true if the buffer of a link of 'delay' cycles never overflows. After the flit that
 * crosses the mark, flits still arrive for two delays. */
static inline bool stop_go_never_over(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->stop >= marks->go && marks->slack >= marks->stop + 2 * delay;
}

/* Returns true if the buffer never runs empty within a message: the flits below the mark last until
 * the first flit after GO arrives. */
static inline bool stop_go_never_empty(const struct stop_go_marks *marks, uint64_t delay)
{
	return marks->go >= 2 * delay + 2;
}

/* Returns the signal that a receiver at this level sends. '*stopped': the last signal was STOP. */
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

/* In cycles, and in flits of one byte (thesis 004, section 4.3). The topology has the link delays.
 */
struct wormhole_parameters {
	weft_time cycle_ps;      /* time of one flit on a link */
	uint32_t routing_cycles; /* latency of a message's first flit through a switch */
	/* Selects a reading of thesis 004, section 1.3.1. A header is routed when it gets its
	 * output (false), or when it becomes first in its buffer, so that only the cycle through
	 * the crossbar remains after the grant (docs/explanation/wormhole.md). */
	bool routed_before_grant;
	uint32_t detection_cycles;   /* cycles until a host detects a message in transit */
	uint32_t programming_cycles; /* further cycles until it can re-inject the message */
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

/* A message to send. The route is borrowed and must stay valid. */
struct wormhole_offer {
	const uint8_t *route; /* elements as in a frame (route_set.h) */
	uint64_t generated;   /* the owner's; returned with the message */
	uint32_t tag;         /* the owner's, likewise */
	uint32_t bytes;       /* one flit per byte, at least 1 */
	uint16_t destination;
	uint8_t choice; /* the owner's, likewise */
	uint8_t entry;  /* the owner's, likewise */
};

/* A message in flight, or its final state. */
struct wormhole_message {
	const uint8_t *route; /* next route element */
	uint64_t generated;
	uint64_t started;   /* cycle in which the source sends the first flit */
	uint64_t header_at; /* cycle in which the header reaches the end of 'channel' */
	uint32_t channel;   /* channel that the header entered last */
	uint32_t bytes;     /* 0: a free entry */
	uint32_t next;      /* next message in the buffer or host where the header is waiting */
	uint32_t tag;
	uint16_t source, destination;
	uint8_t itbs; /* number of times absorbed */
	uint8_t choice;
	uint8_t entry;
	bool discarded;
	bool in_transit; /* absorbed at a host and not chosen for re-injection yet */
	bool announced;  /* there is an event for header_at */
};

/* The owner's callbacks. Times are in cycles. Called for a host only while its link is free. */
struct wormhole_ops {
	/* Returns the cycle of the host's next own message, at most 'now' if one is waiting. */
	uint64_t (*due)(void *ctx, uint32_t host, uint64_t now);
	/* Returns the number of waiting messages. Called if messages in transit also wait. */
	uint32_t (*waiting)(void *ctx, uint32_t host, uint64_t now);
	/* Takes the first waiting message. Returns false if it has no route; 'due' is then called
	 * again. */
	bool (*take)(void *ctx, uint32_t host, uint64_t now, struct wormhole_offer *offer);
	/* The source sends the tail of a host's own message in cycle 'last'. The header was ready
	 * to be sent in cycle 'first'. May be NULL. */
	void (*sent)(
		void *ctx, const struct wormhole_message *message, uint64_t first, uint64_t last);
	/* The tail reaches the destination at the start of cycle 'at', up to a link delay after
	 * now. */
	void (*delivered)(void *ctx, const struct wormhole_message *message, uint64_t at);
	/* A host had no space to absorb the message. */
	void (*discarded)(void *ctx, const struct wormhole_message *message, uint64_t now);
	/* The receiver of the channel with this sending end sends STOP or GO. May be NULL. */
	void (*signal)(void *ctx, uint64_t now, struct topology_port sender, bool stop);
};

struct wormhole_net;

/* Creates a network. 'topology' is borrowed. Returns NULL with 'error' set on link delays that do
 * not fit the marks, unequal rates, or lack of memory. */
struct wormhole_net *wormhole_net_create(const struct topology *topology,
	const struct wormhole_parameters *parameters, const struct wormhole_ops *ops, void *ctx,
	struct error *error);
void wormhole_net_destroy(struct wormhole_net *net);

/* Checks the links as wormhole_net_create() does. Returns 0 or -EINVAL. */
int wormhole_net_check_links(const struct topology *topology,
	const struct wormhole_parameters *parameters, struct error *error);

/* Returns 0, or -EINVAL with 'error' set if this route does not lead to 'destination'. */
int wormhole_net_check_route(const struct wormhole_net *net, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length, struct error *error);

/* Processes all cycles before 'until', or stops after the current event if wormhole_net_halt() is
 * called. Returns false if no event is left or memory ran out (wormhole_net_failed). */
bool wormhole_net_run(struct wormhole_net *net, uint64_t until);
/* Stops wormhole_net_run() early. Call only from the owner's callbacks. */
void wormhole_net_halt(struct wormhole_net *net);
bool wormhole_net_failed(const struct wormhole_net *net);
/* Returns the first cycle that has not been processed. */
uint64_t wormhole_net_now(const struct wormhole_net *net);

struct wormhole_counters {
	uint64_t taken, delivered, discarded; /* message counts */
	uint64_t absorbed; /* absorptions; a message may be absorbed several times */
	uint64_t stops, goes;
	uint64_t channels_passed; /* tails emitted, over all channels */
	uint64_t events;
	uint64_t pool_peak_bytes; /* highest peak of a host */
};

struct wormhole_counters wormhole_net_counters(const struct wormhole_net *net);

struct wormhole_host_counters {
	uint64_t absorbed, discarded; /* counts of messages in transit */
	uint64_t in_transit;          /* absorbed and not chosen for re-injection yet */
	uint64_t pool_peak_bytes;
};

struct wormhole_host_counters wormhole_net_host(const struct wormhole_net *net, uint32_t host);
/* Returns the number of messages taken but neither delivered nor discarded yet. */
uint64_t wormhole_net_under_way(const struct wormhole_net *net);

/* Return the flits carried by the channel with this sending end, and how long it was stopped. */
uint64_t wormhole_net_carried(const struct wormhole_net *net, struct topology_port sender);
uint64_t wormhole_net_stopped(const struct wormhole_net *net, struct topology_port sender);

/* Searches for a cycle of channels that wait for each other: each is stopped, and the first message
 * in its buffer waits for the next channel. Writes the sending ends of up to 'room' of them and
 * returns their number; 0 if there is no cycle. */
unsigned wormhole_net_deadlock(
	const struct wormhole_net *net, struct topology_port *cycle, unsigned room);

/* Checks invariants, for tests, between runs: messages conserved, levels within buffers, pools
 * consistent with messages in transit. Returns NULL or a description of the violation. */
const char *wormhole_net_check(const struct wormhole_net *net);
