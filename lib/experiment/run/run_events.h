/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The events of a run (key 'events'): cables are cut and rejoined, switches fail, the rate, delay
 * or losses of links change, hosts drain slowly. A row of the file describes an event or a
 * repeating event. The plan of a run lists what happens, sorted by time. It depends only on file,
 * seed and topology, so all clocks and processes make the same plan.
 *
 * The plan is pure data: an engine takes the next act, carries it out and reports its effect
 * (run_result_event). One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "run_config.h"
#include "topo/topology.h"

#define RUN_EVENT_ROWS_MAX 4096
#define RUN_EVENTS_MAX     1000000 /* occurrences in a run */
#define RUN_EVENT_KEEP     UINT32_MAX
#define RUN_EVENT_NAME     72 /* "s0:63" with the longest device name */
#define RUN_EVENT_COUNTER  64

/* The event occurs at the first sample in which the sum of a counter over all switches exceeds a
 * value. */
struct run_event_when {
	char counter[RUN_EVENT_COUNTER]; /* a counter of switches; "": the event is timed */
	uint64_t above;
};

/* A row. Exactly one of link, host and 'sw' is not "". */
struct run_event {
	weft_time at_ps;           /* time since the start of traffic; 0: every_ps */
	weft_time every_ps;        /* 0: once */
	uint32_t jitter_ppm;       /* share of every_ps; uniform, earlier or later */
	char link[RUN_EVENT_NAME]; /* either end of a cable: "s0:2", "h3"; "random" */
	char sw[RUN_EVENT_NAME];   /* a switch: all its cables */
	char host[RUN_EVENT_NAME]; /* a host: its cables */
	weft_time down_ps;         /* 0: not cut; WEFT_TIME_NEVER: cut until the end of the run */
	uint64_t rate_bps;         /* 0: unchanged, like those below */
	uint64_t drain_bps;        /* direction from the switch to the host */
	weft_time delay_ps;
	uint32_t corrupt_ppm, credit_loss_ppm; /* RUN_EVENT_KEEP: unchanged */
	struct run_event_when when;
	struct run_config_place place;
};

/* A timed action: a row takes effect, or the cables that it cut are rejoined. */
struct run_event_act {
	weft_time at_ps;
	uint32_t row;        /* row in the file */
	uint32_t occurrence; /* the same for all acts of one event */
	uint32_t target;     /* a link, switch or host, depending on the row */
	bool ends;           /* cables are rejoined */
};

struct run_event_plan {
	const struct run_config *run; /* the caller's */
	const struct topology *topology;
	struct run_event_act *act; /* sorted by time */
	uint32_t acts, room, occurrences;
	uint32_t next;   /* the first act not taken yet */
	bool *triggered; /* [rows]: with 'when', it has occurred */
};

/* Returns -EINVAL with error set: a row names a device or cable that the topology does not have. */
int run_events_check(
	const struct run_config *config, const struct topology *topology, struct error *error);

/* Plans all events that occur before 'end_ps'. Run and topology must outlive the plan. Call
 * run_event_plan_fini() even after an error. Fails with -EINVAL: more than RUN_EVENTS_MAX;
 * -ENOMEM. */
int run_event_plan_init(struct run_event_plan *plan, const struct run_config *run,
	const struct topology *topology, weft_time end_ps, struct error *error);
void run_event_plan_fini(struct run_event_plan *plan);

/* When the next act is due; WEFT_TIME_NEVER: none left. */
static inline weft_time run_event_plan_due(const struct run_event_plan *plan)
{
	return plan->next < plan->acts ? plan->act[plan->next].at_ps : WEFT_TIME_NEVER;
}

/* Takes the next act if it is due. Returns false if none is due. */
bool run_event_plan_take(struct run_event_plan *plan, weft_time now, struct run_event_act *act);

/* Calls 'warn' with a text for each row that did not occur: it was due after the end of the run, or
 * its counter did not reach the limit. */
void run_event_plan_warn(
	const struct run_event_plan *plan, void (*warn)(void *ctx, const char *text), void *ctx);

/* True if the row waits for a counter. */
static inline bool run_event_plan_waits(const struct run_event_plan *plan, uint32_t row)
{
	return plan->run->events.at[row].when.counter[0] != '\0' && !plan->triggered[row];
}

/* The counter of a waiting row exceeded its value, so the event occurs now. May return -ENOMEM. */
int run_event_plan_trigger(struct run_event_plan *plan, uint32_t row, weft_time now);

/* Visits the links that an act affects. */
typedef void run_event_link_fn(void *ctx, uint32_t link);
void run_event_links(const struct run_event_plan *plan, const struct run_event_act *act,
	run_event_link_fn *visit, void *ctx);

/* Description for people: "link s0:2 down 300us". */
#define RUN_EVENT_TEXT 160
void run_event_text(const struct run_event_plan *plan, const struct run_event_act *act,
	char out[RUN_EVENT_TEXT]);

/* Whether links or switches of this run may lose frames that hosts recover. */
static inline bool run_config_breaks(const struct run_config *run)
{
	return run->sw.flow_control == RUN_FLOW_CONTROL_LOSSY || run->events.count > 0 ||
	       run->faults.corrupt_ppm != 0 || run->faults.credit_loss_ppm != 0;
}

/* The longest duration, up to 'max', for which all events fit into a plan. */
weft_time run_events_horizon(const struct run_config *run, weft_time max_ps);
/* The lowest delay that any event sets; WEFT_TIME_NEVER: none does. */
weft_time run_events_min_delay(const struct run_config *run);
/* Whether any event waits for a counter. */
bool run_events_wait(const struct run_config *run);
