/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Flows of a result: completion times and slowdowns against the empty network. */

#include <inttypes.h>
#include <stdlib.h>

#include "goal/goal.h"
#include "run_result.h"

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

/* Slowdowns of the flows of a range of lengths, sorted. */
struct slowdowns {
	double *at;
	uint32_t count, flows; /* completed; all */
	double sum;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Lengths above 'above', up to 'to'. False without memory; the caller frees 'at'. */
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

/* The lowest value that at least this share does not exceed. */
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

	/* To 1 kB, to 10 kB and so on; ranges without flows are left out. */
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
