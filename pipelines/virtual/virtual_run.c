/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Phases of a virtual run: executes events up to the next time at which something is measured. */

#include "measure/measure_window.h"
#include "setup/device_config.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_private.h"
#include "virtual_ranks.h"
#include "virtual_threads.h"

/* Events between checks of the stop flag, which take a few milliseconds even if each event touches
 * new memory; and number of such checks between two progress reports. */
#define CHECK_EACH  (1u << 14)
#define REPORT_EACH 16
/* Number of deadlock searches during a run, or per watchdog timeout. */
#define LOOKS 16

/* Cache size for packets and the used half of the switches. */
#define CACHE_BYTES (UINT64_C(2) << 20)
/* Refreshes of credits without any effect after which a schedule is stuck. */
#define IDLE_REFRESHES 2
/* Size of a partition's switches: more than for a fat tree of 432 hosts, less than for 3,456 hosts
 * (docs/how-to/use-many-cores.md). */
#define VERY_LARGE_BYTES (UINT64_C(8) << 20)

struct run_loop {
	struct virtual_fabric *fabric;
	const atomic_bool *stop;
	virtual_progress_fn progress;
	void *ctx;
	weft_time end, refresh_at;
	bool warming,
		enough; /* measure.until: searching for the end of warm-up; found it or the value */
	bool stopped, failed; /* in some rank */
	uint32_t steps_left;  /* until the next check */
	uint32_t checks;
	unsigned idle;          /* successive refreshes after which there was nothing to do */
	weft_time goal_changed; /* last progress of the schedule at the previous refresh */
};

static uint64_t count_hops(const struct virtual_fabric *fabric)
{
	uint64_t hops = 0;

	for (uint32_t i = 0; i < fabric->switches; i++)
		for (unsigned port = 0; port < fabric->sw[i]->ports; port++)
			hops += fabric->sw[i]->port[port].count[SWITCH_DATA_OUT];
	return hops;
}

/* Enables prefetching once the devices and their packets exceed a cache. About half of the devices'
 * memory is in use. With several threads, many packets come from a different thread and are not in
 * this one's cache: they count twice, and prefetching pays off at half the size. */
static void choose_to_look_ahead(struct virtual_fabric *fabric)
{
	const unsigned partitions = virtual_partitions_count(fabric),
		       weight = partitions > 1 ? 2 : 1;

	for (unsigned i = 0; i < partitions; i++) {
		struct virtual_fabric *partition = virtual_partition_at(fabric, i);
		uint64_t state = partition->state_bytes / virtual_partitions_in_all(fabric);
		uint64_t packets = partition->pool.out * sizeof(struct weft_packet);

		partition->looks_ahead = state / 2 + weight * packets > CACHE_BYTES / weight;
		partition->looks_far = state > VERY_LARGE_BYTES;
	}
}

/* Makes the ranks agree: a finding in one of them counts for all. */
static void agree(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;
	bool counts = !virtual_has_ranks(fabric) || fabric->partitions->ranks->own == 0;
	uint64_t seen[] = {
		fabric->now, fabric->failed, loop->stopped, counts ? loop->steps_left : 0};

	virtual_ranks_max(fabric, seen, 4);
	fabric->now = seen[0];
	loop->failed = seen[1] != 0;
	loop->stopped = seen[2] != 0;
	loop->steps_left = (uint32_t)seen[3];
}

static void check_loop(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;

	if (loop->stop != NULL && atomic_load_explicit(loop->stop, memory_order_relaxed))
		loop->stopped = true;
	agree(loop);
	if (loop->checks++ % REPORT_EACH != 0)
		return;
	choose_to_look_ahead(fabric);
	if (loop->progress != NULL)
		loop->progress(loop->ctx, fabric->now, loop->end, count_hops(fabric));
}

static bool is_over(const struct run_loop *loop)
{
	const struct virtual_fabric *fabric = loop->fabric;

	return loop->stopped || loop->failed || loop->enough || fabric->deadlock ||
	       fabric->now >= virtual_goal_end(fabric);
}

static bool has_events(struct virtual_fabric *fabric)
{
	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		if (!event_queue_is_empty(virtual_partition_at(fabric, i)->events))
			return true;
	return false;
}

/* Returns true if switches withhold credits at 'now' that senders may need. 'send': sends them. */
static bool refresh_credits(struct virtual_fabric *fabric, weft_time now, bool send)
{
	bool some = false;

	for (uint32_t at = 0; at < fabric->switches && !fabric->credit_each; at++)
		if (virtual_is_ours(fabric, at))
			some |= virtual_switch_refresh(
				virtual_partition_of(fabric, at), at, now, send);
	return some;
}

/* Returns true if some packets will never move. Sets the time to when the last one moved. */
static bool stands_still(struct virtual_fabric *fabric, weft_time limit)
{
	uint64_t some[] = {0, virtual_packets_out(fabric)}, last[2];

	if (fabric->run->watchdog_ps != WEFT_TIME_NEVER || fabric->faults != NULL)
		return false;
	some[0] = has_events(fabric) || refresh_credits(fabric, limit, false);
	virtual_ranks_max(fabric, some, 2);
	if (some[0] != 0 || some[1] == 0)
		return false;
	last[0] = virtual_links_free_at(fabric);
	last[1] = virtual_hosts_full_at(fabric);
	virtual_ranks_max(fabric, last, 2);
	if (last[0] >= limit || last[1] >= limit)
		return false;
	virtual_hosts_fill(fabric);
	if (fabric->now < last[0])
		fabric->now = last[0];
	return true;
}

/* Executes events before 'limit' until none is left (returns false) or a check is due (returns
 * true). */
static bool take_events(struct run_loop *loop, weft_time limit)
{
	struct virtual_fabric *fabric = loop->fabric;

	if (fabric->partitions != NULL)
		return virtual_threads_run(fabric->partitions, limit, &loop->steps_left);
	return virtual_dispatch(fabric, &loop->steps_left);
}

/* Call when no event is being executed in any partition. */
static void set_time(struct virtual_fabric *fabric, weft_time now)
{
	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++) {
		virtual_partition_at(fabric, i)->now = now;
		virtual_partition_at(fabric, i)->order = 0;
	}
}

/* Runs all events before 'limit', or up to the end of a schedule. If no event is left, nothing will
 * ever happen again, and packets still in the fabric are waiting for each other. */
static void run_until(struct run_loop *loop, weft_time limit)
{
	struct virtual_fabric *fabric = loop->fabric;

	limit = weft_time_min(limit, virtual_goal_end(fabric));
	fabric->limit = limit;
	while (take_events(loop, limit)) {
		loop->steps_left = CHECK_EACH;
		check_loop(loop);
		if (loop->stopped || loop->failed)
			return;
	}
	/* Ensures that the stop flag is checked even in runs with hardly any events. */
	loop->steps_left--;
	fabric->failed = fabric->failed || event_queue_failed(fabric->events) ||
			 virtual_hosts_failed(fabric) ||
			 (fabric->routes.set != NULL && route_set_failed(fabric->routes.set));
	agree(loop);
	if (fabric->goal_ended != WEFT_TIME_NEVER) {
		set_time(fabric, weft_time_min(limit, virtual_goal_end(fabric)));
		return;
	}
	set_time(fabric, fabric->now);
	if (stands_still(fabric, limit)) {
		fabric->deadlock = true;
		return;
	}
	set_time(fabric, limit);
}

static weft_time goal_changed(struct virtual_fabric *fabric)
{
	weft_time last = 0;

	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		last = weft_time_max(last, virtual_partition_at(fabric, i)->goal_state.changed);
	return last;
}

/* Ends a schedule that cannot continue, because a rank waits for a message that no rank sends. Call
 * after each refresh of credits, which may wake hosts. */
static void end_stuck_schedule(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;
	uint64_t seen[] = {0, 0};

	if (fabric->goal == NULL || fabric->goal_ended != WEFT_TIME_NEVER)
		return;
	seen[0] = has_events(fabric) || virtual_packets_out(fabric) > 0 || fabric->faults != NULL ||
		  virtual_events_due(fabric) != WEFT_TIME_NEVER;
	seen[1] = goal_changed(fabric);
	virtual_ranks_max(fabric, seen, 2);
	loop->idle = seen[0] == 0 && seen[1] == loop->goal_changed ? loop->idle + 1 : 0;
	loop->goal_changed = seen[1];
	if (loop->idle == IDLE_REFRESHES)
		fabric->goal_ended = seen[1];
}

static void poll_watchdogs(struct virtual_fabric *fabric)
{
	for (uint32_t at = 0; at < fabric->switches; at++) {
		struct virtual_fabric *partition;

		if (!virtual_is_ours(fabric, at))
			continue;
		partition = virtual_partition_of(fabric, at);
		switch_poll_watchdog(fabric->sw[at], fabric->now);
		if (fabric->sw[at]->discarded == NULL)
			continue;
		virtual_take_discards(partition, at, true);
		for (unsigned port = 0; port < fabric->sw[at]->ports; port++)
			virtual_switch_try(partition, at, port, fabric->now);
	}
}

/* Returns the number of sources of a host, or 0 for hosts of other processes. */
static unsigned our_sources(const struct virtual_fabric *fabric, uint32_t host)
{
	return virtual_is_ours(fabric, fabric->switches + host) ? fabric->host[host].sources : 0;
}

static void take_sample(struct virtual_fabric *fabric)
{
	struct measure_totals totals;

	virtual_totals_read(fabric, &totals);
	if (measure_window_sample(&fabric->window, &totals) < 0)
		fabric->failed = true;
}

static void count_sources(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		for (unsigned k = 0; k < our_sources(fabric, i); k++)
			traffic_count(fabric->host[i].source[k], fabric->now);
}

static void take_batch(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;

	count_sources(fabric);
	virtual_entries_read(fabric);
	if (measure_window_batch(&fabric->window, fabric->now))
		virtual_transit_middle(fabric);
	if (fabric->run->measure.until.interval_ppm > 0)
		loop->enough = loop->warming ? measure_is_warm(&fabric->window)
					     : measure_until_reached(&fabric->window);
}

/* Returns the next time, up to 'until', at which something is measured. */
static weft_time next_measured(const struct run_loop *loop, weft_time until, bool sampling)
{
	const struct virtual_fabric *fabric = loop->fabric;
	weft_time sample = fabric->window.sampled.at_ps + fabric->run->measure.sample_ps;

	if (sampling || loop->warming)
		until = weft_time_min(until, measure_window_batch_end(&fabric->window));
	return sampling ? weft_time_min(until, sample) : until;
}

/* Returns the duration of the measurement, unless the run ends earlier. */
static weft_time time_of_measuring(const struct virtual_fabric *fabric)
{
	const struct run_config_measure *measure = &fabric->run->measure;

	return run_result_minus(measure->duration_ps, measure->warmup_ps);
}

/* Runs up to 'until', in steps that take samples and poll the watchdog. */
static void run_phase(struct run_loop *loop, weft_time until, bool sampling)
{
	struct virtual_fabric *fabric = loop->fabric;
	weft_time sample = fabric->run->measure.sample_ps;
	weft_time period = weft_time_min(fabric->run->watchdog_ps, loop->end) / LOOKS;
	weft_time watch_at = period > 0 ? fabric->now + period : WEFT_TIME_NEVER;

	while (fabric->now < until && !is_over(loop)) {
		weft_time next = weft_time_min(
			weft_time_min(watch_at, loop->refresh_at), virtual_events_due(fabric));

		run_until(loop, weft_time_min(next_measured(loop, until, sampling), next));
		/* Applied first: packets sent below are in other partitions' mailboxes, not on a
		 * cable. */
		if (fabric->now >= virtual_events_due(fabric))
			virtual_events_apply(fabric, fabric->now);
		if (fabric->now >= loop->refresh_at) {
			refresh_credits(fabric, fabric->now, true);
			virtual_losses_refresh(fabric, fabric->now);
			virtual_pause_renew(fabric);
			loop->refresh_at += device_credit_refresh(fabric->run->hello_ps);
			end_stuck_schedule(loop);
		}
		if (fabric->now >= watch_at) {
			/* Searches heads that have waited since the search before the last one,
			 * before the watchdog frees them. */
			virtual_deadlock_look(fabric, 2 * period, time_of_measuring(fabric));
			if (fabric->run->watchdog_ps != WEFT_TIME_NEVER)
				poll_watchdogs(fabric);
			watch_at = fabric->now + period;
		}
		if (sampling && fabric->now >= fabric->window.sampled.at_ps + sample) {
			take_sample(fabric);
			virtual_events_watch(fabric, fabric->now);
		}
		if ((sampling || loop->warming) &&
			fabric->now >= measure_window_batch_end(&fabric->window))
			take_batch(loop);
		agree(loop);
	}
}

static void begin_measuring(struct virtual_fabric *fabric)
{
	struct measure_totals totals;

	virtual_entries_read(fabric);
	virtual_totals_read(fabric, &totals);
	measure_window_begin(&fabric->window, &totals);
	starvation_begin(&fabric->starved);
}

/* Sources are counted first: otherwise messages generated at time 0 would be measured. */
static void warm_up(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;

	run_phase(loop, fabric->run->measure.warmup_ps, false);
	count_sources(fabric);
	begin_measuring(fabric);
	virtual_links_mark(fabric);
	virtual_cn_mark(fabric);
}

/* Measures until the warm-up ends, at most for half of the run, and discards the values. */
static void warm_up_alone(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;
	weft_time from = fabric->now;

	loop->warming = true;
	run_phase(loop, from + (run_result_minus(loop->end, from) / 2), false);
	loop->warming = loop->enough = false;
	count_sources(fabric);
	virtual_measure_forget(fabric);
	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		virtual_partition_at(fabric, i)->measure_from = fabric->now;
	begin_measuring(fabric);
	virtual_links_mark(fabric);
	virtual_cn_mark(fabric);
}

static void find_first(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		for (unsigned k = 0; k < our_sources(fabric, i); k++)
			measure_window_source(&fabric->window, fabric->host[i].source[k], 0);
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		uint64_t early = UINT64_MAX - fabric->window.entry[i].first_ps;

		virtual_ranks_max(fabric, &early, 1);
		fabric->window.entry[i].first_ps = UINT64_MAX - early;
	}
}

/* Executes the part of the run for which threads exist. */
static void run_phases(struct run_loop *loop)
{
	struct virtual_fabric *fabric = loop->fabric;
	struct measure_totals totals;

	choose_to_look_ahead(fabric);
	fabric->limit = loop->end;
	find_first(fabric);
	virtual_links_foretell(fabric);
	virtual_hosts_open(fabric);
	begin_measuring(fabric);
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (virtual_is_ours(fabric, fabric->switches + i))
			virtual_host_try(virtual_partition_of(fabric, fabric->switches + i), i, 0);
	if (fabric->run->measure.warmup_ps > 0)
		warm_up(loop);
	if (fabric->run->measure.until.interval_ppm > 0)
		warm_up_alone(loop);
	run_phase(loop, loop->end, true);
	virtual_deadlock_look(fabric, 0, run_result_minus(fabric->now, fabric->measure_from));
	for (uint32_t i = 0; i < fabric->hosts; i++)
		for (unsigned k = 0; k < our_sources(fabric, i); k++)
			traffic_abandon(fabric->host[i].source[k], fabric->now);
	virtual_entries_read(fabric);
	virtual_totals_read(fabric, &totals);
	virtual_events_end(fabric);
	measure_window_end(&fabric->window, &totals);
	fabric->stopped = loop->stopped;
}

/* Returns the outcome of this process: 0, or -errno with error set. */
static int failure(struct virtual_fabric *fabric, struct error *error)
{
	char text[VIRTUAL_PARTITIONS_TEXT];

	virtual_partitions_join(fabric);
	if (!fabric->failed)
		return 0;
	if (virtual_has_ranks(fabric) && fabric->partitions->garbled)
		return error_set(error, EIO, "%s: received an invalid message from another rank",
			virtual_partitions_text(fabric, text));
	if (fabric->refused != NULL)
		return error_set(error, EINVAL, "%s: %s; use one worker",
			virtual_partitions_text(fabric, text), fabric->refused);
	if (fabric->routes.set != NULL && route_set_fault(fabric->routes.set)[0] != '\0')
		return error_set(error, EINVAL, "%s", route_set_fault(fabric->routes.set));
	return error_set(error, ENOMEM, "not enough memory for more packets or events");
}

/* Prefaults a large fabric's frame numbers that this process uses; with several processes, the rows
 * of its own hosts. */
static void touch_numbers(const struct virtual_fabric *fabric)
{
	const size_t row = 2 * (size_t)fabric->hosts;
	uint8_t *table = fabric->number_table;

	if (fabric->hosts == 0 || table == NULL ||
		fabric->host[0].nic.config.numbers != PAIR_NUMBERS_BYTES)
		return;
	if (!virtual_has_ranks(fabric)) {
		arena_touch_pages(table, fabric->hosts * row);
		return;
	}
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (!virtual_is_elsewhere(fabric, fabric->switches + i))
			arena_touch_pages(table + i * row, row);
}

int virtual_fabric_run(struct virtual_fabric *fabric, const atomic_bool *stop,
	virtual_progress_fn progress, void *ctx, struct error *error)
{
	const struct run_config_measure *measure = &fabric->run->measure;
	struct run_loop loop = {.fabric = fabric,
		.stop = stop,
		.progress = progress,
		.ctx = ctx,
		.end = measure->duration_ps,
		.refresh_at = device_credit_refresh(fabric->run->hello_ps),
		.steps_left = CHECK_EACH};
	struct ranks *ranks = fabric->partitions != NULL ? fabric->partitions->ranks : NULL;
	double start;
	int result;

	touch_numbers(fabric);
	start = measure_wall_seconds();
	fabric->measure_from = measure->warmup_ps;
	if (measure->until.interval_ppm == 0)
		fabric->window.length_ps =
			run_result_minus(measure->duration_ps, measure->warmup_ps);
	if (fabric->partitions != NULL)
		virtual_threads_start(fabric->partitions);
	run_phases(&loop);
	if (fabric->partitions != NULL)
		virtual_threads_end(fabric->partitions);
	fabric->wall_seconds = measure_wall_seconds() - start;
	result = ranks_agree(ranks, failure(fabric, error), error);
	return result < 0 || ranks == NULL ? result : partition_gather(fabric, error);
}
