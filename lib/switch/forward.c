/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "forward.h"

#include "detour.h"
#include "fecn.h"
#include "switch_shard.h"

static bool routing_error(
	const struct weft_switch *sw, const struct weft_packet *packet, unsigned output)
{
	return (packet->hop & ROUTE_PORT_BIT) == 0 || output >= sw->ports;
}

/* Reads the next element of the route, which determines the output. */
static void pass_element(const struct weft_switch *sw, struct weft_packet *packet, unsigned *output)
{
	packet->hop = packet->route[packet->cursor];
	*output = forward_output(sw, packet);
}

/* Moves the cursor past a step or layer element, a high prefix and the port. Returns the route's
 * instruction about steps at this switch. */
static enum vc_turn find_turn(
	const struct weft_switch *sw, struct weft_packet *packet, unsigned *output)
{
	const enum vc_turn turn = vc_turn_of(packet->hop);
	uint8_t high;

	if (packet->route_length == 0 || packet->cursor >= packet->route_length)
		return VC_GO_ON;
	if (turn != VC_GO_ON)
		pass_element(sw, packet, output);
	high = packet->hop;
	if (PORT_SET_WORDS > 1 && route_is_high(high) && packet->cursor < packet->route_length) {
		pass_element(sw, packet, output);
		*output += 64u * (high & ROUTE_HIGH_MASK);
	}
	if (turn != VC_GO_ON)
		return turn;
	if (sw->vc_rule == NULL || sw->vc_rule->steps == VC_STEPS_NONE)
		return VC_GO_ON;
	return packet->route[packet->cursor] == ROUTE_TYPE_STEP ? VC_STEP_AHEAD : VC_GO_ON;
}

static bool has_ladder(const struct weft_switch *sw)
{
	return sw->vc_rule != NULL && vc_steps_is_ladder(sw->vc_rule->steps);
}

static bool knows_detours(const struct weft_switch *sw, const struct weft_packet *packet)
{
	return sw->table_alternatives != NULL && packet->route_length == 0 &&
	       packet->destination <= sw->table_last;
}

static port_set detours(const struct weft_switch *sw, const struct weft_packet *packet)
{
	unsigned port;

	/* A mapper's tables have alternatives with every rule; the sets are empty. */
	if (sw->vc_rule->steps != VC_STEPS_UGAL)
		return knows_detours(sw, packet) ? sw->table_alternatives[packet->destination]
						 : PORT_SET_NONE;
	if (packet->destination > sw->table_last)
		return PORT_SET_NONE;
	port = switch_table_port(
		sw, detour_draw_host(sw->detour.config.seed, packet, sw->table_last + 1u));
	return port < sw->ports ? port_set_of(port) : PORT_SET_NONE;
}

/* Returns an alternative port whose link is up, for a destination whose primary port is down. */
static unsigned alternative(const struct weft_switch *sw, const struct weft_packet *packet)
{
	port_set usable = PORT_SET_NONE, global = PORT_SET_NONE;

	if (sw->table_alternatives != NULL && packet->route_length == 0)
		usable = sw->table_alternatives[packet->destination] & sw->usable;
	/* On a detour, control frames prefer the switch's own global links, so they never
	 * circulate. */
	if (has_ladder(sw))
		global = usable & port_set_from(sw->vc_rule->dateline[sw->vc_rule_at], 0);
	if (!port_set_is_empty(global))
		usable = global;
	if (port_set_is_empty(usable))
		return SWITCH_PORT_NONE;
	return port_set_round_robin(usable, packet->destination % PORT_SET_PORTS);
}

/* Returns why a packet cannot be sent through '*output', which is not usable, or sets '*output' to
 * a different output and returns SWITCH_COUNTER_COUNT. */
static enum switch_counter find_other(
	const struct weft_switch *sw, const struct weft_packet *packet, unsigned *output)
{
	if (packet->route_length != 0 && routing_error(sw, packet, *output))
		return SWITCH_DISCARD_ROUTING_ERROR;
	if (packet->route_length == 0 && *output >= sw->ports)
		return SWITCH_DISCARD_NO_ROUTE;
	/* detour_route() has already tried every port that the ladder allows. */
	*output = has_ladder(sw) ? SWITCH_PORT_NONE : alternative(sw, packet);
	return *output != SWITCH_PORT_NONE ? SWITCH_COUNTER_COUNT : SWITCH_DISCARD_LINK_DOWN;
}

/* Returns the number of blocks waiting for the output in this VC, at all inputs. */
static uint32_t waiting_blocks(const struct weft_switch *sw, unsigned output, unsigned vc)
{
	const struct switch_output *out = &sw->port[output].output;
	uint32_t blocks = 0;

	PORT_SET_EACH(inputs, out->ready | out->stalled)
		blocks += switch_queues(sw, output, port_set_first(inputs))[vc].blocks;
	return blocks;
}

static void mark(struct weft_switch *sw, struct weft_packet *packet, unsigned output)
{
	uint32_t stored = credit_stored(&sw->port[packet->in_port].link.rx[packet->vc]);
	bool credits = credit_suffices(&sw->port[output].link.tx[packet->vc_next], packet->blocks);

	fecn_mark(sw->fecn, packet, packet->in_port, stored - packet->blocks, credits);
	if (sw->fecn->red.max_blocks != 0)
		fecn_mark_red(sw->fecn, packet, waiting_blocks(sw, output, packet->vc));
}

/* Decides the output and the VC in which the next device stores the packet. The VC is determined by
 * the SL or, if routes have VC classes, by input and output port; with AFI an adapted packet is
 * stored in the AFC. Also marks the packet if necessary. */
static unsigned decide(struct weft_switch *sw, struct weft_packet *packet, unsigned output,
	enum vc_turn turn, weft_time now)
{
	uint8_t vc = sw->sl_to_vc[packet->sl & 15];

	if (sw->vc_rule != NULL)
		vc = vc_rule_next(
			sw->vc_rule, sw->vc_rule_at, packet->in_port, packet->vc, output, turn);
	if (sw->congestion != NULL) {
		if (packet->route_length == 0)
			output = congestion_control_route(sw->congestion, packet, output, vc, now);
		vc = congestion_control_next_vc(sw->congestion, packet, vc);
	}
	packet->vc_next = vc;
	if (sw->fecn != NULL)
		mark(sw, packet, output);
	return output;
}

static unsigned refuse(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	discard_arrival(sw, packet, reason);
	return SWITCH_PORT_NONE;
}

unsigned forward_exception(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now)
{
	enum vc_turn turn = find_turn(sw, packet, &output);
	enum switch_counter reason;

	if (packet->vc >= sw->vcs)
		return refuse(sw, packet, SWITCH_DISCARD_VC);
	if (!credit_arrive(&sw->port[packet->in_port].link.rx[packet->vc], packet->blocks))
		return refuse(sw, packet, SWITCH_DISCARD_CREDIT_VIOLATION);
	if (has_ladder(sw) && packet->route_length == 0)
		output = detour_route(sw, packet, detours(sw, packet), output, &turn);
	if (!forward_is_in(sw->usable, output)) {
		reason = find_other(sw, packet, &output);
		if (reason != SWITCH_COUNTER_COUNT)
			return refuse(sw, packet, reason);
		if (sw->congestion != NULL)
			congestion_control_detour(sw->congestion, packet);
	}
	return decide(sw, packet, output, turn, now);
}

/* Frames of the mapper contain ports and, last, an element for the device that they reach. */
static bool is_of_mapper(const struct weft_packet *packet)
{
	return packet->kind == FRAME_SCOUT || packet->kind == FRAME_MAPPER;
}

static bool control_route(
	const struct weft_switch *sw, struct weft_packet *packet, unsigned *output)
{
	*output = forward_output(sw, packet);
	if (!is_of_mapper(packet))
		(void)find_turn(sw, packet, output);
	/* No table contains a destination for the mapper's frames. */
	if ((packet->route_length != 0 || is_of_mapper(packet)) &&
		routing_error(sw, packet, *output))
		return false;
	if (*output < sw->ports)
		return true;
	/* There may be only detours for this pair of hosts. */
	if (has_ladder(sw) && knows_detours(sw, packet))
		*output = alternative(sw, packet);
	return *output < sw->ports;
}

static bool is_for_agent(const struct weft_switch *sw, const struct weft_packet *packet)
{
	return sw->has_agent && is_of_mapper(packet) && packet->hop == ROUTE_TYPE_AGENT &&
	       packet->cursor + 1 == packet->route_length;
}

void forward_give_to_agent(struct weft_switch *sw, struct weft_packet *packet)
{
	sw->port[packet->in_port].count[SWITCH_CONTROL_AGENT]++;
	packet->next = NULL;
	if (sw->for_agent == NULL)
		sw->for_agent = packet;
	else
		sw->for_agent_tail->next = packet;
	sw->for_agent_tail = packet;
}

void forward_queue_control(struct weft_switch *sw, struct weft_packet *packet, unsigned output)
{
	struct switch_output *out = &sw->port[output].output;

	if (out->control_waiting >= sw->control_reserve) {
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_FULL);
		return;
	}
	packet->out_port = (uint8_t)output;
	packet->vc_next = packet->header_vc;
	packet->next = NULL;
	if (out->control_head == NULL)
		out->control_head = packet;
	else
		sw->port[output].control_tail->next = packet;
	sw->port[output].control_tail = packet;
	out->control_waiting++;
	arbiter_update(sw, output);
}

/* The agent is in shard 0. */
static void take_to_agent(struct weft_switch *sw, struct weft_packet *packet)
{
	if (sw->shard == NULL || sw->shard->number == 0)
		forward_give_to_agent(sw, packet);
	else if (!switch_shard_hand_control(sw->shard, packet, SHARD_AGENT))
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_FULL);
}

void switch_receive_control(struct weft_switch *sw, struct weft_packet *packet, weft_time now)
{
	unsigned output;

	sw->port[packet->in_port].count[SWITCH_CONTROL_IN]++;
	sw->port[packet->in_port].count[SWITCH_BYTES_IN] += packet->bytes;
	if (is_for_agent(sw, packet)) {
		take_to_agent(sw, packet);
		return;
	}
	if (!control_route(sw, packet, &output)) {
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_ROUTE);
		return;
	}
	if (!forward_is_in(sw->usable, output))
		output = alternative(sw, packet);
	if (output == SWITCH_PORT_NONE) {
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_DOWN);
		return;
	}
	if (sw->shard == NULL || !switch_shard_is_foreign(sw->shard, output))
		forward_queue_control(sw, packet, output);
	else if (!switch_shard_hand_control(sw->shard, packet, output))
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_FULL);
}

static unsigned transmit_control(
	struct switch_port *port, struct weft_packet **packets, unsigned max, uint64_t *bytes)
{
	struct switch_output *out = &port->output;
	unsigned count = 0;

	for (; count < max && out->control_head != NULL; count++) {
		packets[count] = out->control_head;
		out->control_head = packets[count]->next;
		*bytes += packets[count]->bytes;
	}
	out->control_waiting = (uint16_t)(out->control_waiting - count);
	port->count[SWITCH_CONTROL_OUT] += count;
	return count;
}

static inline __attribute__((always_inline)) unsigned transmit_burst(struct weft_switch *sw,
	unsigned output, struct weft_packet **packets, unsigned max, weft_time now, const bool voq)
{
	struct switch_port *port = &sw->port[output];
	unsigned count = 0, control = 0;
	uint64_t bytes = 0;

	if (__builtin_expect(port->output.control_head != NULL, 0))
		count = control = transmit_control(port, packets, max, &bytes);
	count += arbiter_pick_burst(sw, output, packets + count, max - count, now, voq);
	for (unsigned i = control; i < count; i++)
		bytes += packets[i]->bytes;
	if (port_set_is_empty(port->output.ready))
		arbiter_update(sw, output);
	port->count[SWITCH_DATA_OUT] += count - control;
	port->count[SWITCH_BYTES_OUT] += bytes;
	return count;
}

/* Sends packets singly, because the rules choose each one. */
static unsigned transmit_by_rules(struct weft_switch *sw, unsigned output,
	struct weft_packet **packets, unsigned max, weft_time now)
{
	unsigned count = 0;

	if (sw->port[output].output.control_head != NULL)
		count = transmit_burst(sw, output, packets, 1, now, true);
	while (count < max && arbiter_aim(sw, output, now))
		count += transmit_burst(sw, output, packets + count, 1, now, true);
	if (port_set_is_empty(sw->port[output].output.ready))
		arbiter_update(sw, output);
	return count;
}

unsigned switch_transmit(struct weft_switch *sw, unsigned output, struct weft_packet **packets,
	unsigned max, weft_time now)
{
	if (sw->voq == SWITCH_VOQS)
		return transmit_burst(sw, output, packets, max, now, true);
	if (sw->voq == SWITCH_RULES)
		return transmit_by_rules(sw, output, packets, max, now);
	return transmit_burst(sw, output, packets, max, now, false);
}
