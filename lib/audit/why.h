/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Explains where the time of captured packets went (docs/man/weft-why.1). It receives frames in
 * time order, joins the records of each packet, and divides the time between two records into
 * parts. The parts of a packet add up to its time exactly. Each wait has a cause: the port where
 * the congestion starts, found by following the buffers that lack credits.
 *
 * Memory: a record of 64 bytes per captured data frame. One thread. */

#include "audit.h"

#define WHY_PARTS(X)                                                                      \
	X(HOST_QUEUE, "host queue") /* behind frames of its host */                       \
	X(WINDOW, "window")         /* the host could send, but did not */                \
	X(WIRE, "wire")                                                                   \
	X(PROPAGATION, "propagation")                                                     \
	X(ROUTING, "routing delay")                                                       \
	X(OUTPUT, "output")     /* busy with other packets */                             \
	X(CREDITS, "credits")   /* the next buffer has none */                            \
	X(QUEUE, "queue")       /* behind another waiting packet of its queue */          \
	X(ARBITER, "arbiter")   /* it could leave, but another input's turn came first */ \
	X(WATCHDOG, "watchdog") /* until a lost packet is sent again */                   \
	X(STALL, "loop stall")  /* real clock: its loop did not run */                    \
	X(HIDDEN, "unknown")    /* not all frames of the device were captured */

enum why_part {
#define X(id, text) WHY_##id,
	WHY_PARTS(X)
#undef X
		WHY_PART_COUNT
};

#define WHY_CAUSES(X)                                                                             \
	X(NONE, "none")                                                                           \
	X(SLOW_LINK, "slow link")     /* slower than most links of its kind */                    \
	X(HOT_SPOT, "hot spot")       /* several hosts send to one */                             \
	X(SHARED_LINK, "shared link") /* shared by flows to several hosts: placement or routes */ \
	X(SMALL_BUFFER, "small buffer") /* credits return too late to fill the link */            \
	X(SOURCE, "source")             /* the host offers more than its link takes */            \
	X(PACING, "pacing")             /* window or source control */                            \
	X(ARBITRATION, "arbitration")                                                             \
	X(LOSS, "loss")                                                                           \
	X(STOPPED_LOOP, "stopped loop")

enum why_cause {
#define X(id, text) WHY_CAUSE_##id,
	WHY_CAUSES(X)
#undef X
		WHY_CAUSE_COUNT
};

const char *why_part_name(enum why_part part);
const char *why_cause_name(enum why_cause cause);

struct why_flow {
	uint16_t source, destination;
	uint64_t ns;
};

#define WHY_FLOWS 3

/* Time in one place for one reason. */
struct why_piece {
	enum why_part part;
	uint32_t way;     /* the port where it waits or leaves */
	uint64_t from_ns; /* since the packet's start; equals the end of the previous piece */
	uint64_t ns;      /* total; waits of one kind in one device form one piece */
	enum why_cause cause;
	uint32_t cause_way;              /* the port with the cause; UINT32_MAX: none */
	struct why_flow flow[WHY_FLOWS]; /* what it waits for, longest first; ends at ns 0 */
};

#define WHY_PIECES_MAX 256

struct why_packet {
	uint16_t source, destination;
	uint32_t message, sequence, bytes;
	uint32_t file;
	uint64_t number;   /* the record of its delivery */
	uint64_t start_ns; /* capture time */
	uint64_t ns;       /* until its delivery */
	unsigned pieces;
	struct why_piece piece[WHY_PIECES_MAX];
};

struct why;

/* The rules' topology outlives it. 'captured': [way], ports whose frames are all given. Returns
 * NULL if out of memory. */
struct why *why_create(const struct audit_rules *rules, const bool *captured);
void why_destroy(struct why *why);
/* In time order. Returns 0 or -ENOMEM. */
int why_add(struct why *why, const struct audit_frame_at *frame);
/* After the last frame. Returns 0 or -ENOMEM. */
int why_end(struct why *why);

/* Number of packets that were captured from their source to their destination. */
uint32_t why_count(const struct why *why);
/* Fills 'slowest' with up to 'max' of them, slowest first. Returns their number. */
uint32_t why_slowest(const struct why *why, uint32_t max, uint32_t *slowest);
/* Find the packet of a message's last delivery, or the packet of a record. Returns UINT32_MAX if
 * there is none. */
uint32_t why_find_message(
	const struct why *why, uint16_t source, uint16_t destination, uint32_t message);
uint32_t why_find_frame(const struct why *why, uint32_t file, uint64_t number);
/* The packets of the critical path that ends with the last delivery: each message starts after the
 * last message that its source had received by then. The last packet comes first; returns how many
 * there are, at most 'max'. */
uint32_t why_critical_path(const struct why *why, uint32_t max, uint32_t *path);

void why_explain(const struct why *why, uint32_t packet, struct why_packet *out);
