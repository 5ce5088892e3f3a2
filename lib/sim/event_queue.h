/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The event queue of the virtual clock (fabric.md, 'Engine'): a calendar of buckets of equal width
 * for what lies near, which is nearly everything, and a heap for the rest. A bucket is sorted when
 * its time has come, so that putting an event in costs a store.
 *
 * Events come out in the order (time, order), whatever the order in which they were put in; events
 * that agree in both come out in the order of their items. 'order' says who is served first at one
 * time and, by that, who it is: the caller's.
 *
 * Memory grows while a run finds out how much it needs, never per event. One thread. If it runs out
 * the queue says so afterwards (event_queue_failed), and pops nothing more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weft_time.h"

struct sim_event {
	weft_time at;
	uint32_t order;
	uint32_t item;
};

_Static_assert(sizeof(struct sim_event) == 16, "four to a cache line");

struct event_bucket {
	struct sim_event *event;
	uint32_t count, room;
};

struct event_queue {
	unsigned shift;   /* a bucket is 2^shift ps wide */
	uint64_t mask;    /* buckets - 1 */
	uint64_t current; /* number of the bucket that is being emptied, from time 0 on */
	uint32_t next;    /* of its events: the first that was not taken */
	bool failed;
	struct event_bucket *bucket;
	uint64_t *filled; /* set of buckets with events */
	struct sim_event *heap;
	uint32_t heap_count, heap_room;
	uint64_t events; /* in the queue */
};

/* 'width_ps' is rounded up to a power of two; best is a width in which some eight events fall. The
 * calendar has 4,096 buckets. NULL with errno ENOMEM. */
struct event_queue *event_queue_create(weft_time width_ps);
void event_queue_destroy(struct event_queue *queue);

/* The rare halves of pushing: into the bucket that is being emptied, beyond the calendar, or where
 * there is no room. */
void event_queue_push_apart(struct event_queue *queue, struct sim_event event);

/* 'event.at' is not before that of the event popped last, nor before the limit of a pop that found
 * nothing. */
static inline void event_queue_push(struct event_queue *queue, struct sim_event event)
{
	uint64_t number = event.at >> queue->shift;
	struct event_bucket *bucket = &queue->bucket[number & queue->mask];

	if (__builtin_expect(number - queue->current - 1 >= queue->mask, 0) ||
		__builtin_expect(bucket->count == bucket->room, 0)) {
		event_queue_push_apart(queue, event);
		return;
	}
	if (bucket->count == 0)
		queue->filled[(number & queue->mask) / 64] |= UINT64_C(1) << (number & 63);
	bucket->event[bucket->count++] = event;
	queue->events++;
}

/* On to the next bucket that has events. False if none has that begins before 'limit': then nothing
 * has changed, and events for 'limit' may still come. */
bool event_queue_advance(struct event_queue *queue, weft_time limit);

/* The next event, if it is due before 'limit'. */
static inline bool event_queue_pop(
	struct event_queue *queue, weft_time limit, struct sim_event *event)
{
	struct event_bucket *bucket = &queue->bucket[queue->current & queue->mask];

	if (queue->next == bucket->count) {
		if (!event_queue_advance(queue, limit))
			return false;
		bucket = &queue->bucket[queue->current & queue->mask];
	}
	if (bucket->event[queue->next].at >= limit)
		return false;
	*event = bucket->event[queue->next++];
	queue->events--;
	return true;
}

static inline bool event_queue_failed(const struct event_queue *queue)
{
	return queue->failed;
}
