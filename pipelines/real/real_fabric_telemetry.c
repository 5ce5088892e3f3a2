/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "poll/poll_nic_endpoints.h"
#include "port/port_ethdev.h"
#include "real_fabric_idle.h"
#include "real_private.h"

/* Metrics of an interface that follow its nic_counters() and frame faults. */
#define HOST_METRICS_MORE(X)                                                                  \
	X(CREDITS_SENT, "credit_frames_sent", link->credit_frames_sent)                       \
	X(HEALED, "blocks_healed", link->blocks_healed)                                       \
	X(DOWNS, "link_downs", link->downs)                                                   \
	X(BAD_TAG, "bad_tag", poll->guard.seal.count.bad_tag)                                 \
	X(REPLAYED, "replayed", poll->guard.seal.count.replayed)                              \
	X(UNPROVEN, "unproven", poll->guard.seal.count.unproven)                              \
	X(TRANSMIT_LOST, "transmit_lost", poll->tx.lost)                                      \
	X(NO_MBUF, "no_mbuf", poll->no_mbuf)                                                  \
	X(CLOCK_STAMPS, "clock_stamps", poll->stamps.used)                                    \
	X(CLOCK_STAMPS_REFUSED, "clock_stamps_refused", poll->stamps.refused)                 \
	X(SINK_LOST, "sink_lost", sink->lost)                                                 \
	X(SINK_DUPLICATED, "sink_duplicated", sink->duplicated)                               \
	X(SINK_OUT_OF_ORDER, "sink_out_of_order", sink->out_of_order)                         \
	X(MOVED, "transmissions_moved", poll->tx.pacer.moved)                                 \
	X(MOVED_NS, "transmissions_moved_ns", poll->tx.pacer.moved_ps / PS_PER_NS)            \
	X(ARRIVALS, "arrivals_timed", port_arrivals(poll->port))                              \
	X(LATE, "late_ns", port_late_ns(poll->port))                                          \
	/* gauges from here on */                                                             \
	X(LATENCY_P50, "network_latency_p50_ns", histogram_quantile(&sink->network_ns, 0.5))  \
	X(LATENCY_P99, "network_latency_p99_ns", histogram_quantile(&sink->network_ns, 0.99)) \
	X(UP, "link_up", nic_link_up(poll->nic))

/* Stalls of a process's poll loops, on telemetry. */

#define LOOP_METRICS(X)                                                \
	/* gauges; loop_away_ns is the former name of loop_stall_ns */ \
	X(STALL, "loop_stall_ns", stall_ns(shown))                     \
	X(AWAY, "loop_away_ns", stall_ns(shown))                       \
	X(ABSENT, "loop_absent_ns",                                    \
		loop_stall_load(&shown->fabric->worker[shown->number].stall.sum) / PS_PER_NS)

enum loop_metric {
#define X(id, text, value) LOOP_METRIC_##id,
	LOOP_METRICS(X)
#undef X
		LOOP_METRIC_COUNT
};

static uint64_t stall_ns(const struct real_shown_loop *shown)
{
	return real_idle_away(
		       &shown->fabric->worker[shown->number], clock_now(&shown->fabric->clock)) /
	       PS_PER_NS;
}

static void read_loop(const void *ctx, uint64_t *value)
{
	const struct real_shown_loop *shown = ctx;

#define X(id, text, expression) value[LOOP_METRIC_##id] = (expression);
	LOOP_METRICS(X)
#undef X
}

/* Adds only the loops. Returns 0, or -errno with error set. */
static int real_telemetry_loops(struct real_fabric *fabric, struct error *error)
{
	static const char *const name[LOOP_METRIC_COUNT] = {
#define X(id, text, value) [LOOP_METRIC_##id] = text,
		LOOP_METRICS(X)
#undef X
	};
	int result = 0;

	for (unsigned i = 0; i < fabric->loops && result == 0; i++) {
		struct real_shown_loop *shown = &fabric->shown_loop[i];
		struct telemetry_device device = {
			.class = TELEMETRY_LOOP,
			.name = shown->name,
			.counter = name,
			.counters = LOOP_METRIC_COUNT,
			.snapshot = read_loop,
			.ctx = shown,
		};

		shown->fabric = fabric;
		shown->number = i;
		snprintf(shown->name, sizeof(shown->name), "%u", i);
		result = telemetry_add_device(fabric->telemetry, &device, error);
	}
	return result;
}

enum host_metric {
	HOST_METRIC_FAULTS = NIC_COUNTER_COUNT,
	HOST_METRIC_MORE = HOST_METRIC_FAULTS + FRAME_FAULT_COUNT - 1,
	HOST_METRIC_LAST = HOST_METRIC_MORE - 1,
#define X(id, text, value) HOST_METRIC_##id,
	HOST_METRICS_MORE(X)
#undef X
		HOST_METRIC_COUNT
};

/* Counters of the host's endpoints and, for a host with an edge, of the edge and the kernel. */
enum host_tap_metric {
	HOST_TAP = HOST_METRIC_COUNT + ENDPOINT_COUNTER_COUNT,
	HOST_TAP_QUEUE = HOST_TAP + EDGE_COUNTER_COUNT,
	HOST_TAP_SOCKET,
	HOST_TAP_END
};

struct real_host_metrics {
	const char *name[HOST_TAP_END];
	char fault_name[FRAME_FAULT_COUNT][32];
};

static void name_metrics(struct real_host_metrics *shown)
{
	for (unsigned i = 0; i < NIC_COUNTER_COUNT; i++)
		shown->name[i] = nic_counter_name(i);
	for (unsigned i = 1; i < FRAME_FAULT_COUNT; i++) {
		snprintf(shown->fault_name[i], sizeof(shown->fault_name[i]), "bad_%s",
			frame_fault_name(i));
		shown->name[HOST_METRIC_FAULTS + i - 1] = shown->fault_name[i];
	}
#define X(id, text, value) shown->name[HOST_METRIC_##id] = text;
	HOST_METRICS_MORE(X)
#undef X
	for (unsigned i = 0; i < EDGE_COUNTER_COUNT; i++)
		shown->name[HOST_TAP + i] = edge_counter_name(i);
	for (unsigned i = 0; i < ENDPOINT_COUNTER_COUNT; i++)
		shown->name[HOST_METRIC_COUNT + i] = endpoint_counter_name(i);
	shown->name[HOST_TAP_QUEUE] = "tap_drop_queue";
	shown->name[HOST_TAP_SOCKET] = "tap_drop_socket";
}

static void read_host(const void *ctx, uint64_t *value)
{
	const struct real_host *host = ctx;
	const struct poll_nic *poll = host->poll;
	const struct measure_sink *sink = poll->sink;
	const struct link_end *link = nic_link(poll->nic);

	memcpy(value, nic_counters(poll->nic), NIC_COUNTER_COUNT * sizeof(*value));
	memcpy(value + HOST_METRIC_FAULTS, poll->faults + 1,
		(FRAME_FAULT_COUNT - 1) * sizeof(*value));
#define X(id, text, expression) value[HOST_METRIC_##id] = (expression);
	HOST_METRICS_MORE(X)
#undef X
	if (poll->endpoints != NULL)
		memcpy(value + HOST_METRIC_COUNT, endpoint_set_counters(poll->endpoints->set),
			ENDPOINT_COUNTER_COUNT * sizeof(*value));
	if (host->tap < 0)
		return;
	memcpy(value + HOST_TAP, edge_counters(poll->tap.edge),
		EDGE_COUNTER_COUNT * sizeof(*value));
	value[HOST_TAP_QUEUE] = tap_losses_queue(&host->losses, host->edge->tap);
	value[HOST_TAP_SOCKET] = tap_losses_sockets(&host->losses);
}

/* Link protocol and frame check of an end; 'link' NULL: the end is not in this process. */
struct shown_end {
	const struct link_end *link;
	const struct port_auth *guard;
	const struct link_falls *falls;
};

static struct shown_end show_switch_end(const struct real_switch *device, unsigned port)
{
	const struct poll_switch *poll = real_switch_loop(device, port);

	return (struct shown_end){
		&poll->sw->port[port].link, &poll->port[port].guard, &poll->port[port].falls};
}

static struct shown_end show_end(const struct real_fabric *fabric, const struct topology_port *at)
{
	for (unsigned i = 0; at->kind == DEVICE_SWITCH && i < fabric->switch_count; i++) {
		const struct real_switch *device = &fabric->switches[i];

		if (device->number == at->device)
			return show_switch_end(device, at->port);
	}
	for (unsigned i = 0; at->kind == DEVICE_HOST && i < fabric->host_count; i++) {
		const struct real_host *host = &fabric->hosts[i];

		if (host->number == at->device)
			return (struct shown_end){
				nic_link(host->poll->nic), &host->poll->guard, &host->poll->falls};
	}
	return (struct shown_end){NULL, NULL, NULL};
}

/* Returns the end with this index among the open ends. */
static const struct real_end *nth_end(const struct real_fabric *fabric, unsigned index)
{
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].open && index-- == 0)
			return &fabric->end[i];
	return NULL;
}

static uint64_t neighbour_fabric(const struct port_auth *guard)
{
	return __atomic_load_n(&guard->foreign_fabric, __ATOMIC_RELAXED) & ~PORT_AUTH_FOREIGN;
}

static uint64_t misplaced(const struct port_auth *guard)
{
	return __atomic_load_n(&guard->misplaced, __ATOMIC_RELAXED);
}

/* Writes the name of the port in port_auth.misplaced; "" if none, or not in the topology. */
static void name_misplaced(const struct topology *topology, uint64_t there, char *name, size_t size)
{
	bool host = there >> 8 >= FRAME_HOST_DEVICE;
	uint64_t number = (there >> 8) - (host ? FRAME_HOST_DEVICE : 1);
	struct topology_port at = {
		host ? DEVICE_HOST : DEVICE_SWITCH, (uint32_t)number, (uint8_t)there};

	name[0] = '\0';
	if (there >> 8 != 0 && number < (host ? topology->hosts : topology->switches))
		topology_port_name(topology, at, name, size);
}

/* A link's counters, and its device's losses and link state. */
#define LINK_COUNTERS(X)                                                            \
	X(credit_frames_sent, protocol->credit_frames_sent)                         \
	X(credit_frames_received, protocol->credit_frames_received)                 \
	X(blocks_healed, protocol->blocks_healed)                                   \
	X(sessions_seen, protocol->sessions_seen)                                   \
	X(other_formats, protocol->other_formats)                                   \
	X(link_downs, protocol->downs)                                              \
	X(link_downs_ordered, shown->falls->ordered)                                \
	X(bad_tag, guard->seal.count.bad_tag)                                       \
	X(replayed, guard->seal.count.replayed)                                     \
	X(unproven, guard->seal.count.unproven)                                     \
	X(fabric, guard->fabric)                                                    \
	X(neighbour_fabric, neighbour_fabric(guard)) /* for state "other fabric" */ \
	X(device_rx_missed, losses.rx_missed)                                       \
	X(device_rx_no_buffer, losses.rx_no_buffer)                                 \
	X(device_rx_errors, losses.rx_errors)                                       \
	X(device_rx_segmented, losses.rx_segmented)                                 \
	X(device_tx_errors, losses.tx_errors)                                       \
	X(device_speed_mbps, device.speed_mbps) /* gauge; 0: unknown */             \
	/* settings of the outgoing direction: gauges */                            \
	X(paced_bps, real_end_knob(fabric, end, LINK_KNOB_RATE))                    \
	X(delay_ps, real_end_knob(fabric, end, LINK_KNOB_DELAY))                    \
	X(jitter_ps, real_end_knob(fabric, end, LINK_KNOB_JITTER))                  \
	X(loss_ppm, real_end_knob(fabric, end, LINK_KNOB_LOSS))                     \
	X(corrupt_ppm, real_end_knob(fabric, end, LINK_KNOB_CORRUPT))               \
	X(credit_loss_ppm, real_end_knob(fabric, end, LINK_KNOB_CREDIT_LOSS))       \
	X(reorder_ppm, real_end_knob(fabric, end, LINK_KNOB_REORDER))               \
	X(frames_lost, end->impairment.frames_lost + end->port.cut_lost)            \
	X(frames_swapped, end->impairment.frames_swapped)                           \
	X(credits_lost, end->impairment.credits_lost + end->port.cut_credits_lost)  \
	X(frames_corrupted, end->impairment.frames_corrupted)                       \
	X(full_frames_sent, guard->full_sent)                                       \
	X(full_frames_received, guard->full_received)

static void fill_counters(const struct real_fabric *fabric, const struct real_end *end,
	const struct shown_end *shown, const struct port_ethdev_link *found,
	struct telemetry_link *link)
{
	static const char *const counter[] = {
#define X(name, value) #name,
		LINK_COUNTERS(X)
#undef X
	};
	const struct link_end *protocol = shown->link;
	const struct port_auth *guard = shown->guard;
	const struct port_ethdev_link device = *found;
	struct port_losses losses;
	unsigned next = 0;

	port_losses_read(&end->port, &losses);
	link->counter = counter;
	link->counters = sizeof(counter) / sizeof(counter[0]);
#define X(name, expression) link->value[next++] = (expression);
	LINK_COUNTERS(X)
#undef X
}

static const char *state_of(const struct real_end *end, const struct shown_end *shown,
	const struct port_ethdev_link *device)
{
	const struct link_end *protocol = shown->link;

	static const char *const state[] = {
		[LINK_WAITING] = "waiting", [LINK_UP] = "up", [LINK_DOWN] = "down"};

	if (port_is_cut_by(&end->port, PORT_CUT_ORDERED))
		return "cut";
	if (device->is_dark && protocol->state != LINK_UP)
		return "no carrier";
	if (protocol->state != LINK_UP &&
		__atomic_load_n(&shown->guard->foreign_fabric, __ATOMIC_RELAXED) != 0)
		return "other fabric";
	if (protocol->state != LINK_UP && misplaced(shown->guard) != 0)
		return "wrong port";
	return state[protocol->state];
}

static bool read_link(const void *ctx, unsigned index, struct telemetry_link *link)
{
	const struct real_fabric *fabric = ctx;
	const struct real_end *end = nth_end(fabric, index);
	struct shown_end shown = {NULL, NULL, NULL};
	struct port_ethdev_link device = {.up = false};
	struct topology_port peer;

	if (end != NULL)
		shown = show_end(fabric, &end->at);
	if (shown.link == NULL)
		return false;
	topology_port_name(fabric->options.topology, end->at, link->port, sizeof(link->port));
	link->peer[0] = '\0';
	if (topology_peer(fabric->options.topology, end->at, &peer))
		topology_port_name(fabric->options.topology, peer, link->peer, sizeof(link->peer));
	port_ethdev_link(&end->port, &device);
	link->state = state_of(end, &shown, &device);
	name_misplaced(fabric->options.topology, misplaced(shown.guard), link->neighbour,
		sizeof(link->neighbour));
	fill_counters(fabric, end, &shown, &device, link);
	return true;
}

const struct link_end *real_end_link(const struct real_fabric *fabric, const struct real_end *end)
{
	return end->open ? show_end(fabric, &end->at).link : NULL;
}

bool real_links_are_up(const struct real_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->ends; i++) {
		const struct link_end *link = real_end_link(fabric, &fabric->end[i]);

		/* An end is ready when its link is up and the far end has granted credits. */
		if (link != NULL && (link->state != LINK_UP || link->tx[0].limit == 0))
			return false;
	}
	return true;
}

/* Fills in the remote clock's current state according to 'line'. */
static void fill_clock(const struct real_fabric *fabric, const struct clock_line *line,
	struct telemetry_clock *clock)
{
	int64_t now_ns = (int64_t)(clock_now(&fabric->clock) / PS_PER_NS), offset_ns;

	clock->known = clock_line_at(line, now_ns, &offset_ns, &clock->bound_ns);
	if (clock->known) {
		clock->local_ns = (uint64_t)now_ns;
		clock->remote_ns = (uint64_t)(now_ns + offset_ns);
	}
	clock->drift_ppb = (int)(line->rate * INT64_C(1000000000) >> 32);
	clock->drift_bound_ppb = (int)(line->half_rate * UINT64_C(1000000000) >> 32) + 1;
	clock->samples = line->samples;
	clock->steps = line->steps;
}

/* Entry 'at' describes how local host at / hosts sees the clock of host at % hosts. */
static bool read_clock(const void *ctx, uint64_t *at, struct telemetry_clock *clock)
{
	const struct real_fabric *fabric = ctx;
	const struct topology *topology = fabric->options.topology;

	for (; *at < (uint64_t)fabric->host_count * topology->hosts; (*at)++) {
		const struct real_host *host = &fabric->hosts[*at / topology->hosts];
		uint16_t of = (uint16_t)(*at % topology->hosts);
		const struct clock_offset *offset = nic_clock_of(host->poll->nic, of);
		struct clock_line line;

		if (offset == NULL)
			continue;
		clock_offset_read(offset, &line);
		if (line.samples == 0)
			continue;
		clock->at = topology->host_at[host->number].name;
		clock->of = topology->host_at[of].name;
		fill_clock(fabric, &line, clock);
		return true;
	}
	return false;
}

static int show_host(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	struct telemetry_device device = {
		.class = TELEMETRY_NIC,
		.name = fabric->options.topology->host_at[host->number].name,
		.counters = host->tap >= 0                  ? HOST_TAP_END
			    : host->poll->endpoints != NULL ? HOST_TAP
							    : HOST_METRIC_COUNT,
		.snapshot = read_host,
		.ctx = host,
	};

	host->shown = calloc(1, sizeof(*host->shown));
	if (host->shown == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", device.name);
	name_metrics(host->shown);
	device.counter = host->shown->name;
	return telemetry_add_device(fabric->telemetry, &device, error);
}

static int show_switch(struct real_fabric *fabric, struct real_switch *device, struct error *error)
{
	const char *name = fabric->options.topology->switch_at[device->number].name;
	int result =
		switch_metrics_show(&device->shown, fabric->telemetry, name, device->poll, error);

	if (result == 0 && device->sw->congestion != NULL)
		result = congestion_metrics_show(
			&device->detector, fabric->telemetry, name, device->sw->congestion, error);
	return result;
}

int real_telemetry(struct real_fabric *fabric, struct error *error)
{
	int result = 0;

	fabric->telemetry = telemetry_create(fabric->captures, error);
	if (fabric->telemetry == NULL)
		return -EEXIST;
	for (unsigned i = 0; i < fabric->switch_count && result == 0; i++)
		result = show_switch(fabric, &fabric->switches[i], error);
	for (unsigned i = 0; i < fabric->host_count && result == 0; i++)
		result = show_host(fabric, &fabric->hosts[i], error);
	if (result == 0)
		result = real_telemetry_loops(fabric, error);
	telemetry_set_links(fabric->telemetry, read_link, fabric);
	telemetry_set_clocks(fabric->telemetry, read_clock, fabric);
	return result;
}

void real_telemetry_end(struct real_fabric *fabric)
{
	if (fabric->telemetry != NULL)
		telemetry_destroy(fabric->telemetry);
	fabric->telemetry = NULL;
	for (unsigned i = 0; i < fabric->host_count; i++)
		free(fabric->hosts[i].shown);
}
