/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_fidelity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "link/link_end.h"

uint64_t run_fidelity_step(uint64_t ns)
{
	uint64_t decade = 1;

	while (5 * decade < ns && decade < UINT64_MAX / 100)
		decade *= 10;
	if (decade > 1 && ns <= decade)
		return decade;
	return ns <= decade ? decade : ns <= 2 * decade ? 2 * decade : 5 * decade;
}

/* --- lateness --- */

/* Maximum ratio of lateness to latency if the run file sets no limit, in millionths. */
#define LATE_PPM 200000

static bool is_met(
	const struct histogram *late_ns, const struct run_config_fidelity *demand, uint64_t times)
{
	return lateness_within_ppm(late_ns, times * demand->late_ps / PS_PER_NS) >=
	       demand->share_ppm;
}

uint64_t run_fidelity_dilation(const struct histogram *late_ns,
	const struct run_config_fidelity *demand, uint32_t dilation)
{
	uint64_t factor = 1;

	if (late_ns->count == 0)
		return 0;
	while (factor <= RUN_DILATION_MAX && !is_met(late_ns, demand, factor))
		factor = run_fidelity_step(factor + 1);
	factor = run_fidelity_step(factor * dilation);
	return factor <= RUN_DILATION_MAX ? factor : 0;
}

uint64_t run_fidelity_late_ppm(const struct run_result *result)
{
	uint64_t late_ns = result->fidelity.late_ns.sum, due_ns = result->network_due_ns.sum;

	return late_ns < due_ns * 1000
		       ? (uint64_t)((unsigned __int128)late_ns * QUANTITY_WHOLE_PPM / due_ns)
		       : UINT64_MAX;
}

bool run_fidelity_meets(const struct run_result *result, const struct run_config_fidelity *demand)
{
	if (demand->late_ps == WEFT_TIME_NEVER)
		return run_fidelity_late_ppm(result) <= LATE_PPM;
	return result->fidelity.late_ns.count > 0 && is_met(&result->fidelity.late_ns, demand, 1);
}

static void add_reason(struct run_result *result, uint64_t dilation)
{
	const struct run_config_fidelity *demand = &result->fidelity.demand;
	const struct histogram *late_ns = &result->fidelity.late_ns;
	char late[QUANTITY_TEXT], max[32],
		cure[64] = "'dilation: auto' finds a sufficient dilation";

	quantity_format(QUANTITY_TIME, demand->late_ps, late);
	if (dilation > 0)
		snprintf(cure, sizeof(cure), "a dilation of at most %" PRIu64 " would be enough",
			dilation);
	run_result_add_reason(result, false,
		"fidelity: only %.2f %% of arrivals were late by at most %s; fidelity.share "
		"requires %.4g %%, and %.4g %% were late by up to %s; %s",
		floor(lateness_within_ppm(late_ns, demand->late_ps / PS_PER_NS) / 1e2) / 1e2, late,
		demand->share_ppm / 1e4, demand->share_ppm / 1e4,
		quantity_time_text(histogram_quantile(late_ns, demand->share_ppm / 1e6), 2, max),
		cure);
}

void run_fidelity_judge(
	struct run_result *result, const struct run_config_fidelity *demand, uint32_t dilation)
{
	const struct histogram *late_ns = &result->fidelity.late_ns;

	result->fidelity.demand = *demand;
	if (demand->late_ps == WEFT_TIME_NEVER)
		return;
	if (late_ns->count == 0)
		run_result_add_reason(result, false,
			"fidelity: nothing arrived over a link that Weft times, so the lateness is unknown");
	else if (!is_met(late_ns, demand, 1))
		add_reason(result, run_fidelity_dilation(late_ns, demand, dilation));
}

/* Returns the sum over switches and hosts, whose counters have different names. */
static uint64_t count_both(const struct run_result *result, const char *host_name)
{
	return run_result_counter(result, host_name) +
	       run_result_counter(result, host_name + strlen("host_"));
}

static json_t *late_json(uint64_t p50, uint64_t p99, uint64_t max)
{
	return json_pack("{s:I,s:I,s:I}", "p50", (json_int_t)p50, "p99", (json_int_t)p99, "max",
		(json_int_t)max);
}

json_t *run_fidelity_late_json(const struct lateness_summary *late)
{
	return late->arrivals > 0 ? late_json(late->p50_ns, late->p99_ns, late->max_ns)
				  : json_null();
}

static bool has_demand(const struct run_fidelity *fidelity)
{
	return fidelity->demand.late_ps != 0 && fidelity->demand.late_ps != WEFT_TIME_NEVER;
}

/* Returns null without a demand. */
static json_t *demand_json(const struct run_result *result)
{
	const struct run_fidelity *fidelity = &result->fidelity;
	const struct run_config_fidelity *demand = &fidelity->demand;
	json_t *json;

	if (!has_demand(fidelity))
		return json_null();
	json = json_pack("{s:I,s:f,s:n,s:b}", "late_ns", (json_int_t)(demand->late_ps / PS_PER_NS),
		"share", demand->share_ppm / 1e6, "reached", "met",
		run_fidelity_meets(result, demand));
	if (json != NULL && fidelity->late_ns.count > 0)
		json_object_set_new(json, "reached",
			json_real(lateness_within_ppm(
					  &fidelity->late_ns, demand->late_ps / PS_PER_NS) /
				  1e6));
	return json;
}

json_t *run_fidelity_json(const struct run_result *result)
{
	const struct run_fidelity *fidelity = &result->fidelity;
	const struct histogram *late_ns = &fidelity->late_ns;

	return json_pack("{s:I,s:o,s:I,s:o,s:o,s:o}", "arrivals", (json_int_t)late_ns->count,
		"late_ns",
		late_ns->count > 0 ? late_json(histogram_quantile(late_ns, 0.5),
					     histogram_quantile(late_ns, 0.99), late_ns->max)
				   : json_null(),
		"frames", (json_int_t)fidelity->frames, "within_tenth",
		fidelity->frames > 0
			? json_real((double)fidelity->within_tenth / (double)fidelity->frames)
			: json_null(),
		"moved",
		json_pack("{s:I,s:I}", "transmissions",
			(json_int_t)count_both(result, "host_transmissions_moved"), "ns",
			(json_int_t)count_both(result, "host_transmissions_moved_ns")),
		"demand", demand_json(result));
}

static void print_moved(const struct run_result *result, FILE *out)
{
	uint64_t moved = count_both(result, "host_transmissions_moved");
	char mean[32];

	if (moved == 0)
		return;
	quantity_time_text(count_both(result, "host_transmissions_moved_ns") / moved, 2, mean);
	fprintf(out,
		"  %-22s %" PRIu64 ", by %s on average: loops fell too far behind to catch up\n",
		"transmissions delayed", moved, mean);
}

static void print_late(const struct run_result *result, FILE *out)
{
	const struct run_fidelity *fidelity = &result->fidelity;
	const struct histogram *late_ns = &fidelity->late_ns;
	char p50[32], p99[32], max[32];

	if (late_ns->count == 0)
		return;
	fprintf(out, "  %-22s by p50 %s, p99 %s, max %s", "arrivals late",
		quantity_time_text(histogram_quantile(late_ns, 0.5), 2, p50),
		quantity_time_text(histogram_quantile(late_ns, 0.99), 2, p99),
		quantity_time_text(late_ns->max, 2, max));
	if (fidelity->frames > 0)
		fprintf(out, "; %.1f %% within 10 %% of the path's latency",
			floor(1000.0 * (double)fidelity->within_tenth / (double)fidelity->frames) /
				10);
	putc('\n', out);
	if (fidelity->frames > 0 && !has_demand(fidelity) &&
		run_fidelity_late_ppm(result) > LATE_PPM)
		fprintf(out,
			"  %-22s above %u %% of the latency in total: 'dilation: auto' measures how slow "
			"the clock has to be\n",
			"", LATE_PPM / 10000);
}

/* --- loops --- */

static uint64_t p99(const struct run_result *result)
{
	return histogram_quantile(&result->wall.spent_ns, 0.99);
}

void run_fidelity_add(json_t *wall, const struct run_result *result)
{
	json_object_set_new(wall, "stall_ns", json_integer((json_int_t)result->wall.stall_ns));
	json_object_set_new(wall, "stall_p99_ns", json_integer((json_int_t)p99(result)));
	/* former names */
	json_object_set_new(wall, "away_ns", json_integer((json_int_t)result->wall.stall_ns));
	json_object_set_new(wall, "away_p99_ns", json_integer((json_int_t)p99(result)));
}

static uint64_t count_ordered(const struct run_result *result)
{
	return run_result_counter(result, "host_link_downs_ordered") +
	       run_result_counter(result, "link_downs_ordered");
}

/* Returns the number of link-down events that no command caused. */
static uint64_t count_downs(const struct run_result *result)
{
	return run_result_minus(run_result_counter(result, "host_link_downs") +
					run_result_counter(result, "link_downs"),
		count_ordered(result));
}

/* Returns true if the traffic was affected. Refused messages do not count if a cable was cut,
 * because the cut may be the cause. Nothing counts if a process ended. */
static bool suffers(const struct run_result *result)
{
	bool cut = result->wall.cut_ends > 0 || count_ordered(result) > 0;

	return !result->wall.process_ended &&
	       (count_downs(result) > 0 || (!cut && run_result_refused(result) > 0));
}

bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size)
{
	const char *who = result->wall.stall_who;
	char longest[32];

	if (result->wall.stall_ns <= LINK_HELLOS_MISSED * hello_ps / PS_PER_NS || !suffers(result))
		return false;
	snprintf(text, size, "%s%s stalled for %s", who[0] != '\0' ? who : "a loop",
		who[0] != '\0' ? "'s loop" : "",
		quantity_time_text(result->wall.stall_ns, 2, longest));
	return true;
}

void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out)
{
	char usual[32], longest[32], above[32], why[160];

	print_late(result, out);
	print_moved(result, out);
	if (result->wall.spent_ns.count == 0)
		return;
	if (run_fidelity_starved(result, hello_ps, why, sizeof(why)))
		fprintf(out,
			"  %-22s %s: %" PRIu64 " link ends went down, %" PRIu64
			" messages were refused\n",
			"CPU starved", why, count_downs(result), run_result_refused(result));
	fprintf(out, "  %-22s p99 %s, longest %s: link times are trustworthy above %s\n",
		"loop stalls", quantity_time_text(p99(result), 2, usual),
		quantity_time_text(result->wall.stall_ns, 2, longest),
		quantity_time_text(run_fidelity_step(result->wall.stall_ns), 2, above));
}
