/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The passage from one part of a virtual fabric to another (virtual_parts.h): packets, credit
 * frames and notifications, by value, because each part has packets and records of its own. A part
 * writes into a box for each other part, which that one empties in the next round. There are two
 * sides of each box: one is filled while the other is emptied.
 */

#include "virtual_private.h"

struct virtual_crossing_packet {
	struct weft_packet packet;
	struct datagram_origin origin;
	weft_time at; /* the event at the far end */
	uint32_t order;
};

struct virtual_crossing_control {
	weft_time at;
	uint32_t order;
	bool is_arn;
	const struct virtual_tx *channel; /* that sent it; only its address counts */
	union {
		struct control_credit credit;
		struct control_arn arn;
	};
};

/* Grows while a run finds its size. */
struct virtual_box {
	struct virtual_crossing_packet *packet;
	struct virtual_crossing_control *control;
	uint32_t packets, packet_room, controls, control_room;
	weft_time first; /* the earliest of them; WEFT_TIME_NEVER: it is empty */
} __attribute__((aligned(64)));

void virtual_box_free(struct virtual_box *box);

/* The rest of virtual_start() for a special channel: the packet is at the far end at 'at', or is
 * traced. A packet that crosses is no longer this part's. */
void virtual_start_special(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now);

/* A credit frame or notification that a channel sends to another part. */
void virtual_cross_credit(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_credit *credit, weft_time at);
void virtual_cross_arn(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	const struct control_arn *arn, weft_time at);

/* Empties a box: all that is in it becomes events of this part. */
void virtual_cross_take(struct virtual_fabric *fabric, struct virtual_box *box);
/* The same for one of them, which has come in another way. */
void virtual_cross_take_packet(
	struct virtual_fabric *fabric, const struct virtual_crossing_packet *crossing);
void virtual_cross_take_control(
	struct virtual_fabric *fabric, const struct virtual_crossing_control *crossing);

static inline void virtual_box_clear(struct virtual_box *box)
{
	box->packets = box->controls = 0;
	box->first = WEFT_TIME_NEVER;
}
