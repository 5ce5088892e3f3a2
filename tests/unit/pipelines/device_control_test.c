/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapping/device_control.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "unit.h"

#define FRAME_BYTES 200
#define FRAMES      8

static int setup(void **state)
{
	*state = device_control_create(FRAME_BYTES, FRAMES);
	return *state == NULL;
}

static int teardown(void **state)
{
	device_control_destroy(*state);
	return 0;
}

static bool up(struct device_control *control, uint8_t number)
{
	uint8_t frame[FRAME_BYTES];

	memset(frame, number, sizeof(frame));
	return device_control_up(control, number % 4u, frame, FRAME_BYTES - number % 16u);
}

static bool down(struct device_control *control, uint8_t number)
{
	uint8_t frame[FRAME_BYTES];

	memset(frame, number, sizeof(frame));
	return device_control_send(control, number % 4u, frame, FRAME_BYTES - number % 16u);
}

static void turns(struct device_control *control, unsigned count, bool idle)
{
	for (unsigned i = 0; i < count; i++)
		device_control_update(control, 0, idle);
}

static bool take(struct device_control *control, uint8_t number)
{
	unsigned port, bytes;
	const uint8_t *frame = device_control_take(control, &port, &bytes);

	if (frame == NULL || port != number % 4u || bytes != FRAME_BYTES - number % 16u ||
		frame[0] != number || frame[bytes - 1] != number)
		return false;
	device_control_taken(control);
	return true;
}

#define TEST(name) UNIT_WITH(name, setup, teardown)

TEST(frames_come_up_whole_and_in_order)
{
	for (uint8_t i = 0; i < FRAMES; i++)
		assert_true(up(*state, i));
	turns(*state, 2, false);
	for (uint8_t i = 0; i < FRAMES; i++)
		assert_true(take(*state, i));
	assert_false(take(*state, FRAMES));
}

TEST(a_frame_without_room_is_refused_and_counted)
{
	uint8_t frame[FRAME_BYTES + 1] = {0};
	unsigned accepted = 0;

	while (accepted < 1000 && up(*state, (uint8_t)accepted))
		accepted++;
	assert_true(accepted >= FRAMES && accepted < 1000);
	assert_int_equal(device_control_dropped_up(*state), 1);
	turns(*state, 2, false);
	for (unsigned i = 0; i < accepted; i++)
		assert_true(take(*state, (uint8_t)i));
	assert_false(device_control_up(*state, 0, frame, sizeof(frame)));
	assert_int_equal(device_control_dropped_up(*state), 2);
	assert_true(up(*state, 3));
}

/* Frames that waited in other ports when the request arrived are handled before the answer. */
TEST(a_question_waits_for_a_whole_turn_of_the_loop)
{
	assert_true(up(*state, 1));
	assert_false(take(*state, 1));
	turns(*state, 1, true); /* ends the iteration in which it arrived */
	assert_false(take(*state, 1));
	turns(*state, 1, true);
	assert_true(take(*state, 1));
}

TEST(the_links_are_those_of_the_last_iteration)
{
	device_control_update(*state, 5, false);
	assert_int_equal(device_control_linked(*state), 5);
	device_control_update(*state, 4, false);
	assert_int_equal(device_control_linked(*state), 4);
}

static void count_ring(void *ctx)
{
	++*(unsigned *)ctx;
}

TEST(each_frame_rings_when_it_can_be_taken)
{
	unsigned rings = 0;

	device_control_watch(*state, count_ring, &rings);
	assert_true(up(*state, 1));
	turns(*state, 1, false);
	assert_true(up(*state, 2));
	assert_int_equal(rings, 0);
	turns(*state, 1, false);
	assert_int_equal(rings, 1);
	assert_true(take(*state, 1));
	assert_false(take(*state, 2));
	turns(*state, 1, false);
	assert_int_equal(rings, 2);
	assert_true(take(*state, 2));
	turns(*state, 10, false);
	assert_int_equal(rings, 2);
}

TEST(a_link_that_goes_up_or_down_rings)
{
	unsigned rings = 0;

	device_control_watch(*state, count_ring, &rings);
	device_control_update(*state, 5, false);
	device_control_update(*state, 5, false);
	assert_int_equal(rings, 1);
	device_control_update(*state, 4, false);
	assert_int_equal(rings, 2);
}

static void do_next(struct device_control *control, enum device_order_kind kind)
{
	const struct device_order *order = device_control_next(control);

	assert_non_null(order);
	assert_int_equal(order->kind, kind);
	device_control_done(control);
}

TEST(orders_arrive_in_order_with_frames_between_them)
{
	assert_true(down(*state, 1));
	assert_true(device_control_order(*state, DEVICE_PAUSE));
	assert_true(down(*state, 2));
	assert_true(device_control_order(*state, DEVICE_PURGE));
	assert_true(device_control_order(*state, DEVICE_RESUME));
	do_next(*state, DEVICE_SEND);
	do_next(*state, DEVICE_PAUSE);
	assert_int_equal(device_control_next(*state)->port, 2);
	assert_int_equal(device_control_next(*state)->bytes, FRAME_BYTES - 2);
	assert_int_equal(device_control_next(*state)->frame[FRAME_BYTES - 3], 2);
	do_next(*state, DEVICE_SEND);
	do_next(*state, DEVICE_PURGE);
	do_next(*state, DEVICE_RESUME);
	assert_null(device_control_next(*state));
}

/* Idleness before the pause or before the resumption does not count. */
TEST(idle_is_said_of_what_came_after_the_last_order)
{
	turns(*state, 1, true);
	assert_true(device_control_order(*state, DEVICE_PAUSE));
	assert_false(device_control_idle(*state));
	do_next(*state, DEVICE_PAUSE);
	assert_false(device_control_idle(*state));
	turns(*state, 1, false);
	assert_false(device_control_idle(*state));
	turns(*state, 1, true);
	assert_true(device_control_idle(*state));
	assert_true(device_control_order(*state, DEVICE_RESUME));
	assert_false(device_control_idle(*state));
	do_next(*state, DEVICE_RESUME);
	assert_false(device_control_idle(*state));
}

TEST(frames_leave_room_for_other_orders)
{
	unsigned accepted = 0;

	while (device_control_ready(*state)) {
		assert_true(down(*state, (uint8_t)accepted));
		accepted++;
	}
	assert_true(accepted >= FRAMES);
	while (down(*state, (uint8_t)accepted))
		accepted++;
	assert_int_equal(device_control_dropped_down(*state), 1);
	for (unsigned i = 0; i < DEVICE_ORDERS_KEPT; i++)
		assert_true(device_control_order(*state, DEVICE_PURGE));
	assert_false(device_control_ready(*state));
	while (device_control_next(*state) != NULL)
		device_control_done(*state);
	assert_false(device_control_ready(*state));
	assert_int_equal(device_control_collect(*state), accepted + DEVICE_ORDERS_KEPT);
	assert_true(device_control_ready(*state));
}

/* The leak checker of the sanitized build detects if an object is not freed, or freed twice. */
TEST(tables_go_down_and_the_old_ones_come_back)
{
	struct switch_tables *first = switch_tables_create(3), *second = switch_tables_create(3);
	struct switch_tables *in_use = NULL;

	assert_int_equal(first->port[2], 0xFF);
	assert_true(device_control_commit(*state, first, NULL));
	assert_true(device_control_commit(*state, second, NULL));
	for (unsigned i = 0; i < 2; i++) {
		struct device_order *order = device_control_next(*state);
		struct switch_tables *old = in_use;

		assert_int_equal(order->kind, DEVICE_COMMIT);
		in_use = order->of_switch;
		order->of_switch = old;
		device_control_done(*state);
	}
	assert_ptr_equal(in_use, second);
	assert_int_equal(device_control_collect(*state), 2);
	switch_tables_destroy(in_use);
}

static void commit_next(struct device_control *control, bool refused)
{
	assert_true(device_control_commit(control, NULL, host_tables_create(3)));
	assert_false(device_control_has_refused(control));
	device_control_next(control)->refused = refused;
	device_control_done(control);
	assert_int_equal(device_control_collect(control), 1);
}

/* Only the device knows whether it uses the tables. That they are in transit is not an answer
 * yet. */
TEST(the_control_thread_learns_that_the_last_tables_were_refused)
{
	commit_next(*state, false);
	assert_false(device_control_has_refused(*state));
	commit_next(*state, true);
	assert_true(device_control_has_refused(*state));
	assert_true(device_control_order(*state, DEVICE_RESUME));
	do_next(*state, DEVICE_RESUME);
	assert_int_equal(device_control_collect(*state), 1);
	assert_true(device_control_has_refused(*state));
	commit_next(*state, false);
	assert_false(device_control_has_refused(*state));
	assert_int_equal(device_control_refusals(*state), 1);
}

TEST(tables_on_the_way_are_freed_with_it)
{
	struct host_tables *taken = NULL;

	assert_true(device_control_commit(*state, NULL, host_tables_create(5)));
	assert_true(device_control_commit(*state, NULL, host_tables_create(5)));
	taken = device_control_next(*state)->of_host;
	device_control_next(*state)->of_host = NULL;
	device_control_done(*state);
	host_tables_destroy(taken);
}

#define LOAD_FRAMES 100000

struct load {
	struct device_control *control;
	atomic_bool stop;
	uint64_t up, refused;    /* frames that were accepted, or not */
	uint64_t down, pauses;   /* frames and orders that arrived */
	uint64_t out_of_order;   /* deliveries among those */
	uint64_t resumed_before; /* RESUME without PAUSE */
};

static void serve_orders(struct load *load, bool *paused)
{
	const struct device_order *order;
	uint64_t number;

	while ((order = device_control_next(load->control)) != NULL) {
		if (order->kind == DEVICE_SEND) {
			memcpy(&number, order->frame, sizeof(number));
			load->out_of_order += number != load->down++;
		} else if (order->kind == DEVICE_PAUSE) {
			load->pauses++;
			*paused = true;
		} else {
			load->resumed_before += !*paused;
			*paused = false;
		}
		device_control_done(load->control);
	}
}

static void *loop(void *ctx)
{
	struct load *load = ctx;
	uint8_t frame[FRAME_BYTES] = {0};
	bool paused = false;
	struct rng rng;

	rng_init(&rng, 5, 6, 7);
	while (!atomic_load(&load->stop)) {
		for (unsigned i = rng_below(&rng, 4); i > 0; i--) {
			memcpy(frame, &load->up, sizeof(load->up));
			if (device_control_up(load->control, 0, frame, 8 + rng_below(&rng, 190)))
				load->up++;
			else
				load->refused++;
		}
		serve_orders(load, &paused);
		device_control_update(load->control, paused, paused);
		if (rng_below(&rng, 8) == 0)
			sched_yield();
	}
	serve_orders(load, &paused);
	/* So that the last ones can be read. */
	turns(load->control, 2, paused);
	return NULL;
}

static uint64_t take_all(struct device_control *control, uint64_t next)
{
	unsigned port, bytes;
	const uint8_t *frame;

	while ((frame = device_control_take(control, &port, &bytes)) != NULL) {
		uint64_t number;

		memcpy(&number, frame, sizeof(number));
		assert_int_equal(number, next);
		next++;
		device_control_taken(control);
	}
	return next;
}

TEST(two_threads_lose_nothing_that_was_accepted)
{
	struct load load = {.control = *state};
	uint64_t sent = 0, taken = 0, pauses = 0, idle = 0;
	uint8_t frame[FRAME_BYTES] = {0};
	bool paused = false;
	pthread_t thread;
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	pthread_create(&thread, NULL, loop, &load);
	while (sent < LOAD_FRAMES) {
		memcpy(frame, &sent, sizeof(sent));
		sent += device_control_send(*state, 0, frame, 8 + rng_below(&rng, 190));
		taken = take_all(*state, taken);
		/* The loop reports idle only when it is paused. */
		if (device_control_idle(*state)) {
			assert_true(paused);
			idle++;
		}
		if (rng_below(&rng, 50) == 0 && device_control_ready(*state)) {
			paused = !paused;
			pauses += paused;
			assert_true(device_control_order(
				*state, paused ? DEVICE_PAUSE : DEVICE_RESUME));
		}
		if (device_control_collect(*state) == 0)
			sched_yield();
	}
	atomic_store(&load.stop, true);
	pthread_join(thread, NULL);
	taken = take_all(*state, taken);
	assert_int_equal(taken, load.up);
	assert_int_equal(device_control_dropped_up(*state), load.refused);
	assert_int_equal(load.down, sent);
	assert_int_equal(load.pauses, pauses);
	assert_int_equal(load.out_of_order + load.resumed_before, 0);
	assert_true(idle > 0);
}
