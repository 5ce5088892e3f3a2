/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64u
#define BUCKETS_MAX 65536u
#define LIST_ROOM   16u

/* Maximum number of positions that an event may move forward in a lane. Simultaneous events are
 * added in the order of their causes, but taken in the order of their targets. */
#define FORWARD_MAX 8u

#define FILLED_WORD 8u

#define EVENT_KEY_BITS 63u

static uint64_t buckets_for(unsigned shift, weft_time reach_ps)
{
	uint64_t buckets = BUCKETS_MIN;

	while (buckets < BUCKETS_MAX && buckets << shift < reach_ps)
		buckets *= 2;
	return buckets;
}

static void begin_bucket(struct event_queue *queue, uint64_t number)
{
	weft_time range = (weft_time)1 << (EVENT_KEY_BITS - queue->tail_bits);

	queue->current = number;
	queue->base = number << queue->shift;
	queue->lanes_end = queue->base + range;
	for (unsigned i = 0; i < EVENT_LANES; i++)
		queue->lane_base[i] = queue->base << queue->tail_bits;
}

static void update_heads(struct event_queue *queue)
{
	for (unsigned i = 0; i < EVENT_SOURCES; i++)
		event_queue_update_head(queue, i);
}

/* Makes room for 'count' sorted events and one entry after them. */
static bool grow_sorted(struct event_queue *queue, uint32_t count)
{
	struct event_lane *sorted = &queue->lane[EVENT_CALENDAR];

	while (sorted->mask < count && !queue->failed)
		queue->failed = event_lane_grow(sorted) < 0;
	return !queue->failed;
}

static bool init_lanes(struct event_queue *queue)
{
	for (unsigned i = 0; i < EVENT_SOURCES; i++)
		if (event_lane_init(&queue->lane[i]) < 0)
			return false;
	return grow_sorted(queue, EVENT_SORT_FEW);
}

struct event_queue *event_queue_create(weft_time width_ps, unsigned order_bits, unsigned item_bits)
{
	return event_queue_create_reaching(width_ps, 4096 * width_ps, order_bits, item_bits);
}

static void set_widths(
	struct event_queue *queue, weft_time width_ps, unsigned order_bits, unsigned item_bits)
{
	unsigned max = EVENT_KEY_BITS - order_bits - item_bits;

	max = max < EVENT_SHIFT_MAX ? max : EVENT_SHIFT_MAX;
	while (queue->shift < max && ((weft_time)1 << queue->shift) < width_ps)
		queue->shift++;
	queue->item_bits = (uint8_t)item_bits;
	queue->tail_bits = (uint8_t)(order_bits + item_bits);
	queue->item_mask = (UINT64_C(1) << item_bits) - 1;
}

static bool bits_valid(unsigned order_bits, unsigned item_bits)
{
	return order_bits > 0 && order_bits <= 32 && item_bits > 0 && item_bits <= 32 &&
	       order_bits + item_bits < EVENT_KEY_BITS;
}

struct event_queue *event_queue_create_reaching(
	weft_time width_ps, weft_time reach_ps, unsigned order_bits, unsigned item_bits)
{
	struct event_queue *queue;
	uint64_t buckets;

	if (!bits_valid(order_bits, item_bits)) {
		errno = EINVAL;
		return NULL;
	}
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
		return NULL;
	set_widths(queue, width_ps, order_bits, item_bits);
	buckets = buckets_for(queue->shift, reach_ps);
	queue->mask = buckets - 1;
	queue->bucket = aligned_alloc(64, buckets * sizeof(*queue->bucket));
	queue->filled = calloc(buckets, sizeof(*queue->filled));
	queue->spill = calloc(buckets, sizeof(*queue->spill));
	if (queue->bucket == NULL || queue->filled == NULL || queue->spill == NULL ||
		!init_lanes(queue)) {
		event_queue_destroy(queue);
		errno = ENOMEM;
		return NULL;
	}
	/* Cleared, because the sort also reads entries after the last one. */
	memset(queue->bucket, 0, buckets * sizeof(*queue->bucket));
	begin_bucket(queue, 0);
	update_heads(queue);
	return queue;
}

void event_queue_destroy(struct event_queue *queue)
{
	if (queue == NULL)
		return;
	for (uint64_t i = 0; queue->spill != NULL && i <= queue->mask; i++)
		free(queue->spill[i].key);
	for (unsigned i = 0; i < EVENT_SOURCES; i++)
		event_lane_fini(&queue->lane[i]);
	free(queue->bucket);
	free(queue->filled);
	free(queue->spill);
	free(queue->heap.event);
	free(queue->gathered.key);
	free(queue);
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->order != b->order ? a->order < b->order : a->item < b->item;
}

/* Doubles the capacity of a list with elements of 'size' bytes, which starts at LIST_ROOM. If out
 * of memory, marks the queue as failed and returns false. */
static bool grow(struct event_queue *queue, void **list, uint32_t *room, size_t size)
{
	uint32_t more = *room == 0 ? LIST_ROOM : *room * 2;
	void *larger = more > *room ? realloc(*list, more * size) : NULL;

	if (larger == NULL) {
		queue->failed = true;
		return false;
	}
	*list = larger;
	*room = more;
	return true;
}

static void spill(struct event_queue *queue, struct event_spill *to, uint64_t key)
{
	void *list = to->key;

	if (to->count == to->room) {
		if (!grow(queue, &list, &to->room, sizeof(*to->key)))
			return;
		to->key = list;
	}
	to->key[to->count++] = key;
}

static void append(struct event_queue *queue, struct sim_event event)
{
	uint64_t place = (event.at >> queue->shift) & queue->mask, key = event_key(queue, event);

	if (queue->filled[place] < EVENT_SORT_FEW)
		queue->bucket[place].key[queue->filled[place]++] = key;
	else
		spill(queue, &queue->spill[place], key);
}

static bool has_room(struct event_queue *queue, struct event_lane *lane)
{
	if (event_lane_is_full(lane) && event_lane_grow(lane) < 0)
		queue->failed = true;
	return !queue->failed;
}

static void insert(struct event_queue *queue, struct sim_event event)
{
	struct event_lane *lane = &queue->lane[EVENT_CALENDAR];

	if (!has_room(queue, lane))
		return;
	event_lane_insert(lane, event_key(queue, event), UINT32_MAX);
	event_queue_update_head(queue, EVENT_CALENDAR);
	event_queue_update_others(queue);
}

static void heap_push(struct event_queue *queue, struct sim_event event)
{
	struct event_heap *heap = &queue->heap;
	void *list = heap->event;
	uint32_t at = heap->count;

	if (heap->count == heap->room) {
		if (!grow(queue, &list, &heap->room, sizeof(*heap->event)))
			return;
		heap->event = list;
	}
	for (; at > 0 && before(&event, &heap->event[(at - 1) / 2]); at = (at - 1) / 2)
		heap->event[at] = heap->event[(at - 1) / 2];
	heap->event[at] = event;
	heap->count++;
}

static struct sim_event heap_pop(struct event_queue *queue)
{
	struct event_heap *heap = &queue->heap;
	struct sim_event first = heap->event[0], last = heap->event[--heap->count];
	uint32_t at = 0;

	for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count && before(&heap->event[child + 1], &heap->event[child]))
			child++;
		if (!before(&heap->event[child], &last))
			break;
		heap->event[at] = heap->event[child];
		at = child;
	}
	heap->event[at] = last;
	return first;
}

void event_queue_push_slow(struct event_queue *queue, struct sim_event event)
{
	uint64_t ahead = (event.at >> queue->shift) - queue->current;

	if (ahead == 0)
		insert(queue, event);
	else if (ahead <= queue->mask)
		append(queue, event);
	else
		heap_push(queue, event);
}

void event_queue_push_lane_slow(struct event_queue *queue, unsigned which, struct sim_event event)
{
	struct event_lane *lane = &queue->lane[which];

	if (!has_room(queue, lane))
		return;
	if (event.at >= queue->lanes_end ||
		!event_lane_insert(lane, event_number(queue, event), FORWARD_MAX))
		event_queue_push(queue, event);
	event_queue_update_head(queue, which);
	event_queue_update_others(queue);
}

/* Events that are too far ahead for a lane go to the calendar. */
void event_queue_gather(struct event_queue *queue, struct sim_event event)
{
	if (event.at >= queue->lanes_end)
		event_queue_push(queue, event);
	else
		spill(queue, &queue->gathered,
			event_number(queue, event) - (queue->base << queue->tail_bits));
}

/* Uses insertion sort as long as keys move few positions. */
static void sort_gathered(struct event_spill *gathered)
{
	uint64_t *key = gathered->key;

	for (uint32_t i = 1; i < gathered->count; i++) {
		uint64_t this_key = key[i];
		uint32_t at = i;

		for (; at > 0 && this_key < key[at - 1]; at--)
			key[at] = key[at - 1];
		key[at] = this_key;
		if (i - at > FORWARD_MAX) {
			event_sort_many(key, gathered->count);
			return;
		}
	}
}

void event_queue_merge_lane(struct event_queue *queue, unsigned which)
{
	struct event_spill *gathered = &queue->gathered;
	struct event_lane *lane = &queue->lane[which];
	uint32_t count = gathered->count;

	if (count == 0)
		return;
	sort_gathered(gathered);
	for (uint32_t i = 0; i < count; i++)
		gathered->key[i] += queue->base << queue->tail_bits;
	gathered->count = 0;
	while (lane->mask - event_lane_count(lane) < count && !queue->failed)
		queue->failed = event_lane_grow(lane) < 0;
	if (queue->failed)
		return;
	event_lane_merge(lane, gathered->key, count);
	event_queue_update_head(queue, which);
	event_queue_update_others(queue);
}

/* Returns the event of a key in the bucket that starts at 'base'. */
static struct sim_event event_of(const struct event_queue *queue, weft_time base, uint64_t key)
{
	return (struct sim_event){base + (key >> queue->tail_bits), event_key_order(queue, key),
		event_key_item(queue, key)};
}

static void remove_from_lane(
	struct event_queue *queue, unsigned which, event_remove_fn *removes, void *ctx)
{
	struct event_lane *lane = &queue->lane[which];
	uint32_t kept = lane->first;

	for (uint32_t at = lane->first; at != lane->end; at = (at + 1) & lane->mask) {
		uint64_t number = lane->number[at];

		if (removes(ctx, event_of(queue, queue->base, number - queue->lane_base[which])))
			continue;
		lane->number[kept] = number;
		kept = (kept + 1) & lane->mask;
	}
	lane->end = kept;
}

/* Removes events from the 'count' keys of a bucket. Returns how many keys are left. */
static uint32_t remove_keys(struct event_queue *queue, weft_time base, uint64_t *key,
	uint32_t count, event_remove_fn *removes, void *ctx)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!removes(ctx, event_of(queue, base, key[i])))
			key[kept++] = key[i];
	return kept;
}

static void remove_from_bucket(
	struct event_queue *queue, uint64_t number, event_remove_fn *removes, void *ctx)
{
	uint64_t place = number & queue->mask;
	struct event_spill *spill = &queue->spill[place];
	uint64_t *key = queue->bucket[place].key;
	uint32_t filled = queue->filled[place];

	filled = remove_keys(queue, number << queue->shift, key, filled, removes, ctx);
	spill->count =
		remove_keys(queue, number << queue->shift, spill->key, spill->count, removes, ctx);
	/* A bucket that has a spill must be full. */
	while (filled < EVENT_SORT_FEW && spill->count > 0)
		key[filled++] = spill->key[--spill->count];
	queue->filled[place] = (uint8_t)filled;
}

void event_queue_remove(struct event_queue *queue, event_remove_fn *removes, void *ctx)
{
	uint32_t far = queue->heap.count;

	for (unsigned i = 0; i < EVENT_SOURCES; i++)
		remove_from_lane(queue, i, removes, ctx);
	for (uint64_t ahead = 1; ahead <= queue->mask; ahead++)
		remove_from_bucket(queue, queue->current + ahead, removes, ctx);
	/* The heap can be refilled in place: it never holds more events than were examined. */
	queue->heap.count = 0;
	for (uint32_t i = 0; i < far; i++) {
		struct sim_event event = queue->heap.event[i];

		if (!removes(ctx, event))
			heap_push(queue, event);
	}
	update_heads(queue);
	event_queue_update_others(queue);
}

/* Returns the distance to the next non-empty bucket after 'from', up to 'last', or 0. */
static uint64_t next_filled(const struct event_queue *queue, uint64_t from, uint64_t last)
{
	uint64_t number = from + 1;

	while (number <= last) {
		uint64_t place = number & queue->mask, word;

		if (queue->filled[place] != 0)
			return number - from;
		number++;
		if (number % FILLED_WORD != 0)
			continue;
		/* Skips empty buckets eight at a time. */
		for (; number + FILLED_WORD <= last; number += FILLED_WORD) {
			memcpy(&word, &queue->filled[number & queue->mask], sizeof(word));
			if (word != 0)
				break;
		}
	}
	return 0;
}

static uint64_t last_bucket(const struct event_queue *queue)
{
	return queue->current + queue->mask;
}

unsigned event_queue_following(
	const struct event_queue *queue, uint64_t *number, const struct event_bucket **bucket)
{
	uint64_t ahead = next_filled(queue, *number, last_bucket(queue));

	if (ahead == 0)
		return 0;
	*number += ahead;
	*bucket = &queue->bucket[*number & queue->mask];
	return queue->filled[*number & queue->mask];
}

static void take_from_heap(struct event_queue *queue)
{
	while (queue->heap.count > 0 &&
		(queue->heap.event[0].at >> queue->shift) - queue->current <= queue->mask)
		append(queue, heap_pop(queue));
}

/* Returns the bucket of the first event in the lanes, or UINT64_MAX. */
static uint64_t bucket_of_lanes(const struct event_queue *queue)
{
	uint64_t min = UINT64_MAX;

	for (unsigned i = 0; i < EVENT_LANES; i++)
		min = queue->head[i] < min ? queue->head[i] : min;
	return min == UINT64_MAX ? min : queue->current + (min >> queue->tail_bits >> queue->shift);
}

static bool is_emptied(const struct event_queue *queue)
{
	return event_lane_is_empty(&queue->lane[EVENT_CALENDAR]);
}

bool event_queue_is_empty(const struct event_queue *queue)
{
	return is_emptied(queue) && queue->heap.count == 0 &&
	       bucket_of_lanes(queue) == UINT64_MAX &&
	       next_filled(queue, queue->current, last_bucket(queue)) == 0;
}

weft_time event_queue_next(const struct event_queue *queue)
{
	uint64_t min = UINT64_MAX, last = last_bucket(queue), ahead;
	weft_time at = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < EVENT_SOURCES; i++)
		min = queue->head[i] < min ? queue->head[i] : min;
	if (min != UINT64_MAX)
		at = queue->base + (min >> queue->tail_bits);
	ahead = next_filled(
		queue, queue->current, at >> queue->shift < last ? at >> queue->shift : last);
	if (ahead > 0 && (queue->current + ahead) << queue->shift < at)
		at = (queue->current + ahead) << queue->shift;
	if (queue->heap.count > 0 && queue->heap.event[0].at < at)
		at = queue->heap.event[0].at;
	return at;
}

static void sort_spilled(struct event_queue *queue, const struct event_bucket *bucket,
	unsigned filled, struct event_spill *spill)
{
	uint32_t count = filled + spill->count;
	uint64_t *key;

	if (!grow_sorted(queue, count))
		return;
	key = queue->lane[EVENT_CALENDAR].number;
	memcpy(key, bucket->key, filled * sizeof(bucket->key[0]));
	memcpy(key + filled, spill->key, spill->count * sizeof(spill->key[0]));
	event_sort_many(key, count);
	queue->lane[EVENT_CALENDAR].end = count;
	spill->count = 0;
}

static void sort_current(struct event_queue *queue)
{
	struct event_lane *sorted = &queue->lane[EVENT_CALENDAR];
	uint64_t place = queue->current & queue->mask;
	struct event_spill *spill = &queue->spill[place];
	unsigned filled = queue->filled[place];

	sorted->first = sorted->end = 0;
	queue->filled[place] = 0;
	if (__builtin_expect(spill->count > 0, 0)) {
		sort_spilled(queue, &queue->bucket[place], filled, spill);
	} else {
		event_sort_few(queue->bucket[place].key, filled, sorted->number);
		sorted->end = filled;
	}
}

/* Sets the smallest key that is not due before 'limit', or not in this bucket. */
static void set_limit(struct event_queue *queue, weft_time limit)
{
	weft_time width = (weft_time)1 << queue->shift, since = limit - queue->base;

	queue->limit = limit;
	if (limit <= queue->base)
		since = 0;
	queue->limit_key = (since < width ? since : width) << queue->tail_bits;
	event_queue_update_others(queue);
}

/* Returns the next bucket with an event, or UINT64_MAX. */
static uint64_t next_bucket(const struct event_queue *queue)
{
	uint64_t lanes = bucket_of_lanes(queue), last = last_bucket(queue), ahead;

	ahead = next_filled(queue, queue->current, lanes < last ? lanes : last);
	if (ahead > 0)
		return queue->current + ahead;
	/* The calendar is empty: jump to the first distant event. */
	if (queue->heap.count > 0 && queue->heap.event[0].at >> queue->shift < lanes)
		return queue->heap.event[0].at >> queue->shift;
	return lanes;
}

bool event_queue_advance(struct event_queue *queue, weft_time limit)
{
	uint64_t next;

	if (queue->failed)
		return false;
	if (is_emptied(queue) && bucket_of_lanes(queue) != queue->current) {
		next = next_bucket(queue);
		if (next == UINT64_MAX || next << queue->shift >= limit)
			return false;
		begin_bucket(queue, next);
		take_from_heap(queue);
		sort_current(queue);
		update_heads(queue);
	}
	set_limit(queue, limit);
	return !queue->failed && (queue->other != 0 || queue->head[0] < queue->limit_key);
}
