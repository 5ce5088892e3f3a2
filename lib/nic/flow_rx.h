/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The receiving half of reliable delivery, per peer: order, duplicates, retransmission requests,
 * cumulative acknowledgements. flow_tx.h defines flows. */

#include "nic_private.h"

void flow_rx_init(struct nic *nic);

/* A data frame for this host; 'defect' is the reason why its payload is unusable, NIC_COUNTER_COUNT
 * if it is good. */
void flow_rx_data(struct nic *nic, struct weft_packet *packet, const uint8_t *frame,
	enum nic_counter defect, weft_time now);

/* The peer asks where a flow starts: an offer is due. An ask in the name of a flow that is in use
 * or on offer is counted and ignored. */
void flow_rx_on_ask(struct nic *nic, uint16_t peer, const struct control_flow *ask);

/* Sends delayed acknowledgements, and requests for gaps that lasted too long. */
void flow_rx_poll(struct nic *nic, weft_time now);

/* The acknowledgement that is due to the peer, now being sent. */
struct control_ack flow_rx_take_ack(struct nic *nic, uint16_t peer);

/* A route to the peer exists again: acknowledges received frames, because earlier acknowledgements
 * may be lost. */
void flow_rx_acknowledge_again(struct nic *nic, uint16_t peer);

/* Transmission resumed: restarts all timers. */
void flow_rx_resume(struct nic *nic, weft_time now);

/* Returns all held frames. */
void flow_rx_drain(struct nic *nic);
