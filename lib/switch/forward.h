/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Reception of one data packet, inline: from the checked frame to its queue. The poll driver calls
 * it in the loop that checks the frames, so that what was just read need not be read again;
 * switch_receive() is the same over a burst. 'voq' is passed as a constant.
 */

#include "arbiter.h"
#include "congestion_control.h"
#include "discard.h"
#include "switch.h"

/* The rare half of reception: what is wrong with a packet that cannot be stored as it is. A packet
 * routed by table whose way is down may have another. Returns the output or SWITCH_PORT_NONE, and
 * then the packet has been discarded. */
unsigned forward_exception(struct weft_switch *sw, struct weft_packet *packet, unsigned output);

/* What forward_accept() is going to do with the packet, without doing it (for captures):
 * SWITCH_COUNTER_COUNT and the output, or the discard that it will count as. Filled in: in_port,
 * vc, vc_original, flags, blocks, hop, route_length, sl, destination. */
enum switch_counter forward_foresee(const struct weft_switch *sw, const struct weft_packet *packet,
	weft_time now, unsigned *output);

/* The output by source route (packet.hop, which has ROUTE_PORT_BIT) or by table; anything else
 * comes out as a port that is not usable. */
static inline unsigned forward_output(const struct weft_switch *sw, struct weft_packet *packet)
{
	if (packet->route_length != 0) {
		packet->mutable_word += MUTABLE_CURSOR(1);
		return (packet->hop ^ ROUTE_PORT_BIT) & ~ROUTE_ADAPTIVE;
	}
	if (__builtin_expect(packet->destination >= sw->table_hosts, 0))
		return SWITCH_PORT_NONE;
	return sw->table_port[packet->destination];
}

static inline bool forward_usable(const struct weft_switch *sw, unsigned output)
{
	return output < SWITCH_PORTS_MAX && (sw->usable >> output & 1) != 0;
}

/* The output, by which the packet leaves if nothing speaks against it, and where the next device
 * will store the packet, at a switch with something to decide: by the ports between which it passes
 * in networks whose routes have VC classes; with an adaptation another output, with AFI the AFC.
 * Marks are set here. Else the SL alone tells the VC. */
unsigned forward_decide(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now);

/* At a switch with something to decide: whether this packet is concerned. */
static inline bool forward_is_asked(const struct weft_switch *sw, const struct weft_packet *packet)
{
	return (sw->decision_flags & ~SWITCH_DECIDES_ADAPTED) != 0 || afi_is_adapted(packet);
}

/* Checks credits and route: the output by which the packet will leave, with the next hop's VC and
 * the header as the next device shall see it; or SWITCH_PORT_NONE, and the packet has been
 * discarded. in_port is 'input', whose port is 'port'. */
static inline __attribute__((always_inline)) unsigned forward_admit(
	struct weft_switch *sw, struct switch_port *port, struct weft_packet *packet, weft_time now)
{
	unsigned vc = packet->vc, output;

	packet->arrived_ps = now;
	if (__builtin_expect(vc >= sw->vcs, 0)) {
		discard_arrival(sw, packet, SWITCH_DISCARD_VC);
		return SWITCH_PORT_NONE;
	}
	if (__builtin_expect(!credit_arrive(&port->link.rx[vc], packet->blocks), 0)) {
		discard_arrival(sw, packet, SWITCH_DISCARD_CREDIT_VIOLATION);
		return SWITCH_PORT_NONE;
	}
	output = forward_output(sw, packet);
	if (__builtin_expect(!forward_usable(sw, output), 0)) {
		output = forward_exception(sw, packet, output);
		if (output == SWITCH_PORT_NONE)
			return output;
	}
	if (__builtin_expect(sw->decision_flags != 0, 0) && forward_is_asked(sw, packet))
		output = forward_decide(sw, packet, output, now);
	else
		packet->vc_next = sw->sl_to_vc[packet->sl & 15];
	packet->out_port = (uint8_t)output;
	/* In one word: bytes written singly and read together would stall the pipeline. */
	packet->mutable_word =
		(packet->mutable_word & ~MUTABLE_VC(0xFF)) | MUTABLE_VC(packet->vc_next);
	return output;
}

/* An admitted packet into its queue. */
static inline void forward_store(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output)
{
	unsigned vc = packet->vc, input = packet->in_port;
	struct voq *queue = &switch_queues(sw, output, input)[vc];

	if (voq_push(queue, packet))
		arbiter_offer(sw, input, vc, output);
	if (__builtin_expect(queue->blocks > sw->report_above_blocks, 0))
		congestion_control_grown(sw->congestion, packet, output, queue, packet->arrived_ps);
}

/* Checks credits and route and stores the packet, or discards it. */
static inline __attribute__((always_inline)) void forward_accept(
	struct weft_switch *sw, struct switch_port *port, struct weft_packet *packet, weft_time now)
{
	unsigned output = forward_admit(sw, port, packet, now);

	if (__builtin_expect(output != SWITCH_PORT_NONE, 1))
		forward_store(sw, packet, output);
}

/* What a driver knows of a data frame before it has a descriptor. */
struct arrival {
	uint32_t blocks;
	uint32_t mutable_word;
	uint16_t destination;
	uint8_t vc, sl;
	uint8_t route_length, hop;
};

/*
 * The way past the queues: a packet whose output is idle (nothing waits there) and has the credits
 * for it goes on at once. Arbitration would pick it next whatever the round robin says, so the
 * outcome is that of forward_accept() and an immediate switch_transmit_released(); what is saved is
 * the descriptor and two queue operations. All is checked before anything is changed. Switches that
 * have something to decide have no such way, unless all is quiet (switch_congestion_note_quiet()):
 * asking would cost those that do not.
 *
 * 'outputs' is the set of outputs that the driver can send by now. Returns the output, with both
 * ends' credits taken and mutable_word as the next device shall see it; SWITCH_PORT_NONE if the
 * packet has to take the usual way. The driver calls forward_direct_sent() for what it sent.
 */
static inline __attribute__((always_inline)) unsigned forward_direct(struct weft_switch *sw,
	struct switch_port *port, unsigned input, struct arrival *arrival, uint64_t outputs,
	const bool voq)
{
	unsigned output = SWITCH_PORT_NONE, vc_next = sw->sl_to_vc[arrival->sl & 15];
	uint32_t word = arrival->mutable_word;
	struct credit_rx *rx = &port->link.rx[arrival->vc];
	struct credit_tx *tx;

	if (arrival->route_length != 0) {
		output = (arrival->hop ^ ROUTE_PORT_BIT) & ~ROUTE_ADAPTIVE;
		word += MUTABLE_CURSOR(1);
	} else if (__builtin_expect(arrival->destination < sw->table_hosts, 1)) {
		output = sw->table_port[arrival->destination];
	}
	if (__builtin_expect(output >= SWITCH_PORTS_MAX, 0) ||
		__builtin_expect((sw->idle & outputs & BIT64(output)) == 0, 0) ||
		__builtin_expect(arrival->vc >= sw->direct_vcs, 0))
		return SWITCH_PORT_NONE;
	if (!voq && switch_queues(sw, output, input)[arrival->vc].head != NULL)
		return SWITCH_PORT_NONE;
	tx = &sw->port[output].link.tx[vc_next];
	if (__builtin_expect((int32_t)(rx->granted - rx->received - arrival->blocks) < 0, 0) ||
		__builtin_expect(!credit_suffices(tx, arrival->blocks), 0))
		return SWITCH_PORT_NONE;
	rx->received += arrival->blocks;
	rx->released += arrival->blocks;
	credit_take(tx, arrival->blocks);
	arrival->mutable_word = word ^ MUTABLE_VC(arrival->vc ^ vc_next);
	return output;
}

/* What was sent past the queues counts and takes its turn all the same. 'input' and 'vc' are where
 * the last of the packets came from. */
static inline void forward_direct_sent(struct weft_switch *sw, unsigned input, unsigned vc,
	unsigned output, unsigned packets, uint64_t bytes)
{
	struct switch_port *port = &sw->port[output];

	port->count[SWITCH_DATA_OUT] += packets;
	port->count[SWITCH_BYTES_OUT] += bytes;
	port->output.next_input = (uint8_t)((input + 1) & (SWITCH_PORTS_MAX - 1));
	arbiter_turn_vc(sw, output, input, vc);
}

/*
 * The same way for a driver that sends packet by packet and frees the space in the input buffer
 * itself: an admitted packet whose output the driver can send by now takes its credits and need not
 * be stored. False if it has to be.
 */
static inline bool forward_past_queues(
	struct weft_switch *sw, const struct weft_packet *packet, unsigned output)
{
	struct credit_tx *tx = &sw->port[output].link.tx[packet->vc_next];

	if ((sw->idle >> output & 1) == 0 || !credit_suffices(tx, packet->blocks))
		return false;
	credit_take(tx, packet->blocks);
	forward_direct_sent(sw, packet->in_port, packet->vc, output, 1, packet->bytes);
	return true;
}

/* The one packet that may leave by 'output' now, its credits taken and its buffer space freed, or
 * NULL: switch_transmit_released() for a single packet, inline. */
static inline __attribute__((always_inline)) struct weft_packet *forward_transmit_one(
	struct weft_switch *sw, unsigned output, weft_time now, const bool voq)
{
	struct switch_port *port = &sw->port[output];
	struct weft_packet *packet = NULL;

	if (__builtin_expect(port->output.control_head != NULL, 0)) {
		switch_transmit_released(sw, output, &packet, 1, now);
		return packet;
	}
	if (arbiter_pick_burst(sw, output, &packet, 1, now, voq, true) != 0) {
		port->count[SWITCH_DATA_OUT]++;
		port->count[SWITCH_BYTES_OUT] += packet->bytes;
	}
	if (port->output.ready == 0)
		arbiter_note(sw, output);
	return packet;
}

/* A control frame that goes through the switch: into the reserve of its output. One of the mapper,
 * kind FRAME_SCOUT or FRAME_MAPPER, goes by ports only; if its last element is for the agent of the
 * device that it has reached, and that is this one, it goes there (switch_take_for_agent()).
 * Whatever else such a frame asks for is a routing error. 'kind' has to be filled in, too. */
void forward_control(struct weft_switch *sw, struct weft_packet *packet, weft_time now);
