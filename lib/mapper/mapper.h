/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mapper of a candidate interface (docs/explanation/the-mapper.md). It listens, stands by, or
 * leads. A leading mapper discovers the fabric, computes, verifies and distributes routes, and
 * repeats this after changes.
 *
 * The owner passes in every scout and mapper frame that reached the interface's agent element and
 * is not a command. It sends the frames that mapper_poll() fills on the interface's port or, if the
 * port is MAPPER_PORT_LOCAL, to the local agent, and passes the agent's answer back to the mapper.
 * Only mapper_poll() may take a long time, because it computes routes. No clock: 'now' is an
 * argument and never decreases. Single-threaded. */

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

/* Returns how often a mapper queries a device before it gives up, if the device's neighbours
 * declare a link dead after 'down_ps': enough tries for three times that time, at least
 * MAPPER_TRIES_MIN. The link layer decides whether a device is present. With fewer tries, the
 * mapper would exclude processes that were only descheduled, although no link was down. */
#define MAPPER_TRIES_MIN 10
unsigned mapper_tries(weft_time retry_ps, weft_time down_ps);

struct mapper_config {
	uint32_t session; /* identifies this run; not 0 */
	const struct route_algorithm *algorithm;
	/* 'others' algorithms whose source routes are added (route_algorithm.h); not used with
	 * tables. */
	const struct route_algorithm *other[ROUTE_MERGE_MAX - 1];
	unsigned others;
	/* Used if 'algorithm' refuses the topology, for example after a failure; NULL: none. */
	const struct route_algorithm *fallback;
	bool tables; /* prefer destination tables to source routes if the algorithm supports them */
	bool may_deadlock; /* accept routes that can deadlock; every change then needs a pause */
	/* The root is kept while its switch is present. With 'choose_root', 'root_choice' selects
	 * the first root and its successors; otherwise the lowest switch succeeds it. */
	struct route_options options;
	bool choose_root;
	enum route_root_choice root_choice;
	const struct queuing_scheme *queuing; /* NULL: all packets use VC 0 */
	uint32_t vcs; /* VCs available in all buffers, for the scheme and VC rules; 0: unknown */

	weft_time listen_ps;    /* listening time before it first leads, plus up to half of it */
	weft_time heartbeat_ps; /* heartbeat interval */
	weft_time takeover_ps;  /* silence after which the first standby takes over. Rank r waits (r
				   + 1) times as long, and unranked candidates longest. Must exceed
				   an agent's lease. */
	unsigned standbys;      /* number of ranks, at most MAPPER_STANDBYS_MAX */
	weft_time gather_ps;    /* delay between a report and the computation of routes */
	weft_time linger_ps;    /* maximum time of a packet in the fabric */
	weft_time sweep_ps; /* interval between sweeps, which probe silent ports and one device */
	struct discovery_config discovery;       /* the mapper sets priority and session */
	struct distribution_config distribution; /* the mapper sets priority and session */
};

enum mapper_state {
	MAPPER_LISTENING,
	MAPPER_STANDING_BY,
	MAPPER_MAPPING,      /* leads, discovering */
	MAPPER_DISTRIBUTING, /* leads, distributing tables */
	MAPPER_LEADING,      /* leads, idle */
};

/* Tables that devices may be using. */
struct mapper_generation {
	uint32_t number; /* from 1; 0: none */
	struct topology *topology;
	struct route_set *set;
	struct route_table *table;
	struct queuing *queuing;
	bool found;      /* read from devices that another mapper configured; without cables */
	weft_time until; /* WEFT_TIME_NEVER while in use; then the end of 'linger_ps' */
};

struct mapper_acknowledgement {
	uint32_t device, sequence;
};

struct mapper_counters {
	uint64_t maps;      /* number of route computations */
	uint64_t unchanged; /* route computations after which nothing had to be sent */
	uint64_t live, paused;
	uint64_t called_off; /* cancelled distributions */
	uint64_t found;      /* sets of another mapper's tables that were read */
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
	uint64_t read_at;     /* value of 'computed' when images were last read */
	bool reads;           /* images are being read */
	uint64_t computed;    /* map.changes at the last route computation */
	bool stale;           /* recompute routes even if the map has not changed */
	bool no_memory;       /* the last computation ran out of memory; retry at the next sweep */
	weft_time not_before; /* earliest time of the next computation */
	weft_time live_from;  /* until then, packets with unknown routes may be in the fabric */
	uint64_t lesser_seen; /* last value of the agent's count of refused commands from
				 lower-ranking mappers */

	uint32_t epoch, generation_number;
	struct mapper_generation generation[LIVE_GENERATIONS_MAX]; /* oldest first */
	unsigned generations;
	struct mapper_generation next; /* being distributed */
	uint32_t root;                 /* switch number */
	bool root_chosen;              /* chosen with config.root_choice */

	uint32_t *candidate; /* [candidates] device indices, highest candidate first */
	uint32_t candidates;
	uint32_t beat, beats; /* next position in this heartbeat interval, and their number */
	uint32_t turn;        /* rotation over devices without a rank */
	weft_time beat_at;
	uint32_t sweep; /* device last probed by a sweep */
	weft_time sweep_at;

	struct mapper_acknowledgement acknowledgement[MAPPER_ACKNOWLEDGE_MAX];
	unsigned acknowledgements;

	struct error error;   /* reason for the lack of routes; empty if there are routes */
	struct error instead; /* reason why the fallback was used; empty if it was not */
	struct mapper_counters counters;
};

/* 'agent' must outlive the mapper; its configuration contains identity, key and priority. 'counter'
 * as in mapper_agent_init(). Returns 0 or -ENOMEM. */
int mapper_init(struct mapper *mapper, const struct mapper_config *config,
	struct mapper_agent *agent, uint64_t counter, weft_time now);
void mapper_fini(struct mapper *mapper);

void mapper_receive(struct mapper *mapper, weft_time now, const uint8_t *data, unsigned bytes);
/* Returns true if it filled a frame to send. Call until it returns false, after each received frame
 * and at mapper_due(). */
bool mapper_poll(struct mapper *mapper, weft_time now, struct mapper_frame *frame);
weft_time mapper_due(const struct mapper *mapper, weft_time now);

/* Call after the process was stopped or had no CPU for 'away_ps', which 'now' may not include. If
 * that exceeds the lease, another mapper may have led meanwhile and distributed other tables, even
 * tables without this host. A leading mapper then takes the lead again and probes all devices. */
void mapper_absent(struct mapper *mapper, weft_time away_ps, weft_time now);

/* Returns the maximum time of a takeover, after which a paused device resumes on its own: the
 * longest standby time, and the same time again for the new leader to reach all devices. */
static inline weft_time mapper_patience_ps(const struct mapper_config *config)
{
	return 2 * (2 + config->standbys) * config->takeover_ps;
}

static inline bool mapper_leads(const struct mapper *mapper)
{
	return mapper->state >= MAPPER_MAPPING;
}

/* Returns true if the mapper leads with tables that match its map and that all its devices use. */
bool mapper_is_settled(const struct mapper *mapper);

/* Returns the mapper's own latest tables, or NULL if there are none. Valid until the next poll. */
const struct mapper_generation *mapper_current(const struct mapper *mapper);

/* Returns the epoch in which host 'host' of mapper_current() received its tables of this
 * generation; 0: it does not have all of them yet. The epoch may be an earlier one, because
 * unchanged tables are not sent again. */
uint32_t mapper_host_epoch(const struct mapper *mapper, uint32_t host);
