/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The events of a run (run_events.h) on the real clock: the leader executes them when they are due.
 * Links detect cuts, and hosts resend unacknowledged frames, as in any fabric. In a lab with
 * several processes, each process executes the events at its own link ends. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/result/run_result_jobs.h"
#include "experiment/run/run_events.h"
#include "poll/switch_metrics.h"
#include "real_fabric_idle.h"
#include "real_private.h"

#define LAB_PS  ((weft_time)24 * 3600 * PS_PER_S) /* horizon of a lab's events: one day */
#define REST_PS (100 * PS_PER_MS)                 /* twice the sleep of idle loops */

/* An event that occurred. */
struct seen {
	struct run_event_act act;
	weft_time detect_ps;
	uint64_t lost, resent, abandoned; /* totals at the time of the event */
};

struct real_events {
	struct run_event_plan plan;
	weft_time from;    /* start of the events' time */
	uint32_t *cuts;    /* [links]: number of events that currently cut the link's cable */
	struct seen *seen; /* [plan.occurrences] */
	uint32_t count;
	uint32_t cutting; /* index of the last event that cut a cable */
	bool watching;    /* watches for links that go down after that event */
	/* Valid while an act is executed. */
	struct real_fabric *fabric;
	const struct run_event_act *act;
	bool undo;
};

int real_events_create(struct real_fabric *fabric, struct real_traffic *work, struct error *error)
{
	const struct topology *topology = fabric->options.topology;
	bool is_lab = fabric->options.clock != NULL;
	struct real_events *events;
	int result;

	if (work->run->events.count == 0)
		return 0;
	events = work->events = calloc(1, sizeof(*events));
	if (events == NULL)
		return error_set(error, ENOMEM, "not enough memory for the events");
	events->fabric = fabric;
	result = run_event_plan_init(&events->plan, work->run, topology,
		is_lab ? run_events_horizon(work->run, LAB_PS) : work->run->measure.duration_ps,
		error);
	if (result < 0)
		return result;
	events->cuts = calloc(topology->links + 1, sizeof(*events->cuts));
	events->seen = calloc(events->plan.occurrences + 1, sizeof(*events->seen));
	return events->cuts != NULL && events->seen != NULL
		       ? 0
		       : error_set(error, ENOMEM, "not enough memory for the events");
}

void real_events_destroy(struct real_events *events)
{
	if (events == NULL)
		return;
	run_event_plan_fini(&events->plan);
	free(events->cuts);
	free(events->seen);
	free(events);
}

/* Returns an end of a cable; NULL if it is in a different process or the cable was moved. */
static struct real_end *end_of(const struct real_events *events, uint32_t link, unsigned side)
{
	const struct topology_link *wire = &events->plan.topology->link_at[link];
	struct topology_port far = side == 0 ? wire->b : wire->a;
	struct real_end *end = real_end_at(events->fabric, side == 0 ? wire->a : wire->b);

	return end != NULL && end->open && end->far.kind == far.kind &&
			       end->far.device == far.device && end->far.port == far.port
		       ? end
		       : NULL;
}

/* Sets both ends, so that neither treats the cut as a fault. */
static void set_cut(struct real_events *events, uint32_t link, bool cut)
{
	for (unsigned side = 0; side < 2; side++) {
		struct real_end *end = end_of(events, link, side);

		if (end != NULL)
			port_set_cut(&end->port, PORT_CUT_EVENT, cut);
	}
	/* Loops must not sleep, so that the ends detect the change in time. */
	real_idle_defer(events->fabric, clock_now(&events->fabric->clock));
}

/* A run_event_link_fn. */
static void cut_or_join(void *ctx, uint32_t link)
{
	struct real_events *events = ctx;
	bool join = events->act->ends;

	events->cuts[link] += join ? -1u : 1u;
	if (events->cuts[link] == (join ? 0 : 1))
		set_cut(events, link, !join);
}

/* A run_event_link_fn. */
static void change(void *ctx, uint32_t link)
{
	struct real_events *events = ctx;
	const struct run_event *event = &events->plan.run->events.at[events->act->row];
	uint64_t asked[LINK_KNOB_COUNT];

	memset(asked, 0xff, sizeof(asked));
	_Static_assert(LINK_KNOB_KEEP == UINT64_MAX, "all bits set");
	if (event->rate_bps != 0 || event->drain_bps != 0)
		asked[LINK_KNOB_RATE] = event->drain_bps != 0 ? event->drain_bps : event->rate_bps;
	if (event->delay_ps != 0)
		asked[LINK_KNOB_DELAY] = event->delay_ps;
	if (event->corrupt_ppm != RUN_EVENT_KEEP)
		asked[LINK_KNOB_CORRUPT] = event->corrupt_ppm;
	if (event->credit_loss_ppm != RUN_EVENT_KEEP)
		asked[LINK_KNOB_CREDIT_LOSS] = event->credit_loss_ppm;
	for (unsigned side = 0; side < 2; side++) {
		struct real_end *end = end_of(events, link, side);

		/* A drain affects only the direction out of the switch. */
		if (end != NULL && (event->drain_bps == 0 || end->at.kind == DEVICE_SWITCH))
			real_end_set(events->fabric, end, events->undo ? NULL : asked);
	}
	real_links_cut_through(events->fabric);
}

void real_events_restart(struct real_fabric *fabric, weft_time now)
{
	struct real_events *events = fabric->work->events;
	struct run_event_plan *plan;

	if (events == NULL)
		return;
	plan = &events->plan;
	events->undo = true;
	for (uint32_t i = 0; i < plan->next; i++) {
		events->act = &plan->act[i];
		if (plan->run->events.at[events->act->row].down_ps == 0)
			run_event_links(plan, events->act, change, events);
	}
	events->undo = false;
	for (uint32_t i = 0; i < plan->topology->links; i++)
		if (events->cuts[i] > 0) {
			events->cuts[i] = 0;
			set_cut(events, i, false);
		}
	plan->next = events->count = 0;
	events->watching = false;
	events->from = now;
}

struct real_losses real_losses_read(const struct real_fabric *fabric)
{
	struct real_losses losses = {0};
	uint64_t value[SWITCH_METRIC_COUNT];

	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct real_end *end = &fabric->end[i];

		losses.on_links += end->impairment.frames_lost + end->port.cut_lost;
		losses.corrupted += end->impairment.frames_corrupted;
		losses.credits += end->impairment.credits_lost + end->port.cut_credits_lost;
	}
	for (unsigned i = 0; i < fabric->switch_count; i++) {
		switch_metrics_sum(fabric->switches[i].poll, value);
		losses.discarded +=
			value[SWITCH_DISCARD_LINK_DOWN] + value[SWITCH_METRIC_TRANSMIT_LOST];
	}
	for (unsigned i = 0; i < fabric->host_count; i++)
		losses.discarded += fabric->hosts[i].poll->tx.lost;
	return losses;
}

static void take_counts(const struct real_fabric *fabric, struct seen *seen)
{
	struct real_losses losses = real_losses_read(fabric);

	seen->lost = losses.on_links + losses.discarded + losses.corrupted;
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const uint64_t *count = nic_counters(fabric->hosts[i].poll->nic);

		seen->resent += count[NIC_FRAMES_RETRANSMITTED];
		seen->abandoned += count[NIC_FRAMES_ABANDONED];
	}
}

/* --- detection of cuts --- */

struct look {
	const struct real_events *events;
	bool down, cut; /* an end of a link is down; a link is still cut */
};

/* A run_event_link_fn. The loop that polls the link owns its state; a stale value is read again. */
static void look(void *ctx, uint32_t link)
{
	struct look *look = ctx;

	look->cut = look->cut || look->events->cuts[link] > 0;
	for (unsigned side = 0; side < 2; side++) {
		const struct real_end *end = end_of(look->events, link, side);

		look->down =
			look->down ||
			(end != NULL &&
				__atomic_load_n(&real_end_link(look->events->fabric, end)->state,
					__ATOMIC_RELAXED) == LINK_DOWN);
	}
}

/* Watches the links of the last event that cut a cable, until one is down or all are rejoined. */
static void watch_links(struct real_events *events, weft_time now)
{
	struct seen *seen = &events->seen[events->cutting];
	struct look links = {.events = events};

	if (!events->watching)
		return;
	run_event_links(&events->plan, &seen->act, look, &links);
	if (links.down)
		seen->detect_ps = now - seen->act.at_ps;
	events->watching = !links.down && links.cut;
}

/* --- the run --- */

static void carry_out(struct real_events *events, const struct run_event_act *act)
{
	const struct run_event *event = &events->plan.run->events.at[act->row];

	if (!act->ends) {
		struct seen *seen = &events->seen[events->count];

		*seen = (struct seen){.act = *act, .detect_ps = WEFT_TIME_NEVER};
		take_counts(events->fabric, seen);
		if (event->down_ps != 0) {
			events->cutting = events->count;
			events->watching = true;
		}
		events->count++;
	}
	events->act = act;
	run_event_links(&events->plan, act, event->down_ps != 0 ? cut_or_join : change, events);
}

void real_events_poll(struct real_fabric *fabric, weft_time now)
{
	struct real_events *events = fabric->work->events;
	struct run_event_act act;

	if (events == NULL)
		return;
	now = run_result_minus(now, events->from);
	watch_links(events, now);
	while (run_event_plan_take(&events->plan, now, &act))
		if (act.ends || fabric->phase != REAL_DRAINING)
			carry_out(events, &act);
}

bool real_events_rest(const struct real_fabric *fabric, weft_time now)
{
	const struct real_events *events = fabric->work->events;

	return events == NULL ||
	       run_event_plan_due(&events->plan) > run_result_minus(now, events->from) + REST_PS;
}

int real_events_result(const struct real_fabric *fabric, struct run_result *result)
{
	const struct real_events *events = fabric->work->events;
	struct seen end = {.detect_ps = WEFT_TIME_NEVER};

	if (events == NULL)
		return 0;
	take_counts(fabric, &end);
	/* A lab's events continue after the run. */
	for (uint32_t i = 0;
		i < events->count &&
		events->seen[i].act.at_ps < run_result_minus(fabric->ended_at, events->from);
		i++) {
		const struct seen *seen = &events->seen[i],
				  *next = i + 1 < events->count ? seen + 1 : &end;
		struct run_result_event *event = run_result_add_event(result);

		if (event == NULL)
			return -ENOMEM;
		run_event_text(&events->plan, &seen->act, event->what);
		event->at_ps = seen->act.at_ps;
		event->detect_ps = seen->detect_ps;
		event->lost = next->lost - seen->lost;
		event->resent = next->resent - seen->resent;
		event->abandoned = next->abandoned - seen->abandoned;
	}
	run_event_plan_warn(&events->plan, run_result_add_warning, result);
	return 0;
}
