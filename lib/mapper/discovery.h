/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Discovery (docs/explanation/the-mapper.md): decides which probes to send and updates the map from
 * the replies. It covers the whole fabric, starting at the mapper's own port, or single ports after
 * a link went up or down. Retries depend on 'now' alone. The mapper passes in replies and sends the
 * frames that discovery_poll() fills. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "fabric_map.h"
#include "mapper_frame.h"

/* Flap damping: holds down a flapping link when it comes up again. Each known link that goes down
 * cancels the current distribution, so without damping no other change would complete. After its
 * first loss, a link is used as soon as it is up. From the second loss on, it is held down, twice
 * as long each time, until it has been up for LINK_HOLD_FORGET times the shortest hold.
 * Single-threaded; no clock. */

#define LINK_HOLD_DOWNS_MAX 9
/* Twice the longest hold, in units of the shortest one. */
#define LINK_HOLD_FORGET ((uint64_t)1 << (LINK_HOLD_DOWNS_MAX - 1))

struct link_damping {
	weft_time shortest_ps;
	weft_time next; /* earliest end of a hold, or WEFT_TIME_NEVER */
};

/* Records a change of the link's state. */
void link_damping_record(struct link_damping *hold, struct map_port *port, bool up, weft_time now);

/* Returns a link that is up, not yet in the map, and no longer held down. Call until it returns
 * false; each link is returned once. */
bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port);

static inline bool link_is_held(const struct map_port *port, weft_time now)
{
	return port->state != MAP_LINKED && now < port->held_until;
}

#define DISCOVERY_OUTSTANDING_MAX 256
#define DISCOVERY_FINDINGS_MAX    64
/* Maximum restarts of a device between two calls of discovery_forget_findings(). */
#define DISCOVERY_RESTARTS_MAX 3

struct discovery_config {
	uint16_t priority;
	uint32_t session;     /* session of the mapper */
	unsigned outstanding; /* concurrent probes, 1 to DISCOVERY_OUTSTANDING_MAX */
	weft_time retry_ps;   /* retry interval of a probe */
	unsigned tries;       /* probes before a port counts as silent */
	weft_time hold_ps;    /* shortest hold of a flapping link */
};

/* Irregularities that do not stop the discovery. */
#define DISCOVERY_FINDINGS(X)                                        \
	X(TWO_CABLES, "a port has two cables")                       \
	X(LOOP, "a cable connects a device to itself")               \
	X(TWO_SESSIONS, "two devices have the same identity")        \
	X(TOO_FAR, "a device is too far away for a route")           \
	X(CHANGED, "a device's kind or number of ports has changed") \
	X(SILENT, "a device is present but does not answer")         \
	X(NO_TABLES, "a device refuses all tables and is left out")

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
	uint32_t device; /* index in the map; the probe is sent through 'port' of it */
	uint8_t port;
	uint16_t tries; /* number of probes sent */
	bool used;
	uint32_t number;
	weft_time due;
};

struct discovery_place {
	uint32_t device;
	uint8_t port;
	bool again; /* probe even if the neighbour is known */
};

struct discovery {
	struct discovery_config config;
	struct fabric_map *map;
	struct mapper_speaker *speaker;
	uint32_t epoch;           /* sent in probes */
	struct link_damping hold; /* held links are not probed */

	struct discovery_place *queue; /* ports to probe, in this order */
	uint32_t head, tail, room;
	struct discovery_probe probe[DISCOVERY_OUTSTANDING_MAX];
	unsigned outstanding;
	uint32_t next_number;
	bool failed; /* out of memory */

	/* Highest mapper above this one that replies have named; 0: none. */
	uint64_t greater;
	uint16_t greater_priority;

	struct discovery_finding finding[DISCOVERY_FINDINGS_MAX];
	unsigned findings;
	uint64_t sent, retried, replies, unasked;
};

const char *discovery_finding_name(enum discovery_finding_kind kind);

/* The map must already contain device 0. Returns 0 or -ENOMEM. */
int discovery_init(struct discovery *discovery, const struct discovery_config *config,
	struct fabric_map *map, struct mapper_speaker *speaker);
void discovery_fini(struct discovery *discovery);

/* Discards pending probes and all findings. */
void discovery_reset(struct discovery *discovery);
/* Discards the findings and the devices' restart counts. Call regularly; otherwise a device that
 * restarts often is mistaken for two devices with one identity. */
void discovery_forget_findings(struct discovery *discovery);
/* Adds a finding unless the list is full. */
void discovery_find(struct discovery *discovery, enum discovery_finding_kind kind, uint32_t device,
	uint8_t port);
/* Queues a probe of the neighbour at this port. 'again': even if the neighbour is known. */
void discovery_ask(struct discovery *discovery, uint32_t device, uint8_t port, bool again);

/* Returns true if it filled a frame to send on port 0. */
bool discovery_poll(struct discovery *discovery, weft_time now, struct mapper_frame *frame);
/* Returns when to call discovery_poll() next, or WEFT_TIME_NEVER. */
weft_time discovery_due(const struct discovery *discovery);
bool discovery_done(const struct discovery *discovery);

/* Handles an authenticated reply to this mapper's session. Returns the reason for refusing it, or
 * MAPPER_REFUSED_NONE. */
enum mapper_refusal discovery_on_reply(
	struct discovery *discovery, const struct mapper_message *message, weft_time now);
