/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "message_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const uint8_t nic_pulled[1];

#define PAYLOAD_ALIGN 64

int message_pool_init(
	struct message_pool *pool, uint32_t messages, uint32_t payloads, uint32_t payload_bytes)
{
	*pool = (struct message_pool){.count = messages, .free = MESSAGE_NONE};
	pool->payload_bytes = (payload_bytes + PAYLOAD_ALIGN - 1) & ~(uint32_t)(PAYLOAD_ALIGN - 1);
	pool->message = calloc(messages, sizeof(pool->message[0]));
	if (payloads > 0 && payload_bytes > 0)
		pool->payload =
			aligned_alloc(PAYLOAD_ALIGN, (size_t)payloads * pool->payload_bytes);
	if (pool->message == NULL || (payloads > 0 && payload_bytes > 0 && pool->payload == NULL)) {
		message_pool_fini(pool);
		return -ENOMEM;
	}
	for (uint32_t i = messages; i-- > 0;) {
		pool->message[i].next = pool->free;
		pool->free = i;
	}
	for (uint32_t i = pool->payload != NULL ? payloads : 0; i-- > 0;) {
		void *slot = pool->payload + (size_t)i * pool->payload_bytes;

		memcpy(slot, &pool->payload_free, sizeof(void *));
		pool->payload_free = slot;
	}
	return 0;
}

void message_pool_fini(struct message_pool *pool)
{
	free(pool->message);
	free(pool->payload);
	pool->message = NULL;
	pool->payload = NULL;
}

static uint8_t *get_payload(struct message_pool *pool, const void *payload, uint32_t bytes)
{
	uint8_t *slot = pool->payload_free;

	if (slot == NULL || bytes > pool->payload_bytes)
		return NULL;
	memcpy(&pool->payload_free, slot, sizeof(void *));
	pool->payloads_used++;
	memcpy(slot, payload, bytes);
	return slot;
}

uint32_t message_pool_get(struct message_pool *pool, const void *payload, uint32_t bytes)
{
	uint32_t index = pool->free;
	const uint8_t *slot = payload;

	if (index == MESSAGE_NONE)
		return MESSAGE_NONE;
	if (payload != NULL && payload != nic_pulled) {
		slot = get_payload(pool, payload, bytes);
		if (slot == NULL)
			return MESSAGE_NONE;
	}
	pool->free = pool->message[index].next;
	pool->used++;
	pool->message[index] = (struct message){.payload = slot, .bytes = bytes};
	return index;
}

void message_pool_put(struct message_pool *pool, uint32_t index)
{
	struct message *message = &pool->message[index];

	if (message_has_slot(message)) {
		void *slot = (void *)message->payload;

		memcpy(slot, &pool->payload_free, sizeof(void *));
		pool->payload_free = slot;
		pool->payloads_used--;
	}
	message->payload = NULL;
	message->next = pool->free;
	pool->free = index;
	pool->used--;
}
