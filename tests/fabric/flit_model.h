/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The referee of the wormhole mode: a network of Myrinet-like switches and interfaces with
 * in-transit buffers (the thesis' sections 1.3.1, 3.4 and 4.3), simulated cycle by cycle, flit by
 * flit, slot by slot. It is slow and plain on purpose, and shares no code with the fast model that
 * it judges (pipelines/wormhole, lib/wormhole). One flit is one byte, one cycle is the time of one
 * flit.
 *
 * A cycle has four phases, each of which all devices go through before the next one begins, so that
 * the order of the devices cannot matter:
 *
 *   arrivals   Flits that left as many cycles ago as the link is long enter the buffer at its far
 *              end, or the host, which always takes them. STOP and GO symbols do the same on the
 *              way back.
 *   decisions  A switch output whose last tail left in an earlier cycle is given, round robin, to
 *              one of the inputs that have a header for it at the front of their buffer. A host
 *              whose link is free in the same way chooses what to send next.
 *   moves      Every connected input whose header has been routed, and every host that has
 *              something to send, puts one flit on its link unless the link is stopped.
 *   marks      Buffers that are above one mark or below the other send STOP or GO. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topology.h"

struct flit_parameters {
	uint64_t cycle_ps;
	unsigned routing; /* cycles that a header takes through a switch, crossbar included */
	/* All but the crossbar's one are those of the first flit in its buffer, before it asks for
	 * its output, and not after it has got it. */
	bool routed_before_grant;
	unsigned slots;       /* flits that an input buffer holds */
	unsigned stop, go;    /* STOP is sent above 'stop', GO below 'go' */
	unsigned detection;   /* cycles until a host has seen that a message is in transit */
	unsigned programming; /* cycles until its re-injection is set up, once the link is free */
	uint64_t pool;        /* bytes for messages in transit at each host */
};

#define FLIT_FLIGHT_MAX 64
#define FLIT_SLOTS_MAX  256
#define FLIT_NEVER      UINT64_MAX

/* The thesis' section 4.3: 6.25 ns, 150 ns, 80 bytes, 275 ns, 200 ns, 512 KiB; its links of 10 m.
 */
#define FLIT_PARAMETERS_THESIS               \
	((struct flit_parameters){           \
		.cycle_ps = 6250,            \
		.routing = 24,               \
		.slots = 80,                 \
		.stop = 56,                  \
		.go = 40,                    \
		.detection = 44,             \
		.programming = 32,           \
		.pool = (uint64_t)512 << 10, \
	})
#define FLIT_DELAY_THESIS_PS 49200
#define FLIT_RATE_THESIS_BPS 1280000000

struct flit_message {
	uint32_t source, destination;
	uint32_t bytes;       /* flits, at least 1; the route takes none */
	uint64_t cycle;       /* from which the host has it */
	const uint8_t *route; /* elements as in lib/route/route_set.h */
	unsigned route_length;
};

/* The history of a message. */
struct flit_fate {
	uint64_t chosen; /* cycle from which it had the link of its source, FLIT_NEVER */
	uint64_t left;   /* cycle in which the header left the source, FLIT_NEVER if not yet */
	uint64_t sent;   /* cycle in which its last flit left it */
	uint64_t first;  /* cycle in which the header came to its destination */
	uint64_t tail;   /* cycle in which the last flit came there: it is delivered at its end */
	uint64_t discarded; /* cycle in which a host without room refused it */
	unsigned itbs;      /* hosts that took it in transit */
};

/* A flow control symbol. */
struct flit_mark {
	uint64_t cycle;
	struct topology_port sender; /* the port that sends the flits that it stops or lets go */
	bool stop;
};

struct flit_model;

/* The network, empty, at cycle 0. A link's delay is that of the topology, in whole cycles, rounded
 * up, 1 to FLIT_FLIGHT_MAX. Messages and routes stay the caller's and must outlive it. Returns NULL
 * if out of memory. */
struct flit_model *flit_model_create(const struct topology *topology,
	const struct flit_parameters *parameters, const struct flit_message *messages,
	uint32_t count);
void flit_model_destroy(struct flit_model *model);

/* All messages are delivered, or discarded to their last flit. */
bool flit_model_over(const struct flit_model *model);
/* One cycle. */
void flit_model_step(struct flit_model *model);
/* Cycles until every message is delivered or discarded to its last flit, or nothing will ever move
 * again, or 'limit' is the next cycle. Returns true if all messages have come to their end. */
bool flit_model_run(struct flit_model *model, uint64_t limit);

/* The next cycle. */
uint64_t flit_model_cycle(const struct flit_model *model);
/* Messages are left, but no flit has moved for longer than anything that is timed takes, and no
 * host is still to get a message: nothing will ever move again. */
bool flit_model_stuck(const struct flit_model *model);
const struct flit_fate *flit_model_fate(const struct flit_model *model, uint32_t message);
/* Symbols in the order of cycles, and within one of senders: switches first, then by number and
 * port. */
size_t flit_model_marks(const struct flit_model *model, const struct flit_mark **marks);
/* Flits that the sender has put on its link, and cycles in which it was stopped. */
uint64_t flit_model_carried(const struct flit_model *model, struct topology_port sender);
uint64_t flit_model_stopped(const struct flit_model *model, struct topology_port sender);
/* The most flits that any buffer has held. */
unsigned flit_model_fullest(const struct flit_model *model);
/* Flits in the buffer behind a link, seen from the sender; 'stopped' (may be NULL) is what the
 * sender has heard. */
unsigned flit_model_level(
	const struct flit_model *model, struct topology_port sender, bool *stopped);
/* The most bytes that any host's pool has held. */
uint64_t flit_model_pool_peak(const struct flit_model *model);
/* Flits in all buffers, on all links and in the hosts' pools. */
uint64_t flit_model_inside(const struct flit_model *model);

/* NULL as long as all rules of the mechanism have held: no flit at a full buffer, none missing in
 * the middle of a message that is being re-injected, no message at the wrong host, flits in order,
 * and every flit that was injected is inside, delivered or discarded. Else what happened first. */
const char *flit_model_broken(const struct flit_model *model);
