/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Prints a result as a table for the terminal. */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "nic/clock/clock_offset.h"
#include "run_fidelity.h"
#include "run_result_jobs.h"
#include "run_result_private.h"
#include "switch/adaptive_routing.h"

static void print_routing(const struct run_config_routing *routing, FILE *out)
{
	char origin[RUN_ROUTING_ORIGIN], name[RUN_ROUTING_NAME];

	if (routing->file != NULL) {
		fprintf(out, "  %-22s %s", "routing", run_routing_origin(routing, origin));
	} else {
		run_routing_name(routing, name);
		fprintf(out, "  %-22s %s", "routing", name);
	}
	if (strcmp(routing->adaptive->name, "none") != 0)
		fprintf(out, ", adaptive %s", routing->adaptive->name);
	fprintf(out, "%s\n", routing->afi ? ", adapted flows isolated" : "");
}

/* Papers give buffer sizes in packets. With wormhole switching, no buffer holds a whole message. */
static void print_buffer(const struct run_result *result, const struct run_config *run, FILE *out)
{
	if (run->sw.switching == RUN_SWITCHING_WORMHOLE)
		return;
	fprintf(out, "  %-22s %u frames of %u bytes", "input buffer", result->vc_frames,
		(unsigned)run->nic.mtu_bytes);
	if (result->vcs > 1)
		fprintf(out, " in each of %u VCs", result->vcs);
	putc('\n', out);
}

/* Prints the wall time of a virtual or dilated run; all other lines use the fabric's time. */
static void print_time(const struct run_result *result, const struct run_config *run, FILE *out)
{
	char from[32], to[32];

	fprintf(out, "  %-22s from %s to %s of %s time", "measured",
		quantity_time_text(result->from_ns, 4, from),
		quantity_time_text(result->to_ns, 4, to),
		run->clock == RUN_CLOCK_VIRTUAL ? "virtual" : "real");
	if (run->dilation > 1)
		fprintf(out, ", dilated by %" PRIu32, run->dilation);
	if (run->clock == RUN_CLOCK_VIRTUAL || run->dilation > 1)
		fprintf(out, ", computed in %.1f s of wall time", result->wall.seconds);
	fputs(result->incomplete ? " (incomplete)\n" : "\n", out);
}

/* Prints microseconds below one second, so that common values are easy to compare. */
static void print_us(const char *before, double ns, FILE *out)
{
	char text[32];

	if (ns < 1e9)
		fprintf(out, "%s%.1f us", before, ns / 1e3);
	else
		fprintf(out, "%s%s", before, quantity_time_text((uint64_t)ns, 4, text));
}

static void print_quantiles(
	const char *before, const struct histogram *histogram, bool rare, FILE *out)
{
	fputs(before, out);
	print_us("p50 ", (double)histogram_quantile(histogram, 0.5), out);
	print_us(", p99 ", (double)histogram_quantile(histogram, 0.99), out);
	if (rare)
		print_us(", p99.9 ", (double)histogram_quantile(histogram, 0.999), out);
}

static void print_latency(const struct run_result *result, const char *name,
	const struct histogram *histogram, FILE *out)
{
	if (histogram->count == 0 && result->clocks_differ)
		fprintf(out, "  %-22s - (the clocks of the senders' machines are unknown)\n", name);
	if (histogram->count == 0)
		return;
	fprintf(out, "  %-22s", name);
	print_quantiles(" ", histogram, true, out);
	print_us(", max ", (double)histogram->max, out);
	if (result->clocks.timed > 0)
		fprintf(out, ", +- %.1f us", (double)result->clocks.bound_ns / 1e3);
	else if (result->clocks_differ)
		fputs(" between hosts of this machine", out);
	putc('\n', out);
}

/* Prints how precisely the clocks of other machines are known, and the effect if they are not. */
static void print_clocks(const struct run_result *result, FILE *out)
{
	const struct run_clocks *clocks = &result->clocks;
	uint64_t steps = run_result_counter(result, "host_clock_steps");

	if (!result->clocks_differ)
		return;
	if (clocks->timed > 0)
		fprintf(out, "  %-22s of other machines known within %.1f us, %.1f us on average\n",
			"clocks", (double)clocks->bound_ns / 1e3,
			(double)clocks->bounds_ns / (double)clocks->timed / 1e3);
	if (clocks->untimed > 0)
		fprintf(out,
			"  %-22s unknown for %" PRIu64
			" frames, which are excluded from latencies\n",
			"clocks", clocks->untimed);
	if (steps > 0)
		fprintf(out,
			"  %-22s contradicted %" PRIu64
			" times: a machine was suspended, or its TSC deviates by more than "
			"%.1f %% or is not invariant (see constant_tsc, nonstop_tsc in /proc/cpuinfo)\n",
			"clocks", steps, CLOCK_RATE_MAX_PPM / 1e4);
}

static void print_packets(const struct run_packets_count *packets, FILE *out)
{
	uint64_t unsent = packets->no_source + packets->no_destination + packets->same_host;

	if (unsent == 0)
		return;
	fprintf(out,
		"  %-22s %" PRIu64 " of %" PRIu64 " in the capture: %" PRIu64
		" have a source without a host, %" PRIu64 " a destination without a host, %" PRIu64
		" have both on the same host\n",
		"packets not sent", unsent, packets->read, packets->no_source,
		packets->no_destination, packets->same_host);
}

static void print_entry(const struct run_entry *entry, unsigned which, FILE *out)
{
	char name[64];
	uint64_t ns;
	char text[32];

	snprintf(name, sizeof(name), "traffic[%u] %.12s", which, entry->pattern);
	if (entry->nothing[0] != '\0')
		fprintf(out, "  %-22s accepted -", name);
	else
		fprintf(out, "  %-22s accepted %.1f %%", name, 100 * entry->accepted);
	fprintf(out, " of %.1f %% offered by %u host%s", 100 * entry->offered, entry->senders,
		entry->senders == 1 ? "" : "s");
	if (entry->total_ns.count > 0)
		print_quantiles(", total latency ", &entry->total_ns, true, out);
	if (run_entry_completion(entry, &ns))
		fprintf(out, ", completed in %s", quantity_time_text(ns, 4, text));
	putc('\n', out);
	print_packets(&entry->packets, out);
}

/* Prints the traffic through TAPs, which is part of the totals. */
static void print_edges(const struct run_result *result, FILE *out)
{
	const struct run_edges *edges = &result->edges;

	if (edges->count == 0)
		return;
	fprintf(out,
		"  %-22s offered %.1f %%, accepted %.1f %% through TAPs, included in the throughput above",
		"edges", 100 * edges->offered, 100 * edges->accepted);
	if (edges->network_ns.count > 0)
		print_quantiles("; network latency ", &edges->network_ns, false, out);
	putc('\n', out);
}

static void print_order(const struct run_result *result, FILE *out)
{
	const struct histogram *waited = &result->waited.waited_ns;

	if (waited->count == 0)
		return;
	fprintf(out, "  %-22s released %.1f %%; %" PRIu64 " frames waited for earlier ones",
		"in order", 100 * result->released, waited->count);
	print_us(": mean ", histogram_mean(waited), out);
	print_us(", p99 ", (double)histogram_quantile(waited, 0.99), out);
	print_us(", max ", (double)waited->max, out);
	putc('\n', out);
}

static void print_schedule(const struct run_result *result, FILE *out)
{
	uint64_t operations = run_result_counter(result, "goal_operations");
	uint64_t left = run_result_counter(result, "goal_unfinished");
	char text[32];

	if (operations == 0)
		return;
	if (left > 0)
		fprintf(out,
			"  %-22s not completed: %" PRIu64 " of %" PRIu64 " operations unfinished\n",
			"schedule", left, operations);
	else
		fprintf(out, "  %-22s completed in %s\n", "schedule",
			quantity_time_text(
				run_result_counter(result, "goal_completion_ns"), 4, text));
}

/* Prints entries with too few measured messages, or the reason why there are none. */
static void print_few(const struct run_result *result, FILE *out)
{
	for (unsigned i = 0; i < result->entries; i++) {
		const struct run_entry *entry = &result->entry[i];

		if (entry->nothing[0] != '\0' && result->nothing[0] == '\0')
			fprintf(out, "  %-22s %s\n", "nothing measured", entry->nothing);
		else if (run_entry_is_few(entry) && result->nothing[0] == '\0')
			fprintf(out,
				"  %-22s traffic[%u]: %" PRIu64
				", fewer than %u: its latencies are "
				"not reliable\n",
				"messages measured", i, entry->total_ns.count, RUN_MESSAGES_MIN);
	}
}

/* Prints a line only if a longer run may give an answer. */
static void print_unknown(const char *name, struct run_verdict verdict, FILE *out)
{
	char needed[32];

	if (verdict.needed_ns > 0)
		fprintf(out, "  %-22s cannot tell: %s; measure for %s\n", name, verdict.why,
			quantity_time_text(verdict.needed_ns, 4, needed));
}

static void print_saturation(const struct run_result *result, FILE *out)
{
	struct run_verdict all = run_result_is_saturated(result);

	if (all.verdict == VERDICT_UNKNOWN)
		print_unknown("saturated", all, out);
	if (all.verdict != VERDICT_YES)
		return;
	fprintf(out, "  %-22s", "saturated");
	for (unsigned i = 0; i < result->entries && result->entries > 1; i++)
		if (run_entry_is_saturated(result, &result->entry[i]).verdict == VERDICT_YES)
			fprintf(out, " traffic[%u]", i);
	fputs(result->entries > 1 ? ": latency grows with the run\n"
				  : " latency grows with the run\n",
		out);
}

static void print_until(const struct run_result *result, FILE *out)
{
	struct run_until until = run_result_until(result);

	if (result->until.interval_ppm == 0)
		return;
	fprintf(out, "  %-22s %s known to ", "until", run_until_value_name(result->until.of));
	if (isnan(until.interval))
		fputs("nothing", out);
	else
		fprintf(out, "+-%.2g %%", 100 * until.interval);
	fprintf(out, " (95 %% confidence), requested +-%.4g %%%s\n",
		(double)result->until.interval_ppm / 1e4,
		until.reached ? "" : ": not reached within measure.at-most");
}

/* Prints nothing if the result is steady. */
static void print_steadiness(const struct run_result *result, FILE *out)
{
	struct run_verdict steady = run_result_is_steady(result);

	if (steady.verdict == VERDICT_UNKNOWN)
		print_unknown("steady", steady, out);
	if (steady.verdict == VERDICT_NO)
		fprintf(out, "  %-22s no: latency or throughput changes over the measured time\n",
			"steady");
}

static void print_counts(const struct run_result *result, FILE *out)
{
	uint64_t unsent;

	fprintf(out,
		"  %-22s %" PRIu64 " delivered, %" PRIu64 " retransmitted, %" PRIu64
		" discarded in transit\n",
		"frames", result->packets.delivered, result->packets.retransmitted,
		result->packets.dropped);
	fprintf(out, "  %-22s %" PRIu64 " delivered, %" PRIu64 " pending at the end", "messages",
		result->messages.delivered, result->messages.pending);
	unsent = run_result_minus(result->messages.pending, run_result_under_way(result));
	if (unsent > 0)
		fprintf(out, " (%" PRIu64 " of them never sent)", unsent);
	if (result->messages.dropped > 0)
		fprintf(out, ", %" PRIu64 " dropped", result->messages.dropped);
	putc('\n', out);
}

static void print_counters(const struct run_result *result, FILE *out)
{
	uint64_t absorbed = run_result_counter(result, "host_itb_absorbed");
	uint64_t discarded = run_result_counter(result, "host_itb_discarded");

	if (absorbed + discarded > 0)
		fprintf(out,
			"  %-22s %" PRIu64 " frames absorbed, %" PRIu64 " re-injected, %" PRIu64
			" discarded\n",
			"in-transit buffers", absorbed,
			run_result_counter(result, "host_itb_reinjected"), discarded);
	for (unsigned i = 0; i < result->counters; i++)
		if (strcmp(result->counter[i].name, "stall_credit") == 0)
			fprintf(out, "  %-22s %" PRIu64 "\n", "credit stalls",
				result->counter[i].value);
}

/* Prints workers only if some had no thread, or no core, of their own. */
static void print_workers(const struct run_result *result, FILE *out)
{
	uint64_t rounds = 0, helped = 0;

	for (unsigned i = 0; i < result->wall.workers; i++) {
		rounds += result->wall.worker[i].rounds;
		helped += result->wall.worker[i].helped;
	}
	if (result->wall.threads < result->wall.workers)
		fprintf(out, "  %-22s %u on %u thread%s, one per core\n", "workers",
			result->wall.workers, result->wall.threads,
			result->wall.threads == 1 ? "" : "s");
	if (helped * 20 > rounds)
		fprintf(out,
			"  %-22s other programs used the cores: %.0f %% of the rounds ran on "
			"another worker's thread\n",
			"workers", 100 * (double)helped / (double)rounds);
}

/* Prints how messages are spaced, on which latencies depend: "constant and poisson arrivals". */
static void print_arrivals(const struct run_config *run, FILE *out)
{
	static const char *const names[] = {ARRIVALS_KINDS(WORD_TEXT)};
	const char *before = ", ";

	for (unsigned kind = 0; kind < ARRIVALS_UNSET; kind++) {
		bool used = false;

		for (uint32_t i = 0; i < run->traffic.count; i++)
			used = used || run->traffic.at[i].value.arrivals == kind;
		if (!used)
			continue;
		fprintf(out, "%s%s", before, names[kind]);
		before = " and ";
	}
	fputs(before[1] == 'a' ? " arrivals\n" : "\n", out);
}

void run_result_print(const struct run_result *result, const struct run_config *run, FILE *out)
{
	fprintf(out, "%s: %" PRIu32 " switch%s, %" PRIu32 " host%s", result->topology,
		result->switches, plural(result->switches, "es"), result->hosts,
		plural(result->hosts, "s"));
	if (result->host_ports != result->hosts)
		fprintf(out, " with %" PRIu32 " ports", result->host_ports);
	fputc('\n', out);
	run_result_print_reasons(result, "  incomplete             ", out);
	if (result->nothing[0] != '\0')
		fprintf(out, "  %-22s %s\n", "nothing measured", result->nothing);
	print_routing(&run->routing, out);
	print_buffer(result, run, out);
	print_time(result, run, out);
	print_workers(result, out);
	if (result->nothing[0] != '\0')
		fprintf(out, "  %-22s offered %.1f %%, accepted - of the hosts' links",
			"throughput", 100 * result->offered);
	else
		fprintf(out, "  %-22s offered %.1f %%, accepted %.1f %% of the hosts' links",
			"throughput", 100 * result->offered, 100 * result->accepted);
	print_arrivals(run, out);
	print_edges(result, out);
	print_order(result, out);
	print_few(result, out);
	for (unsigned i = 0; i < result->warnings; i++)
		fprintf(out, "  %-22s %s\n", "warning", result->warning[i].text);
	print_saturation(result, out);
	print_steadiness(result, out);
	print_until(result, out);
	print_schedule(result, out);
	run_result_print_flows(result, out);
	run_result_print_events(result, out);
	run_result_print_ranks(result, out);
	run_result_print_jobs(result, out);
	print_counts(result, out);
	print_latency(result, "network latency", &result->network_ns, out);
	print_latency(result, "total latency", &result->total_ns, out);
	print_latency(result, "network latency, due", &result->network_due_ns, out);
	print_clocks(result, out);
	/* A single entry with all hosts and no end is identical to the whole result. A list of
	 * senders may omit ports of a host. */
	for (unsigned i = 0; i < result->entries; i++)
		if (result->entries > 1 || result->entry[i].finite ||
			result->entry[i].senders < result->hosts ||
			run->traffic.at[i].from.kind == RUN_HOSTS_LIST)
			print_entry(&result->entry[i], i, out);
	fprintf(out, "  %-22s %" PRIu64 " lost, %" PRIu64 " duplicated, %" PRIu64 " out of order\n",
		"checks", result->lost, result->duplicated, result->out_of_order);
	run_result_print_starved(result, out);
	print_counters(result, out);
	if (run->clock == RUN_CLOCK_REAL)
		run_fidelity_print(result, run->hello_ps, out);
}
