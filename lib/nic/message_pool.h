/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages that an interface holds until they are acknowledged, and slots for the payloads of those
 * that have one. Everything is allocated at the start; records are named by index and linked into
 * one queue at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_time.h"

#define MESSAGE_NONE UINT32_MAX

/* See nic.h. */
extern const uint8_t nic_pulled[1];

struct message {
	uint32_t next; /* in its queue */
	uint32_t bytes;
	uint32_t frames;
	uint32_t first_sequence; /* set on admission to its flow */
	uint16_t destination;
	uint16_t number; /* within its flow */
	uint8_t sl, vc;
	uint8_t entry; /* index in the run's traffic */
	uint8_t share; /* VC whose share it occupies (nic_private.h) */
	uint8_t route_length;
	uint8_t which, alternatives; /* its route, and the number of alternatives */
	bool injected;               /* its first frame left, or the ask for its flow */
	bool started;                /* start_ps is known */
	uint32_t wire_bytes;         /* in its frames so far, including link overhead */
	weft_time start_ps;   /* when its first frame could have left if it had had credits */
	const uint8_t *route; /* in the table of routes */
	/* NULL: generated with each frame (synthetic.h). nic_pulled: the host writes it. */
	const uint8_t *payload;
	weft_time generated_ps;
	weft_time ready_ps; /* later, if the store had no room; WEFT_TIME_NEVER: its FIFO waits */
	weft_time queued_ps;
	uint64_t cookie;
};

struct message_queue {
	uint32_t head, tail; /* MESSAGE_NONE when empty */
};

struct message_pool {
	struct message *message;
	uint32_t count, used;
	uint32_t free;
	uint8_t *payload;   /* slots of payload_bytes each */
	void *payload_free; /* chain through the first bytes of free slots */
	uint32_t payload_bytes;
	uint32_t payloads_used;
};

/* Returns 0 or -ENOMEM. */
int message_pool_init(
	struct message_pool *pool, uint32_t messages, uint32_t payloads, uint32_t payload_bytes);
void message_pool_fini(struct message_pool *pool);

/* The payload occupies a slot. */
static inline bool message_has_slot(const struct message *message)
{
	return message->payload != NULL && message->payload != nic_pulled;
}

/* A record, and with 'payload' a copy of it in a slot. MESSAGE_NONE if either has run out or the
 * payload is longer than a slot. */
uint32_t message_pool_get(struct message_pool *pool, const void *payload, uint32_t bytes);
void message_pool_put(struct message_pool *pool, uint32_t index);

static inline void message_queue_init(struct message_queue *queue)
{
	queue->head = queue->tail = MESSAGE_NONE;
}

static inline void message_queue_push(
	struct message_pool *pool, struct message_queue *queue, uint32_t index)
{
	pool->message[index].next = MESSAGE_NONE;
	if (queue->head == MESSAGE_NONE)
		queue->head = index;
	else
		pool->message[queue->tail].next = index;
	queue->tail = index;
}

/* The queue is not empty. */
static inline uint32_t message_queue_pop(struct message_pool *pool, struct message_queue *queue)
{
	uint32_t index = queue->head;

	queue->head = pool->message[index].next;
	if (queue->head == MESSAGE_NONE)
		queue->tail = MESSAGE_NONE;
	return index;
}
