/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/real_fabric_idle.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "unit.h"

#define RESTS   20000000
#define REST_PS (50 * PS_PER_MS)

struct bench {
	struct real_worker worker;
	_Atomic weft_time now;
	atomic_bool done;
};

/* Like real_idle(), on a clock that advances only while the loop sleeps. */
static void *rest_again_and_again(void *ctx)
{
	struct bench *bench = ctx;

	for (unsigned i = 0; i < RESTS; i++) {
		atomic_store(&bench->worker.rest.resting, true);
		atomic_fetch_add(&bench->now, REST_PS);
		loop_stall_exempt(&bench->worker.stall, REST_PS);
		atomic_store(&bench->worker.rest.resting, false);
	}
	atomic_store(&bench->done, true);
	return NULL;
}

/* The loop wakes up at any time while another thread asks. */
UNIT_TEST(a_rest_that_ends_while_somebody_looks_is_no_absence)
{
	static struct bench bench = {.now = PS_PER_S};
	weft_time longest = 0;
	pthread_t thread;

	loop_stall_begin(&bench.worker.stall, PS_PER_S);
	assert_int_equal(pthread_create(&thread, NULL, rest_again_and_again, &bench), 0);
	while (!atomic_load(&bench.done)) {
		weft_time away = real_idle_away(&bench.worker, atomic_load(&bench.now));

		longest = away > longest ? away : longest;
	}
	pthread_join(thread, NULL);
	assert_int_equal(longest, 0);
}

UNIT_TEST(an_absence_without_rest_counts)
{
	static struct real_worker worker;

	loop_stall_begin(&worker.stall, PS_PER_S);
	assert_int_equal(real_idle_away(&worker, PS_PER_S + PS_PER_MS), PS_PER_MS);
}

/* --- a loop of a switch with two ports --- */

#define PORTS 2

static struct run_config run;
static struct real_fabric fabric;
static struct poll_switch poll_of;
static struct real_polled polled = {.poll = &poll_of};

/* It has been idle for one second of the clock. */
static struct real_worker *worker_with(weft_time hello_ps, struct port *port)
{
	struct real_worker *worker = &fabric.worker[0];

	run = (struct run_config){.hello_ps = hello_ps};
	poll_of = (struct poll_switch){.ports = PORTS, .port[0].port = port};
	poll_of.sw = aligned_alloc(
		RTE_CACHE_LINE_SIZE, sizeof(*poll_of.sw) + PORTS * sizeof(poll_of.sw->port[0]));
	memset(poll_of.sw, 0, sizeof(*poll_of.sw) + PORTS * sizeof(poll_of.sw->port[0]));
	poll_of.sw->ports = PORTS;
	fabric = (struct real_fabric){
		.options.run = &run, .polled = &polled, .loops = 1, .rests = true};
	clock_start(&fabric.clock, 1);
	fabric.clock.origin_tsc -= fabric.clock.hz;
	atomic_store(&fabric.may_rest, true);
	*worker = (struct real_worker){.fabric = &fabric,
		.last_polled = 1,
		.rest = {.ready = epoll_create1(0), .wake = -1, .bell = eventfd(0, EFD_NONBLOCK)}};
	return worker;
}

static void close_worker(struct real_worker *worker)
{
	close(worker->rest.bell);
	close(worker->rest.ready);
	free(poll_of.sw);
}

static unsigned sleeps;

static bool is_always_ready(struct port *port, int inotify, int *fd)
{
	*fd = *(int *)port->ctx;
	sleeps += inotify >= 0;
	return true;
}

/* Its frames stay in the device, because there is no buffer for them. */
UNIT_TEST(a_port_that_stays_ready_does_not_end_one_sleep_after_the_other)
{
	int ready = eventfd(1, EFD_NONBLOCK);
	struct port port = {.sleep = is_always_ready, .ctx = &ready};
	struct real_worker *worker = worker_with(PS_PER_S, &port);

	sleeps = 0;
	worker->rest.calm_since = clock_now(&fabric.clock);
	for (unsigned i = 0; i < 10; i++)
		real_idle(worker, worker->rest.calm_since + 150 * PS_PER_US);
	assert_int_equal(sleeps, 4);
	assert_false(real_idle(worker, worker->rest.calm_since + PS_PER_MS));
	assert_int_equal(sleeps, 4);
	close(ready);
	close_worker(worker);
}

UNIT_TEST(a_loop_sleeps_again_sooner_after_a_mapper_frame_than_after_data)
{
	struct real_worker *worker = worker_with(10 * PS_PER_MS, NULL);
	weft_time now = clock_now(&fabric.clock);

	worker->carried = 1;
	assert_false(real_idle(worker, now));
	worker->carried = 0;
	assert_true(real_idle(worker, now + PS_PER_MS));
	poll_of.sw->port[0].count[SWITCH_DATA_IN]++;
	assert_false(real_idle(worker, now + PS_PER_MS));
	assert_false(real_idle(worker, now + 2 * PS_PER_MS));
	assert_true(real_idle(worker, now + 3 * PS_PER_MS));
	close_worker(worker);
}

static struct link_end *set_up_link(weft_time now, weft_time hello_due)
{
	struct link_end *link = &poll_of.sw->port[0].link;

	poll_of.present = port_set_of(0);
	*link = (struct link_end){.config.hello_ps = run.hello_ps,
		.state = LINK_UP,
		.known = true,
		.heard_at = now,
		.hello_due = hello_due};
	return link;
}

UNIT_TEST(an_idle_loop_sleeps_until_a_hello_is_due)
{
	struct real_worker *worker = worker_with(40 * PS_PER_MS, NULL);
	weft_time now = clock_now(&fabric.clock);
	const struct link_end *link = set_up_link(now, now + 30 * PS_PER_MS);

	assert_true(real_idle(worker, now));
	assert_true(clock_now(&fabric.clock) >= link->hello_due);
	close_worker(worker);
}

UNIT_TEST(a_link_that_is_down_does_not_delay_the_hellos_of_others)
{
	struct real_worker *worker = worker_with(40 * PS_PER_MS, NULL);
	weft_time now = clock_now(&fabric.clock);

	set_up_link(now, now + PS_PER_MS);
	poll_of.present |= port_set_of(1);
	poll_of.sw->port[1].link =
		(struct link_end){.config.hello_ps = run.hello_ps, .polled_at = now};
	assert_true(real_idle(worker, now));
	/* Only the duration of the requested sleep is added to it. */
	assert_in_range(loop_stall_load(&worker->stall.seen), 1, PS_PER_MS);
	close_worker(worker);
}
