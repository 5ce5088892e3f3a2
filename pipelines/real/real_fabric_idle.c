/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_fabric_idle.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "poll/poll_nic_endpoints.h"

/* Times without sleep after the last message of a loop's hosts, and after the last frame that the
 * loop moved, such as a mapper's request: another one is likely to follow soon. */
#define IDLE_PS (5 * PS_PER_MS)
#define CALM_PS (100 * PS_PER_US)
/* Likewise after data from other processes, whose hosts may have more to send. */
#define CALM_BESIDE_PS (2 * PS_PER_MS)
/* After so many futile sleeps the next one waits for CALM_BESIDE_PS. */
#define FUTILE_MAX 4u
/* Time without sleep after a cable was cut or rejoined: its ends and the mapper must detect it. */
#define AWAKE_HELLOS (2 * LINK_HELLOS_MISSED)
#define REST_PS      (50 * PS_PER_MS)
#define READY_MAX    8
#define PORTS_MAX    256 /* for a loop with links to other processes */

/* --- descriptors --- */

static bool watch_fd(int ready, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(ready, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_worker(struct real_fabric *fabric, struct real_worker *worker)
{
	struct real_idle *rest = &worker->rest;
	bool good;

	rest->ready = epoll_create1(EPOLL_CLOEXEC);
	rest->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	/* A user may be limited to 128 inotify instances. */
	if (!fabric->whole && fabric->loops == 1)
		rest->bell = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	good = rest->ready >= 0 && rest->wake >= 0 && watch_fd(rest->ready, rest->wake) &&
	       (rest->bell < 0 || watch_fd(rest->ready, rest->bell));
	for (unsigned i = worker->first_host; i < worker->last_host && good; i++)
		if (fabric->hosts[i].tap >= 0)
			good = watch_fd(rest->ready, fabric->hosts[i].tap);
	return good;
}

static void wake_all(void *ctx)
{
	real_idle_wake(ctx);
}

void real_idle_open(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->loops; i++)
		fabric->worker[i].rest = (struct real_idle){.ready = -1, .wake = -1, .bell = -1};
	fabric->rests = fabric->serving;
	for (unsigned i = 0; i < fabric->loops && fabric->rests; i++)
		fabric->rests = open_worker(fabric, &fabric->worker[i]);
	if (fabric->rests && fabric->telemetry != NULL)
		telemetry_set_wake(fabric->telemetry, wake_all, fabric);
	real_idle_defer(fabric, clock_now(&fabric->clock));
}

void real_idle_close(struct real_fabric *fabric)
{
	if (fabric->telemetry != NULL)
		telemetry_set_wake(fabric->telemetry, NULL, NULL);
	fabric->rests = false;
	for (unsigned i = 0; i < fabric->loops; i++) {
		if (fabric->worker[i].rest.ready >= 0)
			close(fabric->worker[i].rest.ready);
		if (fabric->worker[i].rest.wake >= 0)
			close(fabric->worker[i].rest.wake);
		if (fabric->worker[i].rest.bell >= 0)
			close(fabric->worker[i].rest.bell);
	}
}

/* --- sleeping --- */

/* Returns the sleep of a loop after data, in real time; 0: neighbours would miss its hellos. */
static weft_time rest_min(const struct real_fabric *fabric)
{
	weft_time rest =
		clock_span(&fabric->clock, fabric->options.run->hello_ps) / LINK_POLLS_PER_HELLO;

	if (fabric->whole || rest > REST_PS)
		return REST_PS;
	return rest >= PS_PER_MS ? rest : 0;
}

/* Returns when a link of the loop first needs it. */
static weft_time links_due(const struct real_worker *worker)
{
	const struct real_fabric *fabric = worker->fabric;
	weft_time due = WEFT_TIME_NEVER;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		due = RTE_MIN(due, link_end_due(nic_link(fabric->hosts[i].poll->nic)));
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		const struct poll_switch *poll = fabric->polled[i].poll;

		for (unsigned at = 0; at < poll->ports; at++)
			if (port_set_has(poll->present, at))
				due = RTE_MIN(due, link_end_due(&poll->sw->port[at].link));
	}
	return due;
}

/* Returns the maximum sleep of a loop, in real time. After data the loop still refreshes credits,
 * because a frame with the neighbour's credits may have been lost. */
static weft_time rest_for(const struct real_worker *worker, weft_time now)
{
	const struct real_fabric *fabric = worker->fabric;
	weft_time min = rest_min(fabric), due = links_due(worker);

	if (fabric->whole)
		return min;
	due = due <= now ? 0 : RTE_MIN(due - now, clock_share(&fabric->clock, REST_PS));
	due = clock_span(&fabric->clock, due);
	if (now - worker->rest.data_since < AWAKE_HELLOS * fabric->options.run->hello_ps)
		due = RTE_MIN(due, min);
	return RTE_MAX(CALM_PS, due);
}

/* A frame from a different process wakes only the loop that polls its port, and that loop does not
 * notice frames that it passes to a different loop. */
static bool loops_can_rest(const struct real_fabric *fabric)
{
	return fabric->rests && (fabric->whole || fabric->worker[0].rest.bell >= 0);
}

void real_idle_allow(struct real_fabric *fabric, bool allowed, weft_time now)
{
	bool may = allowed && now >= fabric->awake_until && rest_min(fabric) > 0;

	if (may == atomic_load_explicit(&fabric->may_rest, memory_order_relaxed))
		return;
	if (may)
		atomic_store(&fabric->may_rest, true);
	else
		real_idle_forbid(fabric);
}

void real_idle_forbid(struct real_fabric *fabric)
{
	atomic_store(&fabric->may_rest, false);
	real_idle_wake(fabric);
}

void real_idle_defer(struct real_fabric *fabric, weft_time now)
{
	fabric->awake_until = now + AWAKE_HELLOS * fabric->options.run->hello_ps;
	real_idle_forbid(fabric);
}

bool real_idle_is_allowed(const struct real_fabric *fabric)
{
	return loops_can_rest(fabric) &&
	       atomic_load_explicit(&fabric->may_rest, memory_order_relaxed);
}

void real_idle_wake(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->loops && fabric->rests; i++)
		if (atomic_load(&fabric->worker[i].rest.resting))
			eventfd_write(fabric->worker[i].rest.wake, 1);
}

static bool has_busy_host(const struct real_worker *worker)
{
	const struct real_fabric *fabric = worker->fabric;

	for (unsigned i = worker->first_host; i < worker->last_host; i++) {
		const struct poll_nic *poll = fabric->hosts[i].poll;

		if (nic_busy(poll->nic) || poll->tap.held || poll->tx.waiting > 0)
			return true;
	}
	return false;
}

/* Returns true if a switch holds data, or a frame waits for transmission. */
static bool holds_frames(const struct real_worker *worker)
{
	bool full = false;

	for (unsigned i = worker->first_host; i < worker->last_host && !full; i++)
		full = !tx_queue_is_empty(&worker->fabric->hosts[i].poll->tx);
	for (unsigned i = worker->first_polled; i < worker->last_polled && !full; i++) {
		const struct poll_switch *poll = worker->fabric->polled[i].poll;

		full = !switch_is_empty(poll->sw);
		for (unsigned at = 0; at < poll->ports && !full; at++)
			full = poll->port[at].port != NULL &&
			       !tx_queue_is_empty(&poll->port[at].tx);
	}
	return full;
}

/* Requests of mappers arrive all the time, and are not data. */
static void note_data(struct real_worker *worker, weft_time now)
{
	const struct real_fabric *fabric = worker->fabric;
	uint64_t data = 0;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		data += nic_counters(fabric->hosts[i].poll->nic)[NIC_FRAMES_RECEIVED];
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++)
		data += poll_switch_data_moved(fabric->polled[i].poll);
	if (data != worker->rest.data)
		worker->rest.data_since = now;
	worker->rest.data = data;
}

/* Returns true if the loop has carried no frame for long enough. */
static bool is_calm(struct real_worker *worker, weft_time now)
{
	const struct clock *clock = &worker->fabric->clock;
	const struct real_idle *rest = &worker->rest;
	weft_time calm = rest->futile < FUTILE_MAX ? CALM_PS : CALM_BESIDE_PS;

	if (worker->fabric->whole)
		return now - rest->calm_since >= CALM_PS;
	if (clock_span(clock, now - rest->calm_since) < calm)
		return false;
	note_data(worker, now);
	return clock_span(clock, now - rest->data_since) >= CALM_BESIDE_PS && !holds_frames(worker);
}

/* Returns true if the worker has been idle for long enough. If busy, notifies the other loops. */
static bool is_idle(struct real_worker *worker, weft_time now)
{
	struct real_idle *rest = &worker->rest;
	bool busy = has_busy_host(worker);

	if (worker->carried > 0) {
		rest->calm_since = now;
		rest->futile = 0;
	}
	if (busy)
		rest->idle_since = now;
	if (busy && !atomic_load_explicit(&rest->busy, memory_order_relaxed)) {
		atomic_store(&rest->busy, true);
		real_idle_wake(worker->fabric);
	}
	if (now - rest->idle_since < IDLE_PS || !is_calm(worker, now))
		return false;
	if (atomic_load_explicit(&rest->busy, memory_order_relaxed))
		atomic_store(&rest->busy, false);
	return true;
}

/* Returns true if no loop has work. A loop announces work before it checks which loops sleep. */
static bool all_may_rest(const struct real_fabric *fabric)
{
	bool may = atomic_load(&fabric->may_rest) && !atomic_load(&fabric->halt) &&
		   loop_commands_done(&fabric->orders);

	for (unsigned i = 0; i < fabric->loops && may; i++)
		may = !atomic_load(&fabric->worker[i].rest.busy);
	return may && (fabric->stop == NULL || !atomic_load(fabric->stop));
}

/* Starts or stops signals from endpoints' programs. Returns false if a program has data to send. */
static bool ask_programs(const struct real_worker *worker, bool rests)
{
	bool empty = true;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		if (!poll_nic_endpoints_rest(worker->fabric->hosts[i].poll, rests))
			empty = false;
	return empty;
}

/* Descriptors on which a loop waits. */
struct waiting {
	nfds_t count;
	struct pollfd on[PORTS_MAX + 1];
};

/* Makes the port signal arriving frames, or stops this ('inotify' -1). Returns false on failure. */
static bool port_signals(struct port *port, int inotify, struct waiting *waiting)
{
	int fd;

	if (port == NULL)
		return true;
	if (!port_sleep(port, inotify, &fd) || waiting->count > PORTS_MAX)
		return false;
	if (fd >= 0)
		waiting->on[waiting->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return true;
}

/* Like port_signals(), for all ports of a loop. */
static bool ports_signal(const struct real_worker *worker, int inotify, struct waiting *waiting)
{
	const struct real_fabric *fabric = worker->fabric;
	bool all = true;

	*waiting = (struct waiting){.count = 1};
	waiting->on[0] = (struct pollfd){.fd = worker->rest.ready, .events = POLLIN};
	if (fabric->whole)
		return true;
	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		all = port_signals(fabric->hosts[i].poll->port, inotify, waiting) && all;
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		const struct poll_switch *poll = fabric->polled[i].poll;

		for (unsigned at = 0; at < poll->ports; at++)
			all = port_signals(poll->port[at].port, inotify, waiting) && all;
	}
	return all;
}

/* Reads the loop's own descriptors. An event means work, so the loop does not sleep again soon. */
static void read_events(struct real_worker *worker)
{
	const struct clock *clock = &worker->fabric->clock;
	struct epoll_event event[READY_MAX];
	eventfd_t value;
	int events = epoll_wait(worker->rest.ready, event, READY_MAX, 0);

	for (int i = 0; i < events; i++)
		if (event[i].data.fd == worker->rest.wake)
			eventfd_read(worker->rest.wake, &value);
		else if (event[i].data.fd != worker->rest.bell)
			worker->rest.idle_since = clock_now(clock);
	if (events > 0)
		worker->rest.calm_since = clock_now(clock);
}

/* Discards notifications, including those caused by the loop's own writes. */
static void silence_bell(const struct real_worker *worker)
{
	char notes[4096];

	while (read(worker->rest.bell, notes, sizeof(notes)) > 0)
		;
}

/* The requested sleep is not a stall; only time beyond it is. Returns false if it ended at once. */
static bool sleep_until_ready(struct real_worker *worker, struct waiting *waiting)
{
	const struct clock *clock = &worker->fabric->clock;
	weft_time began = clock_now(clock), span = rest_for(worker, began);
	weft_time asked = clock_share(clock, span);
	const struct timespec limit = {.tv_nsec = (long)(span / PS_PER_NS)};
	int events = ppoll(waiting->on, waiting->count, &limit, NULL);
	weft_time slept = clock_now(clock) - began;

	loop_stall_exempt(&worker->stall, slept < asked ? slept : asked);
	if (events > 0)
		read_events(worker);
	return events == 0 || clock_span(clock, slept) >= CALM_PS;
}

weft_time real_idle_away(const struct real_worker *worker, weft_time now)
{
	/* Load 'resting' first: a loop that wakes up updates 'seen' before it clears 'resting'. */
	bool resting = atomic_load(&worker->rest.resting);
	weft_time away = loop_stall_load(&worker->stall.longest);
	weft_time seen = loop_stall_load(&worker->stall.seen);

	if (resting || seen == 0 || now < seen)
		return away;
	return now - seen > away ? now - seen : away;
}

bool real_idle(struct real_worker *worker, weft_time now)
{
	struct real_fabric *fabric = worker->fabric;
	struct waiting waiting;
	bool tried, rested;

	if (!loops_can_rest(fabric) || !is_idle(worker, now) || !all_may_rest(fabric))
		return false;
	atomic_store(&worker->rest.resting, true);
	if (!fabric->whole)
		silence_bell(worker);
	tried = ask_programs(worker, true) && ports_signal(worker, worker->rest.bell, &waiting) &&
		all_may_rest(fabric);
	rested = tried && sleep_until_ready(worker, &waiting);
	ports_signal(worker, -1, &waiting);
	ask_programs(worker, false);
	/* Interfaces that are down or lack buffers stay ready, and some ports never signal
	 * arrivals. */
	worker->rest.futile = rested ? 0 : RTE_MIN(worker->rest.futile + 1, FUTILE_MAX);
	if (!rested)
		worker->rest.calm_since = clock_now(&fabric->clock);
	atomic_store(&worker->rest.resting, false);
	return tried && worker->rest.futile < FUTILE_MAX;
}
