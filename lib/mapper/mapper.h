/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mapper of a candidate interface (docs/explanation/the-mapper.md). It listens or stands by, or
 * leads: discovers the fabric, computes routes, verifies them, distributes them, and repeats this
 * for changes.
 *
 * Its owner passes it every scout and mapper frame that reached the interface's agent element and
 * is not a command. The owner sends the frames that mapper_poll() fills on the interface's port or,
 * if the port is MAPPER_PORT_LOCAL, to the local agent, whose answer goes to the mapper.
 * mapper_poll() may take long, because it computes routes; nothing else does. No clock: 'now' is an
 * argument and never decreases. One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "discovery.h"
#include "distribution.h"
#include "mapper_agent.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "route/search/route_root.h"
#include "transition_check.h"

#define MAPPER_STANDBYS_MAX    16
#define MAPPER_ACKNOWLEDGE_MAX 64

/* Number of times that a mapper asks a device before it gives up, if the device's neighbours
 * declare a link dead after 'down_ps': enough tries for three times that time, at least
 * MAPPER_TRIES_MIN. The link layer decides whether a device is there. A less patient mapper would
 * map around processes that were only descheduled for a while, which no link has detected. */
#define MAPPER_TRIES_MIN 10
unsigned mapper_tries(weft_time retry_ps, weft_time down_ps);

struct mapper_config {
	uint32_t session; /* identifies this run, not 0 */
	const struct route_algorithm *algorithm;
	/* 'others' algorithms whose source routes are added (route_algorithm.h); not with tables.
	 */
	const struct route_algorithm *other[ROUTE_MERGE_MAX - 1];
	unsigned others;
	/* For networks that 'algorithm' refuses, for example after a failure; NULL: none. */
	const struct route_algorithm *fallback;
	bool tables; /* destination tables instead of source routes, if the algorithm has them */
	bool may_deadlock; /* accept routes that can deadlock; then every change needs a pause */
	/* The root stays the same while that switch is present. Then the lowest number replaces it,
	 * or, if 'choose_root', the choice of 'root_choice', which also makes the first choice. */
	struct route_options options;
	bool choose_root;
	enum route_root_choice root_choice;
	const struct queuing_scheme *queuing; /* NULL: all packets use VC 0 */
	uint32_t vcs; /* VCs that all buffers have, for the scheme and VC rules; 0: unknown */

	weft_time listen_ps;    /* time before it first leads, plus up to half of it */
	weft_time heartbeat_ps; /* interval */
	weft_time takeover_ps;  /* silence after which the first standby takes over; rank r takes
				   over after (r + 1) times that, unranked ones after all of these;
				   more than an agent's lease */
	unsigned standbys;      /* ranks to assign, at most MAPPER_STANDBYS_MAX */
	weft_time gather_ps;    /* time from a report to the computation of routes */
	weft_time linger_ps;    /* maximum time that a packet stays in the fabric */
	weft_time sweep_ps; /* interval at which silent ports, and one device, are probed again */
	struct discovery_config discovery;       /* the mapper fills in priority and session */
	struct distribution_config distribution; /* the mapper fills in priority and session */
};

enum mapper_state {
	MAPPER_LISTENING,
	MAPPER_STANDING_BY,
	MAPPER_MAPPING,      /* leads, discovering */
	MAPPER_DISTRIBUTING, /* leads, distributing tables */
	MAPPER_LEADING,      /* leads, idle */
};

/* Tables that may be in use. */
struct mapper_generation {
	uint32_t number; /* from 1; 0: none */
	struct topology *topology;
	struct route_set *set;
	struct route_table *table;
	struct queuing *queuing;
	bool found;      /* made by another mapper, read from devices; without cables */
	weft_time until; /* WEFT_TIME_NEVER while devices may use them; then while packets linger */
};

struct mapper_acknowledgement {
	uint32_t device, sequence;
};

struct mapper_counters {
	uint64_t maps;      /* number of route computations */
	uint64_t unchanged; /* and nothing had to be sent */
	uint64_t live, paused;
	uint64_t called_off; /* distributions */
	uint64_t found;      /* another mapper's tables that were read */
	uint64_t led, stepped_down;
	uint64_t heartbeats, reports;
	uint64_t refused[MAPPER_REFUSED_COUNT];
};

struct mapper {
	struct mapper_config config;
	struct mapper_agent *agent; /* agent of the same interface; owned by the caller */
	struct mapper_speaker speaker;
	enum mapper_state state;
	weft_time state_since;

	struct fabric_map map;
	struct discovery discovery;
	struct distribution distribution;
	struct image_reading reading;
	uint64_t read_at;     /* value of 'computed' at the last reading of images */
	bool reads;           /* images are being read */
	uint64_t computed;    /* map.changes of the last routes */
	bool stale;           /* compute routes although the map has not changed */
	bool no_memory;       /* the last computation lacked memory: retry at the next sweep */
	weft_time not_before; /* gathering reports */
	weft_time live_from;  /* before then unknown packets may be in the fabric */
	uint64_t lesser_seen; /* the agent's count of lower mappers' commands */

	uint32_t epoch, generation_number;
	struct mapper_generation generation[LIVE_GENERATIONS_MAX]; /* oldest first */
	unsigned generations;
	struct mapper_generation next; /* being distributed */
	uint32_t root;                 /* switch number */
	bool root_chosen;              /* by config.root_choice */

	uint32_t *candidate; /* devices, highest first */
	uint32_t candidates;
	uint32_t beat, beats; /* next rank of this interval, and the number of ranks in it */
	uint32_t turn;        /* next one of those without rank */
	weft_time beat_at;
	uint32_t sweep; /* next device to ask again */
	weft_time sweep_at;

	struct mapper_acknowledgement acknowledgement[MAPPER_ACKNOWLEDGE_MAX];
	unsigned acknowledgements;

	struct error error;   /* why there are no routes; empty if there are */
	struct error instead; /* why the fallback computed the last routes; empty if it did not */
	struct mapper_counters counters;
};

/* 'agent' outlives the mapper; its configuration has identity, key and priority. 'counter' as in
 * mapper_agent_init(). May return -ENOMEM. */
int mapper_init(struct mapper *mapper, const struct mapper_config *config,
	struct mapper_agent *agent, uint64_t counter, weft_time now);
void mapper_fini(struct mapper *mapper);

void mapper_receive(struct mapper *mapper, weft_time now, const uint8_t *data, unsigned bytes);
/* True if there is a frame to send; call until false, after each received frame and at
 * mapper_due(). */
bool mapper_poll(struct mapper *mapper, weft_time now, struct mapper_frame *frame);
weft_time mapper_due(const struct mapper *mapper, weft_time now);

/* The process was stopped, or had no CPU, for this long, which 'now' may not show. If that is
 * longer than the lease, another mapper may have led meanwhile and distributed other tables, even
 * tables without this host. A leading mapper then takes the lead again and asks all devices. */
void mapper_absent(struct mapper *mapper, weft_time away_ps, weft_time now);

/* Upper bound on the time of a takeover, after which a paused device resumes on its own: the
 * longest standby time, and the same time again for the new leader to reach all devices. */
static inline weft_time mapper_patience_ps(const struct mapper_config *config)
{
	return 2 * (2 + config->standbys) * config->takeover_ps;
}

static inline bool mapper_leads(const struct mapper *mapper)
{
	return mapper->state >= MAPPER_MAPPING;
}

/* It leads, and all its devices use its latest tables. */
bool mapper_is_settled(const struct mapper *mapper);

/* The mapper's own latest tables, NULL before the first ones. Valid until the next poll. */
const struct mapper_generation *mapper_current(const struct mapper *mapper);

/* The epoch in which host number 'host' of mapper_current() got its tables of that generation. The
 * epoch may be an earlier one, because unchanged tables are not sent again. 0: the host does not
 * have them all yet. */
uint32_t mapper_host_epoch(const struct mapper *mapper, uint32_t host);
