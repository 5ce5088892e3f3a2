/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/result/run_result_jobs.h"
#include "experiment/run/run_events.h"
#include "link/link_end.h"
#include "switch/switch_counters.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_links.h"
#include "virtual_partitions.h"
#include "virtual_ranks.h"
#include "virtual_reroute.h"

/* A cable, and when its ends will detect that it was cut or rejoined. */
struct cable {
	weft_time notice_at; /* WEFT_TIME_NEVER: nothing to detect */
	bool down;           /* the ends have detected the cut */
	bool passes;         /* passes frames again at 'resend_at' */
	uint32_t occurrence; /* the last event that cut it */
};

/* An event that occurred. */
struct seen {
	struct run_event_act act;
	weft_time detect_ps, reroute_ps;
	struct virtual_fault_count count; /* totals at the time of the event */
	uint64_t resent;
};

struct virtual_events {
	struct run_event_plan plan;
	struct cable *cable; /* [links] */
	weft_time notice_at; /* earliest time of the cables */
	weft_time resend_at; /* when frames pass where others were lost; WEFT_TIME_NEVER: none do */
	bool resend_all;     /* 'resend_at' applies to all lost frames */
	struct seen *seen;   /* sorted by time */
	uint32_t count, room;
	struct seen end; /* totals at the end of the run */
	/* Valid while an act is executed. */
	struct virtual_fabric *fabric;
	const struct run_event_act *act;
	weft_time now;
	bool used; /* the mapper's routes use a cable of the act */
};

int virtual_events_open(struct virtual_fabric *fabric, struct error *error)
{
	const struct run_config *run = fabric->run;
	uint32_t links = fabric->topology->links;
	struct virtual_events *events;

	if (run->events.count == 0)
		return 0;
	events = fabric->happenings = calloc(1, sizeof(*events));
	if (events == NULL || (events->cable = calloc(links + 1, sizeof(*events->cable))) == NULL)
		return error_set(error, ENOMEM, "not enough memory for the events");
	for (uint32_t i = 0; i < links; i++)
		events->cable[i].notice_at = WEFT_TIME_NEVER;
	events->notice_at = events->resend_at = WEFT_TIME_NEVER;
	return run_event_plan_init(
		&events->plan, run, fabric->topology, run->measure.duration_ps, error);
}

void virtual_events_close(struct virtual_fabric *fabric)
{
	struct virtual_events *events = fabric->happenings;

	if (events == NULL)
		return;
	run_event_plan_fini(&events->plan);
	free(events->cable);
	free(events->seen);
	free(events);
}

weft_time virtual_events_due(const struct virtual_fabric *fabric)
{
	const struct virtual_events *events = fabric->happenings;
	weft_time due;

	if (events == NULL)
		return WEFT_TIME_NEVER;
	due = run_event_plan_due(&events->plan);
	if (virtual_reroute_due(fabric) < due)
		due = virtual_reroute_due(fabric);
	if (virtual_mapper_due(fabric) < due)
		due = virtual_mapper_due(fabric);
	due = due < events->resend_at ? due : events->resend_at;
	return due < events->notice_at ? due : events->notice_at;
}

static struct virtual_fabric *partition_of(struct virtual_fabric *fabric, struct topology_port at)
{
	return virtual_partition_of(
		fabric, at.kind == DEVICE_HOST ? fabric->switches + at.device : at.device);
}

/* --- frames on a cut cable --- */

struct stranded {
	struct virtual_fabric *partition;
	const struct virtual_tx *channel[2];
	struct sim_event *event; /* data frames */
	uint32_t count, room;
};

static void strand(struct stranded *stranded, struct sim_event event)
{
	if (stranded->count == stranded->room) {
		uint32_t room = stranded->room == 0 ? 64 : 2 * stranded->room;
		struct sim_event *larger = realloc(stranded->event, room * sizeof(*larger));

		if (larger == NULL) {
			stranded->partition->failed = true;
			return;
		}
		stranded->event = larger;
		stranded->room = room;
	}
	stranded->event[stranded->count++] = event;
}

/* Discards a control frame on the cut cable. Notifications between hosts use no link. */
static bool lose_control(struct virtual_fabric *partition, uint32_t item)
{
	if (virtual_is_cn(partition, item))
		return false;
	if (virtual_is_arn(partition, item)) {
		virtual_take_arn(partition, item);
		return true;
	}
	virtual_control_give(&partition->credits, item);
	partition->fault_count.credits_lost++;
	return true;
}

/* An event_remove_fn. */
static bool is_stranded(void *ctx, struct sim_event event)
{
	struct stranded *stranded = ctx;

	for (unsigned i = 0; i < 2; i++) {
		if (event.order == stranded->channel[i]->arrive) {
			strand(stranded, event);
			return true;
		}
		if (event.order == stranded->channel[i]->credit)
			return lose_control(stranded->partition, event.item);
	}
	return false;
}

static void lose_frames(
	struct virtual_fabric *partition, const struct virtual_tx *a, const struct virtual_tx *b)
{
	struct stranded stranded = {.partition = partition, .channel = {a, b}};

	event_queue_remove(partition->events, is_stranded, &stranded);
	for (uint32_t i = 0; i < stranded.count; i++) {
		const struct sim_event *event = &stranded.event[i];

		event_queue_push(partition->events,
			(struct sim_event){event->at, event->order | VIRTUAL_WAKE,
				event->item + VIRTUAL_LOST_ITEM});
	}
	free(stranded.event);
}

/* --- cutting and rejoining --- */

/* Clears references to records of frames in transit, because the records will be reused. */
static void forget_sent(struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	struct virtual_tx_cold *cold = virtual_tx_cold(fabric, channel);

	cold->credits.at = cold->arns.at = WEFT_TIME_NEVER;
}

/* Frames pass again where others were lost. Takes effect at a later time, because reports of frames
 * that switches discard now are still in other partitions' mailboxes. */
static void resend_soon(struct virtual_events *events, uint32_t link)
{
	events->resend_at = events->now + 1;
	if (link == DATAGRAM_CAUSE_ANY)
		events->resend_all = true;
	else
		events->cable[link].passes = true;
}

static void resend(struct virtual_events *events, weft_time now)
{
	events->resend_at = WEFT_TIME_NEVER;
	if (events->resend_all)
		virtual_recovery_release(events->fabric, DATAGRAM_CAUSE_ANY, now);
	events->resend_all = false;
	for (uint32_t i = 0; i < events->fabric->topology->links; i++) {
		if (events->cable[i].passes)
			virtual_recovery_release(events->fabric, i, now);
		events->cable[i].passes = false;
	}
}

static void set_notice(struct virtual_events *events, uint32_t link, weft_time at)
{
	events->cable[link].notice_at = at;
	if (at < events->notice_at)
		events->notice_at = at;
}

/* A run_event_link_fn. */
static void cut(void *ctx, uint32_t link)
{
	struct virtual_events *events = ctx;
	struct virtual_fabric *fabric = events->fabric;
	const struct topology_link *wire = &fabric->topology->link_at[link];
	struct virtual_tx *a = virtual_channel_at(fabric, wire->a),
			  *b = virtual_channel_at(fabric, wire->b);
	struct virtual_fault *to_b = virtual_fault_of(fabric, a),
			     *to_a = virtual_fault_of(fabric, b);
	weft_time hello = fabric->run->hello_ps;

	events->cable[link].occurrence = events->act->occurrence;
	virtual_reroute_note(fabric, events->now);
	to_b->touched = to_a->touched = true;
	to_a->cuts++;
	if (to_b->cuts++ > 0)
		return;
	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		lose_frames(virtual_partition_at(fabric, i), a, b);
	virtual_mapper_cut(fabric, link);
	forget_sent(fabric, a);
	forget_sent(fabric, b);
	/* The last hello before the cut has arrived. */
	if (!events->cable[link].down)
		set_notice(events, link, events->now / hello * hello + LINK_HELLOS_MISSED * hello);
	else
		events->cable[link].notice_at = WEFT_TIME_NEVER;
}

/* A run_event_link_fn. */
static void join(void *ctx, uint32_t link)
{
	struct virtual_events *events = ctx;
	struct virtual_fabric *fabric = events->fabric;
	const struct topology_link *wire = &fabric->topology->link_at[link];
	weft_time hello = fabric->run->hello_ps;

	virtual_fault_of(fabric, virtual_channel_at(fabric, wire->b))->cuts--;
	if (--virtual_fault_of(fabric, virtual_channel_at(fabric, wire->a))->cuts > 0)
		return;
	virtual_reroute_note(fabric, events->now);
	events->cable[link].notice_at = WEFT_TIME_NEVER;
	if (events->cable[link].down)
		set_notice(events, link, (events->now / hello + 1) * hello + wire->delay_ps);
	else
		resend_soon(events, link);
}

/* --- detection --- */

static void try_ports(struct virtual_fabric *partition, uint32_t at, weft_time now)
{
	for (unsigned port = 0; port < partition->sw[at]->ports; port++)
		virtual_switch_try(partition, at, port, now);
}

/* Hosts need not act: without credits they wait. */
static void notice_down(struct virtual_fabric *fabric, struct topology_port at, weft_time now)
{
	struct virtual_fabric *partition;
	struct weft_switch *sw;

	if (at.kind == DEVICE_HOST || !virtual_is_our_port(fabric, at))
		return;
	partition = partition_of(fabric, at);
	sw = partition->sw[at.device];
	link_end_set_dark(&sw->port[at.port].link, true, now);
	switch_poll_link(sw, at.port, now);
	link_end_set_dark(&sw->port[at.port].link, false, now);
	virtual_take_discards(partition, at.device, true);
	try_ports(partition, at.device, now);
}

static void notice_up(struct virtual_fabric *fabric, struct topology_port at,
	struct topology_port peer, weft_time now)
{
	struct control_hello hello;

	if (at.kind == DEVICE_HOST || !virtual_is_our_port(fabric, at))
		return;
	link_end_fill_hello(virtual_end_at(fabric, peer), &hello, now);
	switch_on_hello(partition_of(fabric, at)->sw[at.device], at.port, &hello, now);
	try_ports(partition_of(fabric, at), at.device, now);
}

static void notice(struct virtual_events *events, uint32_t link, weft_time now)
{
	struct virtual_fabric *fabric = events->fabric;
	const struct topology_link *wire = &fabric->topology->link_at[link];
	struct cable *cable = &events->cable[link];

	cable->notice_at = WEFT_TIME_NEVER;
	cable->down = !cable->down;
	virtual_mapper_notice(fabric, link, !cable->down, now);
	/* Adaptive switches that detect a cut use their alternative routes. */
	if (!cable->down || run_config_is_adaptive(fabric->run))
		resend_soon(events, link);
	if (!cable->down) {
		notice_up(fabric, wire->a, wire->b, now);
		notice_up(fabric, wire->b, wire->a, now);
		return;
	}
	for (uint32_t i = events->count; i-- > 0;)
		if (events->seen[i].act.occurrence == cable->occurrence) {
			if (events->seen[i].detect_ps == WEFT_TIME_NEVER)
				events->seen[i].detect_ps = now - events->seen[i].act.at_ps;
			break;
		}
	notice_down(fabric, wire->a, now);
	notice_down(fabric, wire->b, now);
}

static void notice_all(struct virtual_events *events, weft_time now)
{
	if (now < events->notice_at)
		return;
	events->notice_at = WEFT_TIME_NEVER;
	for (uint32_t i = 0; i < events->fabric->topology->links; i++) {
		if (events->cable[i].notice_at <= now)
			notice(events, i, now);
		if (events->cable[i].notice_at < events->notice_at)
			events->notice_at = events->cable[i].notice_at;
	}
}

/* --- other changes --- */

static bool has_faster(const struct virtual_fabric *fabric, uint32_t at, uint64_t byte_time)
{
	for (unsigned port = 0; port < fabric->topology->switch_at[at].ports; port++) {
		const struct virtual_tx *out = virtual_switch_channel(fabric, at, port);

		if (out->byte_time != 0 && out->byte_time < byte_time)
			return true;
	}
	return false;
}

/* A frame that cuts through must not underrun. If the rate is not the planned one, or an output of
 * the switch is now faster, the switch waits for whole frames. */
static void choose_cut_through(struct virtual_fabric *fabric, struct topology_port at)
{
	struct topology_port from;

	if (at.kind == DEVICE_HOST)
		return;
	for (at.port = 0; at.port < fabric->topology->switch_at[at.device].ports; at.port++) {
		struct virtual_tx *channel;
		const struct virtual_fault *fault;

		if (!topology_peer(fabric->topology, at, &from))
			continue;
		channel = virtual_channel_at(fabric, from);
		fault = virtual_fault_of(fabric, channel);
		channel->waits = fault->waits || channel->byte_time != fault->byte_time ||
				 has_faster(fabric, at.device, fault->byte_time);
	}
}

static void change_channel(struct virtual_fabric *fabric, struct topology_port from,
	struct topology_port to, const struct run_event *event, uint64_t rate_bps)
{
	struct virtual_tx *channel = virtual_channel_at(fabric, from);
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);

	if (event->delay_ps != 0) {
		virtual_tx_cold(fabric, channel)->delay_ps = event->delay_ps;
		channel->arrive_ps =
			event->delay_ps + (to.kind == DEVICE_SWITCH ? fabric->routing_delay_ps : 0);
	}
	if (event->corrupt_ppm != RUN_EVENT_KEEP)
		fault->corrupt_ppm = event->corrupt_ppm;
	if (event->credit_loss_ppm != RUN_EVENT_KEEP)
		fault->credit_loss_ppm = event->credit_loss_ppm;
	fault->touched = fault->touched || fault->corrupt_ppm != 0 || fault->credit_loss_ppm != 0;
	if (rate_bps == 0)
		return;
	channel->byte_time = byte_time_of(rate_bps);
	choose_cut_through(fabric, from);
	choose_cut_through(fabric, to);
}

/* A run_event_link_fn. */
static void change(void *ctx, uint32_t link)
{
	struct virtual_events *events = ctx;
	struct virtual_fabric *fabric = events->fabric;
	const struct topology_link *wire = &fabric->topology->link_at[link];
	const struct run_event *event = &fabric->run->events.at[events->act->row];
	const struct topology_port end[2] = {wire->a, wire->b};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t drain = end[1 - i].kind == DEVICE_HOST ? event->drain_bps : 0;

		change_channel(
			fabric, end[i], end[1 - i], event, drain != 0 ? drain : event->rate_bps);
	}
}

/* --- acts --- */

static void take_counts(struct virtual_fabric *fabric, struct seen *seen)
{
	enum { COUNTS = sizeof(seen->count) / sizeof(uint64_t) };
	uint64_t value[COUNTS + 1] = {0};

	seen->count = virtual_losses_sum(fabric);
	memcpy(value, &seen->count, sizeof(seen->count));
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (fabric->host[i].nic.recovery != NULL)
			value[COUNTS] += fabric->host[i].nic.recovery->retransmitted;
	virtual_ranks_sum(fabric, value, COUNTS + 1);
	memcpy(&seen->count, value, sizeof(seen->count));
	seen->resent = value[COUNTS];
}

static void note(struct virtual_fabric *fabric, const struct run_event_act *act)
{
	struct virtual_events *events = fabric->happenings;

	if (events->count == events->room) {
		uint32_t room = events->room == 0 ? 16 : 2 * events->room;
		struct seen *larger = realloc(events->seen, room * sizeof(*larger));

		if (larger == NULL) {
			fabric->failed = true;
			return;
		}
		events->seen = larger;
		events->room = room;
	}
	events->seen[events->count] = (struct seen){
		.act = *act, .detect_ps = WEFT_TIME_NEVER, .reroute_ps = WEFT_TIME_NEVER};
	take_counts(fabric, &events->seen[events->count++]);
}

/* A run_event_link_fn. */
static void use(void *ctx, uint32_t link)
{
	struct virtual_events *events = ctx;

	events->used = events->used || virtual_mapper_uses(events->fabric, link);
}

/* Records that new routes are in use. They resolve all cuts that waited for them, except cuts of
 * cables that a mapper's routes still use. */
static void note_routes(struct virtual_events *events, weft_time now)
{
	for (uint32_t i = events->count; i-- > 0;) {
		struct seen *seen = &events->seen[i];

		if (events->plan.run->events.at[seen->act.row].down_ps == 0)
			continue;
		if (seen->reroute_ps != WEFT_TIME_NEVER)
			continue;
		events->used = false;
		run_event_links(&events->plan, &seen->act, use, events);
		if (!events->used)
			seen->reroute_ps = now - seen->act.at_ps;
	}
}

void virtual_events_apply(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_events *events = fabric->happenings;
	struct run_event_act act;

	events->fabric = fabric;
	events->now = now;
	if (now >= events->resend_at)
		resend(events, now);
	while (run_event_plan_take(&events->plan, now, &act)) {
		const struct run_event *event = &fabric->run->events.at[act.row];

		events->act = &act;
		if (!act.ends)
			note(fabric, &act);
		run_event_links(&events->plan, &act,
			act.ends              ? join
			: event->down_ps != 0 ? cut
					      : change,
			events);
	}
	/* Called last: ends do not miss a cable that is rejoined at the same time. */
	notice_all(events, now);
	if (virtual_reroute_poll(fabric, now) || virtual_mapper_poll(fabric, now)) {
		note_routes(events, now);
		resend_soon(events, DATAGRAM_CAUSE_ANY);
	}
}

static uint64_t sum_counter(const struct virtual_fabric *fabric, const char *name)
{
	unsigned counter = 0;
	uint64_t sum = 0;

	while (strcmp(switch_counter_name(counter), name) != 0)
		counter++;
	for (uint32_t at = 0; at < fabric->switches; at++)
		for (unsigned port = 0; port < fabric->sw[at]->ports; port++)
			sum += fabric->sw[at]->port[port].count[counter];
	virtual_ranks_sum(fabric, &sum, 1);
	return sum;
}

void virtual_events_watch(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_events *events = fabric->happenings;

	for (uint32_t row = 0; events != NULL && row < fabric->run->events.count; row++) {
		const struct run_event_when *when = &fabric->run->events.at[row].when;

		if (!run_event_plan_waits(&events->plan, row) ||
			sum_counter(fabric, when->counter) <= when->above)
			continue;
		/* Delayed: frames just sent may be in mailboxes of other partitions. */
		if (run_event_plan_trigger(&events->plan, row, now + 1) < 0)
			fabric->failed = true;
	}
}

void virtual_events_end(struct virtual_fabric *fabric)
{
	struct seen end = {0};

	if (fabric->faults == NULL)
		return;
	take_counts(fabric, &end);
	fabric->fault_total = end.count;
	if (fabric->happenings != NULL)
		fabric->happenings->end = end;
}

int virtual_events_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	const struct virtual_events *events = fabric->happenings;

	for (uint32_t i = 0; events != NULL && i < events->count; i++) {
		const struct seen *seen = &events->seen[i],
				  *next = i + 1 < events->count ? seen + 1 : &events->end;
		struct run_result_event *event = run_result_add_event(result);

		if (event == NULL)
			return -ENOMEM;
		run_event_text(&events->plan, &seen->act, event->what);
		event->at_ps = seen->act.at_ps;
		event->detect_ps = seen->detect_ps;
		event->reroute_ps = seen->reroute_ps;
		event->lost = next->count.lost - seen->count.lost;
		event->abandoned = next->count.abandoned - seen->count.abandoned;
		event->resent = next->resent - seen->resent;
	}
	if (events != NULL)
		run_event_plan_warn(&events->plan, run_result_add_warning, result);
	return 0;
}
