/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Payloads of the control frames of a link and of end-to-end delivery (docs/wire-format.md,
 * 'Control payloads'): credit, hello, ack, adaptive-routing notification. Big-endian on the wire,
 * host order in these structs. decode functions check length and ranges and return false for
 * anything else.
 */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

/* FRAME_CREDIT. Sessions name one life of one end of the link: a limit counts only for the session
 * that it was granted to, so a restarted neighbour cannot inherit a dead one's credits. */
struct control_credit {
	uint32_t session;              /* sender's own */
	uint32_t peer_session;         /* the receiver's as the sender knows it; 0: not yet known */
	uint8_t vcs;                   /* entries in sent and limit */
	uint32_t sent[FRAME_VCS_MAX];  /* FCTBS: blocks that the sender has sent in all, modulo 2^32
					*/
	uint32_t limit[FRAME_VCS_MAX]; /* FCCL: total up to which the receiver may send */
};

/* FRAME_HELLO, every hello interval, both ways. */
struct control_hello {
	uint64_t device; /* 64-bit identity */
	uint32_t session;
	uint32_t peer_session;
	uint8_t port; /* by which port of the sender it left */
	uint8_t kind; /* 0 switch, 1 interface */
};

/*
 * FRAME_ACK. Cumulative. 'again' asks to send once more, from 'expected' on, the frames that are
 * missing there; it numbers the requests, so that one that arrives twice is obeyed once. 'flow' is
 * the upper half of the data frames' message number; 'session' tells a sender that its receiver has
 * begun a new life.
 */
struct control_ack {
	uint32_t expected; /* next frame sequence number that the receiver waits for */
	uint8_t again;     /* 0: only an acknowledgement; else the number of this request */
	uint8_t missing;   /* of a request: frames to send again; 0: all that were sent */
	uint16_t flow;     /* which flow is acknowledged */
	uint32_t session;  /* receiver's own, nonzero */
};

/*
 * FRAME_ARN, one link back towards the sources: packets to this destination and of this VC contend
 * at a root of congestion. Table 2 of the ARN+AFI paper without the fields that are the receiver's
 * own: the port is the one by which it arrives.
 */
struct control_arn {
	uint32_t id;          /* names the root */
	uint16_t destination; /* of the packets, a host */
	uint8_t vc;           /* theirs by the queuing scheme, not the AFC */
	uint8_t root_info;    /* congestionRootInfo: the stage that acts; 0: the sending hosts */
};

#define CONTROL_CREDIT_BYTES(vcs) (12 + 8 * (vcs))
#define CONTROL_CREDIT_BYTES_MAX  CONTROL_CREDIT_BYTES(FRAME_VCS_MAX)
#define CONTROL_HELLO_BYTES       20
#define CONTROL_ACK_BYTES         12
#define CONTROL_ARN_BYTES         8

/* Each encode returns the bytes written; 'out' has room for the MAX above. */
unsigned control_credit_encode(const struct control_credit *credit, uint8_t *out);
unsigned control_hello_encode(const struct control_hello *hello, uint8_t *out);
unsigned control_ack_encode(const struct control_ack *ack, uint8_t *out);
unsigned control_arn_encode(const struct control_arn *arn, uint8_t *out);

bool control_credit_decode(struct control_credit *credit, const uint8_t *in, unsigned bytes);
bool control_hello_decode(struct control_hello *hello, const uint8_t *in, unsigned bytes);
bool control_ack_decode(struct control_ack *ack, const uint8_t *in, unsigned bytes);
bool control_arn_decode(struct control_arn *arn, const uint8_t *in, unsigned bytes);
