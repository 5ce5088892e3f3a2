/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Discovery (docs/explanation/the-mapper.md): decides which probes to send and how replies change
 * the map, for the whole fabric, starting at the mapper's own port, or for single ports after a
 * link went up or down. Retries depend on 'now' alone. A mapper owns it, passes replies on and
 * sends the frames that discovery_poll() fills. One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "fabric_map.h"
#include "mapper_frame.h"

/* Flap damping: a flapping link is held down when it comes up again. Each known link that goes down
 * cancels the current distribution, so without damping no other change would complete. After its
 * first loss a link is used again at once. From the second loss on it is held, each time twice as
 * long, until it has been up for LINK_HOLD_FORGET times the shortest hold. One thread; no clock. */

#define LINK_HOLD_DOWNS_MAX 9
/* Twice the longest hold. */
#define LINK_HOLD_FORGET ((uint64_t)1 << (LINK_HOLD_DOWNS_MAX - 1))

struct link_damping {
	weft_time shortest_ps;
	weft_time next; /* the earliest end of a hold; WEFT_TIME_NEVER */
};

/* Records that the link went down or up. */
void link_damping_record(struct link_damping *hold, struct map_port *port, bool up, weft_time now);

/* Returns a link that is up, not yet in the map, and no longer held. Call until false; each link is
 * returned once. */
bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port);

static inline bool link_is_held(const struct map_port *port, weft_time now)
{
	return port->state != MAP_LINKED && now < port->held_until;
}

#define DISCOVERY_OUTSTANDING_MAX 256
#define DISCOVERY_FINDINGS_MAX    64
/* Restarts of one device between two calls of discovery_forget_findings(). */
#define DISCOVERY_RESTARTS_MAX 3

struct discovery_config {
	uint16_t priority;
	uint32_t session;     /* the mapper's */
	unsigned outstanding; /* concurrent probes, 1 to DISCOVERY_OUTSTANDING_MAX */
	weft_time retry_ps;   /* time until a probe is repeated */
	unsigned tries;       /* before a port counts as silent */
	weft_time hold_ps;    /* shortest hold of a flapping link */
};

/* Irregularities that do not stop the discovery. */
#define DISCOVERY_FINDINGS(X)                                                      \
	X(TWO_CABLES, "a port has two cables")                                     \
	X(LOOP, "a cable leads from a device to itself")                           \
	X(TWO_SESSIONS, "two devices have one identity")                           \
	X(TOO_FAR, "too far away for a route")                                     \
	X(CHANGED, "a device has another number of ports than in its former life") \
	X(SILENT, "a device is there and does not answer")                         \
	X(NO_TABLES, "a device takes no tables, and is left out")

enum discovery_finding_kind {
#define X(name, text) DISCOVERY_##name,
	DISCOVERY_FINDINGS(X)
#undef X
		DISCOVERY_FINDING_KINDS
};

struct discovery_finding {
	enum discovery_finding_kind kind;
	uint32_t device; /* index in the map */
	uint8_t port;
};

struct discovery_probe {
	uint32_t device; /* index in the map; the probe leaves through this port */
	uint8_t port;
	uint16_t tries; /* made so far */
	bool used;
	uint32_t number;
	weft_time due;
};

struct discovery_place {
	uint32_t device;
	uint8_t port;
	bool again; /* even if the neighbour is known */
};

struct discovery {
	struct discovery_config config;
	struct fabric_map *map;
	struct mapper_speaker *speaker;
	uint32_t epoch;           /* sent in probes */
	struct link_damping hold; /* held links are not probed */

	struct discovery_place *queue; /* ports to probe, in order */
	uint32_t head, tail, room;
	struct discovery_probe probe[DISCOVERY_OUTSTANDING_MAX];
	unsigned outstanding;
	uint32_t next_number;
	bool failed; /* out of memory */

	/* The highest of the mappers named in replies that are above this one. */
	uint64_t greater;
	uint16_t greater_priority;

	struct discovery_finding finding[DISCOVERY_FINDINGS_MAX];
	unsigned findings;
	uint64_t sent, retried, replies, unasked;
};

const char *discovery_finding_name(enum discovery_finding_kind kind);

/* The map must already have device 0. May return -ENOMEM. */
int discovery_init(struct discovery *discovery, const struct discovery_config *config,
	struct fabric_map *map, struct mapper_speaker *speaker);
void discovery_fini(struct discovery *discovery);

/* Forgets pending probes and all findings. */
void discovery_reset(struct discovery *discovery);
/* Forgets the findings and the restart counts of devices. Call it from time to time; otherwise a
 * device that restarts often is mistaken for two with one identity. */
void discovery_forget_findings(struct discovery *discovery);
/* Adds a finding, if there is room. */
void discovery_find(struct discovery *discovery, enum discovery_finding_kind kind, uint32_t device,
	uint8_t port);
/* Queues a probe of the neighbour behind this port; a known neighbour is probed only if 'again'. */
void discovery_ask(struct discovery *discovery, uint32_t device, uint8_t port, bool again);

/* True if there is a frame to send on port 0. */
bool discovery_poll(struct discovery *discovery, weft_time now, struct mapper_frame *frame);
/* When discovery_poll() next has something to do; WEFT_TIME_NEVER if it is done. */
weft_time discovery_due(const struct discovery *discovery);
bool discovery_done(const struct discovery *discovery);

/* Handles an authenticated reply to this mapper's session. Returns why it was refused, or
 * MAPPER_REFUSED_NONE. */
enum mapper_refusal discovery_on_reply(
	struct discovery *discovery, const struct mapper_message *message, weft_time now);
