/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Follows every captured frame from port to port and checks the fabric's rules
 * (docs/man/weft-audit.1). It receives frames in time order and reports violations; it opens no
 * files.
 *
 * Memory: one record per frame in flight and one per pair of hosts with data. Not thread-safe. */

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

/* Check number (docs/man/weft-audit.1), identifier, JSON name, description. */
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
	/* The earliest violation. */
	uint32_t file;
	uint64_t number, time_ns;
	char text[200];
};

/* The guarantees of the fabric. All pointers must stay valid until the audit is destroyed. */
struct audit_rules {
	const struct topology *topology;
	const struct route_set *set;     /* NULL: source routes are not checked */
	const struct route_table *table; /* NULL: outputs without a route are not checked */
	bool vcs_known;                  /* the VC fields below and 'voq' are valid */
	uint8_t vcs;                     /* including the adapted-flow channel */
	bool afi;
	uint8_t sl_to_vc[16];
	const struct vc_rule *vc_rule;
	uint64_t seed; /* from which switches draw hosts for detours (vc_ladder.h) */
	const struct queuing *queuing;
	bool voq;
	bool adaptive;      /* switches choose among alternative outputs */
	bool marks;         /* switches set FECN bits */
	bool whole;         /* hosts send all frames of a message under one message number */
	bool ordered;       /* frames of a pair are delivered in order within a VC */
	bool passes_itbs;   /* switches may bypass in-transit buffers */
	uint32_t window;    /* maximum number of frames that a host may resend to another host */
	uint32_t vc_blocks; /* blocks per VC buffer of a switch; 0: unknown */
	const bool *timed;  /* [link]: rate and delay are enforced; NULL: on all links */
	const bool *waits;  /* [way]: arrivals are timed at the end of the tail, not of the header;
			       NULL: none */
	uint64_t routing_delay_ps;
	/* A complete capture on the virtual clock, in event order: checks allow no tolerance. */
	bool exact;
	/* For other captures: all ports were captured from complete_ns to ended_ns. */
	uint64_t complete_ns, ended_ns;
};

struct audit_frame_at {
	uint32_t way; /* the port's direction: topology_way_at() */
	bool out;     /* sent by the device; false: received or discarded */
	bool gone;    /* discarded by the device after it was stored */
	bool alone;   /* not all frames of the port were captured: only the bytes are checked */
	uint64_t time_ns, number;
	uint32_t file;
	const uint8_t *bytes;
	uint32_t captured_bytes, frame_bytes;
	const char *comment; /* state recorded by the device; NULL: none */
	uint32_t comment_bytes;
};

struct audit;

/* captured[way]: every frame of the port is added to the audit. Returns NULL if out of memory. */
struct audit *audit_create(const struct audit_rules *rules, const bool *captured);
void audit_destroy(struct audit *audit);
/* Adds the next frame in time order. Returns 0 or -ENOMEM. */
int audit_add(struct audit *audit, const struct audit_frame_at *frame);
/* Returns whether check 7 applies. It requires that outputs are known in advance. */
bool audit_judges_fairness(const struct audit_rules *rules);
/* Call after the last frame. */
void audit_end(struct audit *audit);

const struct audit_finding *audit_finding(const struct audit *audit, enum audit_kind kind);

/* Numbers of frames, except 'pairs' and 'unnumbered'. */
struct audit_counts {
	uint64_t frames;     /* passed to audit_add() */
	uint64_t data;       /* data frames among them */
	uint64_t delivered;  /* data frames that reached their destination */
	uint64_t discarded;  /* discarded by a device, according to the capture */
	uint64_t refused;    /* refused by the receiver as damaged */
	uint64_t foreign;    /* not Weft frames */
	uint64_t under_way;  /* still in flight at the end */
	uint64_t pairs;      /* source-destination pairs with data */
	uint64_t unnumbered; /* pairs whose sequence numbers were not checked */
	uint64_t before;     /* captured before all ports were: only their bytes were checked */
	uint64_t after;      /* captured after the end of the first port's capture: likewise */
};
const struct audit_counts *audit_counts(const struct audit *audit);

/* Converts captured packets to audit input. */

/* Precedes the text that 'weft audit --mark' appends to comments. */
#define AUDIT_MARK "audit check "

/* Returns the length of the part of the comment that the device wrote. */
static inline uint32_t audit_comment_bytes(const struct capture_packet *packet)
{
	const char *mark = packet->comment == NULL ? NULL
						   : memmem(packet->comment, packet->comment_bytes,
							     AUDIT_MARK, strlen(AUDIT_MARK));

	return mark == NULL ? packet->comment_bytes : (uint32_t)(mark - packet->comment);
}

/* 'way': the port's direction. The result is valid as long as the capture is. */
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
