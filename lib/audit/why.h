/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Explains where the time of captured packets went (docs/man/weft-why.1). It receives frames in
 * time order, joins the records of each packet, and divides the time between two records into
 * parts. The parts add up exactly to the packet's total time. Each wait has a cause: the port where
 * the congestion starts, found by following the buffers that lack credits.
 *
 * Memory: 64 bytes per captured data frame. Not thread-safe. */

#include "audit.h"

#define WHY_PARTS(X)                                                               \
	X(HOST_QUEUE, "host queue") /* behind other frames of the host */          \
	X(WINDOW, "window")         /* the host could send, but did not */         \
	X(WIRE, "wire")                                                            \
	X(PROPAGATION, "propagation")                                              \
	X(ROUTING, "routing delay")                                                \
	X(OUTPUT, "output")     /* the port sends other packets */                 \
	X(CREDITS, "credits")   /* no space in the next buffer */                  \
	X(QUEUE, "queue")       /* behind another packet in its queue */           \
	X(ARBITER, "arbiter")   /* ready to leave, but another input was served */ \
	X(WATCHDOG, "watchdog") /* until a lost packet is resent */                \
	X(STALL, "loop stall")  /* real clock: the loop did not run */             \
	X(HIDDEN, "unknown")    /* not all ports of the device were captured */

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
	X(SOURCE, "source")             /* the host offers more than its link carries */          \
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

/* Time spent in one place for one reason. */
struct why_piece {
	enum why_part part;
	uint32_t way;     /* port where the packet waits or leaves */
	uint64_t from_ns; /* since the packet's start; equals the end of the previous piece */
	uint64_t ns;      /* total; waits of one kind in one device are merged */
	enum why_cause cause;
	uint32_t cause_way;              /* port with the cause; UINT32_MAX: none */
	struct why_flow flow[WHY_FLOWS]; /* flows that it waits for, longest first; ends at ns 0 */
};

#define WHY_PIECES_MAX 256

struct why_packet {
	uint16_t source, destination;
	uint32_t message, sequence, bytes;
	uint32_t file;
	uint64_t number;   /* record number of its delivery */
	uint64_t start_ns; /* in capture time */
	uint64_t ns;       /* from start to delivery */
	unsigned pieces;
	struct why_piece piece[WHY_PIECES_MAX];
};

struct why;

/* The rules' topology must outlive the result. captured[way] is true if every frame of that port is
 * passed to why_add(). Returns NULL if out of memory. */
struct why *why_create(const struct audit_rules *rules, const bool *captured);
void why_destroy(struct why *why);
/* Adds the next frame in time order. Returns 0 or -ENOMEM. */
int why_add(struct why *why, const struct audit_frame_at *frame);
/* Call after the last frame. Returns 0 or -ENOMEM. */
int why_end(struct why *why);

/* Returns the number of packets that were captured from source to destination. */
uint32_t why_count(const struct why *why);
/* Fills 'slowest' with the indices of up to 'max' packets, slowest first. Returns their number. */
uint32_t why_slowest(const struct why *why, uint32_t max, uint32_t *slowest);
/* Find the packet of a message that was delivered last, and the packet of a captured record. Return
 * UINT32_MAX if there is none. */
uint32_t why_find_message(
	const struct why *why, uint16_t source, uint16_t destination, uint32_t message);
uint32_t why_find_frame(const struct why *why, uint32_t file, uint64_t number);
/* Fills 'path' with the critical path that ends with the last delivery. Each message in it starts
 * after the last message that its source had received by then. The last packet comes first. Returns
 * the number of packets, at most 'max'. */
uint32_t why_critical_path(const struct why *why, uint32_t max, uint32_t *path);

void why_explain(const struct why *why, uint32_t packet, struct why_packet *out);
