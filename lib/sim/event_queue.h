/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The event queue of the virtual clock (architecture.md): a calendar of buckets of equal width
 * for what lies near, and a heap for the rest. A bucket is sorted when its time has come, so that
 * putting an event in costs two stores. What happens a constant time after its cause can be put
 * into a lane instead (event_lane.h), which needs no sorting.
 *
 * Events come out in the order (time, order), whatever the order in which they were put in; events
 * that agree in both come out in the order of their items. 'order' says who is served first at one
 * time and, by that, who it is: the caller's.
 *
 * In the calendar an event is one number of 64 bits: the time since its bucket's beginning, the
 * order, the item, from the top down. So who creates a queue says how many bits orders and items
 * take; what they leave limits the width of a bucket. The number is positive also as a signed one,
 * which is what vector instructions compare.
 *
 * Memory grows while a run finds out how much it needs, never per event. One thread. If it runs out
 * the queue says so afterwards (event_queue_failed), and pops nothing more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "event_lane.h"
#include "event_sort.h"
#include "weft_time.h"

#define EVENT_SHIFT_MAX 30 /* a bucket is at most 2^30 ps wide */

/* Where an event comes from: the number of its lane, or one of these. */
#define EVENT_LANES    3u
#define EVENT_CALENDAR EVENT_LANES
#define EVENT_SOURCES  (EVENT_LANES + 1)
#define EVENT_NONE     EVENT_SOURCES

struct sim_event {
	weft_time at;
	uint32_t order;
	uint32_t item;
};

/* What a bucket has room for at once; more goes to its spill. */
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
	/* The first event of each source as a key of the bucket that is being emptied; UINT64_MAX:
	 * it has none. Nothing is earlier than that bucket. */
	uint64_t head[EVENT_SOURCES];
	uint64_t others;    /* the least of them but for lane 0's; or limit_key */
	unsigned other;     /* whose it is; 0: the limit's */
	uint64_t limit_key; /* keys from here on are not due before 'limit', or later */
	weft_time limit;
	weft_time base; /* when that bucket begins */
	uint64_t item_mask;
	uint8_t item_bits, tail_bits; /* of the item; of order and item */
	uint8_t shift;                /* a bucket is 2^shift ps wide */
	bool failed;
	/* The last one is the bucket that is being emptied, sorted; its numbers are keys. */
	struct event_lane lane[EVENT_SOURCES];
	uint64_t lane_base[EVENT_SOURCES]; /* what a number exceeds its key by */
	weft_time lanes_end; /* what is due then, or later, lanes cannot tell from the past */
	uint64_t current;    /* the bucket's number, from time 0 on */
	uint64_t mask;       /* buckets - 1 */
	struct event_bucket *bucket;
	uint8_t *filled; /* by bucket: events in it, but for its spill */
	struct event_spill *spill;
	struct event_heap heap;
};

/* 'width_ps' is rounded up to a power of two, and cut at 2^30 and at what the bits leave; best is a
 * width in which some five events fall. Orders are below 2^order_bits and items below 2^item_bits,
 * each of 1 to 32 bits and both together at most 62. The calendar has 4,096 buckets. NULL with
 * errno EINVAL, ENOMEM. */
struct event_queue *event_queue_create(weft_time width_ps, unsigned order_bits, unsigned item_bits);
/* The same with a calendar that reaches about 'reach_ps' ahead: not more memory than is of use. */
struct event_queue *event_queue_create_reaching(
	weft_time width_ps, weft_time reach_ps, unsigned order_bits, unsigned item_bits);
void event_queue_destroy(struct event_queue *queue);

/* The rare half of pushing: into the bucket that is being emptied, beyond the calendar, or where
 * there is no room. */
void event_queue_push_slow(struct event_queue *queue, struct sim_event event);
/* The same for a lane: not later than its last event, or where there is no room. */
void event_queue_push_lane_slow(struct event_queue *queue, unsigned which, struct sim_event event);

static inline uint64_t event_key(const struct event_queue *queue, struct sim_event event)
{
	uint64_t since = event.at & ((UINT64_C(1) << queue->shift) - 1);

	return since << queue->tail_bits | (uint64_t)event.order << queue->item_bits | event.item;
}

/* The event in a lane. */
static inline uint64_t event_number(const struct event_queue *queue, struct sim_event event)
{
	return event.at << queue->tail_bits | (uint64_t)event.order << queue->item_bits |
	       event.item;
}

/* Of a key, or of a number in a lane. */
static inline uint32_t event_key_order(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)((key & ((UINT64_C(1) << queue->tail_bits) - 1)) >> queue->item_bits);
}

static inline uint32_t event_key_item(const struct event_queue *queue, uint64_t key)
{
	return (uint32_t)(key & queue->item_mask);
}

/* 'event.at' is not before that of the event popped last, nor before the limit of a pop that found
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

/* The same for an event that is hardly ever earlier than those that were put into this lane before.
 */
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

/* The rare half of popping: another limit, or on to the next bucket that has events. False if no
 * event is due before 'limit': then nothing has changed, and events for 'limit' may still come. */
bool event_queue_advance(struct event_queue *queue, weft_time limit);

/* The first event of a source has changed. */
static inline void event_queue_note_head(struct event_queue *queue, unsigned which)
{
	const struct event_lane *lane = &queue->lane[which];
	uint64_t key = event_lane_first(lane) - queue->lane_base[which];

	queue->head[which] = key | -(uint64_t)event_lane_is_empty(lane);
}

/* That of a source other than lane 0 has, or the limit. Without branches: nobody can guess which is
 * the least. */
static inline void event_queue_note_others(struct event_queue *queue)
{
	uint64_t least = queue->limit_key;
	unsigned from = 0;

	for (unsigned i = 1; i < EVENT_SOURCES; i++) {
		unsigned is_less = queue->head[i] < least;

		from ^= (from ^ i) & -is_less;
		least = is_less ? queue->head[i] : least;
	}
	queue->others = least;
	queue->other = from;
}

static inline void event_queue_drop(struct event_queue *queue, unsigned which)
{
	event_lane_drop(&queue->lane[which]);
	event_queue_note_head(queue, which);
}

/* The next event, if it is due before 'limit', and where it comes from; or EVENT_NONE. Most come
 * from lane 0. */
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
		event_queue_note_others(queue);
	*event = (struct sim_event){queue->base + (key >> queue->tail_bits),
		event_key_order(queue, key), event_key_item(queue, key)};
	return from;
}

static inline bool event_queue_pop(
	struct event_queue *queue, weft_time limit, struct sim_event *event)
{
	return event_queue_take(queue, limit, event) != EVENT_NONE;
}

/* For a look ahead: what was taken last was the first event of a bucket of the calendar. */
static inline bool event_queue_has_begun(const struct event_queue *queue)
{
	return queue->lane[EVENT_CALENDAR].first == 1;
}

/* For a look ahead, at what memory will be needed: the first bucket with events after number
 * '*number', which then is its number, and how many there are; 0 if there is none. The events are
 * in no order yet, and more may come. Begin with queue->current. */
unsigned event_queue_following(
	const struct event_queue *queue, uint64_t *number, const struct event_bucket **bucket);

bool event_queue_is_empty(const struct event_queue *queue);

static inline bool event_queue_failed(const struct event_queue *queue)
{
	return queue->failed;
}
