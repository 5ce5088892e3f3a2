/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "edge_private.h"

static uint8_t *buffer_of(struct edge *edge, const struct edge_progress *progress)
{
	return edge->buffer + (size_t)progress->buffer * edge->config.mtu_bytes;
}

static void stop(struct edge *edge, struct edge_progress *progress, enum edge_state state)
{
	if (progress->state == EDGE_COLLECTING)
		edge->free[edge->free_count++] = progress->buffer;
	progress->state = (uint8_t)state;
}

static void start(struct edge *edge, struct edge_progress *progress)
{
	if (edge->free_count == 0) {
		edge->count[EDGE_DROP_NO_BUFFER]++;
		progress->state = EDGE_SKIPPING;
		return;
	}
	progress->buffer = edge->free[--edge->free_count];
	progress->bytes = 0;
	progress->state = EDGE_COLLECTING;
}

static void collect(
	struct edge *edge, struct edge_progress *progress, const struct nic_delivery *delivery)
{
	if (progress->state != EDGE_COLLECTING)
		return;
	if (delivery->bytes > edge->config.mtu_bytes - progress->bytes) {
		edge->count[EDGE_DROP_OVERSIZE]++;
		stop(edge, progress, EDGE_SKIPPING);
		return;
	}
	memcpy(buffer_of(edge, progress) + progress->bytes, delivery->payload, delivery->bytes);
	progress->bytes += delivery->bytes;
}

bool edge_reassemble(
	struct edge *edge, const struct nic_delivery *delivery, struct edge_packet *packet)
{
	struct edge_progress *progress = &edge->progress[delivery->source];
	bool collected;

	if (delivery->first && progress->state == EDGE_COLLECTING) {
		edge->count[EDGE_DROP_INCOMPLETE]++;
		stop(edge, progress, EDGE_IDLE);
	}
	if (delivery->first && delivery->tail) {
		progress->state = EDGE_IDLE;
		packet->packet = delivery->payload;
		packet->bytes = delivery->bytes;
		return true;
	}
	if (delivery->first)
		start(edge, progress);
	collect(edge, progress, delivery);
	if (!delivery->tail)
		return false;
	collected = progress->state == EDGE_COLLECTING;
	packet->packet = buffer_of(edge, progress);
	packet->bytes = progress->bytes;
	/* The buffer is free for the next message, which is not here before the next call. */
	stop(edge, progress, EDGE_IDLE);
	return collected;
}
