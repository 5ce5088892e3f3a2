/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion management of an interface with reliable delivery and real frames. source_control.h
 * chooses the paths of its messages and decides when frames may be sent; cn_generator.h decides
 * which arriving frames are answered with a cn frame (cn.h).
 *
 * An arriving cn frame is used only if it answers an outstanding frame: the frame belongs to this
 * flow, is not acknowledged and has not been answered yet, and its message number and path match.
 * All others only increment a counter: cns_stale (already acknowledged or answered) or cns_foreign
 * (anything else). Answers wait in a ring until they are sent; if the ring is full, an answer is
 * lost (cns_lost).
 *
 * Only lib/nic includes this. No allocation after nic_control_create(). Single-threaded. */

#include "nic/congestion/cn_generator.h"
#include "nic/congestion/source_control.h"
#include "nic_private.h"

#define NIC_ANSWERS_MAX 512 /* a power of two */

/* Data of a frame in the window that its answer is checked against. */
struct nic_sent {
	uint16_t number; /* number of its message */
	uint8_t path;
	uint8_t awaited; /* 1: not answered yet */
};

struct nic_cn_generator {
	weft_time due_ps; /* due arrival of the answered frame */
	uint16_t peer;
	struct cn cn;
};

struct nic_control {
	struct source_control *source;
	struct answers answers;
	struct nic_sent *sent;           /* [hosts][window_frames] */
	struct nic_cn_generator *answer; /* [NIC_ANSWERS_MAX] */
	uint32_t first, waiting;         /* start and fill level of the ring 'answer' */
	/* Peers whose frames wait for the end of a pause. */
	struct id_fifo paused;
	uint16_t *paused_next; /* [hosts] */
	uint64_t *since_ns; /* [hosts] when the frame could have been sent; UINT64_MAX: no pause */
	uint64_t due_ns;    /* end of the first pause */
	bool measures, spreads, throttles;
};

/* Creates the state for nic->config.control unless that is SOURCE_CONTROL_NONE. Returns 0 or
 * -ENOMEM. */
int nic_control_create(struct nic *nic);
void nic_control_destroy(struct nic *nic);

/* Returns true if data frames have a latency extension. */
static inline bool nic_control_measures(const struct nic *nic)
{
	return nic->control != NULL && nic->control->measures;
}

/* Returns true if congestion management chooses the paths of messages. */
static inline bool nic_control_spreads(const struct nic *nic)
{
	return nic->control != NULL && nic->control->spreads;
}

/* Returns the index of the path for the next message to a source-routed peer. */
unsigned nic_control_choose(struct nic *nic, uint16_t peer, weft_time now);

/* Discards the measurements of a peer's old routes. */
void nic_control_rerouted(struct nic *nic, uint16_t peer);

/* Returns true if the peer's next frame must wait. The peer becomes ready after the pause. */
bool nic_control_pauses(struct nic *nic, uint16_t peer, weft_time now);
/* Returns when the pause before the peer's next frame ended, or 0 if there was none. */
weft_time nic_control_ready_ps(const struct nic *nic, uint16_t peer);
/* Ends expired pauses. */
void nic_control_poll(struct nic *nic, weft_time now);

/* Call when frame 'sequence' of the message is sent or resent. */
void nic_control_sent(struct nic *nic, const struct message *message, uint32_t sequence,
	uint32_t wire_bytes, weft_time now);

/* Handles a complete data frame of the current flow: queues its answer if it needs one. */
void nic_control_answer(struct nic *nic, const struct weft_packet *packet, const uint8_t *frame);
/* Returns the next answer to send, or NULL. Valid until the next call of this module. */
const struct nic_cn_generator *nic_control_next(struct nic *nic);

/* Handles a cn frame from a valid source with an undamaged payload. */
void nic_control_receive(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now);
