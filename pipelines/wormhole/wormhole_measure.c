/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Counters and result of a wormhole fabric. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "measure/measure_window.h"
#include "wormhole_fabric_private.h"

/* Reads the deliveries of each traffic entry; generated messages are added per source. */
static void read_entries(struct wormhole_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		const struct wormhole_entry *from = &fabric->entry[i];

		fabric->window.entry[i].now =
			(struct measure_entry_totals){.messages = from->messages,
				.wire_bytes = from->bytes,
				.released_wire_bytes = from->bytes,
				.timed = from->total_ns.count,
				.latency_sum_ns = from->total_ns.sum};
	}
}

static void add_generated(struct wormhole_fabric *fabric, const struct traffic *source)
{
	const struct traffic_config *config = traffic_config(source);
	const struct traffic_counters *count = traffic_counters(source);
	struct measure_entry *entry = &fabric->window.entry[config->entry];

	fabric->now.generated_messages += count->generated_messages;
	fabric->now.generated_wire_bytes += count->generated_bytes;
	entry->now.generated_messages += count->generated_messages;
	entry->now.generated_wire_bytes += count->generated_bytes;
	if (entry->flow != NULL)
		entry->flow[traffic_port(config)].generated = count->generated_messages;
}

/* Counts the messages generated before the start of a cycle. */
static void count_generated(struct wormhole_fabric *fabric, uint64_t cycle)
{
	fabric->now.at_ps = cycle * fabric->cycle_ps;
	fabric->now.generated_messages = fabric->now.generated_wire_bytes = 0;
	read_entries(fabric);
	for (uint32_t i = 0; i < fabric->topology->hosts; i++) {
		for (uint32_t k = 0; k < fabric->host[i].sources; k++) {
			struct traffic *source = fabric->host[i].source[k];

			traffic_count(source, fabric->now.at_ps);
			add_generated(fabric, source);
		}
	}
}

void wormhole_measure_begin(struct wormhole_fabric *fabric, uint64_t cycle)
{
	count_generated(fabric, cycle);
	fabric->now.absorbed = wormhole_net_counters(fabric->net).absorbed;
	measure_window_begin(&fabric->window, &fabric->now);
	fabric->measuring = true;
}

static struct starvation_transit transit_of(const struct wormhole_fabric *fabric, uint32_t host)
{
	struct wormhole_host_counters count = wormhole_net_host(fabric->net, host);

	return (struct starvation_transit){
		count.absorbed + count.discarded, count.absorbed - count.in_transit, true};
}

static uint64_t stopped_of(const struct wormhole_fabric *fabric, uint32_t host)
{
	return wormhole_net_stopped(fabric->net, (struct topology_port){DEVICE_HOST, host, 0});
}

static void take_middle(struct wormhole_fabric *fabric, uint64_t cycle)
{
	fabric->middle_at = cycle;
	for (uint32_t i = 0; i < fabric->topology->hosts; i++) {
		fabric->host[i].middle = transit_of(fabric, i);
		fabric->host[i].stopped = stopped_of(fabric, i);
	}
}

void wormhole_measure_again(struct wormhole_fabric *fabric, uint64_t cycle)
{
	fabric->warming = false;
	fabric->network_sum_ps = fabric->total_sum_ps = 0;
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		histogram_reset(&fabric->entry[i].network_ns);
		histogram_reset(&fabric->entry[i].total_ns);
	}
	wormhole_measure_begin(fabric, cycle);
}

void wormhole_take_batch(struct wormhole_fabric *fabric, uint64_t cycle)
{
	count_generated(fabric, cycle);
	if (measure_window_batch(&fabric->window, fabric->now.at_ps))
		take_middle(fabric, cycle);
	if (fabric->run->measure.until.interval_ppm == 0)
		return;
	if (!fabric->warming)
		fabric->known = measure_until_reached(&fabric->window);
	else if (measure_is_warm(&fabric->window))
		wormhole_measure_again(fabric, cycle);
}

static void record(
	struct wormhole_fabric *fabric, const struct wormhole_message *message, uint64_t at)
{
	struct wormhole_entry *entry = &fabric->entry[message->entry];
	weft_time network_ps = (at - message->started) * fabric->cycle_ps;
	weft_time total_ps = at * fabric->cycle_ps - message->generated;

	fabric->last_at = at;
	fabric->network_sum_ps += network_ps;
	fabric->total_sum_ps += total_ps;
	histogram_record(&entry->network_ns, ps_to_ns(network_ps));
	histogram_record(&entry->total_ns, ps_to_ns(total_ps));
}

static void count_entry(
	struct wormhole_fabric *fabric, const struct wormhole_message *message, uint64_t at)
{
	struct measure_flow *flow = fabric->window.entry[message->entry].flow;

	fabric->entry[message->entry].messages++;
	fabric->entry[message->entry].bytes += message->bytes;
	if (flow == NULL)
		return;
	flow[message->source].delivered++;
	flow[message->source].last_ps = at * fabric->cycle_ps;
}

static void check_order(struct wormhole_fabric *fabric, const struct wormhole_message *message)
{
	uint32_t *newest = &fabric->newest[(size_t)message->source * fabric->topology->hosts +
					   message->destination];

	if (message->tag < *newest)
		fabric->overtaken++;
	else
		*newest = message->tag + 1;
}

void wormhole_measure_message(
	struct wormhole_fabric *fabric, const struct wormhole_message *message, uint64_t at)
{
	const struct run_config_measure *measure = &fabric->run->measure;

	check_order(fabric, message);
	fabric->now.messages++;
	fabric->now.timed++;
	fabric->now.bytes += message->bytes;
	fabric->now.wire_bytes += message->bytes;
	fabric->now.latency_sum_ps += (at - message->started) * fabric->cycle_ps;
	fabric->now.released_timed = fabric->now.timed;
	fabric->now.released_wire_bytes = fabric->now.wire_bytes;
	fabric->now.released_latency_sum_ps = fabric->now.latency_sum_ps;
	fabric->fingerprint = rng_mix(fabric->fingerprint ^ at ^ (uint64_t)message->source << 48 ^
				      (uint64_t)message->destination << 32 ^ message->tag);
	count_entry(fabric, message, at);
	if (fabric->measuring)
		record(fabric, message, at);
	if (measure->messages == 0)
		return;
	if (fabric->now.messages == measure->warmup_messages)
		wormhole_measure_begin(fabric, at);
	if (fabric->now.messages == measure->warmup_messages + measure->messages / 2)
		take_middle(fabric, at);
	if (fabric->now.messages == measure->warmup_messages + measure->messages)
		wormhole_net_halt(fabric->net);
}

void wormhole_measure_end(struct wormhole_fabric *fabric)
{
	uint64_t cycle = wormhole_net_now(fabric->net);

	if (fabric->run->measure.messages > 0 && fabric->last_at > 0 &&
		fabric->now.messages ==
			fabric->run->measure.warmup_messages + fabric->run->measure.messages)
		cycle = fabric->last_at;
	count_generated(fabric, cycle);
	/* A run that ended before measuring started reports no values. */
	if (!fabric->measuring)
		measure_window_begin(&fabric->window, &fabric->now);
	measure_window_end(&fabric->window, &fabric->now);
	for (uint32_t i = 0; i < fabric->topology->hosts; i++)
		for (uint32_t k = 0; k < fabric->host[i].sources; k++)
			traffic_abandon(fabric->host[i].source[k], fabric->now.at_ps);
}

void wormhole_take_sample(struct wormhole_fabric *fabric, uint64_t cycle)
{
	fabric->now.at_ps = cycle * fabric->cycle_ps;
	fabric->now.absorbed = wormhole_net_counters(fabric->net).absorbed;
	if (measure_window_sample(&fabric->window, &fabric->now) < 0)
		fabric->failed = true;
}

static int add_counters(const struct wormhole_fabric *fabric, struct run_result *result)
{
	struct wormhole_counters count = wormhole_net_counters(fabric->net);
	uint64_t waiting = 0, max = 0, unreachable = 0;
	int code = 0;

	for (uint32_t i = 0; i < fabric->topology->hosts; i++) {
		uint64_t here = wormhole_fabric_waiting(fabric, i);

		waiting += here;
		max = here > max ? here : max;
		unreachable += fabric->host[i].unreachable;
	}
	code |= run_result_count(result, "stop_signals", count.stops);
	code |= run_result_count(result, "go_signals", count.goes);
	code |= run_result_count(result, "itb_absorbed", count.absorbed);
	code |= run_result_count(result, "itb_discarded", count.discarded);
	code |= run_result_count(result, "itb_pool_peak_bytes", count.pool_peak_bytes);
	code |= run_result_count(result, "host_messages_overtaken", fabric->overtaken);
	code |= run_result_count(result, "host_messages_waiting", waiting);
	code |= run_result_count(result, "host_messages_waiting_most", max);
	code |= run_result_count(result, "host_messages_unreachable", unreachable);
	result->wall.packet_hops = count.channels_passed;
	result->messages.injected = count.taken;
	result->messages.delivered = fabric->now.messages;
	result->messages.dropped = count.discarded;
	return code;
}

static void measure_link(const void *ctx, struct topology_port from, struct run_link *link)
{
	const struct wormhole_fabric *fabric = ctx;
	double cycles = (double)wormhole_net_now(fabric->net);

	if (cycles > 0) {
		link->utilisation = (double)wormhole_net_carried(fabric->net, from) / cycles;
		link->blocked = (double)wormhole_net_stopped(fabric->net, from) / cycles;
	}
}

void wormhole_read_link(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use)
{
	const struct wormhole_fabric *fabric = ctx;

	(void)to; /* flit buffers have no VCs, and their fill level changes with each flit */
	use->busy_ps = wormhole_net_carried(fabric->net, from) * fabric->cycle_ps;
	use->blocked_ps = wormhole_net_stopped(fabric->net, from) * fabric->cycle_ps;
}

static int add_hosts(const struct wormhole_fabric *fabric, struct run_result *result)
{
	for (uint32_t i = 0; i < fabric->topology->hosts; i++) {
		struct wormhole_host_counters count = wormhole_net_host(fabric->net, i);
		struct run_host *host = run_result_add_host(result);

		if (host == NULL)
			return -ENOMEM;
		snprintf(host->name, sizeof(host->name), "%s", fabric->topology->host_at[i].name);
		host->injected = fabric->host[i].taken;
		host->waiting = wormhole_fabric_waiting(fabric, i);
		host->absorbed = count.absorbed;
		host->discarded = count.discarded;
		host->in_transit = count.in_transit;
		host->pool_peak_bytes = count.pool_peak_bytes;
	}
	return 0;
}

/* Adds hosts whose message was stopped throughout the second half of the measurement, and hosts
 * whose in-transit buffers are filling up. */
static int add_starved(const struct wormhole_fabric *fabric, struct run_result *result)
{
	uint64_t cycles = run_result_minus(wormhole_net_now(fabric->net), fabric->middle_at);
	int code = 0;

	result->starvation_known =
		fabric->middle_at != 0 &&
		starvation_patience(fabric->topology, fabric->run, 0) <= cycles * fabric->cycle_ps;
	for (uint32_t i = 0; i < fabric->topology->hosts && code == 0; i++) {
		const struct wormhole_source *host = &fabric->host[i];
		const char *name = fabric->topology->host_at[i].name;
		struct starvation_transit end = transit_of(fabric, i);
		struct run_starved *starved;

		code = starvation_judge_transit(name, &host->middle, &end, result);
		if (!result->starvation_known || stopped_of(fabric, i) - host->stopped < cycles)
			continue;
		starved = run_result_add_starved(result);
		if (starved == NULL)
			return -ENOMEM;
		snprintf(starved->host, sizeof(starved->host), "%s", name);
		starved->waited_ns = ps_to_ns(cycles * fabric->cycle_ps);
	}
	return code;
}

static int add_cycle(const struct wormhole_fabric *fabric, struct run_result *result)
{
	unsigned count = wormhole_net_deadlock(fabric->net, NULL, 0);
	struct topology_port *port = calloc(count + 1u, sizeof(*port));
	int code = -ENOMEM;

	if (port != NULL) {
		wormhole_net_deadlock(fabric->net, port, count);
		code = run_result_add_cycle(result, fabric->topology, port, count);
	}
	free(port);
	return code;
}

/* Returns true if each pair has one route, on which messages cannot overtake each other. */
static bool one_route(const struct run_config *run)
{
	return run->routing.others == 0 &&
	       (run->routing.alternatives == 1 || run->nic.selector->fixed);
}

/* Fills in the latencies; the result has an entry for each traffic entry. */
static void add_latencies(const struct wormhole_fabric *fabric, struct run_result *result)
{
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		const struct wormhole_entry *from = &fabric->entry[i];

		result->entry[i].network_ns = from->network_ns;
		result->entry[i].total_ns = from->total_ns;
		histogram_merge(&result->network_ns, &from->network_ns);
		histogram_merge(&result->total_ns, &from->total_ns);
	}
}

static void fill_figures(const struct wormhole_fabric *fabric, struct run_result *result)
{
	double count;

	add_latencies(fabric, result);
	count = (double)result->network_ns.count;
	result->messages.generated = fabric->window.to.generated_messages;
	result->messages.pending =
		result->messages.generated - result->messages.delivered - result->messages.dropped;
	result->packets = result->messages;
	result->packets.generated = result->packets.injected;
	result->packets.pending = wormhole_net_under_way(fabric->net);
	result->lost = result->messages.dropped;
	result->out_of_order = one_route(fabric->run) ? fabric->overtaken : 0;
	if (count > 0) {
		result->network_mean_ns =
			(double)fabric->network_sum_ps / (double)PS_PER_NS / count;
		result->total_mean_ns = (double)fabric->total_sum_ps / (double)PS_PER_NS / count;
	}
}

static void add_reasons(const struct wormhole_fabric *fabric, struct run_result *result)
{
	if (fabric->stopped)
		run_result_add_reason(result, true, RUN_REASON_SIGNAL);
	if (fabric->deadlock)
		run_result_add_reason(result, false, RUN_REASON_DEADLOCK);
	if (fabric->wanting)
		run_result_add_reason(result, true,
			"the run ended before it measured %" PRIu64 " messages",
			(uint64_t)fabric->run->measure.messages);
}

int wormhole_fabric_result(
	const struct wormhole_fabric *fabric, struct run_result *result, struct error *error)
{
	int code;

	run_result_identify(result, fabric->run, fabric->topology);
	code = add_counters(fabric, result);
	if (code == 0)
		code = measure_window_result(&fabric->window, fabric->topology->switches, result);
	if (code < 0)
		return error_set(error, ENOMEM, "not enough memory for the result");
	fill_figures(fabric, result);
	result->deadlock = fabric->deadlock;
	add_reasons(fabric, result);
	result->fingerprint = fabric->fingerprint;
	result->fingerprinted = true;
	run_result_set_wall(result, fabric->wall_seconds, time(NULL));
	if (code == 0)
		code = add_starved(fabric, result);
	if (code == 0 && fabric->deadlock)
		code = add_cycle(fabric, result);
	if (code == 0 && fabric->run->measure.hosts)
		code = add_hosts(fabric, result);
	if (code < 0 ||
		(run_config_measures_links(fabric->run) &&
			run_result_add_links(result, fabric->topology, measure_link, fabric) < 0))
		return error_set(error, ENOMEM, "not enough memory for the result");
	return 0;
}
