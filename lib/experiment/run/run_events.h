/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The events of a run (key 'events'): cables are cut and rejoined, switches fail, the rate, delay
 * or losses of links change, and hosts drain slowly. A row of the file describes a single or a
 * repeating event. The plan of a run lists its acts, sorted by time. The plan depends only on file,
 * seed and topology, so it is the same on both clocks and in all processes.
 *
 * The plan is pure data: an engine takes the next act, carries it out and reports its effect
 * (run_result_event). Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "run_config.h"
#include "topo/topology.h"

#define RUN_EVENT_ROWS_MAX 4096
#define RUN_EVENTS_MAX     1000000 /* occurrences per run */
#define RUN_EVENT_KEEP     UINT32_MAX
#define RUN_EVENT_NAME     72 /* "s0:63" with the longest device name */
#define RUN_EVENT_COUNTER  64

/* The event occurs at the first sample in which the counter, summed over switches, exceeds a value.
 */
struct run_event_when {
	char counter[RUN_EVENT_COUNTER]; /* counter of switches; "": the event is timed */
	uint64_t above;
};

/* A row. Exactly one of link, host and 'sw' is set. */
struct run_event {
	weft_time at_ps;           /* since the start of traffic; 0: every_ps */
	weft_time every_ps;        /* 0: once */
	uint32_t jitter_ppm;       /* share of every_ps, uniformly distributed in both directions */
	char link[RUN_EVENT_NAME]; /* either end of a cable, such as "s0:2" or "h3"; or "random" */
	char sw[RUN_EVENT_NAME];   /* a switch; affects all its cables */
	char host[RUN_EVENT_NAME]; /* a host; affects its cables */
	weft_time down_ps;         /* 0: not cut; WEFT_TIME_NEVER: until the end of the run */
	uint64_t rate_bps;         /* 0: unchanged; the same applies to the next two */
	uint64_t drain_bps;        /* towards the host */
	weft_time delay_ps;
	uint32_t corrupt_ppm, credit_loss_ppm; /* RUN_EVENT_KEEP: unchanged */
	struct run_event_when when;
	struct run_config_place place;
};

/* A timed action: a row takes effect, or the cables that it cut are rejoined. */
struct run_event_act {
	weft_time at_ps;
	uint32_t row;        /* row in the file */
	uint32_t occurrence; /* the same for all acts of an event */
	uint32_t target;     /* index of a link, switch or host, depending on the row */
	bool ends;           /* the cables are rejoined */
};

struct run_event_plan {
	const struct run_config *run; /* borrowed, like 'topology' */
	const struct topology *topology;
	struct run_event_act *act; /* sorted by time */
	uint32_t acts, room, occurrences;
	uint32_t next;   /* index of the first act that is not taken */
	bool *triggered; /* [rows]: the event with 'when' has occurred */
};

/* Returns -EINVAL with error set if a row names a device or cable that is not in the topology. */
int run_events_check(
	const struct run_config *config, const struct topology *topology, struct error *error);

/* Plans all events before 'end_ps'. Run and topology must outlive the plan. Returns 0, -ENOMEM, or
 * -EINVAL if there are more than RUN_EVENTS_MAX. Call run_event_plan_fini() even after an error. */
int run_event_plan_init(struct run_event_plan *plan, const struct run_config *run,
	const struct topology *topology, weft_time end_ps, struct error *error);
void run_event_plan_fini(struct run_event_plan *plan);

/* Returns when the next act is due; WEFT_TIME_NEVER: none is left. */
static inline weft_time run_event_plan_due(const struct run_event_plan *plan)
{
	return plan->next < plan->acts ? plan->act[plan->next].at_ps : WEFT_TIME_NEVER;
}

/* Takes the next act. Returns false if none is due. */
bool run_event_plan_take(struct run_event_plan *plan, weft_time now, struct run_event_act *act);

/* Calls 'warn' for each row that did not occur, because it was due after the end of the run or its
 * counter did not reach the limit. */
void run_event_plan_warn(
	const struct run_event_plan *plan, void (*warn)(void *ctx, const char *text), void *ctx);

/* Returns true if the row is waiting for its counter. */
static inline bool run_event_plan_waits(const struct run_event_plan *plan, uint32_t row)
{
	return plan->run->events.at[row].when.counter[0] != '\0' && !plan->triggered[row];
}

/* Adds the event of a row whose counter has exceeded its value, due now. Returns 0 or -ENOMEM. */
int run_event_plan_trigger(struct run_event_plan *plan, uint32_t row, weft_time now);

/* Calls 'visit' for each link that an act affects. */
typedef void run_event_link_fn(void *ctx, uint32_t link);
void run_event_links(const struct run_event_plan *plan, const struct run_event_act *act,
	run_event_link_fn *visit, void *ctx);

/* Describes an act: "link s0:2 down 300us". */
#define RUN_EVENT_TEXT 160
void run_event_text(const struct run_event_plan *plan, const struct run_event_act *act,
	char out[RUN_EVENT_TEXT]);

/* Returns true if links or switches of this run may lose frames that hosts recover. */
static inline bool run_config_breaks(const struct run_config *run)
{
	return run->sw.flow_control == RUN_FLOW_CONTROL_LOSSY || run->events.count > 0 ||
	       run->faults.corrupt_ppm != 0 || run->faults.credit_loss_ppm != 0;
}

/* Returns the longest duration, up to 'max_ps', whose events fit into a plan. */
weft_time run_events_horizon(const struct run_config *run, weft_time max_ps);
/* Returns the lowest delay that any event sets; WEFT_TIME_NEVER: none does. */
weft_time run_events_min_delay(const struct run_config *run);
/* Returns true if any event waits for a counter. */
bool run_events_wait(const struct run_config *run);
