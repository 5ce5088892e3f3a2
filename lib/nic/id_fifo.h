/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Queues of peer numbers, linked through one array that several queues share: a peer is in at most
 * one queue of an array at a time. */

#include <stdint.h>

#define ID_NONE 0xFFFF

struct id_fifo {
	uint16_t head, tail; /* ID_NONE when empty */
};

static inline void id_fifo_init(struct id_fifo *fifo)
{
	fifo->head = fifo->tail = ID_NONE;
}

static inline void id_fifo_push(struct id_fifo *fifo, uint16_t *next, uint16_t id)
{
	next[id] = ID_NONE;
	if (fifo->head == ID_NONE)
		fifo->head = id;
	else
		next[fifo->tail] = id;
	fifo->tail = id;
}

/* The queue is not empty. */
static inline uint16_t id_fifo_pop(struct id_fifo *fifo, const uint16_t *next)
{
	uint16_t id = fifo->head;

	fifo->head = next[id];
	if (fifo->head == ID_NONE)
		fifo->tail = ID_NONE;
	return id;
}
