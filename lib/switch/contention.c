/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "contention.h"

#include "switch.h"
#include "switch_congestion.h"
#include "wire/frame.h"

/* State of a search for the flows that delay a packet. */
struct search {
	const struct weft_packet *packet; /* its own flow does not count */
	unsigned output;                  /* SWITCH_PORT_NONE: packets for any output */
	unsigned max;
	struct cn_flow flow[CN_FLOWS_MAX];
	uint8_t flows;
};

weft_time contention_threshold(uint32_t frame_bytes, uint64_t rate_bps)
{
	return (weft_time)((__uint128_t)2 * 8 * (frame_bytes + FRAME_WIRE_OVERHEAD) * PS_PER_S /
			   rate_bps);
}

void switch_set_contention(struct weft_switch *sw, struct contention *contention)
{
	sw->contention = contention;
	switch_congestion_note_plain(sw);
}

/* Searches a queue, oldest packet first. */
static void search_queue(struct search *search, const struct voq *queue)
{
	const struct weft_packet *own = search->packet, *packet = queue->head;

	for (; packet != NULL && search->flows < search->max; packet = packet->next) {
		if (packet->source == own->source && packet->destination == own->destination)
			continue;
		if (search->output != SWITCH_PORT_NONE && packet->out_port != search->output)
			continue;
		cn_add_flow(search->flow, &search->flows, search->max,
			(struct cn_flow){packet->source, packet->destination});
	}
}

/* Return the inputs that may store packets for the output, and the VCs of such an input. With VOQs
 * an output's sets contain all of its non-empty VOQs. Without VOQs a queue is only in the sets of
 * its head's output. */
static port_set inputs_of(const struct weft_switch *sw, unsigned output)
{
	const struct switch_output *out = &sw->port[output].output;

	return sw->voq ? (port_set)(out->ready | out->stalled) : port_set_all(sw->ports);
}

static unsigned vcs_of(const struct weft_switch *sw, unsigned output, unsigned input)
{
	return sw->voq ? switch_ready_vcs(sw, output, input) | switch_stalled_vcs(sw, output, input)
		       : (1u << sw->vcs) - 1;
}

/* Searches the packets stored for an output, at all inputs. */
static void search_output(struct search *search, const struct weft_switch *sw)
{
	PORT_SET_EACH(inputs, inputs_of(sw, search->output)) {
		unsigned input = port_set_first(inputs);
		const struct voq *queue = switch_queues(sw, search->output, input);

		for (unsigned vcs = vcs_of(sw, search->output, input); vcs != 0; vcs &= vcs - 1) {
			if (search->flows >= search->max)
				return;
			search_queue(search, &queue[__builtin_ctz(vcs)]);
		}
	}
}

/* Searches the packets in the VC of the input in which the packet was stored. */
static void search_buffer(struct search *search, const struct weft_switch *sw)
{
	unsigned input = search->packet->in_port, vc = search->packet->vc;
	unsigned queues = sw->voq ? sw->ports : 1;

	search->output = SWITCH_PORT_NONE;
	for (unsigned output = 0; output < queues && search->flows < search->max; output++)
		search_queue(search, &switch_queues(sw, output, input)[vc]);
}

/* Records the flows that contended with a packet that waited too long. */
static void record(const struct weft_switch *sw, const struct weft_packet *packet, unsigned output,
	struct latency_extension *extension)
{
	struct contention *contention = sw->contention;
	struct search search = {
		.packet = packet, .output = output, .max = contention->config.flows};

	if (contention->config.scope == CONTENTION_BUFFER)
		search_buffer(&search, sw);
	else
		search_output(&search, sw);
	latency_record(extension, search.flow, search.flows);
	contention->recorded++;
}

static uint32_t saturate(uint64_t ns)
{
	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/* Returns the extension if it must be read or written; NULL if not, or if its checksum is wrong. */
static struct latency_extension *open_extension(
	struct contention *contention, const struct weft_packet *packet, bool is_long)
{
	struct latency_extension *extension;

	if (!contention->config.in_frame && !is_long)
		return NULL;
	extension = contention->config.extension(contention->config.ctx, packet);
	if (extension == NULL || !contention->config.in_frame || latency_check_ok(extension))
		return extension;
	contention->bad++;
	return NULL;
}

void contention_leave(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now)
{
	struct contention *contention = sw->contention;
	weft_time waited_ps = now - packet->arrived_ps;
	uint32_t waited_ns = saturate(waited_ps / PS_PER_NS);
	bool is_long = waited_ps > contention->config.threshold_ps;
	struct latency_extension *extension;

	contention->waited_ps += waited_ps;
	if (waited_ns == 0 || (packet->flags & FRAME_F_LATENCY) == 0)
		return;
	extension = open_extension(contention, packet, is_long);
	if (!contention->config.in_frame)
		packet->latency_ns = saturate((uint64_t)packet->latency_ns + waited_ns);
	if (extension == NULL)
		return;
	if (is_long && (contention->config.last || !latency_is_predictive(extension)))
		record(sw, packet, output, extension);
	if (contention->config.in_frame) {
		latency_add(extension, waited_ns);
		latency_seal(extension);
	}
}
