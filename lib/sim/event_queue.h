/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The event queue of the virtual clock (docs/developer/architecture.md): a calendar queue (Brown,
 * "Calendar Queues: A Fast O(1) Priority Queue Implementation for the Simulation Event Set
 * Problem", CACM 1988) with three changes: a bucket is sorted only when its time comes, so that a
 * push costs two stores; distant events are in a heap; events at a constant delay are in lanes
 * (event_queue.h), which need no sorting.
 *
 *        base        calendar: buckets of 2^shift ps                reach
 *     ----|-----------|-----------|-----------| ... |-----------|----------> time
 *         [ current,  ][ unsorted ][ unsorted ]      [ unsorted ][ heap
 *           sorted    ]   up to EVENT_SORT_FEW keys, then a spill
 *     lane 0..2:  ring of events, almost in order, from base on
 *
 *     event_queue_push(), event_queue_push_lane()    add an event
 *     event_queue_gather(), event_queue_merge_lane() add many to a lane, wherever they belong
 *     event_queue_take(), event_queue_pop()          remove the first one before a limit
 *
 * Events are taken in the order (time, order, item), whatever the order in which they were added;
 * The caller's 'order' decides which device is served first if several have the same time.
 *
 * In the calendar an event is one number of 64 bits: from the top down the time since its bucket's
 * beginning, the order, the item. So the creator of a queue states how many bits orders and items
 * take; the rest limits the width of a bucket. The number is positive also as a signed one, which
 * vector instructions need.
 *
 * Memory grows while a run finds its size, never per event. Without memory the queue fails
 * (event_queue_failed) and pops nothing more. One thread: the driver of the virtual clock or of the
 * wormhole network. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

/* A queue of events that arrive almost in order, because each occurs a constant time after its
 * cause. They need no sorting, and the next events are known in advance. An event earlier than the
 * last one moves a few places forward; if it would have to move further, the caller is told and
 * stores it elsewhere (event_queue.h).
 *
 * An event is a number of 64 bits: its time, truncated at the top, above the bits that distinguish
 * events of one time. Such numbers wrap; all numbers in a lane lie within half of their range. A
 * lane belongs to an event queue, and its memory grows until a run has found its size. One
 * thread. */

/* A ring. */
struct event_lane {
	uint64_t *number;
	uint32_t first, end; /* the next event, and the place after the last one */
	uint32_t mask;       /* places - 1 */
	uint64_t last;       /* the largest number added */
};

/* -ENOMEM. */
int event_lane_init(struct event_lane *lane);
void event_lane_fini(struct event_lane *lane);

/* Doubles the capacity; after -ENOMEM nothing has changed. */
int event_lane_grow(struct event_lane *lane);

/* The rare case: adds an event that is not after the last one. Returns false if its place is more
 * than 'max' forward. There is room. */
bool event_lane_insert(struct event_lane *lane, uint64_t number, uint32_t max);

/* Adds 'count' numbers, which are in ascending order, wherever they belong. The lane has room. */
void event_lane_merge(struct event_lane *lane, const uint64_t *number, uint32_t count);

static inline bool event_lane_is_empty(const struct event_lane *lane)
{
	return lane->first == lane->end;
}

static inline uint32_t event_lane_count(const struct event_lane *lane)
{
	return (lane->end - lane->first) & lane->mask;
}

static inline bool event_lane_is_full(const struct event_lane *lane)
{
	return event_lane_count(lane) == lane->mask;
}

/* True in the usual case: the event comes last, after others, and there is room. */
static inline bool event_lane_takes(const struct event_lane *lane, uint64_t number)
{
	return event_lane_count(lane) - 1 < lane->mask - 1 && (int64_t)(number - lane->last) > 0;
}

/* There is room. */
static inline void event_lane_append(struct event_lane *lane, uint64_t number)
{
	lane->number[lane->end] = number;
	lane->end = (lane->end + 1) & lane->mask;
	lane->last = number;
}

/* Key of the first event; undefined if the lane is empty. */
static inline uint64_t event_lane_first(const struct event_lane *lane)
{
	return lane->number[lane->first];
}

static inline void event_lane_drop(struct event_lane *lane)
{
	lane->first = (lane->first + 1) & lane->mask;
}

/* Sorts the events of a bucket: few, in random order, so that a usual sort would mispredict a
 * branch for each. Instead it computes each event's rank, the number of events before it, several
 * comparisons at a time and without branches. Keys are below 2^63 - 1. */

#define EVENT_SORT_FEW 32u

/* Sorts 'count' <= EVENT_SORT_FEW keys. Both arrays have room for EVENT_SORT_FEW, the sorted one
 * for one more; entries after 'count' are read and written. */
void event_sort_few(const uint64_t *key, uint32_t count, uint64_t *sorted);

/* Sorts any number in place. */
void event_sort_many(uint64_t *key, uint32_t count);

#define EVENT_SHIFT_MAX 30 /* a bucket is at most 2^30 ps wide */

/* The source of an event: the number of its lane, or one of these. */
#define EVENT_LANES    3u
#define EVENT_CALENDAR EVENT_LANES
#define EVENT_SOURCES  (EVENT_LANES + 1)
#define EVENT_NONE     EVENT_SOURCES

struct sim_event {
	weft_time at;
	uint32_t order;
	uint32_t item;
};

/* Keys of a bucket; further ones go to its spill. */
struct event_bucket {
	uint64_t key[EVENT_SORT_FEW];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct event_bucket) == 256, "four lines, of which one or two are used");

/* Keys that did not fit into a bucket. */
struct event_spill {
	uint64_t *key;
	uint32_t count, room;
};

struct event_heap {
	struct sim_event *event;
	uint32_t count, room;
};

struct event_queue {
	/* The first event of each source as a key of the current bucket; UINT64_MAX: none. No event
	 * is earlier than that bucket. */
	uint64_t head[EVENT_SOURCES];
	uint64_t others;    /* smallest head except lane 0's; or limit_key */
	unsigned other;     /* its source; 0: the limit */
	uint64_t limit_key; /* keys from here on are due at 'limit' or later */
	weft_time limit;
	weft_time base; /* when the current bucket starts */
	uint64_t item_mask;
	uint8_t item_bits, tail_bits; /* bits of the item; bits of order and item together */
	uint8_t shift;                /* a bucket is 2^shift ps wide */
	bool failed;
	/* The last one is the current bucket, sorted; its numbers are keys. */
	struct event_lane lane[EVENT_SOURCES];
	uint64_t lane_base[EVENT_SOURCES]; /* difference between a number and its key */
	weft_time lanes_end;               /* lanes cannot represent events from here on */
	uint64_t current;                  /* the current bucket's number, from time 0 on */
	uint64_t mask;                     /* buckets - 1 */
	struct event_bucket *bucket;
	uint8_t *filled; /* by bucket: events in it, without its spill */
	struct event_spill *spill;
	struct event_heap heap;
	struct event_spill gathered; /* for event_queue_merge_lane() */
};

/* 'width_ps' is rounded up to a power of two, and limited to 2^30 and to the remaining bits; best
 * is a width with about five events. Orders are below 2^order_bits and items below 2^item_bits,
 * each of 1 to 32 bits and both together at most 62. The calendar has 4,096 buckets. Returns NULL
 * with errno EINVAL, ENOMEM. */
struct event_queue *event_queue_create(weft_time width_ps, unsigned order_bits, unsigned item_bits);
/* The same with a calendar that reaches about 'reach_ps' ahead, to save memory. */
struct event_queue *event_queue_create_reaching(
	weft_time width_ps, weft_time reach_ps, unsigned order_bits, unsigned item_bits);
void event_queue_destroy(struct event_queue *queue);

/* The rare case of a push: into the current bucket, beyond the calendar, or when there is no
 * room. */
void event_queue_push_slow(struct event_queue *queue, struct sim_event event);
/* The same for a lane: before its last event, or when there is no room. */
void event_queue_push_lane_slow(struct event_queue *queue, unsigned which, struct sim_event event);

static inline uint64_t event_key(const struct event_queue *queue, struct sim_event event)
{
	uint64_t since = event.at & ((UINT64_C(1) << queue->shift) - 1);

	return since << queue->tail_bits | (uint64_t)event.order << queue->item_bits | event.item;
}

/* The number of an event in a lane. */
static inline uint64_t event_number(const struct event_queue *queue, struct sim_event event)
{
	return event.at << queue->tail_bits | (uint64_t)event.order << queue->item_bits |
	       event.item;
}

/* The order in a key, or in a number of a lane. */
static inline uint32_t event_key_order(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)((key & ((UINT64_C(1) << queue->tail_bits) - 1)) >> queue->item_bits);
}

static inline uint32_t event_key_item(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)(key & queue->item_mask);
}

/* 'event.at' must be neither before the last popped event nor before the limit of a pop that found
 * nothing. */
static inline void event_queue_push(struct event_queue *queue, struct sim_event event)
{
	uint64_t number = event.at >> queue->shift, place = number & queue->mask;
	struct event_bucket *bucket = &queue->bucket[place];
	unsigned at = queue->filled[place];

	if (__builtin_expect(number - queue->current - 1 >= queue->mask, 0) ||
		__builtin_expect(at == EVENT_SORT_FEW, 0)) {
		event_queue_push_slow(queue, event);
		return;
	}
	queue->filled[place] = (uint8_t)(at + 1);
	bucket->key[at] = event_key(queue, event);
}

/* The same for an event that is rarely earlier than those added to this lane before. */
static inline void event_queue_push_lane(
	struct event_queue *queue, unsigned which, struct sim_event event)
{
	struct event_lane *lane = &queue->lane[which];
	uint64_t number = event_number(queue, event);

	if (__builtin_expect(!event_lane_takes(lane, number), 0) ||
		__builtin_expect(event.at >= queue->lanes_end, 0)) {
		event_queue_push_lane_slow(queue, which, event);
		return;
	}
	event_lane_append(lane, number);
}

/* Sets an event aside for event_queue_merge_lane(); until then it is not in the queue. */
void event_queue_gather(struct event_queue *queue, struct sim_event event);
/* Adds the events that were set aside to a lane, among those that the lane has. The cost is one
 * move for each new event and for each event of the lane behind the first new one. Nothing is
 * sorted if they were set aside almost in order. */
void event_queue_merge_lane(struct event_queue *queue, unsigned which);

/* Returns true to remove the event. Must not change the queue. */
typedef bool event_remove_fn(void *ctx, struct sim_event event);
/* Calls 'removes' for each event, in any order, to decide whether it is removed. No events may be
 * set aside. */
void event_queue_remove(struct event_queue *queue, event_remove_fn *removes, void *ctx);

/* The rare case of a pop: another limit, or the next bucket with events. Returns false if no event
 * is due before 'limit': then nothing has changed, and events before 'limit' may still be added. */
bool event_queue_advance(struct event_queue *queue, weft_time limit);

/* Updates the head of a source after a change of its first event. */
static inline void event_queue_update_head(struct event_queue *queue, unsigned which)
{
	const struct event_lane *lane = &queue->lane[which];
	uint64_t key = event_lane_first(lane) - queue->lane_base[which];

	queue->head[which] = key | -(uint64_t)event_lane_is_empty(lane);
}

/* Recomputes the runner-up: the earliest head of sources 1 to 3, or the limit. Uses no branches,
 * because it is unpredictable which one is smallest. */
static inline void event_queue_update_others(struct event_queue *queue)
{
	uint64_t min = queue->limit_key;
	unsigned from = 0;

	for (unsigned i = 1; i < EVENT_SOURCES; i++) {
		unsigned is_less = queue->head[i] < min;

		from ^= (from ^ i) & -is_less;
		min = is_less ? queue->head[i] : min;
	}
	queue->others = min;
	queue->other = from;
}

static inline void event_queue_drop(struct event_queue *queue, unsigned which)
{
	event_lane_drop(&queue->lane[which]);
	event_queue_update_head(queue, which);
}

/* Takes the next event if it is due before 'limit', and returns its source; or EVENT_NONE. Most
 * come from lane 0. */
static inline unsigned event_queue_take(
	struct event_queue *queue, weft_time limit, struct sim_event *event)
{
	uint64_t key = queue->head[0];
	unsigned from = 0;

	while (__builtin_expect(limit != queue->limit, 0) || key >= queue->others) {
		key = queue->others;
		from = queue->other;
		if (__builtin_expect(from != 0, 1) && __builtin_expect(limit == queue->limit, 1))
			break;
		if (!event_queue_advance(queue, limit))
			return EVENT_NONE;
		key = queue->head[0];
		from = 0;
	}
	event_queue_drop(queue, from);
	if (from != 0)
		event_queue_update_others(queue);
	*event = (struct sim_event){queue->base + (key >> queue->tail_bits),
		event_key_order(queue, key), event_key_item(queue, key)};
	return from;
}

static inline bool event_queue_pop(
	struct event_queue *queue, weft_time limit, struct sim_event *event)
{
	return event_queue_take(queue, limit, event) != EVENT_NONE;
}

/* No event is earlier than this; WEFT_TIME_NEVER: there is none. It is the time of the first event
 * if that is in a lane or in the current bucket, otherwise the start of its bucket. */
weft_time event_queue_next(const struct event_queue *queue);

bool event_queue_is_empty(const struct event_queue *queue);

static inline bool event_queue_failed(const struct event_queue *queue)
{
	return queue->failed;
}

/* Reads ahead in an event queue (event_queue.h), so that a driver can prefetch the memory of coming
 * events. Hints only: events may still be added before those that are seen here. */

/* Index of the event 'places' after the last one taken from the lane. */
static inline uint32_t event_lane_place(const struct event_lane *lane, uint32_t places)
{
	return (lane->first + places - 1) & lane->mask;
}

/* That event, if the lane has as many. */
static inline uint64_t event_lane_at(const struct event_lane *lane, uint32_t places)
{
	return lane->number[event_lane_place(lane, places)];
}

/* That event, or the last one if there are fewer. */
static inline uint64_t event_lane_ahead(const struct event_lane *lane, uint32_t places)
{
	uint32_t count = event_lane_count(lane);

	return event_lane_at(lane, places < count ? places : count);
}

/* True if the event taken last was the first one of a bucket of the calendar. */
static inline bool event_queue_has_begun(const struct event_queue *queue)
{
	return queue->lane[EVENT_CALENDAR].first == 1;
}

/* The first bucket with events after number '*number', which becomes its number; returns how many
 * events it has, unsorted; 0 if there is none. Start with queue->current. */
unsigned event_queue_following(
	const struct event_queue *queue, uint64_t *number, const struct event_bucket **bucket);
