/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <time.h>

#include "experiment/result/run_fidelity.h"
#include "measure/measure_window.h"
#include "poll/poll_nic_endpoints.h"
#include "real_endpoints.h"
#include "real_fabric_idle.h"

uint64_t real_frame_overhead(const struct real_fabric *fabric)
{
	const struct nic_routes *routes = fabric->host_count > 0 ? fabric->hosts[0].routes : NULL;
	uint8_t length = 0;

	for (uint16_t to = 0; routes != NULL && to < routes->hosts && length == 0; to++)
		if (routes->to[to].count > 0)
			nic_routes_get(routes, to, 0, &length);
	return FRAME_HEADER_BYTES + length + FRAME_WIRE_OVERHEAD +
	       run_config_extra_bytes(fabric->options.run);
}

static void read_switches(const struct real_fabric *fabric, struct measure_totals *totals)
{
	for (unsigned i = 0; i < fabric->switch_count; i++) {
		const struct real_switch *device = &fabric->switches[i];

		if (device->sw->congestion == NULL)
			continue;
		totals->adapted += device->sw->congestion->adapted;
		for (unsigned at = 0; at < device->poll->ports; at++)
			totals->arns += device->poll->port[at].arns_out;
	}
}

void real_totals_read(
	const struct real_fabric *fabric, weft_time now, struct measure_totals *totals)
{
	uint64_t overhead = real_frame_overhead(fabric);

	*totals = (struct measure_totals){.at_ps = now - fabric->traffic_from};
	read_switches(fabric, totals);
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const struct poll_nic *poll = fabric->hosts[i].poll;
		const struct measure_sink *sink = poll->sink;
		const uint64_t *count = nic_counters(poll->nic);

		totals->messages += sink->messages;
		totals->bytes += sink->bytes;
		totals->released_wire_bytes +=
			count[NIC_BYTES_DELIVERED] + count[NIC_FRAMES_DELIVERED] * overhead;
		totals->wire_bytes += nic_held_wire_bytes(poll->nic);
		totals->edge_wire_bytes += sink->edge_bytes + sink->edge_frames * overhead;
		if (poll->tap.edge != NULL)
			totals->edge_generated_wire_bytes +=
				edge_counters(poll->tap.edge)[EDGE_BYTES_OUT] +
				poll->tap.frames * overhead;
		/* Generated messages, counted in frames of the interface's MTU. */
		totals->generated_wire_bytes += poll_nic_traffic(poll).generated_bytes +
						poll_nic_generated_frames(poll) * overhead;
		totals->timed += sink->network_ns.count;
		totals->latency_sum_ps += sink->network_ns.sum * PS_PER_NS;
		totals->released_latency_sum_ps +=
			(sink->network_ns.sum + sink->waited.waited_ns.sum) * PS_PER_NS;
		totals->absorbed += count[NIC_ITB_ABSORBED];
	}
	totals->wire_bytes += totals->released_wire_bytes;
	totals->generated_wire_bytes += totals->edge_generated_wire_bytes;
	totals->released_timed = totals->timed;
}

static uint64_t count_ordered(const struct real_switch *device)
{
	uint64_t ordered = 0;

	for (unsigned i = 0; i < device->poll->ports; i++)
		ordered += real_switch_loop(device, i)->port[i].falls.ordered;
	return ordered;
}

static void add_switch(struct run_result *result, const struct real_switch *device)
{
	uint64_t value[SWITCH_METRIC_COUNT];

	switch_metrics_sum(device->poll, value);
	for (unsigned i = 0; i < SWITCH_METRIC_GAUGES; i++) {
		run_result_count(result, switch_metric_name(i), value[i]);
		if ((i >= SWITCH_DISCARD_ROUTING_ERROR && i <= SWITCH_DISCARD_PURGED) ||
			(i >= SWITCH_METRIC_FAULTS && i < SWITCH_METRIC_LINK) ||
			i == SWITCH_METRIC_SPOOFED || i == SWITCH_METRIC_TRANSMIT_LOST)
			result->packets.dropped += value[i];
	}
	run_result_count(result, "link_downs_ordered", count_ordered(device));
	measure_congestion(device->sw, result);
	if (device->poll->mapper.control != NULL)
		run_result_count(result, "switch_commits_refused",
			device_control_refusals(device->poll->mapper.control));
	result->wall.packet_hops += value[SWITCH_DATA_OUT];
}

static void add_losses(struct run_result *result, struct real_losses losses)
{
	run_result_count(
		result, "link_frames_lost", losses.on_links + losses.discarded + losses.corrupted);
	run_result_count(result, "link_frames_corrupted", losses.corrupted);
	run_result_count(result, "link_credits_lost", losses.credits);
	result->packets.dropped += losses.on_links;
}

static void add_faults(struct run_result *result, const uint64_t faults[FRAME_FAULT_COUNT])
{
	char name[64];

	for (unsigned i = 1; i < FRAME_FAULT_COUNT; i++) {
		snprintf(name, sizeof(name), "host_bad_%s", frame_fault_name(i));
		run_result_count(result, name, faults[i]);
		result->packets.dropped += faults[i];
	}
}

/* Adds programs' packets for hosts of the fabric. They count as generated messages when they are
 * queued or refused. The interface counts those without a route or for a silent host as refused. */
static void add_tap(struct run_result *result, const struct real_host *host, const uint64_t *count)
{
	const uint64_t *edge = edge_counters(host->poll->tap.edge);
	uint64_t queue = tap_losses_queue(&host->losses, host->edge->tap);
	uint64_t sockets = tap_losses_sockets(&host->losses);
	uint64_t refused = edge[EDGE_DROP_UNREACHABLE] + edge[EDGE_DROP_SILENT];
	uint64_t counted = count[NIC_MESSAGES_UNREACHABLE] + count[NIC_MESSAGES_SILENT];
	uint64_t behind = edge[EDGE_DROP_TAP_FULL] + edge[EDGE_DROP_NO_BUFFER] +
			  edge[EDGE_DROP_OVERSIZE] + edge[EDGE_DROP_NOT_IP] + sockets;

	for (unsigned i = 0; i < EDGE_COUNTER_COUNT; i++)
		run_result_count(result, edge_counter_name(i), edge[i]);
	run_result_count(result, "tap_drop_queue", queue);
	run_result_count(result, "tap_drop_socket", sockets);
	result->messages.generated +=
		edge[EDGE_MESSAGES_OUT] + refused + edge[EDGE_DROP_TOO_LONG] + queue;
	result->messages.dropped +=
		run_result_minus(refused, counted) + edge[EDGE_DROP_TOO_LONG] + queue + behind;
	result->messages.delivered = run_result_minus(result->messages.delivered, behind);
	result->behind += behind;
}

static void add_endpoints(struct run_result *result, const struct real_host *host)
{
	const uint64_t *count = endpoint_set_counters(host->poll->endpoints->set);

	for (unsigned i = 0; i < ENDPOINT_COUNTER_COUNT; i++)
		run_result_count(result, endpoint_counter_name(i), count[i]);
	result->messages.generated += count[ENDPOINT_MESSAGES_OUT];
}

/* Adds the counters of congestion management at the source. */
static void add_control(struct run_result *result, const struct nic *nic)
{
	uint64_t count[SOURCE_CONTROL_COUNTER_COUNT];

	if (nic_config(nic)->control.kind == SOURCE_CONTROL_NONE)
		return;
	nic_control_counters(nic, count);
	for (unsigned i = 0; i < SOURCE_CONTROL_COUNTER_COUNT; i++)
		run_result_count(result, source_control_counter_name(i), count[i]);
}

/* Adds the latency statistics of frames from other machines. */
static void add_clocks(struct run_result *result, const struct measure_clocks *clocks)
{
	result->clocks.timed += clocks->timed;
	result->clocks.untimed += clocks->untimed;
	result->clocks.bounds_ns += clocks->bounds_ns;
	if (clocks->bound_ns > result->clocks.bound_ns)
		result->clocks.bound_ns = clocks->bound_ns;
}

/* Lateness is unknown if no frame of this run had a due time. */
static void add_lateness(struct run_result *result, const struct poll_nic *poll)
{
	const struct pacer *pacer = &poll->tx.pacer;

	run_result_count(result, "host_arrivals_timed", port_arrivals(poll->port));
	run_result_count(result, "host_late_ns", port_late_ns(poll->port));
	run_result_count(result, "host_transmissions_moved", pacer->moved);
	run_result_count(result, "host_transmissions_moved_ns", ps_to_ns(pacer->moved_ps));
	if (lateness_summary(poll->port->late).arrivals == 0)
		return;
	result->fidelity.frames += poll->sink->network_due_ns.count;
	result->fidelity.within_tenth += poll->sink->within_tenth;
}

static void add_host(struct run_result *result, const struct real_host *host)
{
	const uint64_t *count = nic_counters(host->poll->nic);
	const struct measure_sink *sink = host->poll->sink;
	struct traffic_counters traffic = poll_nic_traffic(host->poll);
	char name[64];

	for (unsigned i = 0; i < NIC_COUNTER_COUNT; i++) {
		snprintf(name, sizeof(name), "host_%s", nic_counter_name(i));
		run_result_count(result, name, count[i]);
	}
	add_control(result, host->poll->nic);
	add_faults(result, host->poll->faults);
	run_result_count(result, "host_bad_tag", host->poll->guard.seal.count.bad_tag);
	run_result_count(result, "host_replayed", host->poll->guard.seal.count.replayed);
	run_result_count(result, "host_unproven", host->poll->guard.seal.count.unproven);
	result->messages.generated += traffic.generated_messages;
	result->messages.injected += count[NIC_MESSAGES_INJECTED];
	result->messages.delivered += count[NIC_MESSAGES_DELIVERED];
	result->packets.injected += count[NIC_FRAMES_INJECTED];
	result->packets.delivered += count[NIC_FRAMES_DELIVERED];
	result->packets.retransmitted += count[NIC_FRAMES_RETRANSMITTED];
	result->packets.dropped += count[NIC_DISCARD_PAYLOAD_CRC] + count[NIC_DISCARD_MISROUTED] +
				   count[NIC_DISCARD_ROUTING_ERROR] + count[NIC_DISCARD_END_MARK] +
				   count[NIC_ITB_DISCARDED] + count[NIC_ITB_ABANDONED] +
				   host->poll->tx.lost;
	run_result_count(result, "host_link_downs", nic_link(host->poll->nic)->downs);
	run_result_count(result, "host_link_downs_ordered", host->poll->falls.ordered);
	run_result_count(result, "host_transmit_lost", host->poll->tx.lost);
	add_lateness(result, host->poll);
	result->lost += sink->lost + sink->altered + count[NIC_MESSAGES_FAILED];
	result->duplicated += sink->duplicated;
	result->out_of_order += sink->out_of_order;
	histogram_merge(&result->network_ns, &sink->network_ns);
	histogram_merge(&result->total_ns, &sink->total_ns);
	histogram_merge(&result->network_due_ns, &sink->network_due_ns);
	histogram_merge(&result->total_due_ns, &sink->total_due_ns);
	histogram_merge(&result->edges.network_ns, &sink->edges_ns);
	order_wait_merge(&result->waited, &sink->waited);
	add_clocks(result, &sink->clocks);
	/* Messages without a route, or to a silent host. */
	result->messages.dropped += count[NIC_MESSAGES_UNREACHABLE] + count[NIC_MESSAGES_SILENT];
	result->edges.count += host->poll->tap.edge != NULL;
	if (host->poll->tap.edge != NULL)
		add_tap(result, host, count);
	if (host->poll->endpoints != NULL)
		add_endpoints(result, host);
	if (host->poll->mapper.control != NULL) {
		run_result_count(result, "host_orders_lost", host->poll->mapper.orders_lost);
		run_result_count(result, "host_commits_refused",
			device_control_refusals(host->poll->mapper.control));
	}
}

/* Returns the bytes of data and control frames, with the wire overhead of data frames. Hosts do not
 * count frame bytes; the switch at the far end does. */
static uint64_t carried_bytes(const struct weft_switch *from, unsigned output,
	const struct weft_switch *to, unsigned input)
{
	const uint64_t *count;

	if (from != NULL) {
		count = from->port[output].count;
		return count[SWITCH_BYTES_OUT] + count[SWITCH_DATA_OUT] * FRAME_WIRE_OVERHEAD;
	}
	if (to == NULL)
		return 0;
	count = to->port[input].count;
	return count[SWITCH_BYTES_IN] + count[SWITCH_DATA_IN] * FRAME_WIRE_OVERHEAD;
}

void real_link_read(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use)
{
	const struct real_fabric *fabric = ctx;
	const struct topology_link *wire = topology_link_at(fabric->options.topology, from);
	const struct weft_switch *sender =
		from.kind == DEVICE_SWITCH ? fabric->sw[from.device] : NULL;
	const struct weft_switch *receiver =
		to.kind == DEVICE_SWITCH ? fabric->sw[to.device] : NULL;

	use->busy_ps = bytes_ps(
		carried_bytes(sender, from.port, receiver, to.port), byte_time_of(wire->rate_bps));
	/* The process has all switches, in topology order. */
	if (sender != NULL)
		use->blocked_ps = fabric->switches[from.device].poll->port[from.port].blocked_ps;
	measure_links_read_switches(sender, from.port, receiver, to.port, use);
}

static int add_links(struct real_fabric *fabric, struct run_result *result, weft_time time_ps)
{
	const struct topology *topology = fabric->options.topology;

	for (unsigned i = 0; i < fabric->switch_count; i++) {
		const struct real_switch *device = &fabric->switches[i];

		for (unsigned port = 0; port < device->sw->ports; port++) {
			const struct topology_port at = {
				DEVICE_SWITCH, device->number, (uint8_t)port};
			const struct weft_switch *sw = real_switch_loop(device, port)->sw;
			const struct topology_link *wire = topology_link_at(topology, at);
			struct topology_port peer;
			struct run_link *link;

			if (wire == NULL || !topology_peer(topology, at, &peer))
				continue;
			link = run_result_add_link(result, topology, at, peer);
			if (link == NULL)
				return -ENOMEM;
			link->utilisation = 8 * (double)carried_bytes(sw, port, NULL, 0) *
					    (double)PS_PER_S /
					    ((double)wire->rate_bps * (double)time_ps);
			link->stalls = sw->port[port].count[SWITCH_STALL_CREDIT];
			link->late = real_lateness_at(fabric, peer);
			link->blocked = (double)link->stalls * (double)PS_PER_S / (double)time_ps;
		}
	}
	return 0;
}

/* Adds the links from hosts, which only the series needs. */
static int add_host_links(struct real_fabric *fabric, struct run_result *result, weft_time time_ps)
{
	const struct topology *topology = fabric->options.topology;

	for (uint32_t i = 0; i < topology->hosts; i++) {
		const struct topology_port at = {DEVICE_HOST, i, 0};
		struct measure_link_use use = {.busy_ps = 0};
		struct topology_port peer;
		struct run_link *link;

		if (!topology_peer(topology, at, &peer))
			continue;
		link = run_result_add_link(result, topology, at, peer);
		if (link == NULL)
			return -ENOMEM;
		real_link_read(fabric, at, peer, &use);
		link->utilisation = (double)use.busy_ps / (double)time_ps;
		link->late = real_lateness_at(fabric, peer);
	}
	return 0;
}

static int add_all_links(struct real_fabric *fabric, struct run_result *result, weft_time time_ps)
{
	const struct measure_window *window = &fabric->work->window;

	if (run_config_measures_links(fabric->work->run) && add_links(fabric, result, time_ps) < 0)
		return -ENOMEM;
	return window->links.read != NULL ? add_host_links(fabric, result, time_ps) : 0;
}

static void add_goal(struct run_result *result, const struct real_fabric *fabric)
{
	uint64_t strays = 0;

	if (fabric->replay == NULL)
		return;
	run_goal_result(fabric->goal->goal, fabric->replay, result);
	for (unsigned i = 0; i < fabric->host_count; i++)
		strays += fabric->hosts[i].poll->goal.strays;
	run_result_count(result, "goal_strays", strays);
}

int real_fabric_check_complete(const struct real_fabric *fabric, struct error *error)
{
	if (fabric->unrouted) {
		real_control_why(fabric, error);
		return -ENETUNREACH;
	}
	if (atomic_load(&fabric->sources_failed) > 0)
		return error_set(error, ENOMEM, "%u hosts sent only part of their traffic",
			atomic_load(&fabric->sources_failed));
	return fabric->replay != NULL ? run_goal_diagnose(fabric->goal, fabric->replay, error) : 0;
}

static uint64_t longest_stall_ns(const struct real_fabric *fabric)
{
	weft_time now = clock_now(&fabric->clock), max = 0;

	for (unsigned i = 0; i < fabric->loops; i++) {
		const struct real_worker *worker = &fabric->worker[i];
		/* The loop may still be stalled. While loops run, only the leader of a lab calls
		 * this. */
		weft_time away = fabric->serving && !worker->leader
					 ? real_idle_away(worker, now)
					 : loop_stall_load(&worker->stall.longest);

		max = away > max ? away : max;
	}
	return ps_to_ns(max);
}

static uint64_t absent_ns(const struct real_fabric *fabric)
{
	weft_time sum = 0;

	for (unsigned i = 0; i < fabric->loops; i++)
		sum += loop_stall_load(&fabric->worker[i].stall.sum);
	return ps_to_ns(sum);
}

/* Returns how much programs may have in flight while the result is computed, through TAPs and
 * endpoints: up to a window to each destination. */
static uint64_t in_flight_max(const struct real_fabric *fabric)
{
	const struct run_config *run = fabric->options.run;

	return (uint64_t)real_program_hosts(fabric) * fabric->options.topology->hosts *
	       run->nic.window_frames;
}

/* 'weft lab run' judges the lab as a whole. */
static void judge(const struct real_fabric *fabric, struct run_result *result)
{
	uint64_t cut;

	result->wall.stall_ns = longest_stall_ns(fabric);
	result->wall.absent_ns = absent_ns(fabric);
	cut = 0;
	for (uint32_t i = 0; i < fabric->ends; i++)
		cut += fabric->end[i].open && port_is_cut_by(&fabric->end[i].port, PORT_CUT_ORDER);
	result->wall.cut_ends = cut;
	for (unsigned i = 0; i < fabric->loops; i++)
		histogram_merge(&result->wall.spent_ns, &fabric->worker[i].stall.spent);
	if (fabric->incomplete)
		run_result_add_reason(result, true, RUN_REASON_SIGNAL);
	for (unsigned i = 0; i < fabric->loops; i++)
		histogram_merge(&result->fidelity.late_ns, &fabric->worker[i].late_ns);
	if (fabric->serving)
		return;
	fabric_routes_warn_vcs(
		&fabric->routes, fabric->options.run, run_result_add_warning, result);
	run_fidelity_judge(result, &fabric->options.run->fidelity, fabric->options.run->dilation);
	run_result_judge_stall(result, "", result->wall.stall_ns);
	if (!fabric->incomplete) /* after a signal the run does not wait for frames in flight */
		run_result_judge_under_way(result, in_flight_max(fabric));
}

static int add_window(const struct real_fabric *fabric, bool whole, struct run_result *result)
{
	const struct measure_window *window = &fabric->work->window;

	return whole ? measure_window_result(window, 0, result)
		     : measure_window_counts(window, 0, result);
}

int real_fabric_count(
	struct real_fabric *fabric, bool whole, struct run_result *result, struct error *error)
{
	weft_time running = run_result_minus(
		fabric->stopped_at > fabric->ended_at ? fabric->stopped_at : fabric->ended_at,
		fabric->traffic_from);

	result->seed = fabric->work->run->seed;
	snprintf(result->topology, sizeof(result->topology), "%s", fabric->options.topology->name);
	run_result_set_buffer(result, fabric->options.run);
	result->switches = fabric->switch_count;
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const struct topology_device *host =
			&fabric->options.topology->host_at[fabric->hosts[i].number];

		result->host_ports += !host->absent;
		result->hosts += !host->absent && host->rail == 0;
	}
	for (unsigned i = 0; i < fabric->switch_count; i++)
		add_switch(result, &fabric->switches[i]);
	for (unsigned i = 0; i < fabric->host_count; i++)
		add_host(result, &fabric->hosts[i]);
	add_losses(result, real_losses_read(fabric));
	add_goal(result, fabric);
	if (atomic_load(&fabric->sources_failed) > 0)
		run_result_count(
			result, "host_sources_failed", atomic_load(&fabric->sources_failed));
	/* Each process of a lab sees only one end. */
	if (!fabric->serving)
		result->duplicated += run_result_surplus(result, NULL);
	result->packets.generated = result->packets.injected;
	run_result_count_pending(result);
	result->sending = fabric->serving && fabric->phase != REAL_IDLE;
	judge(fabric, result);
	real_entries_read(fabric, false);
	real_flows_read(fabric);
	run_result_set_wall(
		result, (double)clock_span(&fabric->clock, running) / (double)PS_PER_S, time(NULL));
	if ((fabric->replay != NULL &&
		    schedule_times_result(fabric->goal, fabric->replay, fabric->options.run,
			    fabric->options.topology, result) < 0) ||
		real_deadlock_result(fabric, result) < 0 ||
		real_events_result(fabric, result) < 0 || add_window(fabric, whole, result) < 0 ||
		add_all_links(fabric, result, running) < 0)
		return error_set(error, ENOMEM, "not enough memory for the result");
	real_entries_add_latencies(fabric, result);
	return 0;
}

int real_fabric_result(struct real_fabric *fabric, struct run_result *result, struct error *error)
{
	return real_fabric_count(fabric, true, result, error);
}
