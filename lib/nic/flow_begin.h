/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How a flow begins. The receiver decides it, so that only a station that has read its answer can
 * begin a flow in a sender's name, and no frame of an earlier life can:
 *
 *     sender -> receiver   ask: flow and sequence number, both random
 *     receiver -> sender   offer: repeats them; names the flow, the message number and the sequence
 *                          number to begin with
 *     sender -> receiver   data of that flow
 *
 * A frame of a flow that the receiver does not know is also answered with an offer: a sender whose
 * receiver has restarted starts a new flow as soon as one of its frames arrives there. All other
 * senders ignore such an offer, because it repeats nothing that they have in flight. A frame that
 * names a flow in use or on offer is never answered with an offer: the flow's sender would start
 * over and resend everything that has arrived.
 *
 * An offer costs the receiver no memory: message and sequence number follow from the flow's name by
 * a keyed hash (SipHash), and are computed again when a frame of an unknown flow arrives. They
 * change with each flow that the receiver accepts, so that no earlier offer remains valid. An
 * attacker who guesses has to hit 48 bits, minus the bits for frames in flight: at most FLOW_FLIGHT
 * frames until the first acknowledgement. An attacker who reads the link can do everything that the
 * sender can. */

#include "nic_private.h"

/* Frames that may be in flight in a flow without an acknowledgement. */
#define FLOW_FLIGHT 64

/* Control frames of these kinds (enum flow_due) are due to a peer; a cheap call. */
void flow_due(struct nic *nic, uint16_t peer, enum flow_due kind);

/* The next peer with a control frame due, and the kind; ID_NONE if none. */
uint16_t flow_next_due(struct nic *nic, enum flow_due *kind);

/* The flow to the peer ended, or never existed: the sender chooses a random name and number and
 * asks with them. */
void flow_begin_name(struct nic *nic, uint16_t peer);

/* The frame that asks. */
struct control_flow flow_begin_ask(const struct nic *nic, uint16_t peer);

/* The receiver was asked, or got a frame of an unknown flow: an offer is due. */
void flow_begin_answer(struct nic *nic, uint16_t peer, uint16_t flow, uint32_t sequence);

/* Returns the frame that answers the last ask or unknown frame. */
struct control_flow flow_begin_offer(const struct nic *nic, uint16_t peer);

/* That frame offers this flow. */
bool flow_begin_offers(const struct nic *nic, uint16_t peer, uint16_t flow);

/* Where a flow begins. */
struct flow_start {
	uint32_t first;  /* sequence number of its first frame */
	uint16_t number; /* number of its first message */
};

/* True if a frame with this sequence number can be one of the first of a flow that was offered
 * since the last one was accepted; then 'start' is where that flow starts. */
bool flow_begin_is_on_offer(const struct nic *nic, uint16_t peer, uint16_t flow, uint32_t sequence,
	struct flow_start *start);
