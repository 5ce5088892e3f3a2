/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "route/route_algorithm.h"
#include "run_result.h"
#include "stats/steadiness.h"
#include "switch/adaptive_routing.h"
#include "traffic/traffic_pattern.h"

/* Judges from its batches whether a run is saturated and steady (docs/reference/result-file.md,
 * 'Steady and saturated'). */

/* Minimum measured time, in network latencies: a fabric fills within a few, and the queues at the
 * hosts settle later. */
#define LATENCIES_SATURATED 5.0
#define LATENCIES_STEADY    20.0

#define NO_WINDOW  "the run has no measured time"
#define NO_END     "traffic starts or stops within the measured time, or is a schedule"
#define TOO_FEW    "fewer than 100 messages were measured"
#define TOO_SHORT  "the measured time is only a few network latencies"
#define ELSEWHERE  "hosts on other machines are not in this result"
#define TOO_VARIED "the values vary too much for this measured time"

static struct run_verdict unknown(const char *why, double needed_ns)
{
	return (struct run_verdict){
		VERDICT_UNKNOWN, needed_ns < 9e18 ? (uint64_t)needed_ns : 0, why};
}

static double measured_ns(const struct run_result *result)
{
	return (double)run_result_minus(result->to_ns, result->from_ns);
}

static struct run_verdict verdict_of(
	const struct run_result *result, const struct steadiness *answer)
{
	if (answer->verdict == VERDICT_UNKNOWN)
		return unknown(TOO_VARIED, answer->needed * measured_ns(result));
	return (struct run_verdict){.verdict = answer->verdict};
}

/* Returns true if no test can give an answer, and sets 'verdict' to the reason. */
static bool is_too_short(const struct run_result *result, const struct run_entry *entry,
	uint64_t messages, double latencies, struct run_verdict *verdict)
{
	const struct histogram *network = entry != NULL ? &entry->network_ns : &result->network_ns;
	double time = measured_ns(result), min = latencies * histogram_mean(network);

	if (time <= 0 || result->batches == 0)
		*verdict = unknown(NO_WINDOW, 0);
	else if (messages < RUN_MESSAGES_MIN)
		*verdict = unknown(
			TOO_FEW, messages > 0 ? time * RUN_MESSAGES_MIN / (double)messages : 0);
	else if (time < min)
		*verdict = unknown(TOO_SHORT, min);
	else
		return false;
	return true;
}

struct run_verdict run_entry_is_saturated(
	const struct run_result *result, const struct run_entry *entry)
{
	double more[STEADINESS_BATCHES], generated[STEADINESS_BATCHES];
	uint64_t messages = 0;
	struct run_verdict verdict;
	struct steadiness growth;

	if (result->partial)
		return unknown(ELSEWHERE, 0);
	if (!entry->continuous)
		return unknown(NO_END, 0);
	for (unsigned i = 0; i < result->batches; i++) {
		const struct run_batch *batch = &entry->batch[i];

		generated[i] = (double)batch->generated;
		more[i] = generated[i] - (double)batch->delivered;
		messages += batch->generated;
	}
	if (is_too_short(result, entry, messages, LATENCIES_SATURATED, &verdict))
		return verdict;
	growth = growth_of(more, generated, result->batches);
	return verdict_of(result, &growth);
}

/* Combines two verdicts: 'answer' takes precedence, then the unknown that needs more time. */
static void join(struct run_verdict *into, const struct run_verdict *next, enum verdict answer)
{
	if (into->verdict == answer || next->verdict == answer)
		*into = (struct run_verdict){.verdict = answer};
	else if (next->verdict == VERDICT_UNKNOWN &&
		 (into->verdict != VERDICT_UNKNOWN || next->needed_ns > into->needed_ns))
		*into = *next;
}

struct run_verdict run_result_is_saturated(const struct run_result *result)
{
	struct run_verdict all = {.verdict = VERDICT_NO};

	for (unsigned i = 0; i < result->entries; i++) {
		struct run_verdict next = run_entry_is_saturated(result, &result->entry[i]);

		join(&all, &next, VERDICT_YES);
	}
	return result->entries > 0 ? all : unknown(NO_WINDOW, 0);
}

/* Tests accepted traffic as a share of the offered traffic, because it varies with the latter. */
struct run_verdict run_result_is_steady(const struct run_result *result)
{
	double latency[STEADINESS_BATCHES] = {0}, timed[STEADINESS_BATCHES] = {0};
	double delivered[STEADINESS_BATCHES] = {0}, generated[STEADINESS_BATCHES] = {0};
	struct steadiness of_latency, of_throughput;
	struct run_verdict all, accepted;
	uint64_t messages = 0;

	if (result->partial)
		return unknown(ELSEWHERE, 0);
	for (unsigned k = 0; k < result->entries; k++) {
		if (!result->entry[k].continuous)
			return unknown(NO_END, 0);
		for (unsigned i = 0; i < result->batches; i++) {
			const struct run_batch *batch = &result->entry[k].batch[i];

			latency[i] += (double)batch->latency_sum_ns;
			timed[i] += (double)batch->timed;
			delivered[i] += (double)batch->delivered;
			generated[i] += (double)batch->generated;
			messages += batch->timed;
		}
	}
	if (is_too_short(result, NULL, messages, LATENCIES_STEADY, &all))
		return all;
	of_latency = steadiness_of(latency, timed, result->batches);
	of_throughput = steadiness_of(delivered, generated, result->batches);
	all = verdict_of(result, &of_latency);
	accepted = verdict_of(result, &of_throughput);
	join(&all, &accepted, VERDICT_NO);
	return all;
}

struct run_until run_until_of(const struct run_config_until *until, const double *sum,
	const double *weight, unsigned batches)
{
	struct confidence known = batch_confidence(sum, weight, batches);
	double interval = known.half_width / known.mean;

	return (struct run_until){
		.reached = interval <= (double)until->interval_ppm / QUANTITY_WHOLE_PPM,
		.interval = isfinite(interval) ? interval : NAN};
}

void run_until_add(const struct run_config_until *until, const struct run_batch *batch, double *sum,
	double *weight)
{
	bool latency = until->of == RUN_UNTIL_LATENCY;

	*sum += (double)(latency ? batch->latency_sum_ns : batch->delivered);
	*weight = latency ? *weight + (double)batch->timed : 1;
}

struct run_until run_result_until(const struct run_result *result)
{
	double sum[STEADINESS_BATCHES] = {0}, weight[STEADINESS_BATCHES] = {0};

	for (unsigned i = 0; i < result->batches; i++)
		for (unsigned k = 0; k < result->entries; k++)
			run_until_add(
				&result->until, &result->entry[k].batch[i], &sum[i], &weight[i]);
	return run_until_of(&result->until, sum, weight, result->batches);
}

bool run_entry_is_few(const struct run_entry *entry)
{
	return !entry->finite && entry->total_ns.count < RUN_MESSAGES_MIN;
}

json_t *run_verdict_json(struct run_verdict verdict)
{
	return verdict.verdict == VERDICT_UNKNOWN ? json_null()
						  : json_boolean(verdict.verdict == VERDICT_YES);
}

json_t *run_verdict_needs_json(struct run_verdict verdict)
{
	if (verdict.verdict != VERDICT_UNKNOWN)
		return json_null();
	return json_pack("{s:s,s:o}", "reason", verdict.why, "measured_ns",
		verdict.needed_ns > 0 ? json_integer((json_int_t)verdict.needed_ns) : json_null());
}

/* Advice about the defaults of a run, from its result. */

/* Advice is only given if the accepted share of the offered traffic is below this. */
#define ENOUGH 0.95

/* Above the first limit, 'smart' often yields worse routes than bmin-itb; above the second,
 * bmin-itb takes more than a few seconds (docs/explanation/routing-and-itbs.md). */
#define SMART_SWITCHES_MAX 64
#define BMIN_SWITCHES_MAX  512

/* Returns true if entry i sends more to some hosts than their links carry, whatever the routes. */
static bool is_incast(const struct run_result *result, const struct run_config *run, uint32_t i)
{
	const struct run_config_traffic *traffic = &run->traffic.at[i];
	uint64_t senders = i < result->entries ? result->entry[i].senders : 0;

	return traffic->value.share_ppm != 0 || strcmp(traffic->pattern->name, "hotspot") == 0 ||
	       (traffic->to.kind == RUN_HOSTS_LIST &&
		       (uint64_t)traffic->to.count * QUANTITY_WHOLE_PPM <
			       senders * traffic->value.load_ppm);
}

/* Returns true if the links of the hosts can carry everything that hosts send and receive. */
static bool hosts_suffice(const struct run_result *result, const struct run_config *run)
{
	uint64_t load_ppm = 0;

	for (uint32_t i = 0; i < run->traffic.count; i++) {
		if (is_incast(result, run, i))
			return false;
		load_ppm += run->traffic.at[i].value.load_ppm;
	}
	return run->traffic.count > 0 && load_ppm <= QUANTITY_WHOLE_PPM;
}

/* Returns true if there may be several paths: with fewer inter-switch links than switches, every
 * pair has only one. */
static bool has_paths(const struct topology *topology)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < topology->links; i++)
		links += topology_link_is_inner(&topology->link_at[i]);
	return links >= topology->switches;
}

/* Returns true if frames are on time. If not, the CPUs may be the bottleneck (real clock). */
static bool in_time(const struct run_result *result, const struct run_config *run)
{
	const struct run_fidelity *fidelity = &result->fidelity;

	return run->clock == RUN_CLOCK_VIRTUAL ||
	       (fidelity->frames > 0 && fidelity->within_tenth >= ENOUGH * fidelity->frames &&
		       result->wall.stall_ns <= RUN_STALL_MAX_NS);
}

/* Returns true for a tree, in which up/down is not a detour. */
static bool has_stages(const struct topology *topology)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].stage == TOPOLOGY_NO_STAGE)
			return false;
	return true;
}

/* Returns an algorithm suited to the network, or NULL if none computes its routes within a few
 * seconds. Recognises a grid only by its generator's name. */
static const char *better_algorithm(const struct run_config *run, const struct topology *topology)
{
	bool small = topology->switches <= SMART_SWITCHES_MAX;
	static const struct {
		const char *kind;
		bool cyclic; /* requires two VC classes */
	} grid[] = {{"torus:", true}, {"ring:", true}, {"mesh:", false}, {"hypercube:", false}};
	const char *spec = run->topology.spec != NULL ? run->topology.spec : "";

	if (strncmp(spec, "dragonfly:", strlen("dragonfly:")) == 0)
		return "df-min with switch.vcs: 2, or df-ugal-l with switch.vcs: 3";
	for (unsigned i = 0; i < sizeof(grid) / sizeof(grid[0]); i++)
		if (strncmp(spec, grid[i].kind, strlen(grid[i].kind)) == 0)
			return !grid[i].cyclic ? "dor"
			       : small         ? "dor with switch.vcs: 2, or smart"
					       : "dor with switch.vcs: 2";
	if (small)
		return "smart";
	return topology->switches <= BMIN_SWITCHES_MAX ? "bmin-itb" : NULL;
}

/* Advises isolation if adaptive switches spread the packets of an incast over all paths, where
 * other packets then wait behind them. */
static bool advise_isolation(
	const struct run_result *result, const struct run_config *run, char out[RUN_ADVICE_MAX])
{
	const struct run_config_routing *routing = &run->routing;

	if (!run_config_is_adaptive(run) || routing->afi ||
		strcmp(routing->adaptive->name, "arn") == 0)
		return false;
	for (uint32_t i = 0; i < run->traffic.count && i < result->entries; i++)
		if (is_incast(result, run, i) &&
			result->entry[i].accepted < ENOUGH * result->entry[i].offered) {
			snprintf(out, RUN_ADVICE_MAX,
				"routing.adaptive %s spreads the incast of traffic[%u] over all "
				"paths, where other traffic waits for it; try routing.afi: true",
				routing->adaptive->name, i);
			return true;
		}
	return false;
}

bool run_result_advise(const struct run_result *result, const struct run_config *run,
	const struct topology *topology, char out[RUN_ADVICE_MAX])
{
	const struct run_config_routing *routing = &run->routing;
	const char *better = better_algorithm(run, topology);

	if (advise_isolation(result, run, out))
		return true;
	if (routing->file != NULL || routing->others > 0 ||
		strcmp(routing->algorithm->name, "ud") != 0 || better == NULL ||
		!hosts_suffice(result, run) || !in_time(result, run) || !has_paths(topology) ||
		has_stages(topology) || run_result_is_saturated(result).verdict != VERDICT_YES ||
		result->accepted > ENOUGH * result->offered)
		return false;
	snprintf(out, RUN_ADVICE_MAX,
		"routing.algorithm ud on %s: it concentrates routes at one root: %.1f %% of "
		"the hosts' links accepted, %.1f %% offered; try %s",
		topology->name, 100 * result->accepted, 100 * result->offered, better);
	return true;
}
