/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A queue of events that arrive almost in order, because each occurs a constant time after its
 * cause. They need no sorting, and the next events are known in advance. An event earlier than the
 * last one moves a few places forward; if it would have to move further, the caller is told and
 * stores it elsewhere (event_queue.h).
 *
 * An event is a number of 64 bits: its time, truncated at the top, above the bits that distinguish
 * events of one time. Such numbers wrap; all numbers in a lane lie within half of their range. Part
 * of an event queue: memory grows while a run finds its size. One thread. */

#include <stdbool.h>
#include <stdint.h>

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
