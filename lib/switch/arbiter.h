/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arbitration: per output, round-robin over the inputs, and at each input round-robin over its VCs.
 * Rules (arbitration.h) can replace this order. Only heads that can be sent now take part: a
 * head without credits moves from the ready set to the stalled set, and back when credits for that
 * output arrive, so that a round-robin decision is O(1).
 *
 * Without VOQs the queue of an (input, VC) is in the sets of its head's output. 'voq' is sw->voq as
 * a constant, so both forms are compiled separately. */

#include "congestion_control.h"
#include "switch.h"

/* Call when the queue (input, vc) has a new head, for 'output'. */
static inline void arbiter_offer(
	struct weft_switch *sw, unsigned input, unsigned vc, unsigned output)
{
	if (sw->vcs > 1)
		switch_cross(sw, output, input)->ready |= (uint16_t)(1u << vc);
	sw->port[output].output.ready |= port_set_of(input);
	sw->busy |= port_set_of(output);
	sw->idle &= ~port_set_of(output);
}

/* Call after the set of packets waiting for 'output' has changed: updates busy and idle. */
static inline void arbiter_update(struct weft_switch *sw, unsigned output)
{
	const struct switch_output *out = &sw->port[output].output;
	port_set bit = port_set_of(output);

	if (!port_set_is_empty(out->ready) || out->control_head != NULL) {
		sw->busy |= bit;
		sw->idle &= ~bit;
		return;
	}
	sw->busy &= ~bit;
	if (port_set_is_empty(out->stalled))
		sw->idle |= bit & sw->usable;
	else
		sw->idle &= ~bit;
}

/* Removes a VC of an input from sets of a crosspoint. Returns the sets that became empty. */
#define ARBITER_READY   0x1
#define ARBITER_STALLED 0x2
static inline unsigned arbiter_leave(
	struct weft_switch *sw, unsigned input, unsigned vc, unsigned output, unsigned sets)
{
	struct crosspoint *cross = switch_cross(sw, output, input);
	unsigned last = 0;

	if (sw->vcs == 1)
		return sets;
	if (sets & ARBITER_READY)
		cross->ready &= (uint16_t) ~(1u << vc);
	if (sets & ARBITER_STALLED)
		cross->stalled &= (uint16_t) ~(1u << vc);
	last |= cross->ready == 0 ? ARBITER_READY : 0;
	last |= cross->stalled == 0 ? ARBITER_STALLED : 0;
	return last & sets;
}

/* Call when the queue (input, vc) no longer has a head for 'output'. */
static inline void arbiter_withdraw(
	struct weft_switch *sw, unsigned input, unsigned vc, unsigned output)
{
	struct switch_output *out = &sw->port[output].output;
	unsigned last = arbiter_leave(sw, input, vc, output, ARBITER_READY | ARBITER_STALLED);

	if (last & ARBITER_READY)
		out->ready &= ~port_set_of(input);
	if (last & ARBITER_STALLED)
		out->stalled &= ~port_set_of(input);
}

/* Moves the head of (input, vc), which lacks credits, to the stalled set until credits arrive. */
static inline void arbiter_stall(struct weft_switch *sw, struct voq *queue, unsigned input,
	unsigned vc, unsigned output, weft_time now)
{
	struct switch_port *port = &sw->port[output];

	if (sw->vcs > 1)
		switch_cross(sw, output, input)->stalled |= (uint16_t)(1u << vc);
	port->output.stalled |= port_set_of(input);
	if (arbiter_leave(sw, input, vc, output, ARBITER_READY) != 0)
		port->output.ready &= ~port_set_of(input);
	port->count[SWITCH_STALL_CREDIT]++;
	voq_stall(queue, now);
}

/* Call after removing the head of (input, vc) from its queue: corrects the sets. */
static inline void arbiter_settle(struct weft_switch *sw, unsigned input, unsigned vc,
	unsigned output, const struct voq *queue, const bool voq)
{
	if (voq && queue->head != NULL)
		return;
	arbiter_withdraw(sw, input, vc, output);
	if (!voq && queue->head != NULL)
		arbiter_offer(sw, input, vc, queue->head->out_port);
}

/* Removes the head of (input, vc) from its queue, regardless of credits. */
static inline struct weft_packet *arbiter_remove(
	struct weft_switch *sw, unsigned input, unsigned vc, unsigned output)
{
	struct voq *queue = &switch_queues(sw, output, input)[vc];
	struct weft_packet *packet = voq_pop(queue);

	if (sw->congestion != NULL)
		congestion_control_left(sw->congestion, packet, output, queue);
	arbiter_settle(sw, input, vc, output, queue, sw->voq);
	return packet;
}

/* Returns the inputs that have a packet for this output now. */
static inline port_set arbiter_ready(
	const struct weft_switch *sw, const struct switch_port *port, const bool voq)
{
	return voq ? port->output.ready : (port_set)(port->output.ready & ~sw->held);
}

/* Returns the VC from which a ready input sends next, in round-robin order. */
static inline unsigned arbiter_next_vc(struct weft_switch *sw, unsigned output, unsigned input)
{
	const struct crosspoint *cross = switch_cross(sw, output, input);

	return sw->vcs == 1 ? 0 : bits_round_robin(cross->ready, cross->next_vc);
}

/* Advances the round robin over VCs after a packet of 'vc' was sent. */
static inline void arbiter_advance_vc(
	struct weft_switch *sw, unsigned output, unsigned input, unsigned vc)
{
	if (sw->vcs > 1)
		switch_cross(sw, output, input)->next_vc =
			(uint8_t)((vc + 1) & (FRAME_VCS_MAX - 1));
}

/* The rare part of arbiter_pick_burst(): reports a departure. */
void arbiter_report(struct weft_switch *sw, struct weft_packet *packet, unsigned output,
	const struct voq *queue, weft_time now);

/* Picks up to 'max' packets for 'output' in round-robin order and takes their credits. Returns how
 * many were picked. Their buffer space is released immediately. The round-robin state stays in
 * registers during the burst. */
static inline __attribute__((always_inline)) unsigned arbiter_pick_burst(struct weft_switch *sw,
	unsigned output, struct weft_packet **packets, unsigned max, weft_time now, const bool voq)
{
	struct voq *row = voq ? switch_queues(sw, output, 0) : sw->queue;
	struct switch_port *port = &sw->port[output];
	unsigned next_input = port->output.next_input, count = 0;

	while (count < max && !port_set_is_empty(arbiter_ready(sw, port, voq))) {
		unsigned input = port_set_round_robin(arbiter_ready(sw, port, voq), next_input);
		unsigned vc = arbiter_next_vc(sw, output, input);
		struct voq *queue = &row[input * sw->vcs + vc];
		struct weft_packet *packet = queue->head;
		struct credit_tx *credit = &port->link.tx[packet->vc_next];
		unsigned blocks = packet->blocks;

		if (__builtin_expect(!credit_suffices(credit, blocks), 0)) {
			arbiter_stall(sw, queue, input, vc, output, now);
			continue;
		}
		credit_take(credit, blocks);
		credit_release(&sw->port[input].link.rx[vc], blocks);
		next_input = (input + 1) & (PORT_SET_PORTS - 1);
		arbiter_advance_vc(sw, output, input, vc);
		voq_pop(queue);
		if (__builtin_expect(sw->signal.departures != 0, 0))
			arbiter_report(sw, packet, output, queue, now);
		arbiter_settle(sw, input, vc, output, queue, voq);
		packets[count++] = packet;
	}
	port->output.next_input = (uint8_t)next_input;
	return count;
}

/* Makes all stalled heads of this output ready. Call on new credits or when the link comes up. */
void arbiter_retry(struct weft_switch *sw, unsigned output);

/* For rules other than round robin (arbitration.h): moves the round-robin position to the head that
 * the rules select, so that it is picked next. Heads without credits stall. Returns false if no
 * head can be sent. */
bool arbiter_aim(struct weft_switch *sw, unsigned output, weft_time now);
