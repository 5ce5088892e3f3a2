/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_trace.h"

#include <string.h>

#include "measure/capture_reason.h"
#include "virtual_control.h"
#include "virtual_partitions.h"
#include "virtual_private.h"

void virtual_fabric_trace(struct virtual_fabric *fabric, virtual_trace_fn *watch, void *ctx)
{
	struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];

	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++) {
		virtual_partition_at(fabric, i)->watch = watch;
		virtual_partition_at(fabric, i)->watch_ctx = ctx;
	}
	for (struct virtual_tx *channel = fabric->channel; channel < end; channel++)
		channel->special = watch != NULL || virtual_is_special(fabric, channel);
}

static struct topology_port port_of(const struct virtual_fabric *fabric, uint32_t order)
{
	if (!virtual_is_host(fabric, order))
		return (struct topology_port){
			DEVICE_SWITCH, VIRTUAL_SWITCH(order), (uint8_t)VIRTUAL_PORT(order)};
	return (struct topology_port){DEVICE_HOST, virtual_host_of(fabric, order), 0};
}

static void call(struct virtual_fabric *fabric, struct virtual_trace_record *record)
{
	record->order = fabric->order;
	record->partition = fabric->partition;
	fabric->watch(fabric->watch_ctx, record);
}

/* Creates the extension that the frame would carry. */
static void make_extension(const struct virtual_fabric *fabric, const struct weft_packet *packet,
	struct latency_extension *out)
{
	const struct latency_extension *met =
		fabric->extension == NULL ? NULL
					  : &fabric->extension[virtual_item_of(fabric, packet)];

	latency_begin(out, virtual_origin_of(fabric, packet)->path);
	latency_add(out, packet->latency_ns);
	if (met != NULL && latency_is_predictive(met)) {
		out->flags |= LATENCY_PREDICTIVE;
		out->flows = met->flows;
		memcpy(out->flow, met->flow, met->flows * sizeof(met->flow[0]));
	}
	latency_seal(out);
}

/* 'header' contains the mutable bytes to show. */
static void show_packet(struct virtual_fabric *fabric, struct virtual_trace_record *record,
	const struct weft_packet *packet, uint32_t header)
{
	const struct datagram_origin *origin = virtual_origin_of(fabric, packet);
	weft_time waited = origin->injected_ps / PS_PER_NS - origin->generated_ps / PS_PER_NS;
	struct weft_packet seen = *packet;
	struct latency_extension extension;

	if (packet->flags & FRAME_F_LATENCY) {
		make_extension(fabric, packet, &extension);
		record->extension = &extension;
	}
	seen.mutable_word = header;
	if (record->at.kind == DEVICE_HOST && !record->out) {
		seen.in_port = 0;
		seen.vc = seen.header_vc;
		seen.hop = seen.route_length != 0 ? seen.route[seen.cursor] : 0;
	}
	seen.injected_ns = (uint32_t)(origin->injected_ps / PS_PER_NS);
	if (record->out && record->at.kind == DEVICE_HOST && record->at.device == packet->source)
		record->waited_ns = waited < UINT32_MAX ? (uint32_t)waited : UINT32_MAX;
	record->packet = &seen;
	call(fabric, record);
}

/* Shows a credit frame as its receiver will interpret it. */
static void show_credit(const struct virtual_fabric *fabric, const struct sim_event *event,
	struct control_credit *credit)
{
	const struct topology_port at = port_of(fabric, event->order);

	virtual_show_credit(fabric, event->item,
		at.kind == DEVICE_SWITCH ? &fabric->sw[at.device]->port[at.port].link
					 : &fabric->host[at.device].nic.link,
		credit);
}

void virtual_trace_in(struct virtual_fabric *fabric, const struct sim_event *event)
{
	struct virtual_trace_record record = {
		.now = event->at, .at = port_of(fabric, event->order)};
	const struct weft_packet *packet;
	struct control_credit credit;

	switch (VIRTUAL_KIND(event->order)) {
	case VIRTUAL_ARRIVE:
		packet = &fabric->pool.packet[event->item];
		if (record.at.kind == DEVICE_HOST)
			show_packet(fabric, &record, packet, packet->mutable_word);
		return;
	case VIRTUAL_CREDIT:
		if (virtual_is_cn(fabric, event->item))
			return; /* notifications between hosts use no link */
		if (virtual_is_arn(fabric, event->item)) {
			record.arn = virtual_arn_at(fabric, event->item);
		} else {
			show_credit(fabric, event, &credit);
			record.credit = &credit;
		}
		call(fabric, &record);
		return;
	default:
		return;
	}
}

void virtual_trace_admitted(struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet,
	uint32_t header, unsigned output, weft_time now)
{
	struct virtual_trace_record record = {
		.now = now, .at = {DEVICE_SWITCH, at, packet->in_port}, .output = output};

	packet->stalled = 0; /* set by the previous switch; only captures read it */
	show_packet(fabric, &record, packet, header);
}

void virtual_trace_discarded(
	struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet, weft_time now)
{
	struct virtual_trace_record record = {
		.now = now, .at = {DEVICE_SWITCH, at, packet->in_port}, .gone = true};

	show_packet(fabric, &record, packet, packet->mutable_word);
}

void virtual_trace_refused(
	struct virtual_fabric *fabric, uint32_t at, const struct weft_packet *packet, weft_time now)
{
	struct virtual_trace_record record = {.now = now, .at = {DEVICE_HOST, at, 0}, .gone = true};

	show_packet(fabric, &record, packet, packet->mutable_word);
}

void virtual_trace_out(struct virtual_fabric *fabric, uint32_t order,
	const struct weft_packet *packet, weft_time now)
{
	struct virtual_trace_record record = {
		.now = now, .at = port_of(fabric, order), .out = true};

	show_packet(fabric, &record, packet, packet->mutable_word);
}

void virtual_trace_credit(struct virtual_fabric *fabric, uint32_t order,
	const struct control_credit *credit, weft_time now)
{
	struct virtual_trace_record record = {.now = now, .out = true, .credit = credit};

	if (topology_peer(fabric->topology, port_of(fabric, order), &record.at))
		call(fabric, &record);
}

void virtual_trace_arn(
	struct virtual_fabric *fabric, uint32_t order, const struct control_arn *arn, weft_time now)
{
	struct virtual_trace_record record = {.now = now, .out = true, .arn = arn};

	if (topology_peer(fabric->topology, port_of(fabric, order), &record.at))
		call(fabric, &record);
}

/* Fills in the state after the packet left its queue and took its credits. */
static void tell_out(const struct weft_switch *sw, const struct virtual_trace_record *record,
	struct capture_state *state)
{
	const struct weft_packet *packet = record->packet;

	state->credits_blocks =
		credit_available(&sw->port[record->at.port].link.tx[packet->header_vc]);
	state->voq_depth_blocks =
		switch_queues(sw, record->at.port, packet->in_port)[packet->vc].blocks;
	if (packet->stalled)
		state->reason = capture_reason_switch(SWITCH_STALL_CREDIT);
}

void virtual_trace_state(const struct virtual_fabric *fabric,
	const struct virtual_trace_record *record, struct capture_state *state)
{
	const struct weft_packet *packet = record->packet;

	*state = (struct capture_state){
		.credits_blocks = CAPTURE_UNKNOWN, .voq_depth_blocks = CAPTURE_UNKNOWN};
	if (packet == NULL)
		return;
	state->vc = packet->header_vc;
	state->waited_ns = record->waited_ns;
	if (record->gone) {
		state->vc = packet->vc;
		state->reason = record->at.kind == DEVICE_HOST
					? CAPTURE_REASON_ITB_FULL
					: capture_reason_switch(packet->discard);
		return;
	}
	if (record->at.kind == DEVICE_HOST) {
		const struct link_end *link = &fabric->host[record->at.device].nic.link;

		state->credits_blocks =
			record->out ? credit_available(&link->tx[state->vc])
				    : credit_expected(&link->rx[state->vc], packet->blocks);
	} else if (record->out) {
		tell_out(fabric->sw[record->at.device], record, state);
	} else {
		capture_decision(fabric->sw[record->at.device], packet, record->output, state);
	}
}
