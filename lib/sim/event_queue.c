/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "event_sort.h"

#define BUCKETS     4096u
#define SLAB_ROOM   16u
#define CHUNK_SLABS 256u

/* Memory of slabs is got in pieces, which are given back together. */
struct chunk {
	struct chunk *next;
	uint64_t reserved[7];
	_Alignas(64) uint8_t memory[];
};

static size_t slab_bytes(unsigned class)
{
	return (size_t)(SLAB_ROOM << class) * (sizeof(uint64_t) + sizeof(uint32_t));
}

static void give_slab(struct event_queue *queue, uint64_t *slab, unsigned class)
{
	slab[0] = (uintptr_t)queue->free[class];
	queue->free[class] = slab;
}

static bool add_chunk(struct event_queue *queue, unsigned class)
{
	size_t slabs = class == 0 ? CHUNK_SLABS : 1, bytes = slab_bytes(class);
	struct chunk *chunk = aligned_alloc(64, sizeof(*chunk) + slabs * bytes);

	if (chunk == NULL)
		return false;
	chunk->next = queue->chunk;
	queue->chunk = chunk;
	for (size_t i = slabs; i-- > 0;) {
		give_slab(queue, (uint64_t *)(void *)(chunk->memory + i * bytes), class);
	}
	return true;
}

/* Room for SLAB_ROOM << class events; NULL, and the queue has failed, without memory. */
static uint64_t *take_slab(struct event_queue *queue, unsigned class)
{
	uint64_t *slab;

	if (class >= EVENT_SLAB_CLASSES ||
		(queue->free[class] == NULL && !add_chunk(queue, class))) {
		queue->failed = true;
		return NULL;
	}
	slab = queue->free[class];
	queue->free[class] = (uint64_t *)(uintptr_t)slab[0];
	return slab;
}

static unsigned class_of(uint32_t room)
{
	return (unsigned)__builtin_ctz(room / SLAB_ROOM);
}

static void empty(struct event_queue *queue, struct event_bucket *bucket)
{
	if (bucket->room > 0)
		give_slab(queue, bucket->key, class_of(bucket->room));
	*bucket = (struct event_bucket){0};
}

/* Room for 'count' sorted events, the key behind them, and what the sort writes beyond. */
static bool grow_sorted(struct event_queue *queue, uint32_t count)
{
	uint32_t room = queue->room == 0 ? 4 * SLAB_ROOM : queue->room;
	uint64_t *key;
	uint32_t *item;

	if (count < queue->room)
		return true;
	while (room <= count)
		room *= 2;
	key = realloc(queue->key, room * sizeof(*key));
	if (key != NULL)
		queue->key = key;
	item = realloc(queue->item, room * sizeof(*item));
	if (item != NULL)
		queue->item = item;
	if (key == NULL || item == NULL) {
		queue->failed = true;
		return false;
	}
	queue->room = room;
	return true;
}

struct event_queue *event_queue_create(weft_time width_ps)
{
	struct event_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return NULL;
	while (queue->shift < EVENT_SHIFT_MAX && ((weft_time)1 << queue->shift) < width_ps)
		queue->shift++;
	queue->mask = BUCKETS - 1;
	queue->bucket = calloc(BUCKETS, sizeof(*queue->bucket));
	queue->filled = calloc(BUCKETS / 64, sizeof(*queue->filled));
	if (queue->bucket == NULL || queue->filled == NULL || !grow_sorted(queue, 0)) {
		event_queue_destroy(queue);
		errno = ENOMEM;
		return NULL;
	}
	queue->key[0] = UINT64_MAX;
	return queue;
}

void event_queue_destroy(struct event_queue *queue)
{
	if (queue == NULL)
		return;
	for (struct chunk *chunk = queue->chunk, *next; chunk != NULL; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(queue->key);
	free(queue->item);
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

/* Twice the room for a bucket that is full, or its first. */
static bool grow_bucket(struct event_queue *queue, struct event_bucket *bucket)
{
	struct event_bucket larger = {
		.count = bucket->count, .room = bucket->room == 0 ? SLAB_ROOM : 2 * bucket->room};

	larger.key = take_slab(queue, class_of(larger.room));
	if (larger.key == NULL)
		return false;
	for (uint32_t i = 0; i < larger.count; i++) {
		larger.key[i] = bucket->key[i];
		event_bucket_items(&larger)[i] = event_bucket_items(bucket)[i];
	}
	empty(queue, bucket);
	*bucket = larger;
	return true;
}

static void append(struct event_queue *queue, struct sim_event event)
{
	uint64_t number = event.at >> queue->shift;
	struct event_bucket *bucket = &queue->bucket[number & queue->mask];

	if (bucket->count == bucket->room && !grow_bucket(queue, bucket))
		return;
	queue->filled[(number & queue->mask) / 64] |= UINT64_C(1) << (number & 63);
	bucket->key[bucket->count] = event_key(queue, event);
	event_bucket_items(bucket)[bucket->count++] = event.item;
}

/* Into the bucket that is being emptied, which is sorted. */
static void insert(struct event_queue *queue, struct sim_event event)
{
	uint64_t key = event_key(queue, event);
	uint32_t at = queue->count;

	if (!grow_sorted(queue, queue->count + 1))
		return;
	queue->key[++queue->count] = UINT64_MAX;
	for (; at > queue->next &&
		(key < queue->key[at - 1] ||
			(key == queue->key[at - 1] && event.item < queue->item[at - 1]));
		at--) {
		queue->key[at] = queue->key[at - 1];
		queue->item[at] = queue->item[at - 1];
	}
	queue->key[at] = key;
	queue->item[at] = event.item;
}

static bool grow_heap(struct event_queue *queue)
{
	uint32_t more = queue->heap_room == 0 ? SLAB_ROOM : queue->heap_room * 2;
	struct sim_event *larger;

	if (queue->heap_count < queue->heap_room)
		return true;
	larger = more > queue->heap_room ? realloc(queue->heap, more * sizeof(*larger)) : NULL;
	if (larger == NULL) {
		queue->failed = true;
		return false;
	}
	queue->heap = larger;
	queue->heap_room = more;
	return true;
}

static void heap_push(struct event_queue *queue, struct sim_event event)
{
	uint32_t at = queue->heap_count;

	if (!grow_heap(queue))
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

bool event_queue_is_empty(const struct event_queue *queue)
{
	return queue->next == queue->count && queue->heap_count == 0 && next_filled(queue) == 0;
}

/* The events of the current bucket, sorted, with the end behind them. */
static void sort_current(struct event_queue *queue)
{
	struct event_bucket *bucket = &queue->bucket[queue->current & queue->mask];
	uint32_t count = bucket->count;

	queue->next = queue->count = 0;
	if (!grow_sorted(queue, count))
		return;
	event_sort(bucket->key, event_bucket_items(bucket), count, queue->key, queue->item);
	queue->key[count] = UINT64_MAX;
	queue->count = count;
	empty(queue, bucket);
}

/* The first number of the current bucket that is not due before 'limit'. */
static void set_limit(struct event_queue *queue, weft_time limit)
{
	weft_time width = (weft_time)1 << queue->shift;

	queue->limit = limit;
	if (limit <= queue->base)
		queue->limit_key = 0;
	else
		queue->limit_key =
			limit - queue->base >= width ? UINT64_MAX : (limit - queue->base) << 32;
}

bool event_queue_advance(struct event_queue *queue, weft_time limit)
{
	uint64_t next, ahead;

	set_limit(queue, limit);
	if (queue->failed)
		return false;
	if (queue->next < queue->count)
		return queue->key[queue->next] < queue->limit_key;
	ahead = next_filled(queue);
	if (ahead == 0 && queue->heap_count == 0)
		return false;
	/* Nothing near: jump to what is first far away. */
	next = ahead > 0 ? queue->current + ahead : queue->heap[0].at >> queue->shift;
	if (next << queue->shift >= limit)
		return false;
	queue->current = next;
	queue->base = next << queue->shift;
	take_from_heap(queue);
	queue->filled[(next & queue->mask) / 64] &= ~(UINT64_C(1) << (next & 63));
	sort_current(queue);
	set_limit(queue, limit);
	return !queue->failed && queue->key[queue->next] < queue->limit_key;
}
