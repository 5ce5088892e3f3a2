/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The mapper of an interface that may be one (docs/mapper.md): listens or stands by, or leads:
 * finds the fabric, computes routes, judges them, distributes them, and does so again for what
 * changes.
 *
 * Its owner gives it every frame of the kinds scout and mapper that reached the interface's agent
 * element and is no command, and sends what mapper_poll() fills: by the interface's port, or, if
 * its port is MAPPER_PORT_LOCAL, to the agent beside it, whose answer to such a frame is the
 * mapper's. Computing routes happens in mapper_poll() and may take long; nothing else does. No
 * clock: 'now' is an argument and does not go back. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "discovery.h"
#include "distribution.h"
#include "image_reading.h"
#include "mapper_agent.h"
#include "queuing.h"
#include "route_merge.h"
#include "route_root.h"
#include "transition_check.h"

#define MAPPER_STANDBYS_MAX    16
#define MAPPER_ACKNOWLEDGE_MAX 64

/* How often a mapper should ask, at most, of devices whose neighbours take a link for dead after
 * 'down_ps': for three times as long, and MAPPER_TRIES_MIN times. Whether a device is there is the
 * link layer's to say. A mapper with less patience would map around processes that were merely not
 * run for a while, which nobody else has noticed. */
#define MAPPER_TRIES_MIN 10
unsigned mapper_tries(weft_time retry_ps, weft_time down_ps);

struct mapper_config {
	uint32_t session; /* of this life, not 0 */
	const struct route_algorithm *algorithm;
	/* Whose source routes are added to its own (route_merge.h), 'others' of them; not with
	 * tables. */
	const struct route_algorithm *other[ROUTE_MERGE_MAX - 1];
	unsigned others;
	/* For networks that 'algorithm' refuses, after a failure say; NULL: none. */
	const struct route_algorithm *fallback;
	bool tables; /* destination tables, where the algorithm has any, instead of source routes */
	bool may_deadlock; /* routes are used although they can; then every change takes a pause */
	/* Its root stays as long as that switch is there; then the least number takes its place,
	 * or, if 'choose_root', what 'root_choice' says, which also chooses the first one. */
	struct route_options options;
	bool choose_root;
	enum route_root_choice root_choice;
	const struct queuing_scheme *queuing; /* NULL: everything travels in VC 0 */
	uint32_t vcs; /* of all buffers, for the scheme and VC rules; 0: nobody has said */

	weft_time listen_ps; /* before it leads for the first time, and up to half as long more */
	weft_time heartbeat_ps; /* interval */
	weft_time takeover_ps;  /* silence after which the first takes over, rank r after (r + 1)
				 * times that, who has no rank after all of these; more than an
				 * agent's lease */
	unsigned standbys;      /* ranks that are given, at most MAPPER_STANDBYS_MAX */
	weft_time gather_ps;    /* after a report, before routes are computed */
	weft_time linger_ps;    /* no packet is longer in the fabric */
	weft_time sweep_ps; /* interval at which silent ports, and one device, are asked again */
	struct discovery_config discovery;       /* priority and session are filled in */
	struct distribution_config distribution; /* likewise */
};

enum mapper_state {
	MAPPER_LISTENING,
	MAPPER_STANDING_BY,
	MAPPER_MAPPING,      /* leads, and looks around */
	MAPPER_DISTRIBUTING, /* leads, and tables are on their way */
	MAPPER_LEADING,      /* leads, and nothing is to be done */
};

/* Tables that may be in use. */
struct mapper_generation {
	uint32_t number; /* from 1; 0: none */
	struct topology *topology;
	struct route_set *set;
	struct route_table *table;
	struct queuing *queuing;
	bool found;      /* another mapper's, read from devices; without cables */
	weft_time until; /* WEFT_TIME_NEVER while devices may use them; then while packets linger */
};

struct mapper_acknowledgement {
	uint32_t device, sequence;
};

struct mapper_counters {
	uint64_t maps;      /* how often routes were computed */
	uint64_t unchanged; /* and nothing had to be sent */
	uint64_t live, paused;
	uint64_t called_off; /* distributions */
	uint64_t found;      /* tables of another mapper that were read */
	uint64_t led, stepped_down;
	uint64_t heartbeats, reports;
	uint64_t refused[MAPPER_REFUSED_COUNT];
};

struct mapper {
	struct mapper_config config;
	struct mapper_agent *agent; /* of the same interface; the owner's */
	struct mapper_speaker speaker;
	enum mapper_state state;
	weft_time state_since;

	struct fabric_map map;
	struct discovery discovery;
	struct distribution distribution;
	struct image_reading reading;
	uint64_t read_at;     /* computed, when images were read last */
	bool reads;           /* images are being read */
	uint64_t computed;    /* map.changes of the last routes */
	bool stale;           /* routes are to be computed although the map has not changed */
	bool no_memory;       /* there was none for the last ones: again at the next sweep */
	weft_time not_before; /* gathering reports */
	weft_time live_from;  /* until then unknown packets may be in the fabric */
	uint64_t lesser_seen; /* the agent's count of lesser mappers' commands */

	uint32_t epoch, generation_number;
	struct mapper_generation generation[LIVE_GENERATIONS_MAX]; /* the oldest first */
	unsigned generations;
	struct mapper_generation next; /* being distributed */
	uint32_t root;                 /* switch number */
	bool root_chosen;              /* by config.root_choice */

	uint32_t *candidate; /* devices, the greatest first */
	uint32_t candidates;
	uint32_t beat, beats; /* next of the present interval, and how many in it */
	uint32_t turn;        /* of those without rank */
	weft_time beat_at;
	uint32_t sweep; /* device whose turn it is to be asked again */
	weft_time sweep_at;

	struct mapper_acknowledgement acknowledgement[MAPPER_ACKNOWLEDGE_MAX];
	unsigned acknowledgements;

	struct fault fault;   /* why there are no routes; empty if there are */
	struct fault instead; /* why the fallback has computed the last ones; empty if it has not */
	struct mapper_counters counters;
};

/* 'agent' outlives the mapper; its configuration says identity, key and priority. 'counter' as in
 * mapper_agent_init(). -ENOMEM. */
int mapper_init(struct mapper *mapper, const struct mapper_config *config,
	struct mapper_agent *agent, uint64_t counter, weft_time now);
void mapper_fini(struct mapper *mapper);

void mapper_receive(struct mapper *mapper, weft_time now, const uint8_t *data, unsigned bytes);
/* True if there is a frame to send; to be called until it is false, after each frame that was
 * received and when mapper_due() has come. */
bool mapper_poll(struct mapper *mapper, weft_time now, struct mapper_frame *frame);
weft_time mapper_due(const struct mapper *mapper, weft_time now);

/* Nobody stands by for as long: a pause that no mapper has spoken of since waits in vain. As long
 * again is for whoever takes over to get to all devices. */
static inline weft_time mapper_patience_ps(const struct mapper_config *config)
{
	return 2 * (2 + config->standbys) * config->takeover_ps;
}

static inline bool mapper_leads(const struct mapper *mapper)
{
	return mapper->state >= MAPPER_MAPPING;
}

/* The last tables of its own, NULL before the first. The mapper's, until it is polled again. */
const struct mapper_generation *mapper_current(const struct mapper *mapper);
