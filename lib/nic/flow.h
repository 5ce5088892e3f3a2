/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The receiving half of reliable delivery, per peer: order, duplicates, retransmission requests,
 * cumulative acknowledgements. flow.h defines flows. */

#include "nic_private.h"

void flow_rx_init(struct nic *nic);

/* A data frame for this host; 'defect' tells why its payload is unusable; NIC_COUNTER_COUNT if it
 * is good. */
void flow_rx_data(struct nic *nic, struct weft_packet *packet, const uint8_t *frame,
	enum nic_counter defect, weft_time now);

/* The peer asks where a flow starts: an offer is due. An ask in the name of a flow that is in use
 * or on offer is counted and ignored. */
void flow_rx_on_ask(struct nic *nic, uint16_t peer, const struct control_flow *ask);

/* Sends delayed acknowledgements, and requests to fill gaps that lasted too long. */
void flow_rx_poll(struct nic *nic, weft_time now);

/* Returns the acknowledgement that is due to the peer and is now being sent. */
struct control_ack flow_rx_take_ack(struct nic *nic, uint16_t peer);

/* A route to the peer exists again: acknowledges received frames, because earlier acknowledgements
 * may have been lost. */
void flow_rx_acknowledge_again(struct nic *nic, uint16_t peer);

/* Transmission resumed: restarts all timers. */
void flow_rx_resume(struct nic *nic, weft_time now);

/* Returns all held frames. */
void flow_rx_drain(struct nic *nic);

/* The sending half of reliable delivery, per peer: window, acknowledgements, go-back-N, giving up.
 *
 * A flow is one run of the sequence numbers from a source to a destination. Every frame carries its
 * name (upper half of the message number), and every acknowledgement returns it with the receiver's
 * session. The receiver decides where a flow starts, so a restart of either end is
 * detected: a sender that restarted asks; a sender whose receiver restarted is offered a new flow
 * and starts it with everything unacknowledged. */

void flow_tx_init(struct nic *nic);

/* Moves a message into its peer's queue, numbers its frames, chooses its route. */
void flow_tx_admit(struct nic *nic, uint32_t index, weft_time now);

/* Puts the peer into its ready queue if its window admits a frame. */
void flow_tx_place(struct nic *nic, uint16_t peer);

/* True if the window admits the peer's next frame; returns its class and VC. */
bool flow_tx_ready(const struct nic *nic, uint16_t peer, enum ready_class *class, unsigned *vc);

/* When an ideal interface could have sent that frame if it had had credits. */
weft_time flow_tx_ready_ps(struct nic *nic, uint16_t peer);

/* Frame 'send' of the peer is being sent; 'wire_bytes' includes link overhead. */
void flow_tx_sent(struct nic *nic, uint16_t peer, uint32_t wire_bytes, weft_time now);

void flow_tx_on_ack(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now);

/* The receiver offers a flow. */
void flow_tx_on_offer(
	struct nic *nic, uint16_t peer, const struct control_flow *offer, weft_time now);

/* The frame that asks for a flow is being sent. */
void flow_tx_asked(struct nic *nic, uint16_t peer, weft_time now);

/* Retry timers. */
void flow_tx_poll(struct nic *nic, weft_time now);

/* The interface has new routes: the peer's messages use them, or wait if it has no route. 'same':
 * the routes to this peer are unchanged. */
void flow_tx_reroute(struct nic *nic, uint16_t peer, bool same, weft_time now);

/* Transmission resumed after 'held_ps' without own frames: that time does not count. */
void flow_tx_resume(struct nic *nic, weft_time held_ps, weft_time now);

/* Reports the end of a message to the host and frees it. */
void flow_tx_finish(struct nic *nic, uint32_t index, int error);

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

/* Frames that may be in flight in a flow without an acknowledgement. */
#define FLOW_FLIGHT 64

/* Control frames of these kinds (enum flow_due) are due to a peer; a cheap call. */
void flow_due(struct nic *nic, uint16_t peer, enum flow_due kind);

/* The next peer with a control frame due, and the kind; ID_NONE if none. */
uint16_t flow_next_due(struct nic *nic, enum flow_due *kind);

/* The flow to the peer ended, or never existed: the sender chooses a random name and number and
 * asks with them. */
void flow_handshake_name(struct nic *nic, uint16_t peer);

/* The frame that asks. */
struct control_flow flow_handshake_ask(const struct nic *nic, uint16_t peer);

/* The receiver was asked, or got a frame of an unknown flow: an offer is due. */
void flow_handshake_answer(struct nic *nic, uint16_t peer, uint16_t flow, uint32_t sequence);

/* Returns the frame that answers the last ask or unknown frame. */
struct control_flow flow_handshake_offer(const struct nic *nic, uint16_t peer);

/* That frame offers this flow. */
bool flow_handshake_offers(const struct nic *nic, uint16_t peer, uint16_t flow);

/* Where a flow begins. */
struct flow_start {
	uint32_t first;  /* sequence number of its first frame */
	uint16_t number; /* number of its first message */
};

/* True if a frame with this sequence number can be one of the first of a flow that was offered
 * since the last one was accepted; then 'start' is where that flow starts. */
bool flow_handshake_is_on_offer(const struct nic *nic, uint16_t peer, uint16_t flow,
	uint32_t sequence, struct flow_start *start);
