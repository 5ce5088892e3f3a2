/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Payloads of link-local and end-to-end control frames (docs/reference/wire-format.md, 'Control
 * payloads'): credit, hello, ack, flow, clock, ARN. Big-endian on the wire, host byte order in
 * these structs. Decode functions check length and ranges, and return false for invalid payloads.
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

/* FRAME_CREDIT. A session is one run of one end of the link. A limit is valid only for the session
 * to which it was granted, so a restarted neighbour cannot inherit stale credits. */
struct control_credit {
	uint32_t session;      /* the sender's session */
	uint32_t peer_session; /* the receiver's session, as last seen by the sender; 0: not known
				  yet */
	uint8_t vcs;           /* entries in sent and limit */
	uint32_t sent[FRAME_VCS_MAX];  /* FCTBS: blocks sent in total, modulo 2^32 */
	uint32_t limit[FRAME_VCS_MAX]; /* FCCL: total number of blocks up to which the receiver may
					  send */
};

/* Incremented whenever a format shared by devices but not covered by FRAME_VERSION changes:
 * control, mapper and endpoint messages, TAP segments, shared-memory rings. */
#define WEFT_FORMATS 3

/* FRAME_HELLO, sent every hello interval in both directions. */
struct control_hello {
	uint64_t device; /* 64-bit identity of the sender */
	uint32_t session;
	uint32_t peer_session;
	uint8_t port;     /* the sender's port */
	uint8_t kind;     /* 0 switch, 1 interface */
	uint16_t formats; /* the sender's WEFT_FORMATS; 0 from builds that predate the field */
	/* With a link key (lib/link/link_seal.h): the generation of the neighbour's session, which
	 * increases with each session that the sender accepts, and the receiver's generation as
	 * last seen by the sender. Both are 0 without a key. */
	uint32_t generation, peer_generation;
};

/* FRAME_ACK, cumulative. A nonzero 'again' requests retransmission of missing frames, starting at
 * 'expected'. It numbers the requests, so a duplicated request is served once. 'flow' is the upper
 * half of the data frames' message number. A changed 'session' tells the sender that the receiver
 * has restarted. */
struct control_ack {
	uint32_t expected; /* next frame sequence number that the receiver expects */
	uint8_t again;     /* number of this retransmission request; 0: acknowledgement only */
	uint8_t missing;   /* frames to retransmit; 0: all frames sent */
	uint16_t flow;     /* acknowledged flow */
	uint32_t session;  /* the receiver's session, nonzero */
};

enum control_flow_step { CONTROL_FLOW_ASK = 1, CONTROL_FLOW_OFFER };

/* FRAME_FLOW starts a flow. A sender requests a flow, and the receiver replies with an offer. The
 * receiver also sends an offer for every frame of an unknown flow. An offer repeats the flow and
 * sequence number of the frame that it answers, so only a receiver that got that frame can make a
 * valid offer. The receiver accepts the offered flow only from a sender that got the offer. */
struct control_flow {
	uint8_t step;      /* enum control_flow_step */
	uint16_t flow;     /* flow of the request, or of the frame that is answered */
	uint32_t sequence; /* sequence number of that frame */
	uint16_t offered;  /* offer: the flow to use */
	uint16_t number;   /* offer: number of the flow's first message */
	uint32_t first;    /* offer: sequence number of the flow's first frame */
	uint32_t session;  /* offer: the receiver's session, nonzero */
};

enum control_clock_step { CONTROL_CLOCK_ASK = 1, CONTROL_CLOCK_ANSWER };

/* FRAME_CLOCK compares the clocks of two machines (lib/nic/clock/peer_clocks.h). One host sends a
 * request. The answer contains the arrival time of the request and its own departure time, both on
 * the clock of the answering host. */
struct control_clock {
	uint8_t step;      /* enum control_clock_step */
	uint32_t clock;    /* identifies the sender's clock, nonzero */
	uint64_t number;   /* number of the request, nonzero; the answer repeats it */
	uint64_t heard_ns; /* answer: arrival time of the request; request: 0 */
	uint64_t left_ns;  /* earliest time at which this frame was sent */
};

#define CONTROL_CLOCK_TIMES (UINT64_C(1) << 61) /* all times are smaller */

/* FRAME_ARN travels one link upstream. It reports that packets to 'destination' on 'vc' contend at
 * a root of congestion. It has the fields of table 2 of the ARN+AFI paper, except those that the
 * receiver fills in: the port is the one on which the frame arrives. */
struct control_arn {
	uint32_t id;          /* identifies the root */
	uint16_t destination; /* host to which the packets are addressed */
	uint8_t vc;           /* the VC that the queuing scheme chose, not the AFC */
	uint8_t root_info;    /* congestionRootInfo: the stage that reacts; 0: the sending hosts */
};

#define CONTROL_CREDIT_BYTES(vcs) (12 + 8 * (vcs))
#define CONTROL_CREDIT_BYTES_MAX  CONTROL_CREDIT_BYTES(FRAME_VCS_MAX)
#define CONTROL_HELLO_BYTES       28
#define CONTROL_ACK_BYTES         12
#define CONTROL_FLOW_BYTES        20
#define CONTROL_CLOCK_BYTES       32
#define CONTROL_ARN_BYTES         8

/* Encode functions return the number of bytes written. 'out' must hold the size given above. */
unsigned control_credit_encode(const struct control_credit *credit, uint8_t *out);
unsigned control_hello_encode(const struct control_hello *hello, uint8_t *out);
unsigned control_ack_encode(const struct control_ack *ack, uint8_t *out);
unsigned control_flow_encode(const struct control_flow *flow, uint8_t *out);
unsigned control_clock_encode(const struct control_clock *clock, uint8_t *out);
unsigned control_arn_encode(const struct control_arn *arn, uint8_t *out);

bool control_credit_decode(struct control_credit *credit, const uint8_t *in, unsigned bytes);
bool control_hello_decode(struct control_hello *hello, const uint8_t *in, unsigned bytes);
bool control_ack_decode(struct control_ack *ack, const uint8_t *in, unsigned bytes);
bool control_flow_decode(struct control_flow *flow, const uint8_t *in, unsigned bytes);
bool control_clock_decode(struct control_clock *clock, const uint8_t *in, unsigned bytes);
bool control_arn_decode(struct control_arn *arn, const uint8_t *in, unsigned bytes);
