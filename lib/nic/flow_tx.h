/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The sending half of reliable delivery, per peer: window, acknowledgements, go-back-N,
 * giving up.
 *
 * A flow is one life of the sequence numbers from a source to a destination; its name goes with
 * every frame (upper half of the message number) and comes back in every acknowledgement, which
 * also names the receiver's session. So neither end is fooled when the other restarts: a receiver
 * takes up a new flow at its frame 0; a sender that finds its receiver changed begins a new flow
 * with whatever was not acknowledged.
 */

#include "nic_private.h"

void flow_tx_init(struct nic *nic);

/* Takes a message over into its peer's queue, numbers its frames, chooses its route. */
void flow_tx_admit(struct nic *nic, uint32_t index, weft_time now);

/* Puts the peer into the ready queue where it belongs, if it has a frame that its window admits. */
void flow_tx_place(struct nic *nic, uint16_t peer);

/* True if the peer's next frame may be sent as far as the window goes; which class and VC. */
bool flow_tx_ready(const struct nic *nic, uint16_t peer, enum ready_class *class, unsigned *vc);

/* The frame 'send' of the peer is being sent; it takes so many bytes' time on the link. */
void flow_tx_sent(struct nic *nic, uint16_t peer, uint32_t wire_bytes, weft_time now);

void flow_tx_on_ack(struct nic *nic, uint16_t peer, const struct control_ack *ack, weft_time now);

/* Retry timers. */
void flow_tx_poll(struct nic *nic, weft_time now);

/* The interface has other routes: the peer's messages take them, or wait if there is none. 'same':
 * to this peer they are what they were. */
void flow_tx_reroute(struct nic *nic, uint16_t peer, bool same, weft_time now);

/* Frames leave again after nothing of ours did for 'held_ps': that time does not count. */
void flow_tx_go_on(struct nic *nic, weft_time held_ps, weft_time now);

/* Tells the host the end of a message and frees it. */
void flow_tx_finish(struct nic *nic, uint32_t index, int error);
