/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A destination's report to a source about congestion on the path to it: the payload of a cn frame
 * (FRAME_CN). In memory it is in host order, with either clock. DRB and PR-DRB (papers 002 and 003)
 * learn from it how long a packet waited in switches and which flows delayed it; InfiniBand's
 * congestion control (annex A10) learns from it that frames were marked.
 *
 * A notification names the frame that it answers, so a source accepts one per outstanding frame and
 * rejects forged or replayed ones. A lost notification is not repeated. */

#include <stdbool.h>
#include <stdint.h>

#define CN_FLOWS_MAX    8    /* contending flows of a notification */
#define CN_PATH_MAX     15   /* largest index of a path */
#define CN_PATH_UNKNOWN 0xFF /* the frame had no latency extension */

#define CN_F_PREDICTIVE 0x01 /* contending flows were recorded, possibly none */
#define CN_F_FECN       0x02 /* the frame that is answered was marked */
#define CN_F_BECN       0x04 /* the source treats it as congestion; only set with CN_F_FECN */

/* Packets of this pair of hosts delayed the packet. Neither is FRAME_HOST_NONE. */
struct cn_flow {
	uint16_t source, destination;
};

struct cn {
	uint32_t message;  /* message of the answered frame */
	uint32_t sequence; /* sequence number of that frame */
	/* Sum over all switches on the path; UINT32_MAX: this long or longer. */
	uint32_t waiting_ns;
	uint8_t path;  /* index into the sender's routes, 0..CN_PATH_MAX, or
			* CN_PATH_UNKNOWN */
	uint8_t flags; /* CN_F_* */
	uint8_t flows; /* in flow[], 0..CN_FLOWS_MAX, each pair once; 0 unless predictive */
	struct cn_flow flow[CN_FLOWS_MAX];
};

#define CN_BYTES(flows) (16 + 4 * (flows))
#define CN_BYTES_MAX    CN_BYTES(CN_FLOWS_MAX)

/* Returns the bytes written, CN_BYTES(cn->flows). 'cn' is in range; 'out' has CN_BYTES_MAX. */
unsigned cn_encode(const struct cn *cn, uint8_t *out);

/* Returns false, with '*cn' undefined, unless length and all values are as described above. */
bool cn_decode(struct cn *cn, const uint8_t *in, unsigned bytes);

/* Adds a flow unless it is already there or there are already 'max' (up to CN_FLOWS_MAX). */
static inline void cn_add_flow(
	struct cn_flow *flow, uint8_t *flows, unsigned max, struct cn_flow add)
{
	for (unsigned i = 0; i < *flows; i++)
		if (flow[i].source == add.source && flow[i].destination == add.destination)
			return;
	if (*flows < max)
		flow[(*flows)++] = add;
}

/* Whether no flow contains FRAME_HOST_NONE and none occurs twice. */
bool cn_flows_ok(const struct cn_flow *flow, unsigned flows);
