/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The latency extension: what switches report to the destination about a packet's waiting time and
 * the flows that contended with it (paper 003, table 1). A data frame with FRAME_F_LATENCY has one
 * between route and payload; the payload length does not include it. It is always 40 bytes, so no
 * switch changes a length. Because switches write it, it has its own checksum, and neither of the
 * frame's CRCs covers it.
 *
 * The struct has the wire layout. The virtual clock has no frames: it keeps the waiting time in the
 * packet's descriptor and the rest in a table of these structs, without the checksum. */

#include <stdbool.h>
#include <stdint.h>

#include "cn.h"
#include "frame.h"

#define LATENCY_PREDICTIVE 0x01 /* flags: the contending flows have been recorded */
#define LATENCY_PATH_SHIFT 4    /* flags: bits 4..7 hold the index of the path */

struct latency_flow {
	uint16_t source_be, destination_be;
} __attribute__((packed));

struct latency_extension {
	uint32_t waiting_ns_be; /* saturates */
	uint8_t flags;          /* LATENCY_PREDICTIVE, path */
	uint8_t flows;          /* in flow[]; the rest is zero */
	uint16_t check_be;      /* CRC-16 of the 40 bytes with this field as zero */
	struct latency_flow flow[CN_FLOWS_MAX];
} __attribute__((packed));

_Static_assert(sizeof(struct latency_extension) == FRAME_LATENCY_BYTES, "as frame.h says");

/* Makes the extension of a packet that leaves its source on path 'path' (0..CN_PATH_MAX), with its
 * checksum. */
void latency_begin(struct latency_extension *extension, unsigned path);

/* True if the checksum is correct. Switches check nothing else, because they only add values. */
bool latency_check_ok(const struct latency_extension *extension);

/* Adds a waiting time, saturating. The checksum becomes invalid. */
void latency_add(struct latency_extension *extension, uint32_t waiting_ns);

/* Records the contending flows in a packet that was not yet predictive; 'flows' up to CN_FLOWS_MAX,
 * may be 0. The checksum becomes invalid. */
void latency_record(
	struct latency_extension *extension, const struct cn_flow *flow, unsigned flows);

/* Puts the check right. */
void latency_seal(struct latency_extension *extension);

static inline bool latency_is_predictive(const struct latency_extension *extension)
{
	return (extension->flags & LATENCY_PREDICTIVE) != 0;
}

/* The waiting time that an extension holds. */
uint32_t latency_waiting_ns(const struct latency_extension *extension);

/* Copies the recorded flows into 'cn', in host order; 'flows' is at most CN_FLOWS_MAX. */
void latency_flows(struct cn *cn, const struct latency_extension *extension);

/* Fills in waiting_ns, path, flows and CN_F_PREDICTIVE; sets no other field. Ignores the checksum.
 * Returns false, with '*cn' undefined, if the extension is invalid: reserved bits set, too many
 * flows, a flow that occurs twice or lacks a host, flows in a packet that is not predictive, or
 * unused entries that are not zero. */
bool latency_decode(struct cn *cn, const struct latency_extension *extension);

/* The extension of a data frame with FRAME_F_LATENCY that has passed frame_check(). */
static inline struct latency_extension *latency_of_frame(uint8_t *frame)
{
	return (struct latency_extension *)(void *)(frame + FRAME_HEADER_BYTES +
						    frame_header(frame)->route_length);
}
