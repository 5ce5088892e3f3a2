/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "run_config_fields.h"
#include "switch/switch_counters.h"

#define RANDOM     "random"
#define RNG_EVENTS 0x6576656e74u /* random stream of a row */

static int read_down(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return run_read_time_or("forever", node, member, error);
}

static void write_down(const void *member, FILE *out, unsigned indent)
{
	run_write_time_or("forever", member, out);
}

static const struct yaml_field when_fields[] = {
	{"counter", YAML_FIELD_TEXT, true, YAML_MEMBER(struct run_event_when, counter),
		.doc = "A counter of switches, summed over all of them, such as `stall_credit`."},
	{"above", YAML_FIELD_NUMBER, true, YAML_MEMBER(struct run_event_when, above),
		.doc = "The event occurs at the first sample with a larger value."},
	{NULL},
};

#define S struct run_event
const struct yaml_field run_event_fields[] = {
	{"at", YAML_FIELD_TIME, YAML_MEMBER(S, at_ps), .min = 1, .optional = true,
		.doc = "Time of the event, since the start of the run."},
	{"every", YAML_FIELD_TIME, YAML_MEMBER(S, every_ps), .min = PS_PER_US, .optional = true,
		.doc = "Repeats the event at this interval, first at `at` or after one interval."},
	{"jitter", YAML_FIELD_SHARE, YAML_MEMBER(S, jitter_ppm), .max = QUANTITY_WHOLE_PPM / 2,
		.optional = true,
		.doc = "Moves each repetition by up to this share of `every`, earlier or later."},
	{"link", YAML_FIELD_TEXT, YAML_MEMBER(S, link),
		.doc = "A cable, by either end: `s0:2`, `h3`. `random` draws one between two switches each time."},
	{"switch", YAML_FIELD_NAME, YAML_MEMBER(S, sw), .doc = "All cables of a switch."},
	{"host", YAML_FIELD_TEXT, YAML_MEMBER(S, host),
		.doc = "The cables of a host, or the one at a port such as `h0:1`."},
	{"down", YAML_FIELD_CUSTOM, YAML_MEMBER(S, down_ps), .read = read_down, .write = write_down,
		.optional = true, .form = "<time>|forever",
		.doc = "Cuts the cables for this time. Frames on them are lost."},
	{"rate", YAML_FIELD_RATE, YAML_MEMBER(S, rate_bps), .min = TOPOLOGY_RATE_MIN_BPS,
		.max = TOPOLOGY_RATE_MAX_BPS, .optional = true, .doc = "The new rate of the link."},
	{"delay", YAML_FIELD_TIME, YAML_MEMBER(S, delay_ps), .min = 1, .max = TOPOLOGY_DELAY_MAX_PS,
		.optional = true, .doc = "The new delay of the link."},
	{"corrupt", YAML_FIELD_SHARE, YAML_MEMBER(S, corrupt_ppm), .max = QUANTITY_WHOLE_PPM,
		.optional = true, .unset = RUN_EVENT_KEEP,
		.doc = "Share of the data frames that are damaged."},
	{"credit-loss", YAML_FIELD_SHARE, YAML_MEMBER(S, credit_loss_ppm),
		.max = QUANTITY_WHOLE_PPM, .optional = true, .unset = RUN_EVENT_KEEP,
		.doc = "Share of the credit frames that are lost."},
	{"drain", YAML_FIELD_RATE, YAML_MEMBER(S, drain_bps), .min = TOPOLOGY_RATE_MIN_BPS,
		.max = TOPOLOGY_RATE_MAX_BPS, .optional = true,
		.doc = "The new rate at which the host accepts frames."},
	{"when", YAML_FIELD_SECTION, YAML_MEMBER(S, when), .fields = when_fields, .optional = true,
		.doc = "Occurs once, when a counter exceeds a value."},
	{NULL},
};
#undef S

static const struct run_event event_default = {
	.corrupt_ppm = RUN_EVENT_KEEP,
	.credit_loss_ppm = RUN_EVENT_KEEP,
};

/* --- file --- */

static bool is_counter(const char *name)
{
	for (unsigned i = 0; i < SWITCH_COUNTER_COUNT; i++)
		if (strcmp(switch_counter_name(i), name) == 0)
			return true;
	return false;
}

static bool changes_link(const struct run_event *event)
{
	return event->rate_bps != 0 || event->delay_ps != 0 ||
	       event->corrupt_ppm != RUN_EVENT_KEEP || event->credit_loss_ppm != RUN_EVENT_KEEP;
}

/* Returns NULL if the row has one target, and effects that apply to it. */
static const char *why_no_effect(const struct run_event *event)
{
	const unsigned targets =
		(event->link[0] != '\0') + (event->sw[0] != '\0') + (event->host[0] != '\0');

	if (targets != 1)
		return "an event requires exactly one of 'link', 'switch' and 'host'";
	if (event->down_ps == 0 && event->drain_bps == 0 && !changes_link(event))
		return "the event has no effect; add 'down', 'rate', 'delay', 'corrupt', "
		       "'credit-loss' or 'drain'";
	if (event->down_ps != 0 && (event->drain_bps != 0 || changes_link(event)))
		return "'down' cannot be combined with other changes; use a second event";
	if (event->drain_bps != 0 && event->host[0] == '\0')
		return "'drain' requires 'host'";
	if (event->sw[0] != '\0' && event->down_ps == 0)
		return "'switch' requires 'down'";
	if (event->host[0] != '\0' && changes_link(event))
		return "'host' requires 'drain' or 'down'; use 'link' for other changes";
	return NULL;
}

/* Returns NULL if the row has exactly one time. */
static const char *why_no_time(const struct run_event *event)
{
	if (event->when.counter[0] != '\0') {
		if (event->at_ps != 0 || event->every_ps != 0)
			return "'when' cannot be combined with 'at' and 'every'";
		if (!is_counter(event->when.counter))
			return "'when.counter' must be a switch counter, such as stall_credit "
			       "(man weft-counters)";
		return NULL;
	}
	if (event->at_ps == 0 && event->every_ps == 0)
		return "an event requires 'at', 'every' or 'when'";
	if (event->jitter_ppm != 0 && event->every_ps == 0)
		return "'jitter' requires 'every'";
	return NULL;
}

int run_read_events(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_event_list *list = member;
	void *rows;
	int result = run_read_rows(node, RUN_EVENT_ROWS_MAX, sizeof(*list->at), &rows, error);

	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		struct run_event *event = &list->at[list->count++];
		const char *why;

		*event = event_default;
		event->place = run_place_of(row);
		result = yaml_fields_read(run_event_fields, row, event, error);
		why = result < 0 ? NULL : why_no_effect(event);
		if (result == 0 && why == NULL)
			why = why_no_time(event);
		if (why != NULL)
			result = yaml_tree_refuse(row, error, "event: %s", why);
	}
	return result;
}

void run_write_events(const void *member, FILE *out, unsigned indent)
{
	const struct run_event_list *list = member;

	run_write_rows(run_event_fields, list->at, sizeof(*list->at), list->count, out, indent);
}

bool run_events_present(const void *member)
{
	return ((const struct run_event_list *)member)->count > 0;
}

/* --- topology --- */

static bool is_random(const struct run_event *event)
{
	return strcmp(event->link, RANDOM) == 0;
}

/* Returns the index of the link, switch or host; -1 if none has this name. */
static int64_t find_target(const struct topology *topology, const struct run_event *event)
{
	const struct topology_link *link;
	struct topology_port port;

	if (event->sw[0] != '\0')
		return topology_find_switch(topology, event->sw);
	if (event->host[0] != '\0')
		return topology_find_host(topology, event->host);
	if (topology_find_port(topology, event->link, &port) < 0)
		return -1;
	link = topology_link_at(topology, port);
	return link != NULL ? link - topology->link_at : -1;
}

static uint32_t count_cables(const struct topology *topology)
{
	uint32_t cables = 0;

	for (uint32_t i = 0; i < topology->links; i++)
		cables += topology_link_is_inner(&topology->link_at[i]);
	return cables;
}

int run_events_check(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	for (uint32_t i = 0; i < config->events.count; i++) {
		const struct run_event *event = &config->events.at[i];

		if (is_random(event) && count_cables(topology) == 0)
			return run_config_refuse(config, &event->place, error,
				"event: topology %s has no cable between switches for 'link: "
				"random'",
				topology->name);
		if (!is_random(event) && find_target(topology, event) < 0)
			return run_config_refuse(config, &event->place, error,
				"event: topology %s has no %s '%s'", topology->name,
				event->sw[0] != '\0'     ? "switch"
				: event->host[0] != '\0' ? "host"
							 : "cable at",
				event->sw[0] != '\0'     ? event->sw
				: event->host[0] != '\0' ? event->host
							 : event->link);
	}
	return 0;
}

/* --- plan --- */

static int add_act(struct run_event_plan *plan, struct run_event_act act)
{
	struct run_event_act *larger;
	uint32_t at = plan->acts;

	if (plan->acts == plan->room) {
		uint32_t room = plan->room == 0 ? 16 : 2 * plan->room;

		larger = realloc(plan->act, room * sizeof(*larger));
		if (larger == NULL)
			return -ENOMEM;
		plan->act = larger;
		plan->room = room;
	}
	plan->act[plan->acts++] = act;
	/* During a run, inserts a new act after all acts of the same time. */
	for (; plan->next > 0 && at > plan->next && plan->act[at - 1].at_ps > act.at_ps; at--) {
		plan->act[at] = plan->act[at - 1];
		plan->act[at - 1] = act;
	}
	return 0;
}

static uint32_t draw_cable(const struct topology *topology, struct rng *rng)
{
	uint64_t left = rng_below(rng, count_cables(topology));
	uint32_t link = 0;

	while (!topology_link_is_inner(&topology->link_at[link]) || left-- > 0)
		link++;
	return link;
}

/* Adds one occurrence. */
static int add_event(struct run_event_plan *plan, uint32_t row, weft_time at_ps, struct rng *rng)
{
	const struct run_event *event = &plan->run->events.at[row];
	struct run_event_act act = {.at_ps = at_ps,
		.row = row,
		.occurrence = plan->occurrences++,
		.target = is_random(event) ? draw_cable(plan->topology, rng)
					   : (uint32_t)find_target(plan->topology, event)};
	int result = add_act(plan, act);

	if (result < 0 || event->down_ps == 0 || event->down_ps >= WEFT_TIME_NEVER - at_ps)
		return result;
	act.at_ps += event->down_ps;
	act.ends = true;
	return add_act(plan, act);
}

/* Returns the time of the k-th repetition; WEFT_TIME_NEVER: out of range. */
static weft_time repetition(const struct run_event *event, uint64_t k, struct rng *rng)
{
	weft_time first = event->at_ps != 0 ? event->at_ps : event->every_ps;
	weft_time span =
		event->every_ps / QUANTITY_WHOLE_PPM * event->jitter_ppm +
		event->every_ps % QUANTITY_WHOLE_PPM * event->jitter_ppm / QUANTITY_WHOLE_PPM;
	unsigned __int128 at = (unsigned __int128)k * event->every_ps + first;

	if (at + span >= WEFT_TIME_NEVER)
		return WEFT_TIME_NEVER;
	if (span > 0)
		at = at - (span < at ? span : at - 1) + rng_below(rng, 2 * span + 1);
	return (weft_time)at;
}

static int add_row(struct run_event_plan *plan, uint32_t row, weft_time end_ps, struct error *error)
{
	const struct run_event *event = &plan->run->events.at[row];
	struct rng rng;
	int result = 0;

	if (event->when.counter[0] != '\0')
		return 0;
	rng_init(&rng, plan->run->seed, row, RNG_EVENTS);
	for (uint64_t k = 0; result == 0 && (k == 0 || event->every_ps != 0); k++) {
		weft_time at = repetition(event, k, &rng);

		if (at == WEFT_TIME_NEVER ||
			(at >= end_ps && (event->every_ps == 0 || at - end_ps > event->every_ps)))
			break;
		if (at >= end_ps)
			continue;
		if (plan->occurrences == RUN_EVENTS_MAX)
			return run_config_refuse(plan->run, &event->place, error,
				"events: more than %u would occur in this run; use a longer "
				"'every' or a shorter 'measure.duration'",
				RUN_EVENTS_MAX);
		result = add_event(plan, row, at, &rng);
	}
	return result < 0 ? error_set(error, ENOMEM, "not enough memory for the events") : 0;
}

static int by_time(const void *left, const void *right)
{
	const struct run_event_act *a = left, *b = right;

	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	if (a->ends != b->ends)
		return a->ends ? -1 : 1;
	return a->occurrence < b->occurrence ? -1 : 1;
}

int run_event_plan_init(struct run_event_plan *plan, const struct run_config *run,
	const struct topology *topology, weft_time end_ps, struct error *error)
{
	int result = 0;

	*plan = (struct run_event_plan){.run = run, .topology = topology};
	plan->triggered = calloc(run->events.count + 1, sizeof(*plan->triggered));
	if (plan->triggered == NULL)
		return error_set(error, ENOMEM, "not enough memory for the events");
	for (uint32_t row = 0; row < run->events.count && result == 0; row++)
		result = add_row(plan, row, end_ps, error);
	if (plan->acts > 0)
		qsort(plan->act, plan->acts, sizeof(*plan->act), by_time);
	return result;
}

void run_event_plan_fini(struct run_event_plan *plan)
{
	free(plan->act);
	free(plan->triggered);
	*plan = (struct run_event_plan){0};
}

bool run_event_plan_take(struct run_event_plan *plan, weft_time now, struct run_event_act *act)
{
	if (run_event_plan_due(plan) > now)
		return false;
	*act = plan->act[plan->next++];
	return true;
}

static bool has_occurred(const struct run_event_plan *plan, uint32_t row)
{
	if (plan->triggered[row])
		return true;
	for (uint32_t i = 0; i < plan->next; i++)
		if (plan->act[i].row == row)
			return true;
	return false;
}

void run_event_plan_warn(
	const struct run_event_plan *plan, void (*warn)(void *ctx, const char *text), void *ctx)
{
	char text[64];

	for (uint32_t row = 0; row < plan->run->events.count; row++) {
		if (has_occurred(plan, row))
			continue;
		snprintf(text, sizeof(text), "events[%u] did not occur before the end", row);
		warn(ctx, text);
	}
}

int run_event_plan_trigger(struct run_event_plan *plan, uint32_t row, weft_time now)
{
	struct rng rng;

	plan->triggered[row] = true;
	rng_init(&rng, plan->run->seed, row, RNG_EVENTS);
	return add_event(plan, row, now, &rng);
}

void run_event_links(const struct run_event_plan *plan, const struct run_event_act *act,
	run_event_link_fn *visit, void *ctx)
{
	const struct run_event *event = &plan->run->events.at[act->row];
	const struct topology *topology = plan->topology;

	if (event->link[0] != '\0')
		visit(ctx, act->target);
	for (uint32_t host = act->target; event->host[0] != '\0';
		host = topology->host_at[host].next) {
		if (topology->host_link[host] >= 0)
			visit(ctx, (uint32_t)topology->host_link[host]);
		if (topology->host_at[host].next == 0 || strchr(event->host, ':') != NULL)
			break;
	}
	for (unsigned port = 0;
		event->sw[0] != '\0' && port < topology->switch_at[act->target].ports; port++) {
		const struct topology_link *link = topology_link_at(topology,
			(struct topology_port){DEVICE_SWITCH, act->target, (uint8_t)port});

		if (link != NULL)
			visit(ctx, (uint32_t)(link - topology->link_at));
	}
}

void run_event_text(const struct run_event_plan *plan, const struct run_event_act *act,
	char out[RUN_EVENT_TEXT])
{
	const struct run_event *event = &plan->run->events.at[act->row];
	char name[RUN_EVENT_NAME], value[QUANTITY_TEXT];
	size_t used;

	if (event->sw[0] != '\0')
		used = (size_t)snprintf(out, RUN_EVENT_TEXT, "switch %s", event->sw);
	else if (event->host[0] != '\0')
		used = (size_t)snprintf(out, RUN_EVENT_TEXT, "host %s", event->host);
	else {
		topology_port_name(
			plan->topology, plan->topology->link_at[act->target].a, name, sizeof(name));
		used = (size_t)snprintf(out, RUN_EVENT_TEXT, "link %s", name);
	}
	if (event->down_ps == WEFT_TIME_NEVER)
		snprintf(out + used, RUN_EVENT_TEXT - used, " down forever");
#define ADD(key, kind, amount, is)                                                        \
	do {                                                                              \
		if (is) {                                                                 \
			quantity_format(kind, amount, value);                             \
			used += (size_t)snprintf(                                         \
				out + used, RUN_EVENT_TEXT - used, " " key " %s", value); \
		}                                                                         \
	} while (0)
	ADD("down", QUANTITY_TIME, event->down_ps,
		event->down_ps != 0 && event->down_ps != WEFT_TIME_NEVER);
	ADD("rate", QUANTITY_RATE, event->rate_bps, event->rate_bps != 0);
	ADD("delay", QUANTITY_TIME, event->delay_ps, event->delay_ps != 0);
	ADD("corrupt", QUANTITY_SHARE, event->corrupt_ppm, event->corrupt_ppm != RUN_EVENT_KEEP);
	ADD("credit-loss", QUANTITY_SHARE, event->credit_loss_ppm,
		event->credit_loss_ppm != RUN_EVENT_KEEP);
	ADD("drain", QUANTITY_RATE, event->drain_bps, event->drain_bps != 0);
#undef ADD
}

weft_time run_events_horizon(const struct run_config *run, weft_time max_ps)
{
	for (uint32_t i = 0; i < run->events.count; i++) {
		weft_time every = run->events.at[i].every_ps;
		uint32_t room = RUN_EVENTS_MAX / run->events.count - 2;

		if (every != 0 && every < max_ps / room)
			max_ps = every * room;
	}
	return max_ps;
}

weft_time run_events_min_delay(const struct run_config *run)
{
	weft_time min = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < run->events.count; i++) {
		weft_time delay = run->events.at[i].delay_ps;

		min = delay != 0 && delay < min ? delay : min;
	}
	return min;
}

bool run_events_wait(const struct run_config *run)
{
	for (uint32_t i = 0; i < run->events.count; i++)
		if (run->events.at[i].when.counter[0] != '\0')
			return true;
	return false;
}
