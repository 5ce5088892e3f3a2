/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Follows every captured frame from port to port and checks the rules of the fabric
 * (docs/man/weft-audit.1). It receives frames in time order and reports violations; it opens no
 * files.
 *
 * Memory: a record for each frame in flight, and one for each pair of hosts that exchanges data.
 * One thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "capture_reader.h"
#include "queuing/queuing.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"
#include "wire/frame.h"

/* Number of the check (docs/man/weft-audit.1), identifier, name in JSON, what it means. */
#define AUDIT_KINDS(X)                                                                           \
	X(1, LOST, "lost", "a frame that entered never left")                                    \
	X(1, NOWHERE, "nowhere", "a frame that was never sent")                                  \
	X(1, TWICE, "twice", "a frame that passed twice")                                        \
	X(2, DAMAGED, "damaged", "a frame with a wrong header or CRC")                           \
	X(2, CHANGED, "changed", "bytes changed that no device may change")                      \
	X(2, CURSOR, "cursor", "a cursor that did not advance as the route requires")            \
	X(2, FLAGS, "flags", "flags changed that no switch may change")                          \
	X(2, VC, "vc", "a VC that the rules do not allow")                                       \
	X(3, OUTPUT, "output", "an output that neither route nor table allows")                  \
	X(3, ROUTE, "route", "a source route that is not among the routes")                      \
	X(3, AFC, "afc", "a flow in the adapted-flow channel that was not adapted")              \
	X(4, CREDIT, "credit", "more blocks sent than the limit allowed")                        \
	X(4, TOTAL, "total", "credit totals that do not match the frames")                       \
	X(4, FELL, "fell", "a credit total that fell within a session")                          \
	X(4, BUFFER, "buffer", "more blocks stored than the buffer holds")                       \
	X(5, OVERTAKEN, "overtaken", "a frame that overtook an earlier one")                     \
	X(6, EARLY, "early", "an arrival earlier than the link and the frame allow")             \
	X(6, RATE, "rate", "transmissions faster than the link")                                 \
	X(7, UNFAIR, "unfair", "an input that was passed over twice")                            \
	X(8, ACKNOWLEDGED, "acknowledged", "an acknowledgement for a frame that did not arrive") \
	X(8, MESSAGE, "message", "a message that was sent out of order")

enum audit_kind {
#define X(check, id, name, text) AUDIT_##id,
	AUDIT_KINDS(X)
#undef X
		AUDIT_KIND_COUNT
};

struct audit_kind_words {
	unsigned check; /* 1 to 8 */
	const char *name, *text;
};

const struct audit_kind_words *audit_kind_words(enum audit_kind kind);

/* Violations of one kind. */
struct audit_finding {
	uint64_t count;
	/* The earliest one. */
	uint32_t file;
	uint64_t number, time_ns;
	char text[200];
};

/* The guarantees of the fabric. Everything here must outlive the audit. */
struct audit_rules {
	const struct topology *topology;
	const struct route_set *set;     /* NULL: source routes are not compared */
	const struct route_table *table; /* NULL: outputs of frames without a route are not */
	bool vcs_known;                  /* the next ones are valid */
	uint8_t vcs;                     /* with the adapted-flow channel */
	bool afi;
	uint8_t sl_to_vc[16];
	const struct vc_rule *vc_rule;
	uint64_t seed; /* with which switches draw hosts for detours (vc_ladder.h) */
	const struct queuing *queuing;
	bool voq;
	bool adaptive;      /* switches choose among alternatives */
	bool marks;         /* switches set FECN bits */
	bool whole;         /* hosts send each message under one number */
	bool ordered;       /* frames of a pair in a VC keep their order */
	bool passes_itbs;   /* switches may pass frames by hosts with in-transit buffers */
	uint32_t window;    /* maximum frames that a host may resend to another */
	uint32_t vc_blocks; /* buffer of a VC at a switch; 0: unknown */
	const bool *timed;  /* [link]: the fabric enforces its rate and delay; NULL: all */
	const bool *waits;  /* [way]: arrivals count from the end of the tail; NULL: from the end of
			       the header */
	uint64_t routing_delay_ps;
	/* A complete capture on the virtual clock, in the order of events: no tolerance. */
	bool exact;
	/* For any other capture: the time from which on all ports were captured. */
	uint64_t complete_ns, ended_ns;
};

struct audit_frame_at {
	uint32_t way; /* the port's direction: topology_way_at() */
	bool out;     /* leaves the device; otherwise arrives, */
	bool gone;    /* or is discarded after being stored */
	bool alone;   /* other frames of its port are missing: only its bytes are checked */
	uint64_t time_ns, number;
	uint32_t file;
	const uint8_t *bytes;
	uint32_t captured_bytes, frame_bytes;
	const char *comment; /* NULL, or the state of the device */
	uint32_t comment_bytes;
};

struct audit;

/* 'captured': [way], ports whose frames are all given. Returns NULL if out of memory. */
struct audit *audit_create(const struct audit_rules *rules, const bool *captured);
void audit_destroy(struct audit *audit);
/* Returns 0 or -ENOMEM. */
int audit_add(struct audit *audit, const struct audit_frame_at *frame);
/* Check 7 requires that outputs are known in advance. */
bool audit_judges_fairness(const struct audit_rules *rules);
/* After the last frame. */
void audit_end(struct audit *audit);

const struct audit_finding *audit_finding(const struct audit *audit, enum audit_kind kind);

/* Frames that were followed. */
struct audit_counts {
	uint64_t frames;     /* given */
	uint64_t data;       /* data frames among them */
	uint64_t delivered;  /* data frames at their destination */
	uint64_t discarded;  /* with a reason in the capture */
	uint64_t refused;    /* by a receiver, as damaged */
	uint64_t foreign;    /* not frames of Weft */
	uint64_t under_way;  /* at the end */
	uint64_t pairs;      /* ordered pairs of hosts with data; */
	uint64_t unnumbered; /* those whose numbers were not checked */
	uint64_t before;     /* before all ports were captured: only their bytes were checked */
	uint64_t after;      /* likewise, after the first port's capture ended */
};
const struct audit_counts *audit_counts(const struct audit *audit);

/* Converts a packet of a capture to the input of an audit. */

/* Precedes the text that 'weft audit --mark' adds to comments. */
#define AUDIT_MARK "audit check "

/* The part of a comment that the device wrote. */
static inline uint32_t audit_comment_bytes(const struct capture_packet *packet)
{
	const char *mark = packet->comment == NULL ? NULL
						   : memmem(packet->comment, packet->comment_bytes,
							     AUDIT_MARK, strlen(AUDIT_MARK));

	return mark == NULL ? packet->comment_bytes : (uint32_t)(mark - packet->comment);
}

/* 'way': the port's direction. Valid as long as the capture is. */
static inline struct audit_frame_at audit_frame_of(const struct capture_ordered *next, uint32_t way)
{
	const struct capture_packet *packet = &next->packet;

	return (struct audit_frame_at){
		.way = way,
		.out = packet->direction == CAPTURE_OUT,
		.gone = packet->direction == CAPTURE_BOTH,
		.time_ns = packet->time_ns,
		.number = packet->number,
		.file = next->file,
		.bytes = packet->bytes,
		.captured_bytes = packet->captured_bytes,
		.frame_bytes = packet->frame_bytes,
		.comment = packet->comment,
		.comment_bytes = audit_comment_bytes(packet),
	};
}
