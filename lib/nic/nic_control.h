/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion management of an interface with reliable delivery, with real frames: source_control.h
 * chooses the paths of its messages and when frames may leave, and cn_generator.h decides which
 * arriving frames it answers with a cn frame (cn.h).
 *
 * A cn frame that arrives counts only if it answers an outstanding frame: one that belongs to this
 * flow, is not acknowledged and was not answered before, with the number of its message and the
 * path that it took. All others only increment a counter: cns_stale (acknowledged or answered
 * already) or cns_foreign (anything else). Answers wait in a ring until they leave; if it is full,
 * an answer is lost (cns_lost).
 *
 * Only lib/nic includes this. No allocation after nic_control_create(). One thread. */

#include "nic/congestion/cn_generator.h"
#include "nic/congestion/source_control.h"
#include "nic_private.h"

#define NIC_ANSWERS_MAX 512 /* a power of two */

/* The part of a frame in the window that its answer needs. */
struct nic_sent {
	uint16_t number; /* number of its message */
	uint8_t path;
	uint8_t awaited; /* 1: it has not been answered */
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
	uint32_t first, waiting;         /* start and fill of the ring 'answer' */
	/* Peers whose frames wait for the end of a pause. */
	struct id_fifo paused;
	uint16_t *paused_next; /* [hosts] */
	uint64_t *since_ns;    /* [hosts] when the frame could have left; UINT64_MAX: no pause */
	uint64_t due_ns;       /* the first pause ends */
	bool measures, spreads, throttles;
};

/* Creates the state for nic->config.control, if that is not SOURCE_CONTROL_NONE. Returns 0 or
 * -ENOMEM. */
int nic_control_create(struct nic *nic);
void nic_control_destroy(struct nic *nic);

/* Data frames have a latency extension. */
static inline bool nic_control_measures(const struct nic *nic)
{
	return nic->control != NULL && nic->control->measures;
}

/* Control chooses the paths of messages. */
static inline bool nic_control_spreads(const struct nic *nic)
{
	return nic->control != NULL && nic->control->spreads;
}

/* Number of the path of the next message to a peer with source routes. */
unsigned nic_control_choose(struct nic *nic, uint16_t peer, weft_time now);

/* The peer has new routes: measurements of the old ones are forgotten. */
void nic_control_rerouted(struct nic *nic, uint16_t peer);

/* The peer's next frame must wait: the peer becomes ready again when the frame may leave. */
bool nic_control_pauses(struct nic *nic, uint16_t peer, weft_time now);
/* When the pause before the peer's next frame ended, or 0 if there was none. */
weft_time nic_control_ready_ps(const struct nic *nic, uint16_t peer);
/* Ends pauses. */
void nic_control_poll(struct nic *nic, weft_time now);

/* Frame 'sequence' of the message leaves, for the first time or again. */
void nic_control_sent(struct nic *nic, const struct message *message, uint32_t sequence,
	uint32_t wire_bytes, weft_time now);

/* A data frame of the flow in use arrived completely: queues its answer, if it has one. */
void nic_control_answer(struct nic *nic, const struct weft_packet *packet, const uint8_t *frame);
/* The next answer to send, or NULL. Valid until the next call of this module. */
const struct nic_cn_generator *nic_control_next(struct nic *nic);

/* Handles a cn frame of a valid source whose payload is undamaged. */
void nic_control_receive(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now);
