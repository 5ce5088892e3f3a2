/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_measure.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "measure/measure_window.h"
#include "measure/starvation.h"
#include "setup/congestion_setup.h"
#include "setup/fabric_routes.h"
#include "switch/congestion_control.h"
#include "switch/switch_counters.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_ranks.h"
#include "virtual_reroute.h"
#include "wire/frame.h"

static void add_delivered(const struct virtual_fabric *partition, struct measure_totals *totals)
{
	totals->arns += partition->arns_sent;
	for (unsigned i = 0; i < partition->window.entries; i++) {
		totals->generated_messages += partition->entry[i].goal_messages;
		totals->generated_wire_bytes += partition->entry[i].goal_wire_bytes;
		totals->wire_bytes += partition->entry[i].wire_bytes;
		totals->released_wire_bytes +=
			partition->entry[i].wire_bytes - partition->entry[i].held_bytes;
		totals->latency_sum_ps += partition->entry[i].latency_sum_ps;
		totals->released_latency_sum_ps += partition->entry[i].latency_sum_ps;
	}
	totals->timed += partition->held->frames;
	totals->bytes += partition->held->bytes;
	totals->released_latency_sum_ps += partition->held->waited_ps - partition->held->latency_ps;
}

/* Adds the totals of other ranks. */
static void add_ranks(const struct virtual_fabric *fabric, struct measure_totals *totals)
{
	uint64_t *const each[] = {&totals->messages, &totals->bytes, &totals->wire_bytes,
		&totals->generated_messages, &totals->generated_wire_bytes, &totals->timed,
		&totals->latency_sum_ps, &totals->released_wire_bytes, &totals->released_timed,
		&totals->released_latency_sum_ps, &totals->absorbed, &totals->adapted,
		&totals->arns, &totals->control.messages, &totals->control.open_paths,
		&totals->control.notices, &totals->control.waiting_ns, &totals->control.packets,
		&totals->control.ccti};
	uint64_t value[sizeof(each) / sizeof(each[0])];

	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		value[i] = *each[i];
	virtual_ranks_sum(fabric, value, sizeof(each) / sizeof(each[0]));
	for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		*each[i] = value[i];
}

void virtual_totals_read(const struct virtual_fabric *fabric, struct measure_totals *totals)
{
	*totals = (struct measure_totals){
		.at_ps = fabric->now, .absorbed = virtual_transit_absorbed(fabric)};
	virtual_cn_sums(fabric, &totals->control);
	add_delivered(fabric, totals);
	for (unsigned i = 1; i < virtual_partitions_count(fabric); i++)
		add_delivered(fabric->partitions->worker[i].fabric, totals);
	for (uint32_t at = 0; at < fabric->switches; at++)
		if (fabric->sw[at]->congestion != NULL)
			totals->adapted += fabric->sw[at]->congestion->adapted;
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct virtual_host *host = &fabric->host[i];

		totals->timed += host->nic.frames_received;
		totals->released_timed += host->nic.frames_received;
		totals->messages += host->nic.messages_received;
		totals->bytes += host->nic.bytes_received;
		for (unsigned k = 0; k < host->sources; k++) {
			totals->generated_messages +=
				traffic_counters(host->source[k])->generated_messages;
			totals->generated_wire_bytes +=
				traffic_generated_wire_bytes(host->source[k]);
		}
	}
	add_ranks(fabric, totals);
}

static void read_link(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);

/* A measure_link_sum_fn. */
static void sum_links(const void *ctx, uint32_t *value, size_t values)
{
	virtual_ranks_add(ctx, value, values);
}

int virtual_entries_open(struct virtual_fabric *fabric, struct error *error)
{
	struct measure_window *window = &fabric->window;

	if (measure_links_open(&window->links, fabric->topology, fabric->run, read_link, fabric) <
		0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	window->links.sum = sum_links;
	fabric->entry = calloc((size_t)fabric->traffic->entries + 1, sizeof(*fabric->entry));
	fabric->held = calloc(1, sizeof(*fabric->held));
	if (fabric->entry == NULL || fabric->held == NULL ||
		measure_window_add_entries(
			window, fabric->topology, fabric->run, fabric->traffic, fabric->goal) < 0)
		return error_set(error, ENOMEM, "not enough memory for measurements");
	for (unsigned i = 0; i < window->entries; i++) {
		fabric->entry[i].flow = window->entry[i].flow;
		fabric->flows = fabric->flows || window->entry[i].flow != NULL;
	}
	return 0;
}

int virtual_entries_open_own(struct virtual_fabric *partition)
{
	const struct measure_window *window = &partition->window;

	partition->entry = calloc(window->entries + 1u, sizeof(*partition->entry));
	partition->held = calloc(1, sizeof(*partition->held));
	if (partition->entry == NULL || partition->held == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < window->entries; i++) {
		if (window->entry[i].flow == NULL)
			continue;
		partition->entry[i].flow =
			calloc(partition->hosts + 1u, sizeof(*partition->entry[i].flow));
		if (partition->entry[i].flow == NULL)
			return -ENOMEM;
	}
	return 0;
}

void virtual_entries_close(struct virtual_fabric *fabric)
{
	for (unsigned i = 0;
		fabric->partition != 0 && fabric->entry != NULL && i < fabric->window.entries; i++)
		free(fabric->entry[i].flow);
	free(fabric->entry);
	free(fabric->held);
}

static void read_source(struct virtual_fabric *fabric, const struct traffic *source)
{
	const struct traffic_config *config = traffic_config(source);
	struct measure_entry *entry = &fabric->window.entry[config->entry];
	uint64_t messages = traffic_counters(source)->generated_messages;

	entry->now.generated_messages += messages;
	entry->now.generated_wire_bytes += traffic_generated_wire_bytes(source);
	/* With several lanes, the first one counts on behalf of all. */
	if (entry->flow != NULL && config->lane == 0)
		entry->flow[traffic_port(config)].generated = messages;
}

static void add_entry_ranks(const struct virtual_fabric *fabric, struct measure_entry_totals *now)
{
	uint64_t value[] = {now->generated_messages, now->generated_wire_bytes, now->messages,
		now->wire_bytes, now->timed, now->latency_sum_ns, now->released_wire_bytes};

	virtual_ranks_sum(fabric, value, sizeof(value) / sizeof(value[0]));
	*now = (struct measure_entry_totals){.generated_messages = value[0],
		.generated_wire_bytes = value[1],
		.messages = value[2],
		.wire_bytes = value[3],
		.timed = value[4],
		.latency_sum_ns = value[5],
		.released_wire_bytes = value[6]};
}

void virtual_entries_read(struct virtual_fabric *fabric)
{
	virtual_partitions_gather(fabric);
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		const struct virtual_entry *from = &fabric->entry[i];

		fabric->window.entry[i].now =
			(struct measure_entry_totals){.generated_messages = from->goal_messages,
				.generated_wire_bytes = from->goal_wire_bytes,
				.messages = from->warm_messages + from->total_ns.count,
				.wire_bytes = from->wire_bytes,
				.released_wire_bytes = from->wire_bytes - from->held_bytes,
				.timed = from->total_ns.count,
				.latency_sum_ns = from->total_ns.sum};
	}
	for (uint32_t i = 0; i < fabric->hosts; i++)
		for (unsigned k = 0; k < fabric->host[i].sources; k++)
			read_source(fabric, fabric->host[i].source[k]);
	for (unsigned i = 0; i < fabric->window.entries; i++)
		add_entry_ranks(fabric, &fabric->window.entry[i].now);
}

void virtual_measure_forget(struct virtual_fabric *fabric)
{
	virtual_partitions_gather(fabric);
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		struct virtual_entry *entry = &fabric->entry[i];

		entry->warm_messages += entry->total_ns.count;
		histogram_reset(&entry->network_ns);
		histogram_reset(&entry->total_ns);
	}
	if (fabric->held != NULL)
		order_wait_reset(&fabric->held->wait);
}

static void add_switches(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t sum[SWITCH_COUNTER_COUNT] = {0};

	for (uint32_t i = 0; i < fabric->switches; i++)
		for (unsigned port = 0; port < fabric->sw[i]->ports; port++)
			for (unsigned k = 0; k < SWITCH_COUNTER_COUNT; k++)
				sum[k] += fabric->sw[i]->port[port].count[k];
	/* Without credits there is no such violation: the buffer was full. */
	if (fabric->pauses != NULL) {
		run_result_count(result, "discard_full", sum[SWITCH_DISCARD_CREDIT_VIOLATION]);
		sum[SWITCH_DISCARD_CREDIT_VIOLATION] = 0;
	}
	for (unsigned k = 0; k < SWITCH_COUNTER_COUNT; k++)
		run_result_count(result, switch_counter_name(k), sum[k]);
	result->wall.packet_hops += sum[SWITCH_DATA_OUT];
}

static void add_hosts(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram *nic = &fabric->host[i].nic;

		result->packets.injected += nic->frames_sent;
		result->packets.delivered += nic->frames_received;
		result->messages.injected += nic->messages_sent;
		result->messages.delivered += nic->messages_received;
		if (fabric->run->nic.selector->fixed || congestion_setup_is_needed(fabric->run) ||
			control_setup_reorders(fabric->run))
			result->out_of_order += nic->out_of_order;
		else
			run_result_count(result, "host_frames_overtaken", nic->out_of_order);
		run_result_count(result, "host_messages_unreachable", nic->unreachable);
	}
}

/* Adds the congestion counters of all switches. */
static void add_congestion_control(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t at = 0; at < fabric->switches; at++)
		measure_congestion(fabric->sw[at], result);
	if (!congestion_setup_is_needed(fabric->run))
		return;
	for (uint32_t i = 0; i < fabric->hosts; i++)
		run_result_count(result, "host_messages_diverted", fabric->host[i].nic.diverted);
}

/* Returns link usage until now; a transmission or wait in progress counts for the time elapsed. */
static struct virtual_link_use use_of(
	const struct virtual_fabric *fabric, struct topology_port from)
{
	const struct virtual_tx *channel = virtual_channel_at(fabric, from);
	struct virtual_link_use use = {
		.busy_ps = channel->busy_ps - run_result_minus(channel->free_at, fabric->now),
		.blocked_ps = virtual_tx_cold(fabric, channel)->blocked_ps,
	};

	if (channel->blocked_since != WEFT_TIME_NEVER)
		use.blocked_ps += fabric->now - channel->blocked_since;
	if (from.kind == DEVICE_SWITCH)
		use.stalls = fabric->sw[from.device]->port[from.port].count[SWITCH_STALL_CREDIT];
	return use;
}

static void read_link(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use)
{
	const struct virtual_fabric *fabric = ctx;
	bool sends = virtual_is_our_port(fabric, from);
	struct virtual_link_use now = {.busy_ps = 0};

	if (sends)
		now = use_of(fabric, from);
	use->busy_ps = now.busy_ps;
	use->blocked_ps = now.blocked_ps;
	measure_links_read_switches(
		sends && from.kind == DEVICE_SWITCH ? fabric->sw[from.device] : NULL, from.port,
		to.kind == DEVICE_SWITCH && virtual_is_our_port(fabric, to) ? fabric->sw[to.device]
									    : NULL,
		to.port, use);
}

void virtual_links_mark(struct virtual_fabric *fabric)
{
	const struct topology *topology = fabric->topology;

	for (uint32_t i = 0; i < 2 * topology->links; i++) {
		const struct topology_link *wire = &topology->link_at[i / 2];
		struct topology_port from = i % 2 == 0 ? wire->a : wire->b;

		virtual_tx_cold(fabric, virtual_channel_at(fabric, from))->warm =
			use_of(fabric, from);
	}
}

static void measure_link(const void *ctx, struct topology_port from, struct run_link *link)
{
	const struct virtual_fabric *fabric = ctx;
	const struct virtual_link_use *warm =
		&virtual_tx_cold(fabric, virtual_channel_at(fabric, from))->warm;
	struct virtual_link_use use = use_of(fabric, from);
	weft_time measured = run_result_minus(fabric->now, fabric->measure_from);

	if (measured == 0)
		return;
	link->utilisation = (double)(use.busy_ps - warm->busy_ps) / (double)measured;
	link->blocked = (double)(use.blocked_ps - warm->blocked_ps) / (double)measured;
	link->stalls = use.stalls - warm->stalls;
}

/* Fills in the latencies; the result has an entry for each traffic entry. */
static void add_latencies(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		const struct virtual_entry *from = &fabric->entry[i];

		result->entry[i].network_ns = from->network_ns;
		result->entry[i].total_ns = from->total_ns;
		histogram_merge(&result->network_ns, &from->network_ns);
		histogram_merge(&result->total_ns, &from->total_ns);
	}
	order_wait_merge(&result->waited, &fabric->held->wait);
}

static void fill_figures(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t out = virtual_packets_out(fabric) - fabric->unsent;

	result->packets.generated = result->packets.injected;
	result->packets.dropped = fabric->dropped;
	virtual_recovery_result(fabric, result);
	virtual_order_result(fabric, result);
	result->packets.pending = out;
	result->messages.generated = fabric->window.to.generated_messages;
	result->messages.pending =
		run_result_minus(result->messages.generated, result->messages.delivered);
	/* Each injected packet is delivered, in flight or discarded. */
	result->lost = run_result_minus(result->packets.injected, result->packets.delivered + out);
	result->duplicated = run_result_minus(
		result->packets.delivered + out + fabric->dropped, result->packets.injected);
}

/* Returns 0 or -ENOMEM. */
static int add_workers(const struct virtual_fabric *fabric, struct run_result *result)
{
	unsigned workers = virtual_partitions_in_all(fabric);

	if (fabric->partitions == NULL)
		return 0;
	result->wall.worker = calloc(workers, sizeof(*result->wall.worker));
	if (result->wall.worker == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < workers; i++) {
		struct run_worker *worker = &result->wall.worker[i];

		*worker = i < fabric->partitions->own
				  ? fabric->partitions->worker[i].use
				  : fabric->partitions->use_elsewhere[i - fabric->partitions->own];
		if (i % fabric->partitions->own == 0 || worker->thread != worker[-1].thread)
			result->wall.threads++;
	}
	result->wall.workers = workers;
	result->wall.critical_events = fabric->partitions->worker[0].critical_events;
	return 0;
}

static int add_starved(const struct virtual_fabric *fabric, struct run_result *result)
{
	weft_time measured = run_result_minus(fabric->now, fabric->measure_from);
	weft_time patience = starvation_patience(fabric->topology, fabric->run, measured);
	int code =
		starvation_result(&fabric->starved, fabric->topology, patience, measured, result);

	return code == 0 ? virtual_transit_judge(fabric, result) : code;
}

void virtual_fabric_stream(struct virtual_fabric *fabric, struct run_stream *stream)
{
	fabric->window.stream = stream;
}

int virtual_fabric_check_complete(const struct virtual_fabric *fabric, struct error *error)
{
	return fabric->replay != NULL ? run_goal_diagnose(fabric->goal, fabric->replay, error) : 0;
}

int virtual_fabric_result(
	const struct virtual_fabric *fabric, struct run_result *result, struct error *error)
{
	run_result_identify(result, fabric->run, fabric->topology);
	add_switches(fabric, result);
	add_hosts(fabric, result);
	add_congestion_control(fabric, result);
	virtual_transit_result(fabric, result);
	virtual_cn_result(fabric, result);
	virtual_losses_result(fabric, result);
	virtual_pause_result(fabric, result);
	virtual_reroute_result(fabric, result);
	virtual_mapper_result(fabric, result);
	fabric_routes_warn_vcs(&fabric->routes, fabric->run, run_result_add_warning, result);
	if (fabric->replay != NULL)
		run_goal_result(fabric->goal->goal, fabric->replay, result);
	fill_figures(fabric, result);
	if (fabric->stopped)
		run_result_add_reason(result, true, RUN_REASON_SIGNAL);
	if (fabric->deadlock)
		run_result_add_reason(result, false, RUN_REASON_DEADLOCK);
	result->deadlock = fabric->deadlock;
	result->fingerprint = fabric->fingerprint;
	result->fingerprinted = true;
	result->controlled = virtual_is_controlled(fabric);
	run_result_set_wall(result, fabric->wall_seconds, time(NULL));
	if ((fabric->replay != NULL && schedule_times_result(fabric->goal, fabric->replay,
					       fabric->run, fabric->topology, result) < 0) ||
		add_workers(fabric, result) < 0 || virtual_events_result(fabric, result) < 0 ||
		deadlock_result(&fabric->circle, fabric->topology, result) < 0 ||
		add_starved(fabric, result) < 0 ||
		measure_window_result(&fabric->window, fabric->switches, result) < 0 ||
		(run_config_measures_links(fabric->run) &&
			run_result_add_links(result, fabric->topology, measure_link, fabric) < 0) ||
		(fabric->run->measure.switches && virtual_cn_switches(fabric, result) < 0))
		return error_set(error, ENOMEM, "not enough memory for the result");
	add_latencies(fabric, result);
	return 0;
}

/* --- deadlocks --- */

/* Returns the set of VCs in which a host has data to send. */
static uint32_t waiting_vcs(const struct datagram *nic)
{
	uint32_t vcs = nic->waiting;

	if (nic->stream.left_bytes > 0)
		vcs |= UINT32_C(1) << nic->stream.frame.vc_next;
	return nic->itb != NULL ? vcs | nic->itb->waiting : vcs;
}

static int collect_hosts(const struct virtual_fabric *fabric, const struct deadlock_view *view,
	weft_time age_ps, struct deadlock_heads *heads)
{
	uint32_t needs =
		frame_blocks((unsigned)virtual_min_payload(fabric) + (unsigned)FRAME_HEADER_BYTES);
	int result = 0;

	for (uint32_t i = 0; i < fabric->hosts && result == 0; i++) {
		weft_time since = virtual_host_channel(fabric, i)->blocked_since;

		if (virtual_is_ours(fabric, fabric->switches + i) && since != WEFT_TIME_NEVER &&
			view->now - since >= age_ps)
			result = deadlock_collect_host(
				view, i, waiting_vcs(&fabric->host[i].nic), needs, since, heads);
	}
	return result;
}

void virtual_deadlock_look(struct virtual_fabric *fabric, weft_time age_ps, weft_time measured_ps)
{
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};
	struct deadlock_heads heads = {0};
	struct deadlock_circle circle;
	int channels;

	if (deadlock_collect(&view, age_ps, &heads) < 0 ||
		collect_hosts(fabric, &view, age_ps, &heads) < 0)
		fabric->failed = true;
	virtual_pause_heads(fabric, &heads);
	virtual_ranks_collect(fabric, &heads);
	channels = deadlock_search(&heads, fabric->topology, circle.port, DEADLOCK_CIRCLE_MAX);
	circle.channels = channels > 0 ? (unsigned)channels : 0;
	/* Fails, because a rank that missed a cycle would diverge from the others. */
	if (channels < 0 ||
		starvation_keep(&fabric->starved, &heads,
			run_result_minus(fabric->now, fabric->window.from.at_ps),
			starvation_patience(fabric->topology, fabric->run, measured_ps)) < 0)
		fabric->failed = true;
	if (fabric->circle.channels == 0)
		fabric->circle = circle;
	deadlock_heads_free(&heads);
}
