/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The event queue of the virtual clock (docs/developer/architecture.md): a calendar queue (Brown,
 * "Calendar Queues: A Fast O(1) Priority Queue Implementation for the Simulation Event Set
 * Problem", CACM 1988) with three changes. A bucket is sorted only when its time comes, so a push
 * costs two stores. Distant events are in a heap. Events at a constant delay are in lanes, which
 * need no sorting.
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
 * Events are taken in the order (time, order, item), regardless of the order in which they were
 * added. The caller's 'order' decides which of several devices with the same time is served first.
 *
 * In the calendar, an event is one 64-bit number: from the top down, the time since the start of
 * its bucket, the order, and the item. The creator of a queue therefore sets how many bits orders
 * and items take; the rest limits the width of a bucket. The number is also positive as a signed
 * number, as vector instructions require.
 *
 * Memory grows only until a run has reached its full size; there is no allocation per event. If
 * out of memory, the queue fails (event_queue_failed()) and pops nothing more. Used by one thread:
 * the driver of the virtual clock or of the wormhole network. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

/* A queue of events that are added almost in order, because each occurs a constant time after its
 * cause. They need no sorting, and the next events are known in advance. An event earlier than the
 * last one moves a few positions forward. If it would have to move further, it is not added, and
 * the event queue stores it elsewhere.
 *
 * An event is a 64-bit number: its time, truncated at the top, above the bits that distinguish
 * events of the same time. Such numbers wrap; all numbers in a lane lie within half of their range.
 * A lane belongs to an event queue, and its memory grows only until a run has reached its full
 * size. Not thread-safe. */

/* A ring of events. */
struct event_lane {
	uint64_t *number;
	uint32_t first, end; /* index of the next event, and the index after the last one */
	uint32_t mask;       /* capacity - 1 */
	uint64_t last;       /* largest number added */
};

/* Returns 0 or -ENOMEM. */
int event_lane_init(struct event_lane *lane);
void event_lane_fini(struct event_lane *lane);

/* Doubles the capacity. Returns 0, or -ENOMEM with nothing changed. */
int event_lane_grow(struct event_lane *lane);

/* The rare case: adds an event that is not after the last one. Returns false if it would move more
 * than 'max' positions forward. The lane must not be full. */
bool event_lane_insert(struct event_lane *lane, uint64_t number, uint32_t max);

/* Adds 'count' numbers in ascending order, wherever they belong. The lane must have room. */
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

/* Returns true in the usual case: the event comes last in a lane that is not empty or full. */
static inline bool event_lane_takes(const struct event_lane *lane, uint64_t number)
{
	return event_lane_count(lane) - 1 < lane->mask - 1 && (int64_t)(number - lane->last) > 0;
}

/* The lane must not be full. */
static inline void event_lane_append(struct event_lane *lane, uint64_t number)
{
	lane->number[lane->end] = number;
	lane->end = (lane->end + 1) & lane->mask;
	lane->last = number;
}

/* Returns the number of the first event; undefined if the lane is empty. */
static inline uint64_t event_lane_first(const struct event_lane *lane)
{
	return lane->number[lane->first];
}

static inline void event_lane_drop(struct event_lane *lane)
{
	lane->first = (lane->first + 1) & lane->mask;
}

/* Sorts the events of a bucket. There are few of them, in random order, so a conventional sort
 * would mispredict a branch per event. This one computes each event's rank (the number of events
 * before it) without branches, several comparisons at a time. Keys are below 2^63 - 1. */

#define EVENT_SORT_FEW 32u

/* Sorts 'count' <= EVENT_SORT_FEW keys. Both arrays have room for EVENT_SORT_FEW keys, 'sorted' for
 * one more. Entries after 'count' are read and written. */
void event_sort_few(const uint64_t *key, uint32_t count, uint64_t *sorted);

/* Sorts any number of keys in place. */
void event_sort_many(uint64_t *key, uint32_t count);

#define EVENT_SHIFT_MAX 30 /* a bucket is at most 2^30 ps wide */

/* Source of an event: the index of its lane, or one of these. */
#define EVENT_LANES    3u
#define EVENT_CALENDAR EVENT_LANES
#define EVENT_SOURCES  (EVENT_LANES + 1)
#define EVENT_NONE     EVENT_SOURCES

struct sim_event {
	weft_time at;
	uint32_t order;
	uint32_t item;
};

/* Keys of a bucket. Further keys go to its spill. */
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
	/* First event of each source, as a key of the current bucket; UINT64_MAX: none. No event is
	 * earlier than that bucket. */
	uint64_t head[EVENT_SOURCES];
	uint64_t others;    /* smallest head except lane 0's, or limit_key */
	unsigned other;     /* its source; 0: the limit */
	uint64_t limit_key; /* this and larger keys are due at 'limit' or later */
	weft_time limit;
	weft_time base; /* start of the current bucket */
	uint64_t item_mask;
	uint8_t item_bits, tail_bits; /* bits of the item; bits of order and item together */
	uint8_t shift;                /* a bucket is 2^shift ps wide */
	bool failed;
	/* The last lane is the current bucket, sorted; its numbers are keys. */
	struct event_lane lane[EVENT_SOURCES];
	uint64_t lane_base[EVENT_SOURCES]; /* difference between a number and its key */
	weft_time lanes_end;               /* lanes cannot represent events at this time or later */
	uint64_t current;                  /* number of the current bucket, from time 0 */
	uint64_t mask;                     /* number of buckets - 1 */
	struct event_bucket *bucket;
	uint8_t *filled; /* [bucket]: events in it, without its spill */
	struct event_spill *spill;
	struct event_heap heap;
	struct event_spill gathered; /* for event_queue_merge_lane() */
};

/* 'width_ps' is rounded up to a power of two, and limited to 2^30 and to the remaining bits. A
 * bucket width that covers about five events is best. Orders are below 2^order_bits and items below
 * 2^item_bits, each of 1 to 32 bits and together at most 62. The calendar has 4,096 buckets.
 * Returns NULL with errno EINVAL or ENOMEM. */
struct event_queue *event_queue_create(weft_time width_ps, unsigned order_bits, unsigned item_bits);
/* The same with a calendar that reaches only about 'reach_ps' ahead, to save memory. */
struct event_queue *event_queue_create_reaching(
	weft_time width_ps, weft_time reach_ps, unsigned order_bits, unsigned item_bits);
void event_queue_destroy(struct event_queue *queue);

/* The rare case of a push: into the current bucket, beyond the calendar, or into a full bucket. */
void event_queue_push_slow(struct event_queue *queue, struct sim_event event);
/* The same for a lane: before its last event, too far ahead, or when the lane is full. */
void event_queue_push_lane_slow(struct event_queue *queue, unsigned which, struct sim_event event);

static inline uint64_t event_key(const struct event_queue *queue, struct sim_event event)
{
	uint64_t since = event.at & ((UINT64_C(1) << queue->shift) - 1);

	return since << queue->tail_bits | (uint64_t)event.order << queue->item_bits | event.item;
}

/* Returns the number of an event in a lane. */
static inline uint64_t event_number(const struct event_queue *queue, struct sim_event event)
{
	return event.at << queue->tail_bits | (uint64_t)event.order << queue->item_bits |
	       event.item;
}

/* Returns the order in a key or in a lane's number. */
static inline uint32_t event_key_order(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)((key & ((UINT64_C(1) << queue->tail_bits) - 1)) >> queue->item_bits);
}

static inline uint32_t event_key_item(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)(key & queue->item_mask);
}

/* 'event.at' must not be before the last popped event, nor before the limit of a failed pop. */
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

/* The same for an event that is rarely earlier than events added to this lane before. */
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

/* Sets an event aside for event_queue_merge_lane(). Until then it is not in the queue. */
void event_queue_gather(struct event_queue *queue, struct sim_event event);
/* Merges the events that were set aside into a lane. The cost is one move for each new event and
 * for each event of the lane behind the first new one. Events that were set aside almost in order
 * need no sorting. */
void event_queue_merge_lane(struct event_queue *queue, unsigned which);

/* Returns whether to remove the event. Must not change the queue. */
typedef bool event_remove_fn(void *ctx, struct sim_event event);
/* Removes each event for which 'removes' returns true. No events may be set aside. */
void event_queue_remove(struct event_queue *queue, event_remove_fn *removes, void *ctx);

/* The rare case of a pop: a different limit, or the next bucket with events. Returns false if no
 * event is due before 'limit': then nothing has changed, and events before 'limit' may be added. */
bool event_queue_advance(struct event_queue *queue, weft_time limit);

/* Updates the head of a source after a change of its first event. */
static inline void event_queue_update_head(struct event_queue *queue, unsigned which)
{
	const struct event_lane *lane = &queue->lane[which];
	uint64_t key = event_lane_first(lane) - queue->lane_base[which];

	queue->head[which] = key | -(uint64_t)event_lane_is_empty(lane);
}

/* Recomputes the runner-up: the earliest head of sources 1 to 3, or the limit. Uses no branches,
 * because which one is smallest is unpredictable. */
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

/* Takes the next event if it is due before 'limit', and returns its source; otherwise EVENT_NONE.
 * Most events are in lane 0. */
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

/* Returns a time before which there is no event, or WEFT_TIME_NEVER if there are no events. Exact
 * if the first event is in a lane or the current bucket; otherwise, the start of its bucket. */
weft_time event_queue_next(const struct event_queue *queue);

bool event_queue_is_empty(const struct event_queue *queue);

static inline bool event_queue_failed(const struct event_queue *queue)
{
	return queue->failed;
}

/* Reads ahead in an event queue, so that a driver can prefetch memory for the next events. The
 * results are hints: events may still be added before those seen here. */

/* Returns the index of the event 'places' positions after the last one taken from the lane. */
static inline uint32_t event_lane_place(const struct event_lane *lane, uint32_t places)
{
	return (lane->first + places - 1) & lane->mask;
}

/* Returns the event there, or any number if the lane is shorter. */
static inline uint64_t event_lane_at(const struct event_lane *lane, uint32_t places)
{
	return lane->number[event_lane_place(lane, places)];
}

/* Returns that event, or the last one if there are fewer. */
static inline uint64_t event_lane_ahead(const struct event_lane *lane, uint32_t places)
{
	uint32_t count = event_lane_count(lane);

	return event_lane_at(lane, places < count ? places : count);
}

/* Returns whether the event taken last was the first one of a calendar bucket. */
static inline bool event_queue_has_begun(const struct event_queue *queue)
{
	return queue->lane[EVENT_CALENDAR].first == 1;
}

/* Finds the first bucket with events after bucket '*number', and updates '*number'. Returns how
 * many unsorted events it has, or 0 if there is none. Start with queue->current. */
unsigned event_queue_following(
	const struct event_queue *queue, uint64_t *number, const struct event_bucket **bucket);
