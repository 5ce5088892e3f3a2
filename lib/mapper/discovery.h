/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Discovery (docs/mapper.md): which probes to send and what their replies mean for the map. A whole
 * fabric from the mapper's own port on, or single ports again after a link went up or down. Retries
 * follow from 'now' alone. Owned by a mapper, which passes replies on and sends what
 * discovery_poll() fills. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fabric_map.h"
#include "link_damping.h"
#include "mapper_frame.h"
#include "weft_time.h"

#define DISCOVERY_OUTSTANDING_MAX 256
#define DISCOVERY_FINDINGS_MAX    64
/* New lives of one device between two calls of discovery_look_again(). */
#define DISCOVERY_LIVES_MAX 3

struct discovery_config {
	uint16_t priority;
	uint32_t session;     /* the mapper's */
	unsigned outstanding; /* probes at a time, 1 to DISCOVERY_OUTSTANDING_MAX */
	weft_time retry_ps;   /* a probe is sent again after so long */
	unsigned tries;       /* before a port counts as silent */
	weft_time hold_ps;    /* the shortest time for which a link that flaps is left alone */
};

/* What is not as it should be, and yet no reason to stop. */
#define DISCOVERY_FINDINGS(X)                                                      \
	X(TWO_CABLES, "a port has two cables")                                     \
	X(LOOP, "a cable leads from a device to itself")                           \
	X(TWO_SESSIONS, "two devices have one identity")                           \
	X(TOO_FAR, "too far away for a route")                                     \
	X(CHANGED, "a device has another number of ports than in its former life") \
	X(SILENT, "somebody is there and does not answer")                         \
	X(NO_TABLES, "a device takes no tables, and is left out")

enum discovery_finding_kind {
#define X(name, text) DISCOVERY_##name,
	DISCOVERY_FINDINGS(X)
#undef X
		DISCOVERY_FINDING_KINDS
};

struct discovery_finding {
	enum discovery_finding_kind kind;
	uint32_t device; /* of the map */
	uint8_t port;
};

struct discovery_probe {
	uint32_t device; /* of the map: behind this port of it */
	uint8_t port;
	uint16_t tries; /* made */
	bool used;
	uint32_t number;
	weft_time due;
};

struct discovery_place {
	uint32_t device;
	uint8_t port;
	bool again; /* although it is known who is there */
};

struct discovery {
	struct discovery_config config;
	struct fabric_map *map;
	struct mapper_speaker *speaker;
	uint32_t epoch;           /* said in probes */
	struct link_damping hold; /* held links are not asked about */

	struct discovery_place *queue; /* ports to be probed, in order */
	uint32_t head, tail, room;
	struct discovery_probe probe[DISCOVERY_OUTSTANDING_MAX];
	unsigned outstanding;
	uint32_t next_number;
	bool failed; /* no memory */

	/* A greater mapper was named in a reply; who, the greatest. */
	uint64_t greater;
	uint16_t greater_priority;

	struct discovery_finding finding[DISCOVERY_FINDINGS_MAX];
	unsigned findings;
	uint64_t sent, retried, replies, unasked;
};

const char *discovery_finding_name(enum discovery_finding_kind kind);

/* The map has device 0. -ENOMEM. */
int discovery_init(struct discovery *discovery, const struct discovery_config *config,
	struct fabric_map *map, struct mapper_speaker *speaker);
void discovery_fini(struct discovery *discovery);

/* Forgets what is under way and all findings. */
void discovery_reset(struct discovery *discovery);
/* Forgets the findings and how often devices have restarted: to be called at times, or a device
 * that restarts often is taken for two of one identity. */
void discovery_look_again(struct discovery *discovery);
/* Adds a finding, if there is room. */
void discovery_find(struct discovery *discovery, enum discovery_finding_kind kind, uint32_t device,
	uint8_t port);
/* Asks who is behind this port; once more, if it is known, only if 'again'. */
void discovery_ask(struct discovery *discovery, uint32_t device, uint8_t port, bool again);

/* True if there is a frame to send, by port 0. */
bool discovery_poll(struct discovery *discovery, weft_time now, struct mapper_frame *frame);
/* When discovery_poll() next has something to do; WEFT_TIME_NEVER when it is done. */
weft_time discovery_due(const struct discovery *discovery);
bool discovery_done(const struct discovery *discovery);

/* A genuine reply to this mapper's session. Why it was not used, or MAPPER_REFUSED_NONE. */
enum mapper_refusal discovery_on_reply(
	struct discovery *discovery, const struct mapper_message *message, weft_time now);
