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

/* As real_idle() does, on a clock that stands still but for the rests. */
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

/* The loop wakes up at any moment while another thread asks. */
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

/* --- ports that wake a loop --- */

static bool is_always_ready(struct port *port, int inotify, int *fd)
{
	*fd = *(int *)port->ctx;
	return true;
}

/* Its frames stay in the device, because there is no buffer for them. */
UNIT_TEST(a_port_that_stays_ready_does_not_end_one_sleep_after_the_other)
{
	static struct run_config run = {.hello_ps = PS_PER_S};
	static struct real_fabric fabric = {.options = {.run = &run}, .loops = 1, .rests = true};
	static struct weft_switch sw;
	static struct poll_switch poll = {.sw = &sw, .ports = 1};
	int ready = eventfd(1, EFD_NONBLOCK);
	struct port port = {.sleep = is_always_ready, .ctx = &ready};
	struct real_polled polled = {.poll = &poll};
	struct real_worker *worker = &fabric.worker[0];

	clock_start(&fabric.clock, 1);
	fabric.clock.origin_tsc -= fabric.clock.hz; /* it has been idle for a second */
	fabric.polled = &polled;
	poll.port[0].port = &port;
	atomic_store(&fabric.may_rest, true);
	*worker = (struct real_worker){.fabric = &fabric,
		.last_polled = 1,
		.rest = {.ready = epoll_create1(0), .wake = -1, .bell = eventfd(0, EFD_NONBLOCK)}};
	assert_true(real_idle(worker, clock_now(&fabric.clock)));
	assert_false(real_idle(worker, clock_now(&fabric.clock)));
	close(ready);
	close(worker->rest.bell);
	close(worker->rest.ready);
}
