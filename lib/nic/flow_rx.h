/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The receiving half of reliable delivery, per peer: order, duplicates, requests to send
 * again, cumulative acknowledgements. See flow_tx.h for what a flow is.
 */

#include "nic_private.h"

void flow_rx_init(struct nic *nic);

/* A data frame that is for this host; 'damage' says why its payload cannot be used,
 * NIC_COUNTER_COUNT if it can. */
void flow_rx_data(struct nic *nic, struct weft_packet *packet, const uint8_t *frame,
	enum nic_counter damage, weft_time now);

/* Delayed acknowledgements, and gaps that have lasted too long. */
void flow_rx_poll(struct nic *nic, weft_time now);

/* The next peer to be acknowledged and what it is to be told; ID_NONE if there is none. */
uint16_t flow_rx_next_ack(struct nic *nic, struct control_ack *ack);

/* There is a route to the peer again: it is told what has arrived, for it may not know. */
void flow_rx_tell(struct nic *nic, uint16_t peer);

/* Frames leave again: who waits for something waits from now on. */
void flow_rx_go_on(struct nic *nic, weft_time now);

/* Gives back all frames that are held. */
void flow_rx_drain(struct nic *nic);
