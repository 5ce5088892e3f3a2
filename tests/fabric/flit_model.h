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
	unsigned routing; /* cycles of a header in a switch, including the crossbar */
	/* All but the crossbar's one are those of the first flit in its buffer, before it asks for
	 * its output, and not after it has got it. */
	bool routed_before_grant;
	unsigned slots;       /* flits that an input buffer holds */
	unsigned stop, go;    /* STOP is sent above 'stop', GO below 'go' */
	unsigned detection;   /* cycles until a host detects that a message is in transit */
	unsigned programming; /* cycles to set up a re-injection once the link is free */
	uint64_t pool;        /* bytes for messages in transit at each host */
};

#define FLIT_FLIGHT_MAX 64
#define FLIT_SLOTS_MAX  256
#define FLIT_NEVER      UINT64_MAX

/* Section 4.3 of the thesis: 6.25 ns, 150 ns, 80 bytes, 275 ns, 200 ns, 512 KiB; for 10 m links. */
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
	uint64_t chosen;    /* cycle in which it was granted its source's link, FLIT_NEVER */
	uint64_t left;      /* cycle in which the header left the source, FLIT_NEVER if not yet */
	uint64_t sent;      /* cycle in which its last flit left it */
	uint64_t first;     /* cycle in which the header reached its destination */
	uint64_t tail;      /* cycle in which the last flit arrived; delivered at its end */
	uint64_t discarded; /* cycle in which a host without room discarded it */
	unsigned itbs;      /* hosts that took it in transit */
};

/* A flow control symbol. */
struct flit_mark {
	uint64_t cycle;
	struct topology_port sender; /* the port whose flits it stops and starts */
	bool stop;
};

struct flit_model;

/* Creates the network, empty, at cycle 0. A link's delay is the topology's, in whole cycles,
 * rounded up, 1 to FLIT_FLIGHT_MAX. Borrows messages and routes, which must outlive it. Returns
 * NULL if out of memory. */
struct flit_model *flit_model_create(const struct topology *topology,
	const struct flit_parameters *parameters, const struct flit_message *messages,
	uint32_t count);
void flit_model_destroy(struct flit_model *model);

/* Returns whether all messages are delivered, or discarded to their last flit. */
bool flit_model_over(const struct flit_model *model);
/* One cycle. */
void flit_model_step(struct flit_model *model);
/* Runs until every message is delivered or discarded to its last flit, nothing can ever move again,
 * or 'limit' is the next cycle. Returns true if all messages have ended. */
bool flit_model_run(struct flit_model *model, uint64_t limit);

/* The next cycle. */
uint64_t flit_model_cycle(const struct flit_model *model);
/* Returns whether messages are left that can never move: no flit has moved for longer than any
 * delay, and no host is still to get a message. */
bool flit_model_stuck(const struct flit_model *model);
const struct flit_fate *flit_model_fate(const struct flit_model *model, uint32_t message);
/* Symbols in the order of cycles, then of senders: switches first, then by number and port. */
size_t flit_model_marks(const struct flit_model *model, const struct flit_mark **marks);
/* Flits sent on the link, and cycles in which the sender was stopped. */
uint64_t flit_model_carried(const struct flit_model *model, struct topology_port sender);
uint64_t flit_model_stopped(const struct flit_model *model, struct topology_port sender);
/* The most flits that any buffer has held. */
unsigned flit_model_fullest(const struct flit_model *model);
/* Flits in the buffer behind the sender's link; 'stopped' (may be NULL): the state known to the
 * sender. */
unsigned flit_model_level(
	const struct flit_model *model, struct topology_port sender, bool *stopped);
/* Maximum bytes held in any host's pool. */
uint64_t flit_model_pool_peak(const struct flit_model *model);
/* Flits in all buffers, on all links and in the hosts' pools. */
uint64_t flit_model_inside(const struct flit_model *model);

/* NULL while all rules have held: no flit at a full buffer, none missing in the middle of a
 * re-injected message, no message at the wrong host, flits in order, and every injected flit
 * inside, delivered or discarded. Else describes the first violation. */
const char *flit_model_broken(const struct flit_model *model);
