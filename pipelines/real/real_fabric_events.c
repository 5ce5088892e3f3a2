/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The events of a run (run_events.h) on the real clock: the leader carries them out when they are
 * due, by the orders that 'weft lab link' and 'weft lab set' give to a lab. Links notice by
 * themselves, and hosts send again what is not acknowledged. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/result/run_result_events.h"
#include "experiment/run/run_events.h"
#include "real_private.h"

/* An event that has occurred. */
struct seen {
	struct run_event_act act;
	weft_time detect_ps;
	uint64_t resent, abandoned; /* by all hosts, until then */
};

struct real_events {
	struct run_event_plan plan;
	uint32_t *cuts;    /* [links]: events that cut the cable now */
	struct seen *seen; /* [plan.occurrences] */
	uint32_t count;
	uint32_t cutting; /* the last one that cut a cable */
	bool watching;    /* for links that go down after it */
	/* While an act is carried out. */
	struct real_fabric *fabric;
	const struct run_event_act *act;
};

int real_events_create(struct real_fabric *fabric, struct error *error)
{
	const struct real_fabric_options *options = &fabric->options;
	struct real_events *events;
	int result;

	if (options->run->events.count == 0)
		return 0;
	events = fabric->events = calloc(1, sizeof(*events));
	if (events == NULL)
		return error_set(error, ENOMEM, "no memory for the events");
	events->fabric = fabric;
	result = run_event_plan_init(&events->plan, options->run, options->topology,
		options->run->measure.duration_ps, error);
	if (result < 0)
		return result;
	events->cuts = calloc(options->topology->links + 1, sizeof(*events->cuts));
	events->seen = calloc(events->plan.occurrences + 1, sizeof(*events->seen));
	return events->cuts != NULL && events->seen != NULL
		       ? 0
		       : error_set(error, ENOMEM, "no memory for the events");
}

void real_events_destroy(struct real_fabric *fabric)
{
	struct real_events *events = fabric->events;

	if (events == NULL)
		return;
	run_event_plan_fini(&events->plan);
	free(events->cuts);
	free(events->seen);
	free(events);
}

/* A run_event_link_fn. */
static void cut_or_join(void *ctx, uint32_t link)
{
	struct real_events *events = ctx;
	const struct topology *topology = events->fabric->options.topology;
	bool join = events->act->ends;
	char name[80], order[96];

	events->cuts[link] += join ? -1u : 1u;
	if (events->cuts[link] != (join ? 0 : 1))
		return;
	/* At both ends, so that neither takes it for a fault. */
	for (unsigned side = 0; side < 2; side++) {
		topology_port_name(
			topology, events->fabric->end[2 * link + side].at, name, sizeof(name));
		snprintf(order, sizeof(order), "%s %s", name, join ? "up" : "down");
		real_links_cut(events->fabric, order);
	}
}

static void put(FILE *out, bool given, uint64_t value)
{
	if (given)
		fprintf(out, " %" PRIu64, value);
	else
		fputs(" -", out);
}

/* A run_event_link_fn. Writes the values in the order of LINK_KNOBS. */
static void change(void *ctx, uint32_t link)
{
	struct real_events *events = ctx;
	const struct topology *topology = events->fabric->options.topology;
	const struct run_event *event = &events->plan.run->events.at[events->act->row];
	const struct topology_link *wire = &topology->link_at[link];
	bool drain = event->drain_bps != 0;
	char name[80], order[256];
	FILE *out = fmemopen(order, sizeof(order), "w");

	if (out == NULL)
		return;
	/* A drain affects only the direction that leaves the switch. */
	topology_port_name(topology, drain && wire->a.kind == DEVICE_HOST ? wire->b : wire->a, name,
		sizeof(name));
	fprintf(out, "%s%s", name, drain ? ">" : "");
	put(out, drain || event->rate_bps != 0, drain ? event->drain_bps : event->rate_bps);
	put(out, event->delay_ps != 0, event->delay_ps);
	fputs(" - -", out);
	put(out, event->corrupt_ppm != RUN_EVENT_KEEP, event->corrupt_ppm);
	put(out, event->credit_loss_ppm != RUN_EVENT_KEEP, event->credit_loss_ppm);
	fputs(" -", out);
	fclose(out);
	real_links_set(events->fabric, order);
}

static void take_counts(const struct real_fabric *fabric, struct seen *seen)
{
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const uint64_t *count = nic_counters(fabric->hosts[i].poll->nic);

		seen->resent += count[NIC_FRAMES_RETRANSMITTED];
		seen->abandoned += count[NIC_FRAMES_ABANDONED];
	}
}

/* --- cuts that are noticed --- */

struct look {
	const struct real_events *events;
	bool down, cut; /* an end of one of the links is down; one of them is still cut */
};

/* A run_event_link_fn. The state of a link is its loop's; a word that is read late is read again.
 */
static void look(void *ctx, uint32_t link)
{
	struct look *look = ctx;
	const struct real_fabric *fabric = look->events->fabric;

	look->cut = look->cut || look->events->cuts[link] > 0;
	for (unsigned side = 0; side < 2; side++) {
		const struct link_end *end = real_end_link(fabric, &fabric->end[2 * link + side]);

		look->down =
			look->down || __atomic_load_n(&end->state, __ATOMIC_RELAXED) == LINK_DOWN;
	}
}

/* After the last event that cut a cable, until its links are down or joined. */
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
	struct real_events *events = fabric->events;
	struct run_event_act act;

	if (events == NULL)
		return;
	now = run_result_minus(now, fabric->traffic_from);
	watch_links(events, now);
	while (run_event_plan_take(&events->plan, now, &act))
		if (act.ends || fabric->phase != REAL_DRAINING)
			carry_out(events, &act);
}

int real_events_result(const struct real_fabric *fabric, struct run_result *result)
{
	const struct real_events *events = fabric->events;
	struct seen end = {.detect_ps = WEFT_TIME_NEVER};

	if (events == NULL)
		return 0;
	take_counts(fabric, &end);
	for (uint32_t i = 0; i < events->count; i++) {
		const struct seen *seen = &events->seen[i],
				  *next = i + 1 < events->count ? seen + 1 : &end;
		struct run_result_event *event = run_result_add_event(result);

		if (event == NULL)
			return -ENOMEM;
		run_event_text(&events->plan, &seen->act, event->what);
		event->at_ps = seen->act.at_ps;
		event->detect_ps = seen->detect_ps;
		event->resent = next->resent - seen->resent;
		event->abandoned = next->abandoned - seen->abandoned;
	}
	run_event_plan_warn(&events->plan, run_result_add_warning, result);
	return 0;
}
