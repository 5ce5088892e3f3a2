/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <stdio.h>
#include <time.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "poll/poll_nic_endpoints.h"
#include "poll/poll_yield.h"
#include "real_endpoints.h"
#include "real_fabric_idle.h"
#include "real_private.h"

#define WATCH_EACH 16 /* leader iterations between two readings of the clock */

/* If memory for its sources runs out, a host sends less, which is reported and counted. */
static void start_host(struct real_fabric *fabric, struct real_host *host)
{
	struct error error = {""};

	if (real_host_start_traffic(fabric, host, &error) == 0)
		return;
	fprintf(stderr, "weft: host %u sends only part of its traffic: %s\n", host->number,
		error.text);
	atomic_fetch_add(&fabric->sources_failed, 1);
}

static void note_presence(struct real_worker *worker, weft_time now)
{
	loop_stall_note(&worker->stall, now, RUN_STALL_MAX_NS * PS_PER_NS);
}

static weft_time cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (weft_time)time.tv_sec * PS_PER_S + (weft_time)time.tv_nsec * PS_PER_NS;
}

weft_time real_task_begin(struct real_worker *worker)
{
	note_presence(worker, clock_now(&worker->fabric->clock));
	return cpu_time();
}

void real_task_end(struct real_worker *worker, weft_time began)
{
	loop_stall_exempt(&worker->stall, clock_share(&worker->fabric->clock, cpu_time() - began));
}

static bool others_are_here(const struct real_worker *worker, weft_time now)
{
	const struct real_fabric *fabric = worker->fabric;
	weft_time hello = fabric->options.run->hello_ps;

	for (unsigned i = 0; i < fabric->loops; i++) {
		weft_time seen = loop_stall_load(&fabric->worker[i].stall.seen);

		if (now > seen && now - seen > hello)
			return false;
	}
	return true;
}

/* Stalls of a neighbour in a different process are not visible. */
static void excuse_end(struct real_fabric *fabric, const struct real_end *end,
	struct link_end *link, weft_time now)
{
	if (end != NULL && real_end_is_inside(end))
		link_end_forgive_stall(link, now);
}

/* A loop that sleeps or has no CPU sends no hellos; its links must not go down. */
static void excuse_others(struct real_worker *worker, weft_time now)
{
	struct real_fabric *fabric = worker->fabric;

	if (others_are_here(worker, now))
		return;
	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		excuse_end(fabric, fabric->hosts[i].end, nic_link(fabric->hosts[i].poll->nic), now);
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		struct weft_switch *sw = fabric->polled[i].poll->sw;
		struct topology_port at = {DEVICE_SWITCH, fabric->polled[i].device->number, 0};

		for (; at.port < sw->ports; at.port++)
			excuse_end(fabric, real_end_at(fabric, at), &sw->port[at.port].link, now);
	}
}

static void measure_lateness(const struct real_worker *worker, struct histogram *total)
{
	const struct real_fabric *fabric = worker->fabric;

	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		lateness_measure(fabric->hosts[i].poll->port->late, total);
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		const struct poll_switch *poll = fabric->polled[i].poll;

		for (unsigned at = 0; at < poll->ports; at++)
			if (poll->port[at].port != NULL)
				lateness_measure(poll->port[at].port->late, total);
	}
}

static void obey(struct real_worker *worker, weft_time now)
{
	struct real_fabric *fabric = worker->fabric;
	weft_time began;

	if (!loop_commands_take(&fabric->orders, &worker->orders_seen))
		return;
	if (fabric->order == REAL_ORDER_LOOK) {
		real_deadlock_collect(worker, now);
		loop_commands_obeyed(&fabric->orders);
		return;
	}
	began = real_task_begin(worker);
	if (fabric->order == REAL_ORDER_PLUG) {
		real_cables_move(worker);
		real_task_end(worker, began);
		loop_commands_obeyed(&fabric->orders);
		return;
	}
	if (fabric->order == REAL_ORDER_START) {
		real_flows_begin(fabric, worker->number);
		loop_stall_reset(&worker->stall);
	}
	for (unsigned i = worker->first_host; i < worker->last_host; i++) {
		if (fabric->order == REAL_ORDER_START)
			start_host(fabric, &fabric->hosts[i]);
		else
			real_host_measure(fabric, &fabric->hosts[i]);
		if (fabric->order == REAL_ORDER_STOP)
			real_host_stop_traffic(fabric, &fabric->hosts[i], now);
	}
	if (fabric->order != REAL_ORDER_STOP)
		histogram_reset(&worker->late_ns);
	measure_lateness(worker, fabric->order == REAL_ORDER_STOP ? NULL : &worker->late_ns);
	real_task_end(worker, began);
	loop_commands_obeyed(&fabric->orders);
}

static unsigned poll_devices(struct real_worker *worker)
{
	struct real_fabric *fabric = worker->fabric;
	unsigned moved = 0;

	worker->carried = 0;
	for (unsigned i = worker->first_host; i < worker->last_host; i++) {
		moved += poll_nic_run(fabric->hosts[i].poll, clock_now(&fabric->clock));
		worker->carried += fabric->hosts[i].poll->carried;
	}
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++) {
		struct poll_switch *poll = fabric->polled[i].poll;

		moved += poll_switch_run(poll, clock_now(&fabric->clock));
		worker->carried += poll->carried;
	}
	return moved;
}

/* Without traffic of its own, a fabric carries only programs' frames. */
static bool serves_programs(const struct real_worker *worker)
{
	if (worker->fabric->options.run->traffic.count == 0)
		return true;
	for (unsigned i = worker->first_host; i < worker->last_host; i++)
		if (poll_nic_endpoints_active(worker->fabric->hosts[i].poll))
			return true;
	return false;
}

static void halt(struct real_fabric *fabric)
{
	atomic_store(&fabric->halt, true);
	real_idle_wake(fabric);
}

void real_fabric_set_crowded(struct real_fabric *fabric, bool crowded)
{
	fabric->crowded = crowded;
}

static int work(void *ctx)
{
	struct real_worker *worker = ctx;
	struct real_fabric *fabric = worker->fabric;
	struct poll_yield yield;

	poll_yield_init(&yield, fabric->crowded);
	loop_stall_begin(&worker->stall, clock_now(&fabric->clock));
	for (uint64_t i = 0; !atomic_load_explicit(&fabric->halt, memory_order_relaxed); i++) {
		unsigned moved = poll_devices(worker);
		weft_time now = clock_now(&fabric->clock);
		bool leads = worker->leader && (i % WATCH_EACH == 0 || moved == 0);

		note_presence(worker, now);
		excuse_others(worker, now);
		obey(worker, now);
		if (leads && real_lead(fabric))
			halt(fabric);
		/* The leader must read commands before it sleeps. */
		if (leads == worker->leader && real_idle(worker, now)) {
			yield.idle = 0; /* the next iteration sends hellos and sleeps again */
		} else {
			yield.serves = worker->carried == 0 && serves_programs(worker);
			poll_yield_update(&yield, worker->carried);
		}
	}
	return 0;
}

static void share_out(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->loops; i++)
		fabric->worker[i] = (struct real_worker){
			.fabric = fabric,
			.number = i,
			.first_polled = real_share(fabric, i, fabric->polled_count),
			.last_polled = real_share(fabric, i + 1, fabric->polled_count),
			.first_host = real_share(fabric, i, fabric->host_count),
			.last_host = real_share(fabric, i + 1, fabric->host_count),
			.orders_seen = atomic_load(&fabric->orders.given),
			.leader = i == 0,
			.stall = {.seen = clock_now(&fabric->clock)},
			.heads = fabric->worker[i].heads, /* reuses the previous run's memory */
		};
}

static void run_workers(struct real_fabric *fabric)
{
	unsigned next = 1, lcore;

	share_out(fabric);
	fabric->order = REAL_ORDER_NONE;
	real_idle_open(fabric);
	atomic_store(&fabric->orders.pending, 0);
	atomic_store(&fabric->halt, false);
	real_control_start(fabric);
	real_endpoints_start(fabric);
	RTE_LCORE_FOREACH_WORKER(lcore)
	if (next < fabric->loops)
		rte_eal_remote_launch(work, &fabric->worker[next++], lcore);
	work(&fabric->worker[0]);
	rte_eal_mp_wait_lcore();
	real_deadlock_look(fabric, clock_now(&fabric->clock), 0);
	real_control_stop(fabric);
	real_endpoints_stop(fabric);
	real_idle_close(fabric);
	fabric->stopped_at = clock_now(&fabric->clock);
}

void real_fabric_run(struct real_fabric *fabric, weft_time duration, const atomic_bool *stop)
{
	fabric->duration = duration;
	fabric->stop = stop;
	fabric->serving = false;
	fabric->waited_from = clock_now(&fabric->clock);
	fabric->phase = REAL_WAITING;
	run_workers(fabric);
}

void real_fabric_serve(struct real_fabric *fabric, const atomic_bool *stop)
{
	fabric->stop = stop;
	fabric->serving = true;
	fabric->phase = REAL_IDLE;
	real_links_recall(fabric);
	real_events_restart(fabric, clock_now(&fabric->clock));
	run_workers(fabric);
}

/* --- lateness --- */

struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at)
{
	const struct real_end *end = real_end_at(fabric, at);

	return lateness_summary(end != NULL ? end->port.late : NULL);
}
