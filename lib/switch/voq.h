/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual output queue: the packets of one (input, VC) for one output, in order of arrival.
 * Without VOQs there is one per (input, VC). Linked through weft_packet.next. Inline, because both
 * functions are called per packet. */

#include <stdint.h>

#include "wire/packet.h"

struct voq {
	struct weft_packet *head;
	struct weft_packet *tail; /* undefined while head is NULL */
	weft_time stalled_at;     /* when the head was first found without credits; 0: never */
	uint32_t blocks;
};

_Static_assert(sizeof(struct voq) == 32, "two to a cache line");

/* Appends a packet. Returns true if the queue was empty, so that it has a new head. */
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

/* Removes and returns the head of a non-empty queue. */
static inline struct weft_packet *voq_pop(struct voq *queue)
{
	struct weft_packet *packet = queue->head;

	queue->head = packet->next;
	queue->stalled_at = 0;
	queue->blocks -= packet->blocks;
	return packet;
}

/* Call when the head lacks credits. Its stall is timed from the first call. */
static inline void voq_stall(struct voq *queue, weft_time now)
{
	queue->head->stalled = 1;
	if (queue->stalled_at == 0)
		queue->stalled_at = now > 0 ? now : 1;
}
