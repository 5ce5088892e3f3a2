/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One timer per peer, all with the same delay: they expire in the order in which they were armed,
 * so every operation is O(1), without a timer wheel or heap. A change of the delay applies to all
 * armed timers. Times passed in must not decrease. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/weft_time.h"

#define DEADLINE_NONE 0xFFFF

struct deadline_node {
	weft_time since; /* time of arming */
	uint16_t next, prev;
	bool armed;
};

struct deadline_queue {
	weft_time delay_ps;
	struct deadline_node *node; /* [ids] */
	uint16_t head, tail;
};

/* Returns 0 or -ENOMEM. */
static inline int deadline_queue_init(
	struct deadline_queue *queue, unsigned ids, weft_time delay_ps)
{
	queue->delay_ps = delay_ps;
	queue->head = queue->tail = DEADLINE_NONE;
	queue->node = calloc(ids, sizeof(queue->node[0]));
	return queue->node != NULL ? 0 : -ENOMEM;
}

static inline void deadline_queue_fini(struct deadline_queue *queue)
{
	free(queue->node);
	queue->node = NULL;
}

static inline bool deadline_queue_armed(const struct deadline_queue *queue, uint16_t id)
{
	return queue->node[id].armed;
}

static inline void deadline_queue_cancel(struct deadline_queue *queue, uint16_t id)
{
	struct deadline_node *node = &queue->node[id];

	if (!node->armed)
		return;
	node->armed = false;
	if (node->prev == DEADLINE_NONE)
		queue->head = node->next;
	else
		queue->node[node->prev].next = node->next;
	if (node->next == DEADLINE_NONE)
		queue->tail = node->prev;
	else
		queue->node[node->next].prev = node->prev;
}

/* Starts or restarts the timer of 'id'. */
static inline void deadline_queue_arm(struct deadline_queue *queue, uint16_t id, weft_time now)
{
	struct deadline_node *node = &queue->node[id];

	deadline_queue_cancel(queue, id);
	*node = (struct deadline_node){
		.since = now, .next = DEADLINE_NONE, .prev = queue->tail, .armed = true};
	if (queue->tail == DEADLINE_NONE)
		queue->head = id;
	else
		queue->node[queue->tail].next = id;
	queue->tail = id;
}

/* Removes and returns an expired timer, or returns DEADLINE_NONE. */
static inline uint16_t deadline_queue_expired(struct deadline_queue *queue, weft_time now)
{
	uint16_t id = queue->head;

	if (id == DEADLINE_NONE || now - queue->node[id].since < queue->delay_ps)
		return DEADLINE_NONE;
	deadline_queue_cancel(queue, id);
	return id;
}
