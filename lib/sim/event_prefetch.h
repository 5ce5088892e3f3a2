/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads ahead in an event queue (event_queue.h), so that a driver can prefetch the memory of coming
 * events. Hints only: events may still be added before those that are seen here. */

#include "event_queue.h"

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
