/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The agent of a device, switch or interface: what it answers to mappers (docs/mapper.md). It tells
 * who it is, stages tables and says when they are to be used, and reports links that come and go.
 * It decides nothing but whom it obeys: the greatest mapper, by (priority, identity), that it has
 * heard within the lease.
 *
 * No clock: 'now' is an argument and does not go back. One thread. Memory is allocated only for
 * images that an obeyed mapper sends, up to the configured size, and for who has ever sent a
 * genuine command, 24 bytes for each.
 */

#include <stdbool.h>
#include <stdint.h>

#include "mapper_frame.h"
#include "replay_window.h"
#include "weft_time.h"

/* Mappers whose counters are remembered, for the whole life of the agent: to forget one would let
 * its messages be replayed. As many as there are numbers for hosts. */
#define MAPPER_AGENT_SENDERS 65536
#define MAPPER_RANK_NONE     0xFFFF
#define MAPPER_RANK_OTHER    0xFFFE /* stands by behind those who have a rank */

enum mapper_device_kind { MAPPER_SWITCH, MAPPER_HOST };

struct mapper_agent_config {
	uint64_t id;      /* identity, not 0 */
	uint32_t session; /* of this life, not 0 */
	uint8_t kind;     /* enum mapper_device_kind */
	uint8_t ports;    /* 1 to MAPPER_PORTS_MAX; an interface has 1 */
	uint16_t number;  /* that it wants; MAPPER_NUMBER_NONE */
	uint32_t version;
	const char *name;             /* outlives the agent; at most MAPPER_NAME_MAX */
	const struct fabric_key *key; /* NULL: none; outlives the agent */
	bool candidate;               /* there is a mapper beside it */
	uint16_t priority;            /* of that */
	weft_time lease_ps;           /* a mapper that is silent for longer is obeyed no more if a
				       * lesser one asks */
	/* Paused, it goes on by itself if it has heard no mapper for so long: longer than anybody
	 * stands by (mapper_patience_ps()); 0: never. */
	weft_time pause_ps;
	weft_time report_retry_ps;
	uint32_t image_bytes_max;
};

/* What receiving a frame asks the owner to do, in this order; a set. */
#define MAPPER_AGENT_PAUSE  0x01 /* inject nothing new */
#define MAPPER_AGENT_PURGE  0x02 /* throw away what is stored */
#define MAPPER_AGENT_COMMIT 0x04 /* use agent->image from now on */
#define MAPPER_AGENT_RESUME 0x08 /* inject again */
#define MAPPER_AGENT_ANSWER 0x10 /* send the frame that was filled */

struct mapper_agent_sender {
	uint64_t id;
	struct replay_window window;
};

struct mapper_agent {
	struct mapper_agent_config config;
	struct mapper_speaker speaker;

	/* Whom it obeys. A candidate that leads obeys itself (mapper_agent_lead). */
	uint64_t followed; /* 0: nobody yet */
	uint16_t followed_priority;
	uint32_t followed_session;
	weft_time heard_at;
	uint16_t rank; /* by the last heartbeat; MAPPER_RANK_NONE */
	bool leading;
	/* The way to that mapper, from its last command. */
	uint8_t way_port, way_length;
	uint8_t way[MAPPER_BACK_MAX];

	/* Tables in use, and what is being staged. The bytes are the agent's. */
	uint32_t epoch;
	weft_time committed_at;
	uint8_t *image;
	uint32_t image_bytes;
	uint64_t digest;
	uint16_t number; /* from the image, or the one wanted */
	uint32_t staged_epoch;
	uint8_t *staged;
	uint32_t staged_bytes, staged_total;
	uint8_t stage; /* enum mapper_stage */

	/* Kept up by the owner. */
	uint64_t linked; /* ports behind which there is a neighbour: mapper_agent_set_link() */
	bool idle;       /* nothing stored, nothing in transit */
	bool paused;

	uint64_t told; /* what the mapper knows of 'linked' */
	uint32_t report_sequence;
	uint8_t report_port;
	bool reporting, report_up;
	weft_time report_due;

	struct mapper_agent_sender *senders; /* in the order of identities */
	unsigned sender_count, sender_room;
	uint64_t refused[MAPPER_REFUSED_COUNT], obeyed;
	uint64_t pauses_left; /* that no mapper has ended */
};

/* 'counter' is above every counter of former lives (a wall clock, say), or 0. */
void mapper_agent_init(
	struct mapper_agent *agent, const struct mapper_agent_config *config, uint64_t counter);
void mapper_agent_fini(struct mapper_agent *agent);

/* A scout or mapper frame has reached this device by 'port'. Returns what is to be done; 'answer'
 * is filled if that says so. */
unsigned mapper_agent_receive(struct mapper_agent *agent, weft_time now, uint8_t port,
	const uint8_t *data, unsigned bytes, struct mapper_frame *answer);

void mapper_agent_set_link(struct mapper_agent *agent, uint8_t port, bool up);

/* What the time asks the owner to do, a set as above: MAPPER_AGENT_RESUME at the end of a pause
 * that no mapper ends, or nothing. */
unsigned mapper_agent_wait(struct mapper_agent *agent, weft_time now);

/* True if a report is due, in 'report'. */
bool mapper_agent_poll(struct mapper_agent *agent, weft_time now, struct mapper_frame *report);
/* When mapper_agent_wait() or mapper_agent_poll() next has something to do; WEFT_TIME_NEVER. */
weft_time mapper_agent_due(const struct mapper_agent *agent);

/* Of the tables in use, as replies say it (struct mapper_reply). */
uint8_t mapper_agent_age(const struct mapper_agent *agent, weft_time now);

/* The candidate beside it takes the lead, or gives it up. */
void mapper_agent_lead(struct mapper_agent *agent, uint32_t session, weft_time now);
void mapper_agent_stand_by(struct mapper_agent *agent);

/* Mapper a is greater than mapper b. */
static inline bool mapper_greater(uint16_t priority_a, uint64_t a, uint16_t priority_b, uint64_t b)
{
	return priority_a != priority_b ? priority_a > priority_b : a > b;
}
