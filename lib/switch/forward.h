/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of switch.h that a driver calls for each data packet, inline. 'port' is always the
 * input port. 'voq' is sw->voq as a constant, so both forms are compiled separately. */

#include "adaptive_routing.h"
#include "arbiter.h"
#include "congestion_control.h"
#include "switch.h"

/* Admits a packet that is not plain: finds the fault or makes the decisions. 'output' is from the
 * route or the table. Sets vc_next. Returns the output, or SWITCH_PORT_NONE if the packet was
 * discarded. */
unsigned forward_exception(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now);

/* Returns the output from the source route (packet.hop, which has ROUTE_PORT_BIT; the cursor
 * advances) or from the table. Without a route the result is not a usable port. */
static inline unsigned forward_output(const struct weft_switch *sw, struct weft_packet *packet)
{
	if (packet->route_length != 0) {
		packet->mutable_word += MUTABLE_CURSOR(1);
		if (PORT_SET_WORDS > 1 && (packet->hop & ROUTE_PORT_BIT) == 0)
			return SWITCH_PORT_NONE;
		return (packet->hop ^ ROUTE_PORT_BIT) & ~ROUTE_ADAPTIVE;
	}
	if (__builtin_expect(packet->destination > sw->table_last, 0))
		return SWITCH_PORT_NONE;
	return switch_table_port(sw, packet->destination);
}

/* Adds a control frame to those waiting for its output, or discards it if the reserve is full. */
void forward_queue_control(struct weft_switch *sw, struct weft_packet *packet, unsigned output);
/* Adds a control frame to those for the device's agent. */
void forward_give_to_agent(struct weft_switch *sw, struct weft_packet *packet);

static inline bool forward_is_in(port_set outputs, unsigned output)
{
	return output < PORT_SET_PORTS && port_set_has(outputs, output);
}

/* Returns true for a plain packet: it has no fault, its output is in 'outputs', all usable, and
 * only its next VC must be determined, from its SL. The sender had the credits. */
static inline __attribute__((always_inline)) bool forward_is_plain(const struct weft_switch *sw,
	const struct switch_port *port, const struct weft_packet *packet, unsigned output,
	port_set outputs)
{
	return __builtin_expect(forward_is_in(outputs, output), 1) &&
	       __builtin_expect(packet->vc < sw->signal.plain_vcs, 1) &&
	       __builtin_expect(credit_covers(&port->link.rx[packet->vc], packet->blocks), 1);
}

/* Sets the header for the next device with one word access. Reading a word after writing its bytes
 * singly would stall the pipeline. */
static inline void forward_set_header_vc(struct weft_packet *packet)
{
	packet->mutable_word =
		(packet->mutable_word & ~MUTABLE_VC(0xFF)) | MUTABLE_VC(packet->vc_next);
}

/* Admits a data packet that has arrived completely on packet->in_port. The driver must have set
 * bytes, blocks, in_port, vc, the mutable header bytes, hop, route, route_length, sl, control,
 * destination and, with contention, arrived_ps. Returns the output, or SWITCH_PORT_NONE if the
 * packet was discarded. The caller then calls switch_pass() or switch_store(). */
static inline __attribute__((always_inline)) unsigned switch_admit(
	struct weft_switch *sw, struct switch_port *port, struct weft_packet *packet, weft_time now)
{
	unsigned output = forward_output(sw, packet);

	if (__builtin_expect(forward_is_plain(sw, port, packet, output, sw->usable), 1)) {
		credit_arrive(&port->link.rx[packet->vc], packet->blocks);
		packet->vc_next = sw->sl_to_vc[packet->sl & 15];
	} else {
		output = forward_exception(sw, packet, output, now);
		if (output == SWITCH_PORT_NONE)
			return output;
	}
	forward_set_header_vc(packet);
	return output;
}

/* Lets a packet bypass the queues of its output, which is idle. Returns false if there are no
 * credits or the packet's own queue is not empty. */
static inline __attribute__((always_inline)) bool forward_pass(struct weft_switch *sw,
	struct switch_port *port, const struct weft_packet *packet, unsigned output, const bool voq)
{
	struct credit_tx *tx = &sw->port[output].link.tx[packet->vc_next];

	if (!voq && switch_queues(sw, output, packet->in_port)[packet->vc].head != NULL)
		return false;
	if (__builtin_expect(!credit_suffices(tx, packet->blocks), 0))
		return false;
	credit_take(tx, packet->blocks);
	credit_release(&port->link.rx[packet->vc], packet->blocks);
	return true;
}

/* Lets an admitted packet bypass the queues if the driver can send through its output now, the
 * output is idle and there are credits. Arbitration would pick this packet next anyway, so the
 * outcome is the same as with switch_store() and switch_transmit(). Returns false if the packet
 * must be stored; nothing has changed then. The driver calls switch_count_passed() for packets that
 * bypassed the queues. */
static inline __attribute__((always_inline)) bool switch_pass(struct weft_switch *sw,
	struct switch_port *port, const struct weft_packet *packet, unsigned output, const bool voq)
{
	return port_set_has(sw->idle, output) && forward_pass(sw, port, packet, output, voq);
}

/* Stores an admitted packet in its queue. */
static inline void switch_store(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now)
{
	unsigned vc = packet->vc, input = packet->in_port;
	struct voq *queue = &switch_queues(sw, output, input)[vc];

	packet->out_port = (uint8_t)output;
	if (voq_push(queue, packet))
		arbiter_offer(sw, input, vc, output);
	if (__builtin_expect(queue->blocks > sw->report_above_blocks, 0))
		congestion_control_grown(sw->congestion, packet, output, queue, now);
}

/* Call when a port's limits have increased while its link is up. */
static inline void switch_granted(struct weft_switch *sw, unsigned port)
{
	if (__builtin_expect(sw->peer_buffers != NULL, 0))
		peer_buffer_told(&sw->peer_buffers[port], sw->vcs);
	if (!port_set_is_empty(sw->port[port].output.stalled))
		arbiter_retry(sw, port);
}

/* Admits and stores a packet that may not bypass the queues. */
static inline void switch_receive(struct weft_switch *sw, struct weft_packet *packet, weft_time now)
{
	unsigned output = switch_admit(sw, &sw->port[packet->in_port], packet, now);

	if (__builtin_expect(output != SWITCH_PORT_NONE, 1))
		switch_store(sw, packet, output, now);
}

/* Admits and passes a plain packet, for a driver that has read the frame but has not created a
 * descriptor yet. This saves the descriptor and two queue operations. 'outputs' are those through
 * which the driver can send now. Returns the output and sets the mutable header bytes for the next
 * device. If it returns SWITCH_PORT_NONE, the switch is unchanged; create a descriptor and call
 * switch_receive(). */
static inline __attribute__((always_inline)) unsigned switch_receive_direct(struct weft_switch *sw,
	struct switch_port *port, struct weft_packet *packet, port_set outputs, const bool voq)
{
	unsigned output = forward_output(sw, packet);

	packet->vc_next = sw->sl_to_vc[packet->sl & 15];
	if (!forward_is_plain(sw, port, packet, output, sw->idle & outputs) ||
		!forward_pass(sw, port, packet, output, voq))
		return SWITCH_PORT_NONE;
	credit_arrive(&port->link.rx[packet->vc], packet->blocks);
	forward_set_header_vc(packet);
	return output;
}

/* Counts data packets that arrived on a port. */
static inline void switch_count_in(struct switch_port *port, unsigned packets, uint64_t bytes)
{
	port->count[SWITCH_DATA_IN] += packets;
	port->count[SWITCH_BYTES_IN] += bytes;
}

/* Counts packets that bypassed the queues from 'input' to 'output' and advances the round robin as
 * if they had been stored. 'vc' is the VC of the last packet. */
static inline void switch_count_passed(struct weft_switch *sw, unsigned input, unsigned vc,
	unsigned output, unsigned packets, uint64_t bytes)
{
	struct switch_port *port = &sw->port[output];

	port->count[SWITCH_DATA_OUT] += packets;
	port->count[SWITCH_BYTES_OUT] += bytes;
	port->output.next_input = (uint8_t)((input + 1) & (PORT_SET_PORTS - 1));
	arbiter_advance_vc(sw, output, input, vc);
}

/* Like switch_transmit(), for a single packet, inline. Returns NULL if none may be sent. */
static inline __attribute__((always_inline)) struct weft_packet *switch_transmit_one(
	struct weft_switch *sw, unsigned output, weft_time now, const bool voq)
{
	struct switch_port *port = &sw->port[output];
	struct weft_packet *packet = NULL;

	if (__builtin_expect(port->output.control_head != NULL, 0)) {
		switch_transmit(sw, output, &packet, 1, now);
		return packet;
	}
	if (arbiter_pick_burst(sw, output, &packet, 1, now, voq) != 0) {
		port->count[SWITCH_DATA_OUT]++;
		port->count[SWITCH_BYTES_OUT] += packet->bytes;
	}
	if (port_set_is_empty(port->output.ready))
		arbiter_update(sw, output);
	return packet;
}

/* Discards in a switch. Each packet is counted at its input port, its buffer space is returned, and
 * it is added to the list from which the driver frees it. */

/* Discards a frame that occupies no buffer space. */
static inline void discard_frame(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	sw->port[packet->in_port].count[reason]++;
	packet->out_port = SWITCH_PORT_NONE;
	packet->discard = (uint8_t)reason;
	packet->next = sw->discarded;
	sw->discarded = packet;
}

/* Discards a data packet from a queue. */
static inline void discard_stored(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	credit_release(&sw->port[packet->in_port].link.rx[packet->vc], packet->blocks);
	discard_frame(sw, packet, reason);
}

/* Discards a data packet that was never stored. Its blocks count as received and released, so the
 * limit advances. */
static inline void discard_arrival(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	if (packet->vc < sw->vcs)
		discard_stored(sw, packet, reason);
	else
		discard_frame(sw, packet, reason);
}
