/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS          4096u
#define BUCKET_ROOM      16u
#define INSERTION_SORTED 24u /* above it, quicker ways pay */

struct event_queue *event_queue_create(weft_time width_ps)
{
	struct event_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	while (queue->shift < 40 && ((weft_time)1 << queue->shift) < width_ps)
		queue->shift++;
	queue->mask = BUCKETS - 1;
	queue->bucket = calloc(BUCKETS, sizeof(*queue->bucket));
	queue->filled = calloc(BUCKETS / 64, sizeof(*queue->filled));
	if (queue->bucket != NULL && queue->filled != NULL)
		return queue;
	event_queue_destroy(queue);
	errno = ENOMEM;
	return NULL;
}

void event_queue_destroy(struct event_queue *queue)
{
	if (queue == NULL)
		return;
	for (unsigned i = 0; queue->bucket != NULL && i < BUCKETS; i++)
		free(queue->bucket[i].event);
	free(queue->bucket);
	free(queue->filled);
	free(queue->heap);
	free(queue);
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->order != b->order ? a->order < b->order : a->item < b->item;
}

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : before(b, a);
}

/* Room for one more; false, and the queue has failed, without memory. */
static bool grow(
	struct event_queue *queue, struct sim_event **event, uint32_t count, uint32_t *room)
{
	uint32_t more = *room == 0 ? BUCKET_ROOM : *room * 2;
	struct sim_event *larger;

	if (count < *room)
		return true;
	larger = more > *room ? realloc(*event, more * sizeof(*larger)) : NULL;
	if (larger == NULL) {
		queue->failed = true;
		return false;
	}
	*event = larger;
	*room = more;
	return true;
}

static void mark_filled(struct event_queue *queue, uint64_t number)
{
	queue->filled[(number & queue->mask) / 64] |= UINT64_C(1) << (number & 63);
}

static void append(struct event_queue *queue, struct sim_event event)
{
	uint64_t number = event.at >> queue->shift;
	struct event_bucket *bucket = &queue->bucket[number & queue->mask];

	if (!grow(queue, &bucket->event, bucket->count, &bucket->room))
		return;
	mark_filled(queue, number);
	bucket->event[bucket->count++] = event;
}

/* Into the bucket that is being emptied, which is sorted. */
static void insert(struct event_queue *queue, struct sim_event event)
{
	struct event_bucket *bucket = &queue->bucket[queue->current & queue->mask];
	uint32_t at = bucket->count;

	if (!grow(queue, &bucket->event, bucket->count, &bucket->room))
		return;
	mark_filled(queue, queue->current);
	for (; at > queue->next && before(&event, &bucket->event[at - 1]); at--)
		bucket->event[at] = bucket->event[at - 1];
	bucket->event[at] = event;
	bucket->count++;
}

static void heap_push(struct event_queue *queue, struct sim_event event)
{
	uint32_t at = queue->heap_count;

	if (!grow(queue, &queue->heap, queue->heap_count, &queue->heap_room))
		return;
	for (; at > 0 && before(&event, &queue->heap[(at - 1) / 2]); at = (at - 1) / 2)
		queue->heap[at] = queue->heap[(at - 1) / 2];
	queue->heap[at] = event;
	queue->heap_count++;
}

static struct sim_event heap_pop(struct event_queue *queue)
{
	struct sim_event first = queue->heap[0], last = queue->heap[--queue->heap_count];
	uint32_t at = 0;

	for (uint32_t child = 1; child < queue->heap_count; child = 2 * at + 1) {
		if (child + 1 < queue->heap_count &&
			before(&queue->heap[child + 1], &queue->heap[child]))
			child++;
		if (!before(&queue->heap[child], &last))
			break;
		queue->heap[at] = queue->heap[child];
		at = child;
	}
	queue->heap[at] = last;
	return first;
}

void event_queue_push_apart(struct event_queue *queue, struct sim_event event)
{
	uint64_t ahead = (event.at >> queue->shift) - queue->current;

	queue->events++;
	if (ahead == 0)
		insert(queue, event);
	else if (ahead <= queue->mask)
		append(queue, event);
	else
		heap_push(queue, event);
}

/* The next filled bucket after the current one; its distance, 0 if there is none. */
static uint64_t next_filled(const struct event_queue *queue)
{
	uint64_t first = queue->current + 1, ahead = 0;

	while (ahead < queue->mask) {
		uint64_t number = first + ahead;
		uint64_t word = queue->filled[(number & queue->mask) / 64] >> (number & 63);

		if (word != 0) {
			ahead += (uint64_t)__builtin_ctzll(word);
			return ahead < queue->mask ? ahead + 1 : 0;
		}
		ahead += 64 - (number & 63);
	}
	return 0;
}

/* What has come within the calendar's reach. */
static void take_from_heap(struct event_queue *queue)
{
	while (queue->heap_count > 0 &&
		(queue->heap[0].at >> queue->shift) - queue->current <= queue->mask)
		append(queue, heap_pop(queue));
}

static void sort(struct event_bucket *bucket)
{
	if (bucket->count > INSERTION_SORTED) {
		qsort(bucket->event, bucket->count, sizeof(*bucket->event), compare);
		return;
	}
	for (uint32_t i = 1; i < bucket->count; i++) {
		struct sim_event event = bucket->event[i];
		uint32_t at = i;

		for (; at > 0 && before(&event, &bucket->event[at - 1]); at--)
			bucket->event[at] = bucket->event[at - 1];
		bucket->event[at] = event;
	}
}

bool event_queue_advance(struct event_queue *queue, weft_time limit)
{
	struct event_bucket *bucket = &queue->bucket[queue->current & queue->mask];
	uint64_t next, ahead;

	if (queue->events == 0 || queue->failed)
		return false;
	ahead = next_filled(queue);
	/* Nothing near: jump to what is first far away. */
	next = ahead > 0 ? queue->current + ahead : queue->heap[0].at >> queue->shift;
	if (next << queue->shift >= limit)
		return false;
	bucket->count = queue->next = 0;
	queue->filled[(queue->current & queue->mask) / 64] &=
		~(UINT64_C(1) << (queue->current & 63));
	queue->current = next;
	take_from_heap(queue);
	sort(&queue->bucket[queue->current & queue->mask]);
	return !queue->failed;
}
