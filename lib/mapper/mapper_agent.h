/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The agent of a device, switch or interface, answers mappers (docs/explanation/the-mapper.md). It
 * identifies the device, stages tables and decides when to use them, and reports links that go up
 * or down. Its only other decision is which mapper to follow: the highest, by (priority, identity),
 * received within the lease.
 *
 * No clock: 'now' is an argument and never decreases. One thread. It allocates memory only for
 * images that the followed mapper sends, up to the configured size, and 32 bytes for each sender of
 * an admitted command, up to a configured number.
 *
 * With a key every sender is a device of the fabric, and none is forgotten, because its messages
 * could then be replayed. Without a key a sender can claim any identity, and replaying messages is
 * its cheapest attack. When all places are taken, a sender that sent only one message or was silent
 * for longer than the lease is replaced, otherwise the one that has been silent longest, but never
 * the followed mapper. */

#include <stdbool.h>
#include <stdint.h>

#include "base/replay_window.h"
#include "base/weft_time.h"
#include "mapper_frame.h"

/* Mappers whose counters are kept if the owner does not know how many hosts are possible. */
#define MAPPER_AGENT_SENDERS 64
#define MAPPER_RANK_NONE     0xFFFF
#define MAPPER_RANK_OTHER    0xFFFE /* standby after the ranked ones */

enum mapper_device_kind { MAPPER_SWITCH, MAPPER_HOST };

struct mapper_agent_config {
	uint64_t id;      /* identity, not 0 */
	uint16_t fabric;  /* number in its frames, and in the frames of this device's mapper */
	uint32_t session; /* identifies this run, not 0 */
	uint8_t kind;     /* enum mapper_device_kind */
	uint8_t ports;    /* 1 to MAPPER_PORTS_MAX; an interface has 1 */
	uint16_t number;  /* the number it requests; MAPPER_NUMBER_NONE */
	uint32_t version;
	const char *name;             /* outlives the agent; at most MAPPER_NAME_MAX */
	const struct fabric_key *key; /* NULL: none; outlives the agent */
	bool candidate;               /* a mapper runs in this device */
	uint16_t priority;            /* that mapper's priority */
	/* A mapper that is silent for longer is dropped when a lower one asks. */
	weft_time lease_ps;
	/* A paused device resumes on its own after this time without a mapper, which is longer than
	 * any standby waits (mapper_patience_ps()); 0: never. */
	weft_time pause_ps;
	weft_time report_retry_ps;
	uint32_t image_bytes_max;
	uint32_t senders_max; /* more than the possible mappers; 0: MAPPER_AGENT_SENDERS */
};

/* The set of actions that a received frame requires of the owner, in this order. */
#define MAPPER_AGENT_PAUSE  0x01 /* stop injecting */
#define MAPPER_AGENT_PURGE  0x02 /* discard stored packets */
#define MAPPER_AGENT_COMMIT 0x04 /* use agent->image from now on */
#define MAPPER_AGENT_RESUME 0x08 /* inject again */
#define MAPPER_AGENT_ANSWER 0x10 /* send the filled frame */

struct mapper_agent_sender {
	uint64_t id;
	weft_time heard_at;
	struct replay_window window;
};

struct mapper_agent {
	struct mapper_agent_config config;
	struct mapper_speaker speaker;

	/* The mapper that it follows. A candidate that leads follows itself (mapper_agent_lead). */
	uint64_t followed; /* 0: none yet */
	uint16_t followed_priority;
	uint32_t followed_session;
	weft_time heard_at;
	uint16_t rank; /* from the last heartbeat; MAPPER_RANK_NONE */
	bool leading;
	/* The route to that mapper, from its last command. */
	uint8_t way_port, way_length;
	uint8_t way[MAPPER_BACK_MAX];

	/* Tables in use, and the image being staged. The agent owns the bytes. */
	uint32_t epoch;
	weft_time committed_at;
	uint8_t *image;
	uint32_t image_bytes;
	uint64_t digest;
	uint16_t number; /* from the image, or the requested one */
	uint32_t staged_epoch;
	uint8_t *staged;
	uint32_t staged_bytes, staged_total;
	weft_time staged_at; /* its last part */
	uint8_t stage;       /* enum mapper_stage */

	/* Maintained by the owner. */
	uint64_t linked; /* ports with a neighbour: mapper_agent_set_link() */
	bool idle;       /* nothing stored, nothing in transit */
	bool paused;

	uint64_t told; /* the value of 'linked' that the mapper knows */
	uint32_t report_sequence;
	uint8_t report_port;
	bool reporting, report_up;
	weft_time report_due;

	struct mapper_agent_sender *senders; /* in the order of identities */
	unsigned sender_count, sender_room;
	uint64_t refused[MAPPER_REFUSED_COUNT], obeyed;
	uint64_t pauses_left; /* pauses that no mapper has ended */
};

/* 'counter' is above every counter of earlier runs (for example from a wall clock), or 0. */
void mapper_agent_init(
	struct mapper_agent *agent, const struct mapper_agent_config *config, uint64_t counter);
void mapper_agent_fini(struct mapper_agent *agent);

/* Handles a scout or mapper frame that arrived on 'port'. Returns the required actions; fills
 * 'answer' if they include one. */
unsigned mapper_agent_receive(struct mapper_agent *agent, weft_time now, uint8_t port,
	const uint8_t *data, unsigned bytes, struct mapper_frame *answer);

void mapper_agent_set_link(struct mapper_agent *agent, uint8_t port, bool up);

/* Actions that are due at 'now', a set as above: MAPPER_AGENT_RESUME at the end of a pause that no
 * mapper ends, or nothing. */
unsigned mapper_agent_wait(struct mapper_agent *agent, weft_time now);

/* True if a report is due; fills 'report'. */
bool mapper_agent_poll(struct mapper_agent *agent, weft_time now, struct mapper_frame *report);
/* When mapper_agent_wait() or mapper_agent_poll() next has something to do; WEFT_TIME_NEVER. */
weft_time mapper_agent_due(const struct mapper_agent *agent);

/* Age of the tables in use, in the form of replies (struct mapper_reply). */
uint8_t mapper_agent_age(const struct mapper_agent *agent, weft_time now);

/* The local candidate takes the lead, or gives it up. */
void mapper_agent_lead(struct mapper_agent *agent, uint32_t session, weft_time now);
void mapper_agent_stand_by(struct mapper_agent *agent);

/* True if mapper a ranks above mapper b. */
static inline bool mapper_greater(uint16_t priority_a, uint64_t a, uint16_t priority_b, uint64_t b)
{
	return priority_a != priority_b ? priority_a > priority_b : a > b;
}
