/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual output queue: the packets of one (input, VC) that leave through one output, in order of
 * arrival. Without VOQs there is one per (input, VC). Intrusive, linked by weft_packet.next; inline
 * because both functions are called per packet. */

#include <stdint.h>

#include "wire/packet.h"

struct voq {
	struct weft_packet *head;
	struct weft_packet *tail; /* meaningless while head is NULL */
	weft_time stalled_at;     /* when the head was first found without credits; 0: never */
	uint32_t blocks;
};

_Static_assert(sizeof(struct voq) == 32, "two to a cache line");

/* Returns true if the queue was empty, so that it has a new head. */
static inline bool voq_push(struct voq *queue, struct weft_packet *packet)
{
	bool first = queue->head == NULL;

	packet->next = NULL;
	if (first)
		queue->head = packet;
	else
		queue->tail->next = packet;
	queue->tail = packet;
	queue->blocks += packet->blocks;
	return first;
}

/* Takes the head of a queue that is not empty. */
static inline struct weft_packet *voq_pop(struct voq *queue)
{
	struct weft_packet *packet = queue->head;

	queue->head = packet->next;
	queue->stalled_at = 0;
	queue->blocks -= packet->blocks;
	return packet;
}

/* The head lacks credits; its waiting time counts from when this was first noticed. */
static inline void voq_stall(struct voq *queue, weft_time now)
{
	queue->head->stalled = 1;
	if (queue->stalled_at == 0)
		queue->stalled_at = now > 0 ? now : 1;
}
