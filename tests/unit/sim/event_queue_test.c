/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sim/event_queue.h"

#include "base/rng.h"
#include "unit.h"

#define EVENTS 600

#define ORDER_BITS 4
#define ITEM_BITS  32

static void push(struct event_queue *queue, weft_time at, uint32_t order, uint32_t item)
{
	event_queue_push(queue, (struct sim_event){at, order, item});
}

static void expect(struct event_queue *queue, weft_time at, uint32_t order, uint32_t item)
{
	struct sim_event event;

	assert_true(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
	assert_int_equal(event.at, at);
	assert_int_equal(event.order, order);
	assert_int_equal(event.item, item);
}

UNIT_TEST(events_come_in_the_order_of_time_then_order_then_item)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);

	push(queue, 5000, 2, 0);
	push(queue, 700, 9, 9);
	push(queue, 5000, 1, 7);
	push(queue, 5000, 1, 3);
	push(queue, 600, 9, 9);
	expect(queue, 600, 9, 9);
	expect(queue, 700, 9, 9);
	expect(queue, 5000, 1, 3);
	expect(queue, 5000, 1, 7);
	expect(queue, 5000, 2, 0);
}

UNIT_TEST(an_event_for_now_comes_before_later_ones_of_the_same_bucket)
{
	OWNED(event_queue) *queue = event_queue_create(1 << 20, ORDER_BITS, ITEM_BITS);

	push(queue, 10, 5, 0);
	push(queue, 30, 5, 0);
	expect(queue, 10, 5, 0);
	push(queue, 10, 7, 0);
	push(queue, 20, 1, 0);
	push(queue, 10, 6, 0);
	expect(queue, 10, 6, 0);
	expect(queue, 10, 7, 0);
	expect(queue, 20, 1, 0);
	expect(queue, 30, 5, 0);
}

UNIT_TEST(nothing_comes_before_its_limit)
{
	OWNED(event_queue) *queue = event_queue_create(1, ORDER_BITS, ITEM_BITS);
	struct sim_event event;

	push(queue, 100, 0, 0);
	assert_false(event_queue_pop(queue, 100, &event));
	assert_true(event_queue_pop(queue, 101, &event));
	assert_false(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
}

/* The calendar must not have advanced to the event that it found beyond the limit. */
UNIT_TEST(events_may_be_put_in_between_a_limit_and_what_lies_far_beyond_it)
{
	OWNED(event_queue) *queue = event_queue_create(1, ORDER_BITS, ITEM_BITS);
	struct sim_event event;

	push(queue, 1000000, 0, 0);
	assert_false(event_queue_pop(queue, 500, &event));
	push(queue, 500, 0, 1);
	push(queue, 90000, 0, 2);
	expect(queue, 500, 0, 1);
	expect(queue, 90000, 0, 2);
	expect(queue, 1000000, 0, 0);
}

static int compare(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* Distances from zero to far beyond the calendar, with many ties. */
static weft_time some_distance(struct rng *rng, unsigned width)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return 0;
	case 1:
		return rng_below(rng, 4 * (uint64_t)width);
	case 2:
		return rng_below(rng, 4096 * (uint64_t)width);
	default:
		return rng_below(rng, 100000 * (uint64_t)width);
	}
}

/* Into the calendar or a lane, whether suited for it or not. */
static void push_somewhere(struct event_queue *queue, struct rng *rng, struct sim_event event)
{
	unsigned which = (unsigned)rng_below(rng, EVENT_LANES + 2);

	if (which == EVENT_CALENDAR) {
		event_queue_push(queue, event);
	} else if (which > EVENT_CALENDAR) {
		event_queue_gather(queue, event);
		event_queue_merge_lane(queue, event.item % EVENT_LANES);
	} else {
		event_queue_push_lane(queue, which, event);
	}
}

UNIT_TEST(any_load_comes_out_sorted)
{
	static struct sim_event wanted[EVENTS], waiting[EVENTS];

	for (unsigned seed = 1; seed <= 40; seed++) {
		unsigned width = 1 + seed * 37, put = 0, taken = 0, in = 0;
		OWNED(event_queue) *queue = event_queue_create(width, ORDER_BITS, ITEM_BITS);
		struct sim_event event;
		weft_time now = 0;
		struct rng rng;

		rng_init(&rng, seed, 0, 0);
		/* The reference: searches all waiting events for the smallest. */
		while (taken < EVENTS) {
			if (put < EVENTS && (in == 0 || rng_below(&rng, 2) == 0)) {
				event = (struct sim_event){now + some_distance(&rng, width),
					(uint32_t)rng_below(&rng, 5), put};
				waiting[in++] = event;
				push_somewhere(queue, &rng, event);
				put++;
				continue;
			}
			qsort(waiting, in, sizeof(waiting[0]), compare);
			wanted[taken] = waiting[0];
			for (unsigned i = 1; i < in; i++)
				waiting[i - 1] = waiting[i];
			in--;
			assert_true(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
			assert_memory_equal(&event, &wanted[taken++], sizeof(event));
			now = event.at;
			if (taken + 100 > EVENTS && put == EVENTS && in == 0)
				break;
		}
		assert_true(event_queue_is_empty(queue));
	}
}

/* A bucket gets more events than it has space for, with few different times, while events are
 * taken. */
UNIT_TEST(a_crowded_bucket_comes_out_sorted)
{
	static struct sim_event wanted[4 * EVENTS];
	OWNED(event_queue) *queue = event_queue_create(1 << 16, ORDER_BITS, ITEM_BITS);
	struct sim_event event;
	struct rng rng;

	rng_init(&rng, 5, 0, 0);
	for (uint32_t i = 0; i < 4 * EVENTS; i++) {
		wanted[i] = (struct sim_event){rng_below(&rng, 50) * 9000,
			(uint32_t)rng_below(&rng, 3), (uint32_t)rng_next(&rng)};
		event_queue_push(queue, wanted[i]);
	}
	qsort(wanted, 4 * EVENTS, sizeof(wanted[0]), compare);
	for (uint32_t i = 0; i < 4 * EVENTS; i++) {
		assert_true(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
		assert_memory_equal(&event, &wanted[i], sizeof(event));
	}
	assert_true(event_queue_is_empty(queue));
}

/* Events beyond the calendar are stored elsewhere, however short the calendar is. */
UNIT_TEST(a_short_calendar_gives_the_same_order)
{
	OWNED(event_queue) *queue = event_queue_create_reaching(16, 1000, ORDER_BITS, ITEM_BITS);
	struct sim_event event;
	weft_time last = 0;
	struct rng rng;

	rng_init(&rng, 6, 0, 0);
	for (uint32_t i = 0; i < EVENTS; i++)
		push(queue, rng_below(&rng, 100000), 0, i);
	for (uint32_t i = 0; i < EVENTS; i++) {
		assert_true(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
		assert_true(event.at >= last);
		last = event.at;
	}
	assert_true(event_queue_is_empty(queue));
}

/* At each time, 100 events are added before the first of them is taken, in the calendar and in each
 * lane. Events of the same time are in no order. */
UNIT_TEST(lanes_and_calendar_take_turns)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
	struct sim_event event;
	uint32_t put = 0;

	for (uint32_t taken = 0; taken < 2000; taken++) {
		for (; put < taken + 100; put++) {
			/* 0 to 4, then 9 to 5, and again. */
			uint32_t item = put % 10 < 5 ? put : put - put % 10 + 14 - put % 10;
			const struct sim_event next = {put / 10 * 300, 3, item};

			if (item % (EVENT_LANES + 1) == EVENT_CALENDAR)
				event_queue_push(queue, next);
			else
				event_queue_push_lane(queue, item % (EVENT_LANES + 1), next);
		}
		assert_int_equal(event_queue_take(queue, WEFT_TIME_NEVER, &event),
			taken % (EVENT_LANES + 1));
		assert_int_equal(event.item, taken);
		assert_int_equal(event.at, taken / 10 * 300);
	}
}

/* Adds events of one round to lane 1: some with pushes in order, then as many together, which
 * belong among them, either almost in order or in none. */
static unsigned fill_lane(struct event_queue *queue, struct rng *rng, weft_time from, uint32_t item)
{
	unsigned each = (unsigned)rng_below(rng, 100);

	for (unsigned i = 0; i < each; i++)
		event_queue_push_lane(
			queue, 1, (struct sim_event){from + i * 1000 / 100, 0, item + i});
	for (unsigned i = 0; i < each; i++) {
		weft_time at = from + i * 1000 / each + rng_below(rng, 20);

		if (each % 2 == 0)
			at = from + rng_below(rng, 1000);
		event_queue_gather(queue, (struct sim_event){at, 1, item + each + i});
	}
	event_queue_merge_lane(queue, 1);
	return 2 * each;
}

UNIT_TEST(events_that_are_merged_into_a_lane_come_from_it_in_order)
{
	OWNED(event_queue) *queue = event_queue_create(300, ORDER_BITS, ITEM_BITS);
	unsigned put = 0, taken = 0, merged = 0;
	struct sim_event event, last = {0};
	struct rng rng;

	rng_init(&rng, 12, 0, 0);
	for (weft_time round = 0; round < 200 * 1000; round += 1000) {
		put += fill_lane(queue, &rng, round + 1000, put);
		while (event_queue_next(queue) < round + 1000) {
			unsigned from = event_queue_take(queue, round + 1000, &event);

			if (from == EVENT_NONE)
				break;
			assert_int_equal(from, 1);
			assert_true(compare(&last, &event) < 0 || taken == 0);
			merged += event.order;
			last = event;
			taken++;
		}
	}
	assert_true(merged > 1000 && taken > 2 * merged - 200);
	while (event_queue_pop(queue, WEFT_TIME_NEVER, &event))
		taken++;
	assert_int_equal(taken, put);
}

UNIT_TEST(events_too_far_ahead_for_a_lane_are_gathered_into_the_calendar)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
	const weft_time far = (weft_time)1 << (63 - ORDER_BITS - ITEM_BITS);
	struct sim_event event;

	event_queue_gather(queue, (struct sim_event){far + 5, 0, 1});
	event_queue_gather(queue, (struct sim_event){7, 0, 2});
	event_queue_merge_lane(queue, 0);
	assert_int_equal(event_queue_take(queue, WEFT_TIME_NEVER, &event), 0);
	assert_int_equal(event.item, 2);
	assert_int_equal(event_queue_take(queue, WEFT_TIME_NEVER, &event), EVENT_CALENDAR);
	assert_int_equal(event.at, far + 5);
}

UNIT_TEST(what_is_much_too_early_for_its_lane_goes_to_the_calendar)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
	struct sim_event event;

	for (uint32_t i = 0; i < 50; i++)
		event_queue_push_lane(queue, 0, (struct sim_event){1000 + i, 0, i});
	event_queue_push_lane(queue, 0, (struct sim_event){500, 0, 99});
	assert_int_equal(event_queue_take(queue, WEFT_TIME_NEVER, &event), EVENT_CALENDAR);
	assert_int_equal(event.item, 99);
	for (uint32_t i = 0; i < 50; i++)
		expect(queue, 1000 + i, 0, i);
}

/* Numbers in lanes wrap. Here, their times have 64 - 4 - 32 bits. */
UNIT_TEST(a_lane_does_not_confuse_the_far_future_with_the_past)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
	const weft_time wrap = (weft_time)1 << (64 - ORDER_BITS - ITEM_BITS);

	for (uint32_t i = 0; i < 40; i++)
		event_queue_push_lane(queue, 0, (struct sim_event){1 + i * wrap / 8, 0, i});
	for (uint32_t i = 0; i < 40; i++) {
		expect(queue, 1 + i * wrap / 8, 0, i);
		event_queue_push_lane(queue, 1, (struct sim_event){2 + i * wrap / 8, 0, i});
		expect(queue, 2 + i * wrap / 8, 0, i);
	}
	assert_true(event_queue_is_empty(queue));
}

/* In a lane that grows in the meantime. */
UNIT_TEST(what_comes_next_in_a_lane_can_be_looked_at)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);

	for (uint32_t i = 0; i < 100; i++)
		event_queue_push_lane(queue, 1, (struct sim_event){100 + i, 0, i});
	for (uint32_t i = 0; i < 100; i++) {
		expect(queue, 100 + i, 0, i);
		for (uint32_t places = 0; places < 20; places++) {
			uint64_t ahead = event_lane_ahead(&queue->lane[1], places);

			assert_int_equal(
				event_key_item(queue, ahead), i + places < 99 ? i + places : 99);
		}
	}
}

UNIT_TEST(a_limit_holds_for_lanes)
{
	OWNED(event_queue) *queue = event_queue_create(1, ORDER_BITS, ITEM_BITS);
	struct sim_event event;

	event_queue_push_lane(queue, 0, (struct sim_event){100, 0, 0});
	event_queue_push_lane(queue, 1, (struct sim_event){100000, 0, 0});
	assert_false(event_queue_pop(queue, 100, &event));
	event_queue_push_lane(queue, 0, (struct sim_event){100, 0, 1});
	assert_true(event_queue_pop(queue, 101, &event));
	assert_true(event_queue_pop(queue, 101, &event));
	assert_false(event_queue_pop(queue, 100000, &event));
	push(queue, 100000, 0, 1);
	expect(queue, 100000, 0, 0);
	expect(queue, 100000, 0, 1);
	assert_false(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
}

/* Rounds of some length, each from the earliest possible next event. All events are returned, in
 * order, and none before its round, from calendar, lanes and heap. */
UNIT_TEST(rounds_from_the_next_event_miss_none)
{
	OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
	struct sim_event event;
	weft_time next, last = 0;
	unsigned left = EVENTS, rounds = 0;
	struct rng rng;

	rng_init(&rng, 11, 0, 0);
	assert_true(event_queue_next(queue) == WEFT_TIME_NEVER);
	for (unsigned i = 0; i < EVENTS; i++) {
		weft_time at = rng_below(&rng, i % 3 == 0 ? 5000 : 40 * 1000 * 1000);

		if (i % 5 == 0)
			event_queue_push_lane(
				queue, i % EVENT_LANES, (struct sim_event){10 * i, 1, i});
		else
			push(queue, at, 2, i);
	}
	while ((next = event_queue_next(queue)) != WEFT_TIME_NEVER) {
		assert_true(next >= last);
		while (event_queue_pop(queue, next + 700, &event)) {
			assert_true(event.at >= next && event.at < next + 700);
			left--;
		}
		last = next;
		rounds++;
	}
	assert_int_equal(left, 0);
	assert_true(rounds < 2 * EVENTS);
}

struct removed {
	uint32_t count;
	uint64_t sum;
};

/* Every third event. */
static bool is_third(void *ctx, struct sim_event event)
{
	struct removed *removed = ctx;

	if (event.item % 3 != 0)
		return false;
	removed->count++;
	removed->sum += event.at ^ event.order;
	return true;
}

/* Now, in lanes, in full buckets, and beyond the calendar, after some have been taken. */
UNIT_TEST(events_that_are_removed_do_not_come_and_all_others_do_in_order)
{
	for (unsigned seed = 0; seed < 8; seed++) {
		OWNED(event_queue) *queue = event_queue_create(1000, ORDER_BITS, ITEM_BITS);
		uint64_t sum = 0, left = 0;
		struct removed removed = {0};
		struct sim_event event = {0}, before = {0};
		struct rng rng;

		rng_init(&rng, seed, 0, 0);
		for (uint32_t i = 0; i < EVENTS; i++)
			event_queue_push(queue, (struct sim_event){rng_below(&rng, 3000), 0, 1});
		for (uint32_t i = 0; i < EVENTS / 2; i++)
			assert_true(event_queue_pop(queue, WEFT_TIME_NEVER, &event));
		for (uint32_t i = 0; i < 4 * EVENTS; i++) {
			struct sim_event more = {
				event.at + rng_below(&rng, i % 4 == 0 ? 1 << 30 : 9000),
				(uint32_t)rng_below(&rng, 1 << ORDER_BITS), i};

			if (i % 4 == 1)
				event_queue_push_lane(queue, i % 3, more);
			else
				event_queue_push(queue, more);
			sum += i % 3 == 0 ? more.at ^ more.order : 0;
		}
		event_queue_remove(queue, is_third, &removed);
		assert_int_equal(removed.count, (4 * EVENTS + 2) / 3);
		assert_int_equal(removed.sum, sum);
		while (event_queue_pop(queue, WEFT_TIME_NEVER, &event)) {
			assert_true(event.item % 3 != 0);
			assert_true(event.at > before.at ||
				    (event.at == before.at && event.order >= before.order));
			before = event;
			left++;
		}
		assert_int_equal(left, EVENTS / 2 + 4 * EVENTS - removed.count);
		assert_true(event_queue_is_empty(queue));
	}
}
