/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Events that come out nearly in the order in which they are put in: what always happens a constant
 * time after its cause. They need no sorting, and which of them come next is known. An event that
 * is earlier than the last one goes a few places forward; who puts in one that would have to go
 * further is told so, and puts it elsewhere (event_queue.h).
 *
 * An event is a number of 64 bits: its time, cut off at the top, above what tells events of one
 * time apart. Such numbers wrap; all that are in a lane at a time lie within half of their range.
 * Part of an event queue: memory grows while a run finds out how much it needs. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

/* A ring. */
struct event_lane {
	uint64_t *number;
	uint32_t first, end; /* the next one, and the place behind the last one */
	uint32_t mask;       /* places - 1 */
	uint64_t last;       /* the greatest that was put in */
};

/* -ENOMEM. */
int event_lane_init(struct event_lane *lane);
void event_lane_fini(struct event_lane *lane);

/* Twice the room: -ENOMEM, and nothing has changed. */
int event_lane_grow(struct event_lane *lane);

/* The rare half of putting in: an event that is not after the last one. False: its place is more
 * than 'most' forward. There is room. */
bool event_lane_insert(struct event_lane *lane, uint64_t number, uint32_t most);

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

/* True for what is put in nearly always: it comes last, behind others, and there is room. */
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

/* The first one; of an empty lane, any number. */
static inline uint64_t event_lane_first(const struct event_lane *lane)
{
	return lane->number[lane->first];
}

static inline void event_lane_drop(struct event_lane *lane)
{
	lane->first = (lane->first + 1) & lane->mask;
}

/* For a look ahead, once something was taken: the place of what comes so many places after it. */
static inline uint32_t event_lane_place(const struct event_lane *lane, uint32_t places)
{
	return (lane->first + places - 1) & lane->mask;
}

/* What is there, if the lane has as many. */
static inline uint64_t event_lane_at(const struct event_lane *lane, uint32_t places)
{
	return lane->number[event_lane_place(lane, places)];
}

/* For a look ahead, once something was taken: the one that comes so many places after the one that
 * was taken last; the last one, which may be that one, if there are fewer. */
static inline uint64_t event_lane_ahead(const struct event_lane *lane, uint32_t places)
{
	uint32_t count = event_lane_count(lane);

	places = places < count ? places : count;
	return lane->number[(lane->first + places - 1) & lane->mask];
}
