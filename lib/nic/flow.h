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
 * session. The receiver decides where a flow starts (flow_begin.h), so a restart of either end is
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
