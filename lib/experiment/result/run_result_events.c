/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_result_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "goal/goal.h"
#include "run_result.h"

#define PRINTED 8u
#define ROOM    64u

/* Throughput counts as recovered at this share of the earlier mean. */
#define RECOVERED 0.95

struct run_result_event *run_result_add_event(struct run_result *result)
{
	struct run_result_event *more = result->event;

	if (result->events % ROOM == 0)
		more = realloc(more, (result->events + ROOM) * sizeof(*more));
	if (more == NULL)
		return NULL;
	result->event = more;
	more[result->events] = (struct run_result_event){
		.detect_ps = WEFT_TIME_NEVER, .reroute_ps = WEFT_TIME_NEVER};
	return &more[result->events++];
}

/* Returns the first sample that ends after 'at_ns'. */
static unsigned sample_after(const struct run_result *result, uint64_t at_ns)
{
	unsigned low = 0, high = result->samples;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (result->sample[middle].t_ns > at_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Returns the end of the samples that belong to an event. */
static uint64_t until_ns(const struct run_result *result, uint32_t event)
{
	return event + 1 < result->events ? ps_to_ns(result->event[event + 1].at_ps) : UINT64_MAX;
}

weft_time run_result_event_recovery(const struct run_result *result, uint32_t event)
{
	const struct run_result_event *it = &result->event[event];
	uint64_t at_ns = ps_to_ns(it->at_ps), end_ns = until_ns(result, event), lasts_ns = at_ns;
	unsigned first =
		event > 0 ? sample_after(result, ps_to_ns(result->event[event - 1].at_ps)) : 0;
	unsigned from = sample_after(result, at_ns);
	double before = 0;
	bool fell = false;

	/* A sample that contains the previous event belongs to that event. */
	first += event > 0 && first < from;
	for (unsigned i = first; i < from; i++)
		before += result->sample[i].accepted;
	if (first == from || before == 0)
		return WEFT_TIME_NEVER;
	before /= from - first;
	if (it->detect_ps != WEFT_TIME_NEVER)
		lasts_ns += ps_to_ns(it->detect_ps);
	for (unsigned i = from; i < result->samples && result->sample[i].t_ns <= end_ns; i++) {
		bool below = result->sample[i].accepted < RECOVERED * before;

		fell = fell || below;
		if (fell && !below && result->sample[i].t_ns >= lasts_ns)
			return result->sample[i].t_ns * PS_PER_NS - it->at_ps;
	}
	return fell ? WEFT_TIME_NEVER : 0;
}

static json_t *time_json(weft_time time)
{
	return time == WEFT_TIME_NEVER ? json_null() : json_integer((json_int_t)ps_to_ns(time));
}

json_t *run_result_events_json(const struct run_result *result)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list != NULL && i < result->events; i++) {
		const struct run_result_event *event = &result->event[i];

		json_array_append_new(list,
			json_pack("{s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:I}", "event", event->what,
				"at_ns", time_json(event->at_ps), "detect_ns",
				time_json(event->detect_ps), "reroute_ns",
				time_json(event->reroute_ps), "recover_ns",
				time_json(run_result_event_recovery(result, i)), "frames_lost",
				(json_int_t)event->lost, "frames_resent", (json_int_t)event->resent,
				"frames_abandoned", (json_int_t)event->abandoned));
	}
	return list;
}

json_t *run_result_events_part(const struct run_result *result)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < result->events; i++) {
		const struct run_result_event *event = &result->event[i];

		json_array_append_new(
			list, json_pack("[s,I,I,I,I,I]", event->what, (json_int_t)event->at_ps,
				      (json_int_t)event->detect_ps, (json_int_t)event->lost,
				      (json_int_t)event->resent, (json_int_t)event->abandoned));
	}
	return list;
}

int run_result_add_events_part(struct run_result *into, const json_t *part)
{
	for (size_t i = 0; i < json_array_size(part); i++) {
		struct run_result_event *event = i < into->events ? &into->event[i] : NULL;
		json_int_t at, detect, lost, resent, abandoned;
		const char *what;

		if (json_unpack(json_array_get(part, i), "[s,I,I,I,I,I]", &what, &at, &detect,
			    &lost, &resent, &abandoned) != 0)
			return -EINVAL;
		if (event == NULL) {
			event = run_result_add_event(into);
			if (event == NULL)
				return -ENOMEM;
			snprintf(event->what, sizeof(event->what), "%s", what);
			event->at_ps = (weft_time)at;
		}
		if ((weft_time)detect < event->detect_ps)
			event->detect_ps = (weft_time)detect;
		event->lost += (uint64_t)lost;
		event->resent += (uint64_t)resent;
		event->abandoned += (uint64_t)abandoned;
	}
	return 0;
}

static void print_time(const char *what, weft_time time, FILE *out)
{
	char text[32];

	if (time != WEFT_TIME_NEVER)
		fprintf(out, ", %s %s", what, quantity_time_text(ps_to_ns(time), 4, text));
}

void run_result_print_events(const struct run_result *result, FILE *out)
{
	for (uint32_t i = 0; i < result->events && i < PRINTED; i++) {
		const struct run_result_event *event = &result->event[i];
		weft_time recovery;
		char text[32];

		fprintf(out, "  %-22s %s: %s", i == 0 ? "events" : "",
			quantity_time_text(ps_to_ns(event->at_ps), 4, text), event->what);
		fprintf(out, ", %" PRIu64 " frames lost, %" PRIu64 " resent", event->lost,
			event->resent);
		print_time("detected after", event->detect_ps, out);
		print_time("rerouted after", event->reroute_ps, out);
		recovery = run_result_event_recovery(result, i);
		print_time("recovered after", recovery > 0 ? recovery : WEFT_TIME_NEVER, out);
		putc('\n', out);
	}
	if (result->events > PRINTED)
		fprintf(out, "  %-22s and %" PRIu32 " more\n", "", result->events - PRINTED);
}

/* Flows of a result: completion times, and slowdowns relative to the empty network. */

static double slowdown_of(const struct run_result_flow *flow)
{
	return flow->completion_ps == WEFT_TIME_NEVER || flow->alone_ns <= 0
		       ? 0
		       : (double)flow->completion_ps / PS_PER_NS / flow->alone_ns;
}

static void write_ns(weft_time ps, FILE *out)
{
	if (ps == WEFT_TIME_NEVER)
		fputc(',', out);
	else
		fprintf(out, ",%" PRIu64 ".%03u", ps / PS_PER_NS, (unsigned)(ps % PS_PER_NS));
}

void run_result_write_flows(
	const struct run_result *result, const struct topology *topology, FILE *out)
{
	fputs("flow,src,dst,bytes,start_ns,completion_ns,alone_ns,slowdown\n", out);
	for (uint32_t i = 0; i < result->flows; i++) {
		const struct run_result_flow *flow = &result->flow[i];
		double slowdown = slowdown_of(flow);

		fprintf(out, "%" PRIu32 ",%s,%s,%" PRIu64, i, topology->host_at[flow->from].name,
			topology->host_at[flow->to].name, flow->bytes);
		write_ns(flow->start_ps, out);
		write_ns(flow->completion_ps, out);
		if (flow->alone_ns > 0)
			fprintf(out, ",%.3f", flow->alone_ns);
		else
			fputc(',', out);
		if (slowdown > 0)
			fprintf(out, ",%.4f\n", slowdown);
		else
			fputs(",\n", out);
	}
}

/* Sorted slowdowns of the flows in a range of sizes. */
struct slowdowns {
	double *at;
	uint32_t count, flows; /* completed flows; all flows */
	double sum;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Collects the flows larger than 'above', up to 'to'. Returns false if out of memory. The caller
 * always frees 'at'. */
static bool collect(
	const struct run_result *result, uint64_t above, uint64_t to, struct slowdowns *slowdowns)
{
	*slowdowns = (struct slowdowns){.at = calloc(result->flows + 1u, sizeof(double))};
	if (slowdowns->at == NULL)
		return false;
	for (uint32_t i = 0; i < result->flows; i++) {
		const struct run_result_flow *flow = &result->flow[i];
		double slowdown = slowdown_of(flow);

		if (flow->bytes <= above || flow->bytes > to)
			continue;
		slowdowns->flows++;
		if (slowdown == 0)
			continue;
		slowdowns->at[slowdowns->count++] = slowdown;
		slowdowns->sum += slowdown;
	}
	qsort(slowdowns->at, slowdowns->count, sizeof(double), compare_doubles);
	return true;
}

/* Returns the smallest value that is not exceeded by at least this share of the values. */
static double quantile(const struct slowdowns *slowdowns, double share)
{
	uint32_t rank = (uint32_t)(share * slowdowns->count);

	if ((double)rank < share * slowdowns->count)
		rank++;
	return slowdowns->at[rank > 0 ? rank - 1 : 0];
}

static json_t *slowdowns_json(const struct slowdowns *slowdowns)
{
	json_t *json = json_pack("{s:I,s:I}", "count", (json_int_t)slowdowns->flows, "completed",
		(json_int_t)slowdowns->count);

	if (slowdowns->count == 0)
		json_object_set_new(json, "slowdown", json_null());
	else
		json_object_set_new(json, "slowdown",
			json_pack("{s:f,s:f,s:f,s:f,s:f}", "mean",
				slowdowns->sum / slowdowns->count, "p50", quantile(slowdowns, 0.5),
				"p99", quantile(slowdowns, 0.99), "p999",
				quantile(slowdowns, 0.999), "max",
				slowdowns->at[slowdowns->count - 1]));
	return json;
}

static json_t *range_json(const struct run_result *result, uint64_t above, uint64_t to)
{
	struct slowdowns slowdowns;
	json_t *json = NULL;

	if (collect(result, above, to, &slowdowns))
		json = slowdowns_json(&slowdowns);
	free(slowdowns.at);
	return json;
}

json_t *run_result_flows_json(const struct run_result *result)
{
	json_t *json = result->flows > 0 ? range_json(result, 0, UINT64_MAX) : NULL;
	json_t *sizes = json_array();
	uint64_t above = 0;

	/* Up to 1 kB, up to 10 kB and so on; ranges without flows are omitted. */
	for (uint64_t to = 1000; json != NULL && above < GOAL_BYTES_MAX; above = to, to *= 10) {
		json_t *range = range_json(result, above, to);

		if (json_integer_value(json_object_get(range, "count")) == 0) {
			json_decref(range);
			continue;
		}
		json_object_set_new(range, "above_bytes", json_integer((json_int_t)above));
		json_object_set_new(range, "to_bytes", json_integer((json_int_t)to));
		json_array_append_new(sizes, range);
	}
	if (json == NULL)
		json_decref(sizes);
	else
		json_object_set_new(json, "by_size", sizes);
	return json;
}

void run_result_print_flows(const struct run_result *result, FILE *out)
{
	struct slowdowns all;

	if (result->flows == 0)
		return;
	if (collect(result, 0, UINT64_MAX, &all)) {
		fprintf(out, "  %-22s %" PRIu32 " of %" PRIu32 " completed", "flows", all.count,
			all.flows);
		if (all.count > 0)
			fprintf(out, ", slowdown p50 %.3g, p99 %.3g, p99.9 %.3g, max %.3g",
				quantile(&all, 0.5), quantile(&all, 0.99), quantile(&all, 0.999),
				all.at[all.count - 1]);
		putc('\n', out);
	}
	free(all.at);
}
