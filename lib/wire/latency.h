/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The latency extension: switches use it to report to the destination how long a packet waited and
 * which flows contended with it (paper 003, table 1). In a data frame with FRAME_F_LATENCY it is
 * between route and payload; the payload length does not include it. It is always 40 bytes, so
 * switches never change a length. Because switches write to it, it has a separate checksum, and
 * neither of the frame's CRCs covers it.
 *
 * The struct has the wire layout. The virtual clock has no frames: the packet's descriptor stores
 * the waiting time, and a table of these structs, without checksums, stores the rest. */

#include <stdbool.h>
#include <stdint.h>

#include "cn.h"
#include "frame.h"

#define LATENCY_PREDICTIVE 0x01 /* flag: the contending flows have been recorded */
#define LATENCY_PATH_SHIFT 4    /* flags: bits 4..7 hold the path index */

struct latency_flow {
	uint16_t source_be, destination_be;
} __attribute__((packed));

struct latency_extension {
	uint32_t waiting_ns_be; /* accumulated waiting time, saturating */
	uint8_t flags;          /* LATENCY_PREDICTIVE and path index */
	uint8_t flows;          /* entries in flow[]; the unused ones are zero */
	uint16_t check_be;      /* CRC-16 of the 40 bytes, computed with this field as 0 */
	struct latency_flow flow[CN_FLOWS_MAX];
} __attribute__((packed));

_Static_assert(sizeof(struct latency_extension) == FRAME_LATENCY_BYTES, "size defined in frame.h");

/* Initialises the extension of a packet sent on path 'path' (0..CN_PATH_MAX), with its checksum. */
void latency_begin(struct latency_extension *extension, unsigned path);

/* Returns true if the checksum is correct. That suffices for switches, which only add values. */
bool latency_check_ok(const struct latency_extension *extension);

/* Adds a waiting time, saturating. Call latency_seal() afterwards. */
void latency_add(struct latency_extension *extension, uint32_t waiting_ns);

/* Replaces the contending flows, 'flows' of them (0..CN_FLOWS_MAX), and sets LATENCY_PREDICTIVE.
 * Call latency_seal() afterwards. */
void latency_record(
	struct latency_extension *extension, const struct cn_flow *flow, unsigned flows);

/* Recomputes the checksum. */
void latency_seal(struct latency_extension *extension);

static inline bool latency_is_predictive(const struct latency_extension *extension)
{
	return (extension->flags & LATENCY_PREDICTIVE) != 0;
}

uint32_t latency_waiting_ns(const struct latency_extension *extension);

/* Copies the recorded flows into 'cn', in host byte order. extension->flows must be at most
 * CN_FLOWS_MAX. */
void latency_flows(struct cn *cn, const struct latency_extension *extension);

/* Sets waiting_ns, path, flows and CN_F_PREDICTIVE in 'cn' and no other field. Ignores the
 * checksum. Returns false, with '*cn' undefined, if the extension is invalid: reserved bits set,
 * too many flows, a flow that occurs twice or lacks a host, flows in a packet that is not
 * predictive, or nonzero unused entries. */
bool latency_decode(struct cn *cn, const struct latency_extension *extension);

/* Returns the extension of a data frame with FRAME_F_LATENCY that has passed frame_check(). */
static inline struct latency_extension *latency_of_frame(uint8_t *frame)
{
	return (struct latency_extension *)(void *)(frame + FRAME_HEADER_BYTES +
						    frame_header(frame)->route_length);
}
