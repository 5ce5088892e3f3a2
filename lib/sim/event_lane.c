/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_queue.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST 64u

int event_lane_init(struct event_lane *lane)
{
	*lane = (struct event_lane){
		.number = calloc(ROOM_FIRST, sizeof(*lane->number)), .mask = ROOM_FIRST - 1};
	return lane->number != NULL ? 0 : -ENOMEM;
}

void event_lane_fini(struct event_lane *lane)
{
	free(lane->number);
	*lane = (struct event_lane){0};
}

int event_lane_grow(struct event_lane *lane)
{
	uint32_t room = 2 * (lane->mask + 1), count = 0;
	uint64_t *number = room > lane->mask ? calloc(room, sizeof(*number)) : NULL;

	if (number == NULL)
		return -ENOMEM;
	for (uint32_t at = lane->first; at != lane->end; at = (at + 1) & lane->mask)
		number[count++] = lane->number[at];
	free(lane->number);
	lane->number = number;
	lane->first = 0;
	lane->end = count;
	lane->mask = room - 1;
	return 0;
}

bool event_lane_insert(struct event_lane *lane, uint64_t number, uint32_t max)
{
	uint32_t count = (lane->end - lane->first) & lane->mask, forward = 0, place = lane->end;
	uint64_t last = lane->last;

	for (; forward < count; forward++) {
		if ((int64_t)(number - lane->number[(place - forward - 1) & lane->mask]) >= 0)
			break;
		if (forward == max)
			return false;
	}
	event_lane_append(lane, number);
	if (forward > 0)
		lane->last = last;
	for (; forward > 0; forward--) {
		uint32_t before = (place - 1) & lane->mask;

		lane->number[place] = lane->number[before];
		lane->number[before] = number;
		place = before;
	}
	return true;
}

/* Starts at the end, because most numbers belong near it. */
void event_lane_merge(struct event_lane *lane, const uint64_t *number, uint32_t count)
{
	uint32_t own = event_lane_count(lane), place = lane->end + count;

	lane->end = place & lane->mask;
	while (count > 0) {
		uint64_t last = lane->number[(lane->first + own - 1) & lane->mask];
		bool is_own = own > 0 && (int64_t)(last - number[count - 1]) > 0;

		lane->number[--place & lane->mask] = is_own ? last : number[count - 1];
		own -= is_own;
		count -= !is_own;
	}
	lane->last = lane->number[(lane->end - 1) & lane->mask];
}
