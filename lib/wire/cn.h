/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A destination's report to a source about congestion on the path to it: the payload of a cn frame
 * (FRAME_CN). In memory it is in host byte order; both clocks use it. It tells DRB and PR-DRB
 * (papers 002 and 003) how long a packet waited in switches and which flows delayed it, and
 * InfiniBand's congestion control (annex A10) that frames were marked.
 *
 * A notification names the frame that triggered it, so a source accepts one per outstanding frame
 * and refuses forged or replayed notifications. A lost notification is not repeated. */

#include <stdbool.h>
#include <stdint.h>

#define CN_FLOWS_MAX    8    /* contending flows per notification */
#define CN_PATH_MAX     15   /* largest path index */
#define CN_PATH_UNKNOWN 0xFF /* the frame had no latency extension */

#define CN_F_PREDICTIVE 0x01 /* contending flows were recorded, possibly none */
#define CN_F_FECN       0x02 /* the frame that triggered this notification was marked */
#define CN_F_BECN       0x04 /* the source treats the mark as congestion; only set with CN_F_FECN */

/* A pair of hosts whose packets delayed the packet. Neither host is FRAME_HOST_NONE. */
struct cn_flow {
	uint16_t source, destination;
};

struct cn {
	uint32_t message;  /* message number of the answered frame */
	uint32_t sequence; /* sequence number of that frame */
	/* Waiting time summed over the switches of the path; saturates at UINT32_MAX. */
	uint32_t waiting_ns;
	uint8_t path;  /* index into the sender's routes, 0..CN_PATH_MAX, or CN_PATH_UNKNOWN */
	uint8_t flags; /* CN_F_* */
	uint8_t flows; /* entries in flow[], 0..CN_FLOWS_MAX, without duplicates; 0 unless
			  predictive */
	struct cn_flow flow[CN_FLOWS_MAX];
};

#define CN_BYTES(flows) (16 + 4 * (flows))
#define CN_BYTES_MAX    CN_BYTES(CN_FLOWS_MAX)

/* Returns the bytes written, CN_BYTES(cn->flows). 'out' must hold CN_BYTES_MAX bytes. */
unsigned cn_encode(const struct cn *cn, uint8_t *out);

/* Returns false, with '*cn' undefined, if the length or any field is invalid. */
bool cn_decode(struct cn *cn, const uint8_t *in, unsigned bytes);

/* Adds a flow unless it is already recorded or 'max' (at most CN_FLOWS_MAX) flows are. */
static inline void cn_add_flow(
	struct cn_flow *flow, uint8_t *flows, unsigned max, struct cn_flow add)
{
	for (unsigned i = 0; i < *flows; i++)
		if (flow[i].source == add.source && flow[i].destination == add.destination)
			return;
	if (*flows < max)
		flow[(*flows)++] = add;
}

/* Returns true if no flow contains FRAME_HOST_NONE and none occurs twice. */
bool cn_flows_ok(const struct cn_flow *flow, unsigned flows);
