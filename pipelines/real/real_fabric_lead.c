/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The leader, which is the first loop, advances the phases of a run and executes commands. */

#include <stdio.h>
#include <string.h>

#include "real_endpoints.h"
#include "real_fabric_idle.h"
#include "real_private.h"

#define LINKS_WAIT_PS  (5 * PS_PER_S)
#define ROUTES_WAIT_PS (20 * PS_PER_S) /* also counted from the start of waiting */
#define DRAIN_WAIT_PS  (2 * PS_PER_S)  /* without an arriving message */
#define DRAIN_MOST_PS  (30 * PS_PER_S)
#define HURRY_WAIT_PS \
	(500 * PS_PER_MS) /* limit after a signal, in real time: the signal's sender is waiting */
#define HURRY_MIN_PS  (5 * PS_PER_MS) /* minimum of HURRY_WAIT_PS on the fabric's clock */
#define DRAIN_LOOK_PS (1 * PS_PER_MS)

static void give_order(struct real_fabric *fabric, enum real_order order)
{
	fabric->order = order;
	loop_commands_give(&fabric->orders, fabric->loops);
	real_idle_forbid(fabric);
}

/* If the loop is late, everything since the last sample counts for this one. If out of memory, the
 * sample is skipped. */
static void take_sample(struct real_fabric *fabric, weft_time now)
{
	struct measure_totals totals;

	real_totals_read(fabric, now, &totals);
	measure_window_sample(&fabric->work->window, &totals);
}

/* Returns false if no batch is due. */
static bool take_batch(struct real_fabric *fabric, weft_time now)
{
	struct measure_window *window = &fabric->work->window;

	if (now - fabric->traffic_from < measure_window_batch_end(window))
		return false;
	real_entries_read(fabric, false);
	if (measure_window_batch(window, now - fabric->traffic_from))
		real_deadlock_middle(fabric);
	return true;
}

static bool measures_until(const struct real_fabric *fabric)
{
	return fabric->work->run->measure.until.interval_ppm > 0;
}

/* Discards earlier latencies from the totals; each host's loop discards its own. */
static void forget_latencies(struct measure_window *window, struct measure_totals *totals)
{
	totals->timed = totals->latency_sum_ps = 0;
	totals->released_timed = totals->released_latency_sum_ps = 0;
	for (unsigned i = 0; i < window->entries; i++)
		window->entry[i].now.timed = window->entry[i].now.latency_sum_ns = 0;
}

/* 'fresh': the hosts' loops are about to restart the sources. */
static void begin_measuring(struct real_fabric *fabric, weft_time now, bool fresh)
{
	struct measure_totals totals;

	real_totals_read(fabric, now, &totals);
	real_entries_read(fabric, fresh);
	/* Only the sources start anew; the counts of programs continue. */
	if (fresh)
		totals.generated_wire_bytes = totals.edge_generated_wire_bytes;
	if (now <= fabric->measure_from)
		forget_latencies(&fabric->work->window, &totals);
	measure_window_begin(&fabric->work->window, &totals);
}

static enum real_phase phase_after_warmup(const struct real_fabric *fabric)
{
	return measures_until(fabric) ? REAL_SETTLING : REAL_MEASURING;
}

static bool all_delivered(const struct real_fabric *fabric, weft_time now)
{
	for (unsigned i = 0; i < fabric->host_count; i++)
		if (poll_nic_busy(fabric->hosts[i].poll, now))
			return false;
	return true;
}

static void start_traffic(struct real_fabric *fabric, weft_time now, weft_time duration)
{
	const struct run_config_measure *measure;

	measure = &fabric->work->run->measure;
	fabric->traffic_from = now;
	real_events_restart(fabric, now);
	atomic_store(&fabric->sent_from, now);
	fabric->traffic_until = duration == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : now + duration;
	fabric->measure_from = now + measure->warmup_ps;
	fabric->phase = measure->warmup_ps > 0 ? REAL_WARMING : phase_after_warmup(fabric);
	fabric->work->window.length_ps = duration == WEFT_TIME_NEVER || measures_until(fabric)
						 ? 0
						 : run_result_minus(duration, measure->warmup_ps);
	for (unsigned i = 0; i < fabric->work->window.entries; i++)
		fabric->work->window.entry[i].first_ps = WEFT_TIME_NEVER;
	begin_measuring(fabric, now, true);
	real_deadlock_begin(fabric, duration == WEFT_TIME_NEVER
					    ? duration
					    : run_result_minus(duration, measure->warmup_ps));
	fabric->stop_seen = false;
	fabric->hurried_at = 0;
	give_order(fabric, REAL_ORDER_START);
}

static void stop_traffic(struct real_fabric *fabric, weft_time now)
{
	struct measure_totals totals;

	/* A run that ends before measuring starts has no result. */
	if (fabric->phase == REAL_WARMING || fabric->phase == REAL_SETTLING) {
		fabric->measure_from = WEFT_TIME_NEVER;
		begin_measuring(fabric, now, false);
	}
	real_totals_read(fabric, now, &totals);
	real_entries_read(fabric, false);
	measure_window_end(&fabric->work->window, &totals);
	real_deadlock_look(fabric, now, 0);
	fabric->ended_at = now;
	fabric->arrived_at = now;
	fabric->phase = REAL_DRAINING;
	fabric->look_due = now + DRAIN_LOOK_PS;
	give_order(fabric, REAL_ORDER_STOP);
}

/* A run of a schedule ends with the schedule; run_config_supported.c refuses additional traffic. */
static bool goal_is_over(const struct real_fabric *fabric)
{
	return fabric->replay != NULL && goal_replay_done(fabric->replay);
}

/* Returns true if links and routes are up, or the wait has been long enough. */
static bool may_begin(struct real_fabric *fabric, weft_time now)
{
	weft_time waited = now - fabric->waited_from;

	/* Limited in real time: a dilated clock leaves enough time for hellos. */
	if (!real_links_are_up(fabric) &&
		waited < RTE_MAX(clock_share(&fabric->clock, LINKS_WAIT_PS),
				 20 * fabric->options.run->hello_ps))
		return false;
	if (!real_is_routed(fabric) && real_may_be_routed(fabric) && waited < ROUTES_WAIT_PS)
		return false;
	fabric->unrouted = !real_is_routed(fabric);
	return true;
}

static uint64_t count_arrived(const struct real_fabric *fabric)
{
	uint64_t arrived = 0;

	for (unsigned i = 0; i < fabric->host_count; i++)
		arrived += fabric->hosts[i].poll->sink->messages;
	return arrived;
}

/* Returns true if everything in flight has arrived, or nothing arrives any more. For a run without
 * a configured end, a signal is the normal end. */
static bool is_drained(struct real_fabric *fabric, weft_time now)
{
	uint64_t arrived = count_arrived(fabric);
	weft_time hurry = RTE_MAX(clock_share(&fabric->clock, HURRY_WAIT_PS), HURRY_MIN_PS);

	if (fabric->options.calibrates)
		return true;
	/* Programs never stop sending. */
	if (arrived != fabric->arrived && real_program_hosts(fabric) == 0) {
		fabric->arrived = arrived;
		fabric->arrived_at = now;
	}
	if (all_delivered(fabric, now))
		return true;
	if (fabric->incomplete)
		return now - fabric->ended_at >= hurry;
	if (fabric->hurried_at != 0 && now - fabric->hurried_at >= hurry) {
		fabric->incomplete = true;
		return true;
	}
	return now - fabric->arrived_at >= DRAIN_WAIT_PS || now - fabric->ended_at >= DRAIN_MOST_PS;
}

/* Returns true if the warm-up has ended, or half of the time has passed. */
static bool has_settled(struct real_fabric *fabric, weft_time now)
{
	weft_time left = run_result_minus(fabric->traffic_until, fabric->measure_from);

	if (take_batch(fabric, now) && measure_is_warm(&fabric->work->window))
		return true;
	return now - fabric->measure_from >= left / 2;
}

/* Takes the samples and batches that are due. Returns true if the requested value is known. */
static bool measure(struct real_fabric *fabric, weft_time now)
{
	if (now - fabric->traffic_from >=
		fabric->work->window.sampled.at_ps + fabric->work->run->measure.sample_ps)
		take_sample(fabric, now);
	return take_batch(fabric, now) && measures_until(fabric) &&
	       measure_until_reached(&fabric->work->window);
}

/* Advances the phases of a run. Returns true when the run has ended. */
static bool watch(struct real_fabric *fabric, weft_time now)
{
	switch (fabric->phase) {
	case REAL_WAITING:
		if (!may_begin(fabric, now))
			return false;
		real_traffic_begin(fabric, false);
		start_traffic(fabric, now, fabric->duration);
		return false;
	case REAL_WARMING:
		if (now < fabric->measure_from)
			return false;
		begin_measuring(fabric, now, false);
		fabric->phase = phase_after_warmup(fabric);
		give_order(fabric, REAL_ORDER_MEASURE);
		return false;
	case REAL_SETTLING:
		if (!has_settled(fabric, now))
			return false;
		fabric->measure_from = now;
		begin_measuring(fabric, now, false);
		fabric->phase = REAL_MEASURING;
		give_order(fabric, REAL_ORDER_MEASURE);
		return false;
	case REAL_MEASURING:
		if (measure(fabric, now) || now >= fabric->traffic_until || goal_is_over(fabric))
			stop_traffic(fabric, now);
		return false;
	case REAL_DRAINING:
		if (now < fabric->look_due)
			return false;
		fabric->look_due = now + DRAIN_LOOK_PS;
		if (!is_drained(fabric, now))
			return false;
		fabric->phase = REAL_IDLE;
		return true;
	default:
		return false;
	}
}

/* Stops the traffic on a stop signal. Packets in flight are still delivered, but only for a short
 * time if the traffic had already ended. Returns true when the run is over. */
static bool watch_stop(struct real_fabric *fabric, weft_time now)
{
	if (fabric->stop == NULL || !atomic_load_explicit(fabric->stop, memory_order_relaxed))
		return false;
	if (fabric->phase == REAL_WAITING || fabric->phase == REAL_IDLE) {
		fabric->incomplete = fabric->incomplete || fabric->phase == REAL_WAITING;
		return true;
	}
	if (fabric->phase != REAL_DRAINING) {
		fabric->incomplete = fabric->traffic_until != WEFT_TIME_NEVER;
		stop_traffic(fabric, now);
	} else if (!fabric->stop_seen) {
		fabric->hurried_at = now;
	}
	fabric->stop_seen = true;
	return false;
}

/* Keeps the loops awake until the cable's ends have detected the change. */
static void cut_link(struct real_fabric *fabric, const char *text, weft_time now)
{
	real_links_cut(fabric, text);
	real_idle_defer(fabric, now);
}

/* Parses "NANOSECONDS" or "NANOSECONDS loaded". The command selects its traffic, so that traffic
 * loaded for a run that never started is not sent by the next run. */
static void obey_start(struct real_fabric *fabric, const char *text, weft_time now)
{
	char which[16] = "";
	uint64_t duration_ns;

	real_events_restart(fabric, now);
	if (sscanf(text, "%" SCNu64 " %15s", &duration_ns, which) > 0 &&
		real_traffic_begin(fabric, strcmp(which, "loaded") == 0))
		start_traffic(fabric, now, duration_ns * PS_PER_NS);
}

static void obey_lab(struct real_fabric *fabric, const char *text, weft_time now)
{
	if (strncmp(text, "traffic start ", 14) == 0)
		obey_start(fabric, text + 14, now);
	else if (strncmp(text, "traffic load ", 13) == 0)
		real_traffic_load(fabric, text + 13);
	else if (strcmp(text, "traffic stop") == 0 && fabric->phase != REAL_IDLE)
		stop_traffic(fabric, now);
	else if (strncmp(text, "waiting ", 8) == 0 && text[8] != '\0') {
		snprintf(fabric->waiting, sizeof(fabric->waiting), "%s", text + 8);
		give_order(fabric, REAL_ORDER_LOOK);
	} else if (strncmp(text, "cables ", 7) == 0)
		real_cables_load(fabric, text + 7, now);
	else if (strncmp(text, "counts ", 7) == 0)
		real_report_write(fabric, text + 7, false);
	else if (strncmp(text, "report ", 7) == 0)
		real_report_write(fabric, text + 7, true);
}

static void serve_command(struct real_fabric *fabric, weft_time now)
{
	char text[TELEMETRY_CONTROL_MAX];
	weft_time began;

	if (!telemetry_control_poll(fabric->telemetry, text))
		return;
	began = real_task_begin(&fabric->worker[0]);
	if (strncmp(text, "mapper ", 7) == 0)
		real_control_ask(fabric, text + 7);
	else if (strncmp(text, "link ", 5) == 0)
		cut_link(fabric, text + 5, now);
	else if (strncmp(text, "set ", 4) == 0)
		real_links_set(fabric, text + 4);
	else if (strcmp(text, "pad") == 0)
		real_links_pad(fabric);
	else if (fabric->serving)
		obey_lab(fabric, text, now);
	real_task_end(&fabric->worker[0], began);
}

static void move_cables(struct real_fabric *fabric)
{
	real_cables_begin(fabric);
	give_order(fabric, REAL_ORDER_PLUG);
}

bool real_lead(struct real_fabric *fabric)
{
	weft_time now = clock_now(&fabric->clock);
	bool over;

	if (!loop_commands_done(&fabric->orders))
		return false;
	if (fabric->order == REAL_ORDER_LOOK) {
		fabric->order = REAL_ORDER_NONE;
		real_deadlock_looked(fabric);
	} else if (fabric->order == REAL_ORDER_PLUG) {
		fabric->order = REAL_ORDER_NONE;
		real_cables_done(fabric);
	}
	if (fabric->phase > REAL_WAITING || fabric->serving)
		real_events_poll(fabric, now);
	over = watch(fabric, now);
	/* A command was given, so the next one must wait. */
	if (!loop_commands_done(&fabric->orders))
		return false;
	real_idle_allow(fabric,
		fabric->phase == REAL_IDLE && real_is_routed(fabric) &&
			real_events_rest(fabric, now),
		now);
	if (real_deadlock_check(fabric, now))
		give_order(fabric, REAL_ORDER_LOOK);
	else if (real_cables_are_due(fabric))
		move_cables(fabric);
	else
		serve_command(fabric, now);
	real_pool_warning_check(fabric, now);
	if (!loop_commands_done(&fabric->orders))
		return false;
	return (over && !fabric->serving) || watch_stop(fabric, now);
}

bool real_fabric_sent_for(const struct real_fabric *fabric, weft_time *time)
{
	weft_time from = atomic_load(&fabric->sent_from), now = clock_now(&fabric->clock);

	*time = now > from ? now - from : 0;
	return from != 0;
}
