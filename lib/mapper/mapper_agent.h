/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mapper agent of a switch or interface answers mappers (docs/explanation/the-mapper.md). It
 * identifies the device, stages and activates tables, and reports links that go up or down. Its
 * only decision is which mapper to follow: the highest, by (priority, identity), of the mappers
 * received within the lease.
 *
 * No clock: 'now' is an argument and never decreases. Single-threaded. The agent allocates memory
 * only for images from the followed mapper, up to the configured size, and 32 bytes per sender of
 * an admitted command, up to a configured number.
 *
 * With a key, every sender is a device of the fabric, and no sender is discarded, because its
 * messages could then be replayed. Without a key, protection from replays matters little, because a
 * sender can claim any identity. If the sender table is full, a new sender replaces one that sent
 * only one message or was silent for longer than the lease, otherwise the one silent for longest.
 * The followed mapper is never replaced. */

#include <stdbool.h>
#include <stdint.h>

#include "base/replay_window.h"
#include "base/weft_time.h"
#include "mapper_frame.h"

/* Capacity of the sender table if the owner does not know the number of possible hosts. */
#define MAPPER_AGENT_SENDERS 64
#define MAPPER_RANK_NONE     0xFFFF
#define MAPPER_RANK_OTHER    0xFFFE /* standby without a rank */

enum mapper_device_kind { MAPPER_SWITCH, MAPPER_HOST };

struct mapper_agent_config {
	uint64_t id;      /* identity, not 0 */
	uint16_t fabric;  /* fabric number in its frames and its mapper's frames */
	uint32_t session; /* identifies this run; not 0 */
	uint8_t kind;     /* enum mapper_device_kind */
	uint8_t ports;    /* 1 to MAPPER_PORTS_MAX; 1 for an interface */
	uint16_t number;  /* requested number; MAPPER_NUMBER_NONE */
	uint32_t version;
	const char *name;             /* at most MAPPER_NAME_MAX bytes; must outlive the agent */
	const struct fabric_key *key; /* NULL: none; must outlive the agent */
	bool candidate;               /* this device runs a mapper */
	uint16_t priority;            /* priority of that mapper */
	/* A mapper silent for longer is replaced when a lower-ranking one sends a command. */
	weft_time lease_ps;
	/* A paused device resumes on its own after this time without a mapper. It must exceed the
	 * wait of any standby (mapper_patience_ps()); 0: never. */
	weft_time pause_ps;
	weft_time report_retry_ps;
	uint32_t image_bytes_max;
	uint32_t senders_max; /* exceeds the number of possible mappers; 0: MAPPER_AGENT_SENDERS */
};

/* Bit set of actions that the owner must perform, in this order. */
#define MAPPER_AGENT_PAUSE  0x01 /* stop injecting */
#define MAPPER_AGENT_PURGE  0x02 /* discard stored packets */
#define MAPPER_AGENT_COMMIT 0x04 /* use agent->image from now on */
#define MAPPER_AGENT_RESUME 0x08 /* resume injecting */
#define MAPPER_AGENT_ANSWER 0x10 /* send the answer frame */

struct mapper_agent_sender {
	uint64_t id;
	weft_time heard_at;
	struct replay_window window;
};

struct mapper_agent {
	struct mapper_agent_config config;
	struct mapper_speaker speaker;

	/* The followed mapper. A leading candidate follows itself (mapper_agent_lead()). */
	uint64_t followed; /* 0: none yet */
	uint16_t followed_priority;
	uint32_t followed_session;
	weft_time heard_at;
	uint16_t rank; /* rank in the last heartbeat; MAPPER_RANK_NONE */
	bool leading;
	/* Route to the followed mapper, from its last command. */
	uint8_t way_port, way_length;
	uint8_t way[MAPPER_BACK_MAX];

	/* Tables in use, and the image being staged. The agent owns the bytes. */
	uint32_t epoch;
	weft_time committed_at;
	uint8_t *image;
	uint32_t image_bytes;
	uint64_t digest;
	uint16_t number; /* number in the image, or the requested one */
	uint32_t staged_epoch;
	uint8_t *staged;
	uint32_t staged_bytes, staged_total;
	weft_time staged_at; /* time of the last part */
	uint8_t stage;       /* enum mapper_stage */

	/* Maintained by the owner. */
	uint64_t linked; /* bit set of ports with a neighbour; see mapper_agent_set_link() */
	bool idle;       /* no packets are stored or in transit */
	bool paused;

	uint64_t told; /* value of 'linked' that the mapper knows */
	uint32_t report_sequence;
	uint8_t report_port;
	bool reporting, report_up;
	weft_time report_due;

	struct mapper_agent_sender *senders; /* sorted by identity */
	unsigned sender_count, sender_room;
	uint64_t refused[MAPPER_REFUSED_COUNT], obeyed;
	uint64_t pauses_left; /* pauses that ended without a mapper */
};

/* 'counter' must exceed all counters of earlier runs (for example, a wall clock) or be 0. */
void mapper_agent_init(
	struct mapper_agent *agent, const struct mapper_agent_config *config, uint64_t counter);
void mapper_agent_fini(struct mapper_agent *agent);

/* Handles a scout or mapper frame that arrived on 'port'. Returns the required actions; fills
 * 'answer' if MAPPER_AGENT_ANSWER is set. */
unsigned mapper_agent_receive(struct mapper_agent *agent, weft_time now, uint8_t port,
	const uint8_t *data, unsigned bytes, struct mapper_frame *answer);

void mapper_agent_set_link(struct mapper_agent *agent, uint8_t port, bool up);

/* Returns the actions that are due: MAPPER_AGENT_RESUME at the end of a pause that no mapper has
 * ended, otherwise 0. */
unsigned mapper_agent_wait(struct mapper_agent *agent, weft_time now);

/* Returns true if a report is due, and fills 'report'. */
bool mapper_agent_poll(struct mapper_agent *agent, weft_time now, struct mapper_frame *report);
/* Returns when to call mapper_agent_wait() or mapper_agent_poll() next, or WEFT_TIME_NEVER. */
weft_time mapper_agent_due(const struct mapper_agent *agent);

/* Returns the age of the tables in use, in the encoding of struct mapper_reply. */
uint8_t mapper_agent_age(const struct mapper_agent *agent, weft_time now);

/* Call when the local candidate takes the lead, or gives it up. */
void mapper_agent_lead(struct mapper_agent *agent, uint32_t session, weft_time now);
void mapper_agent_stand_by(struct mapper_agent *agent);

/* Returns true if mapper a ranks above mapper b. */
static inline bool mapper_greater(uint16_t priority_a, uint64_t a, uint16_t priority_b, uint64_t b)
{
	return priority_a != priority_b ? priority_a > priority_b : a > b;
}
