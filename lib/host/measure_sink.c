/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_sink.h"

#include <errno.h>
#include <stdlib.h>

#include "endpoint.h"
#include "traffic/synthetic.h"

#define SEEN_FRAMES 64
/* Maximum lag of a loop that was descheduled after reading its clock. Negative latencies up to this
 * size count as 0. */
#define SKEW_NS 1000000000u

struct measure_sink *measure_sink_create(uint16_t host, uint16_t hosts)
{
	struct measure_sink *sink = calloc(1, sizeof(*sink) + hosts * sizeof(sink->source[0]));

	if (sink == NULL)
		return NULL;
	sink->host = host;
	sink->hosts = hosts;
	return sink;
}

void measure_sink_destroy(struct measure_sink *sink)
{
	if (sink == NULL)
		return;
	free(sink->entry);
	free(sink);
}

int measure_sink_set_entries(
	struct measure_sink *sink, unsigned entries, struct measure_sink_flow *const *flow)
{
	struct measure_sink_entry *entry = calloc(entries + 1u, sizeof(*entry));

	if (entry == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < entries; i++)
		entry[i].flow = flow[i];
	free(sink->entry);
	sink->entry = entry;
	sink->entries = entries;
	return 0;
}

void measure_sink_set_flows(struct measure_sink *sink, struct measure_sink_flow *const *flow)
{
	for (unsigned i = 0; i < sink->entries; i++)
		sink->entry[i].flow = flow[i];
}

/* Skips empty histograms, which may have no memory yet. */
static void reset_entry(struct measure_sink_entry *entry)
{
	if (entry->network_ns.count > 0)
		histogram_reset(&entry->network_ns);
	if (entry->total_ns.count > 0)
		histogram_reset(&entry->total_ns);
}

void measure_sink_restart(struct measure_sink *sink, weft_time measure_from)
{
	histogram_reset(&sink->network_ns);
	histogram_reset(&sink->total_ns);
	histogram_reset(&sink->network_due_ns);
	histogram_reset(&sink->total_due_ns);
	histogram_reset(&sink->edges_ns);
	order_wait_reset(&sink->waited);
	for (unsigned i = 0; i < sink->entries; i++)
		reset_entry(&sink->entry[i]);
	sink->measured_messages = sink->measured_bytes = sink->within_tenth = 0;
	sink->clocks = (struct measure_clocks){.timed = 0};
	sink->measure_from = measure_from;
}

void measure_sink_reset(struct measure_sink *sink, weft_time measure_from)
{
	measure_sink_restart(sink, measure_from);
	for (unsigned i = 0; i < sink->entries; i++)
		sink->entry[i].frames = sink->entry[i].messages = sink->entry[i].bytes = 0;
}

void measure_sink_set_clock(
	struct measure_sink *sink, uint16_t source, const struct clock_offset *clock)
{
	sink->source[source].clock = clock;
}

/* Classifies a late frame: a duplicate, or a frame that was counted as lost. */
static void take_late(struct measure_sink *sink, struct measure_source *source, uint32_t behind)
{
	uint64_t bit = behind <= SEEN_FRAMES ? (uint64_t)1 << (behind - 1) : 0;

	if (behind > SEEN_FRAMES || (source->seen & bit) != 0) {
		sink->duplicated++;
		return;
	}
	source->seen |= bit;
	sink->out_of_order++;
	sink->lost--;
}

/* Sequence numbers of a flow start at 0. */
void measure_sink_watch(struct measure_sink *sink, const struct nic_delivery *delivery)
{
	struct measure_source *source = &sink->source[delivery->source];
	uint16_t flow = (uint16_t)(delivery->message >> 16);
	uint32_t ahead;

	if (!source->known || source->flow != flow)
		*source = (struct measure_source){
			.known = true, .flow = flow, .seen = UINT64_MAX, .clock = source->clock};
	ahead = delivery->sequence - source->next;
	if ((int32_t)ahead < 0) {
		take_late(sink, source, -ahead);
		return;
	}
	sink->lost += ahead;
	source->seen = ahead < SEEN_FRAMES - 1 ? source->seen << (ahead + 1) | 1 : 1;
	source->next = delivery->sequence + 1;
}

/* Reads the message prefix, and compares the payload with the expected content. */
static void check_content(struct measure_sink *sink, struct measure_source *source,
	const struct nic_delivery *delivery)
{
	struct synthetic synthetic = {.source = delivery->source,
		.destination = sink->host,
		.message = delivery->message};
	uint32_t end = delivery->offset + delivery->bytes;

	if (delivery->first) {
		source->open = synthetic_open(&synthetic, delivery->payload, delivery->bytes) &&
			       (sink->entries == 0 || synthetic.entry < sink->entries);
		source->message = delivery->message;
		source->message_bytes = synthetic.message_bytes;
		source->generated_ns = synthetic.generated_ns;
		source->arrived = source->arrived_due = 0;
		source->entry = synthetic.entry;
	}
	if (!source->open || delivery->message != source->message ||
		(delivery->tail ? end != source->message_bytes : end >= source->message_bytes) ||
		!synthetic_matches(
			&synthetic, delivery->offset, delivery->payload, delivery->bytes)) {
		sink->altered++;
		source->open = false;
	}
}

/* Converts the local time to the clock of a source on another machine. Returns false if the offset
 * is unknown, or so uncertain that latencies could wrap. */
static __attribute__((noinline)) bool convert_time(
	struct measure_sink *sink, const struct measure_source *source, uint64_t *ns)
{
	uint64_t bound_ns;
	int64_t offset_ns;

	if (!clock_line_at(&source->clock->line, (int64_t)*ns, &offset_ns, &bound_ns) ||
		bound_ns > SKEW_NS) {
		sink->clocks.untimed++;
		return false;
	}
	sink->clocks.timed++;
	sink->clocks.bounds_ns += bound_ns;
	if (bound_ns > sink->clocks.bound_ns)
		sink->clocks.bound_ns = bound_ns;
	*ns += (uint64_t)offset_ns;
	return true;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t network_of(const struct nic_delivery *delivery, uint64_t at_ns)
{
	uint32_t network_ns = (uint32_t)at_ns - delivery->injected_ns;

	return network_ns > UINT32_MAX - SKEW_NS ? 0 : network_ns;
}

/* Returns the time from 'earlier', on this host's clock, to the delivery. */
static uint64_t since_ns(const struct nic_delivery *delivery, weft_time earlier)
{
	return minus(delivery->now / PS_PER_NS, earlier / PS_PER_NS);
}

static void record_total(struct measure_sink *sink, const struct measure_source *source,
	struct measure_sink_entry *entry, const struct nic_delivery *delivery, uint64_t now_ns)
{
	uint64_t waited_ns = since_ns(delivery, source->arrived);
	uint64_t released_ns = minus(now_ns, source->generated_ns);
	uint64_t total_ns = minus(released_ns, waited_ns);

	if (!source->open)
		return;
	histogram_record(&sink->total_ns, total_ns);
	histogram_record(
		&sink->total_due_ns, minus(released_ns, since_ns(delivery, source->arrived_due)));
	if (entry != NULL)
		histogram_record(&entry->total_ns, total_ns);
	if (waited_ns == 0)
		return;
	histogram_record(&sink->waited.total_arrived_ns, total_ns);
	histogram_record(&sink->waited.total_released_ns, released_ns);
}

static __attribute__((noinline)) void record_wait(
	struct measure_sink *sink, uint64_t network_ns, uint64_t waited_ns)
{
	histogram_record(&sink->waited.waited_ns, waited_ns);
	histogram_record(&sink->waited.network_arrived_ns, minus(network_ns, waited_ns));
	histogram_record(&sink->waited.network_released_ns, network_ns);
}

static void record(struct measure_sink *sink, const struct measure_source *source,
	struct measure_sink_entry *entry, const struct nic_delivery *delivery)
{
	uint64_t waited_ns = since_ns(delivery, delivery->arrived);
	uint64_t now_ns = delivery->now / PS_PER_NS; /* converted to the source's clock */
	uint64_t network_ns, due_ns;

	if (delivery->now < sink->measure_from)
		return;
	sink->measured_bytes += delivery->bytes;
	sink->measured_messages += delivery->tail;
	if (__builtin_expect(source->clock != NULL, 0) && !convert_time(sink, source, &now_ns))
		return;
	network_ns = network_of(delivery, now_ns);
	due_ns = network_of(delivery, now_ns - since_ns(delivery, delivery->arrived_due));
	if (__builtin_expect(waited_ns > 0, 0))
		record_wait(sink, network_ns, waited_ns);
	network_ns = minus(network_ns, waited_ns);
	histogram_record(&sink->network_ns, network_ns);
	histogram_record(&sink->network_due_ns, due_ns);
	sink->within_tenth += 10 * minus(network_ns, due_ns) <= due_ns;
	if (entry != NULL)
		histogram_record(&entry->network_ns, network_ns);
	if (delivery->tail)
		record_total(sink, source, entry, delivery, now_ns);
}

/* Counts a frame of a program's message and records its latency. */
static void measure_sink_pass(struct measure_sink *sink, const struct nic_delivery *delivery)
{
	const struct measure_source *source = &sink->source[delivery->source];
	uint64_t now_ns = delivery->now / PS_PER_NS;

	sink->edge_frames++;
	sink->edge_bytes += delivery->bytes;
	if (delivery->now < sink->measure_from ||
		(source->clock != NULL && !convert_time(sink, source, &now_ns)))
		return;
	histogram_record(&sink->edges_ns,
		minus(network_of(delivery, now_ns), since_ns(delivery, delivery->arrived)));
}

static void count_entry(struct measure_sink_entry *entry, const struct nic_delivery *delivery)
{
	entry->frames++;
	entry->bytes += delivery->bytes;
	entry->messages += delivery->tail;
	if (entry->flow == NULL || !delivery->tail)
		return;
	entry->flow[delivery->source].messages++;
	entry->flow[delivery->source].last_ps = delivery->now;
}

void measure_sink_take(struct measure_sink *sink, const struct nic_delivery *delivery)
{
	struct measure_source *source = &sink->source[delivery->source];
	struct measure_sink_entry *entry = NULL;

	check_content(sink, source, delivery);
	if (delivery->arrived > source->arrived)
		source->arrived = delivery->arrived;
	if (delivery->arrived_due > source->arrived_due)
		source->arrived_due = delivery->arrived_due;
	if (source->open && source->entry < sink->entries)
		entry = &sink->entry[source->entry];
	record(sink, source, entry, delivery);
	if (entry != NULL)
		count_entry(entry, delivery);
	sink->frames++;
	sink->bytes += delivery->bytes;
	sink->messages += delivery->tail;
}

int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts)
{
	*demux = (struct host_demux){.sink = sink, .hosts = hosts};
	demux->to = calloc(hosts, sizeof(demux->to[0]));
	return demux->to != NULL ? 0 : -ENOMEM;
}

void host_demux_fini(struct host_demux *demux)
{
	free(demux->to);
	demux->to = NULL;
}

void host_demux_deliver(void *ctx, const struct nic_delivery *delivery)
{
	struct host_demux *demux = ctx;
	uint8_t *to = &demux->to[delivery->source];
	struct edge_packet packet;

	measure_sink_watch(demux->sink, delivery);
	if (delivery->first)
		*to = synthetic_is(delivery->payload, delivery->bytes)  ? HOST_DEMUX_SINK
		      : endpoint_is(delivery->payload, delivery->bytes) ? HOST_DEMUX_ENDPOINT
									: HOST_DEMUX_EDGE;
	if (*to == HOST_DEMUX_SINK) {
		measure_sink_take(demux->sink, delivery);
		if (delivery->tail && demux->message != NULL)
			demux->message(demux->message_ctx, delivery->source, delivery->due_ps);
		return;
	}
	measure_sink_pass(demux->sink, delivery);
	if (*to == HOST_DEMUX_ENDPOINT ? demux->endpoint == NULL : demux->edge == NULL)
		demux->unclaimed++;
	else if (*to == HOST_DEMUX_ENDPOINT)
		demux->endpoint(demux->endpoint_ctx, delivery);
	else if (edge_deliver(demux->edge, delivery, &packet) && demux->packet != NULL)
		demux->packet(demux->ctx, &packet);
}
