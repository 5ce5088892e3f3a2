/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages that an interface holds until they are acknowledged, and slots for their payloads. All
 * memory is allocated at creation. Records are referenced by index and linked into one queue at a
 * time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_time.h"

#define MESSAGE_NONE UINT32_MAX

/* See nic.h. */
extern const uint8_t nic_pulled[1];

struct message {
	uint32_t next; /* next in its queue */
	uint32_t bytes;
	uint32_t frames;
	uint32_t first_sequence; /* set on admission to its flow */
	uint16_t destination;
	uint16_t number; /* number within its flow */
	uint8_t sl, vc;
	uint8_t entry; /* index in the run's traffic */
	uint8_t share; /* VC whose share it uses (nic_private.h) */
	uint8_t route_length;
	uint8_t which, alternatives; /* index of its route, and number of alternatives */
	bool injected;               /* its first frame, or the request for its flow, was sent */
	bool started;                /* start_ps is valid */
	uint32_t wire_bytes;         /* size of its frames so far, including link overhead */
	weft_time start_ps;   /* when its first frame could have been sent, apart from credits */
	const uint8_t *route; /* in the route table */
	/* NULL: generated per frame (synthetic.h). nic_pulled: written by the host. */
	const uint8_t *payload;
	weft_time generated_ps;
	weft_time ready_ps; /* generation, or when room was made; WEFT_TIME_NEVER: AFC is full */
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
	uint8_t *payload;   /* [slot][payload_bytes] */
	void *payload_free; /* list of free slots, linked through their first bytes */
	uint32_t payload_bytes;
	uint32_t payloads_used;
};

/* Returns 0 or -ENOMEM. */
int message_pool_init(
	struct message_pool *pool, uint32_t messages, uint32_t payloads, uint32_t payload_bytes);
void message_pool_fini(struct message_pool *pool);

/* Returns true if the payload occupies a slot. */
static inline bool message_has_slot(const struct message *message)
{
	return message->payload != NULL && message->payload != nic_pulled;
}

/* Returns a record and, with 'payload', copies the payload to a slot. Returns MESSAGE_NONE if no
 * record or slot is free, or the payload is longer than a slot. */
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

/* The queue must not be empty. */
static inline uint32_t message_queue_pop(struct message_pool *pool, struct message_queue *queue)
{
	uint32_t index = queue->head;

	queue->head = pool->message[index].next;
	if (queue->head == MESSAGE_NONE)
		queue->tail = MESSAGE_NONE;
	return index;
}
