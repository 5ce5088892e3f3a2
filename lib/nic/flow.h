/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The receiving half of reliable delivery, per peer: order, duplicates, retransmission requests,
 * cumulative acknowledgements. Flows are defined below. */

#include "nic_private.h"

void flow_rx_init(struct nic *nic);

/* Handles a data frame for this host. 'defect': why its payload is unusable, or NIC_COUNTER_COUNT.
 */
void flow_rx_data(struct nic *nic, struct weft_packet *packet, const uint8_t *frame,
	enum nic_counter defect, weft_time now);

/* Handles a peer's request for the start of a flow: an offer is due. A request in the name of a
 * flow that is in use or on offer is counted and ignored. */
void flow_rx_on_ask(struct nic *nic, uint16_t peer, const struct control_flow *ask);

/* Handles expired timers: sends delayed acknowledgements, and requests to fill old gaps. */
void flow_rx_poll(struct nic *nic, weft_time now);

/* Returns the acknowledgement due to the peer, which the caller sends now. */
struct control_ack flow_rx_take_ack(struct nic *nic, uint16_t peer);

/* Call when a route to the peer exists again: acknowledges the frames received, because earlier
 * acknowledgements may have been lost. */
void flow_rx_acknowledge_again(struct nic *nic, uint16_t peer);

/* Call when transmission resumes: restarts all timers. */
void flow_rx_resume(struct nic *nic, weft_time now);

/* Releases all held frames. */
void flow_rx_drain(struct nic *nic);

/* The sending half of reliable delivery, per peer: window, acknowledgements, go-back-N, giving up.
 *
 * A flow is a run of consecutive sequence numbers from a source to a destination. Every frame
 * contains the flow's name (upper half of the message number), and every acknowledgement returns
 * it with the receiver's session. The receiver decides where a flow starts, so a restart of either
 * end is detected. A sender that restarted requests a flow. A sender whose receiver restarted is
 * offered a new flow, which it starts with all unacknowledged messages. */

void flow_tx_init(struct nic *nic);

/* Appends a message to its peer's queue, numbers its frames, and chooses its route. */
void flow_tx_admit(struct nic *nic, uint32_t index, weft_time now);

/* Puts the peer into its ready queue if its window admits a frame. */
void flow_tx_place(struct nic *nic, uint16_t peer);

/* Returns true if the window admits the peer's next frame; sets its class and VC. */
bool flow_tx_ready(const struct nic *nic, uint16_t peer, enum ready_class *class, unsigned *vc);

/* Returns when an ideal interface could have sent the peer's next frame, ignoring credits. */
weft_time flow_tx_ready_ps(struct nic *nic, uint16_t peer);

/* Call when frame 'send' of the peer is sent. 'wire_bytes' includes link overhead. */
void flow_tx_sent(struct nic *nic, uint16_t peer, uint32_t wire_bytes, weft_time now);

void flow_tx_on_ack(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now);

/* Handles the receiver's offer of a flow. */
void flow_tx_on_offer(
	struct nic *nic, uint16_t peer, const struct control_flow *offer, weft_time now);

/* Call when the request for a flow is sent. */
void flow_tx_asked(struct nic *nic, uint16_t peer, weft_time now);

/* Handles expired retry timers. */
void flow_tx_poll(struct nic *nic, weft_time now);

/* Adapts to new routes: the peer's messages use them, or wait if none leads to the peer. 'same':
 * its routes are unchanged. */
void flow_tx_reroute(struct nic *nic, uint16_t peer, bool same, weft_time now);

/* Call when transmission resumes after 'held_ps' without own frames; this time does not count. */
void flow_tx_resume(struct nic *nic, weft_time held_ps, weft_time now);

/* Reports the outcome of a message to the host and frees the message. */
void flow_tx_finish(struct nic *nic, uint32_t index, int error);

/* The start of a flow. The receiver decides where a flow starts. Only a device that has read the
 * answer can therefore start a flow in a sender's name, and frames of an earlier life cannot:
 *
 *     sender -> receiver   ask: flow and sequence number, both random
 *     receiver -> sender   offer: repeats them; names the flow, and the first message and sequence
 *                          number
 *     sender -> receiver   data of that flow
 *
 * A frame of a flow unknown to the receiver is also answered with an offer: a sender whose receiver
 * has restarted starts a new flow as soon as one of its frames arrives there. All other senders
 * ignore such an offer, because it repeats nothing that they have in flight. A frame that names a
 * flow in use or on offer is never answered with an offer, because the flow's sender would start
 * over and resend everything that has arrived.
 *
 * An offer takes no memory at the receiver. Message and sequence number are a keyed hash
 * (SipHash) of the flow's name, which is recomputed when a frame of an unknown flow arrives. They
 * change with each flow that the receiver accepts, so no earlier offer remains valid. A guess must
 * match 48 bits, minus the bits for frames in flight: at most FLOW_FLIGHT frames until the first
 * acknowledgement. An attacker who can read the link can do everything that the sender can do. */

/* Maximum number of frames in flight before a flow's first acknowledgement. */
#define FLOW_FLIGHT 64

/* Makes control frames of these kinds (enum flow_due) due to a peer. Inexpensive. */
void flow_due(struct nic *nic, uint16_t peer, enum flow_due kind);

/* Returns the next peer with a due control frame, and its kind; ID_NONE if there is none. */
uint16_t flow_next_due(struct nic *nic, enum flow_due *kind);

/* Chooses a random flow name and sequence number with which the sender asks. Call when the flow to
 * the peer has ended or never existed. */
void flow_handshake_name(struct nic *nic, uint16_t peer);

/* Returns the frame that asks for a flow. */
struct control_flow flow_handshake_ask(const struct nic *nic, uint16_t peer);

/* Makes an offer due, as the answer to a request or to a frame of an unknown flow. */
void flow_handshake_answer(struct nic *nic, uint16_t peer, uint16_t flow, uint32_t sequence);

/* Returns the frame that answers the last request or unknown frame. */
struct control_flow flow_handshake_offer(const struct nic *nic, uint16_t peer);

/* Returns true if that frame offers this flow. */
bool flow_handshake_offers(const struct nic *nic, uint16_t peer, uint16_t flow);

/* Start of a flow. */
struct flow_start {
	uint32_t first;  /* sequence number of its first frame */
	uint16_t number; /* number of its first message */
};

/* Returns true if a frame with this sequence number can be one of the first frames of a flow that
 * has been on offer since the last one was accepted. Sets 'start' to that flow's start. */
bool flow_handshake_is_on_offer(const struct nic *nic, uint16_t peer, uint16_t flow,
	uint32_t sequence, struct flow_start *start);
