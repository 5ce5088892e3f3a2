/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Switches of a virtual fabric.
 *
 * A packet's space in the input buffer is free when its tail has left. The switch counts it as
 * released when the packet starts to leave, so that the end needs no event. A credit frame must not
 * include blocks that are still leaving, so these are subtracted (count_leaving()). An event is
 * needed where the end of a transmission may make a credit frame due (grant_is_near()). */

#include "virtual_dispatch.h"

#include <string.h>

#include "switch/forward.h"
#include "switch/switch_congestion.h"
#include "virtual_control.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_send.h"

/* Returns false if no packet now leaving this buffer can make a credit frame due when its
 * transmission ends, whatever arrives until then. This tests virtual_credit_due() for all blocks,
 * and for an input that has received more. It stays true until a credit frame is sent. */
static inline bool grant_is_near(const struct virtual_fabric *fabric, const struct credit_rx *rx)
{
	uint32_t fresh = credit_ungranted(rx), left = rx->granted - rx->received;
	bool much = fresh >= rx->capacity / 4, some = fresh >= rx->capacity / 8;
	bool needed = (int32_t)(fresh + fabric->margin_blocks - left) > 0;

	/* Not && and ||: 'some' is true half of the time, which a branch would mispredict. */
	return (fabric->every_end | much | (some & needed)) != 0;
}

/* Returns the outputs whose last packet came from 'input': only they can be emptying it. */
static inline port_set outputs_of(const struct virtual_fabric *fabric, uint32_t at, unsigned input)
{
	const uint8_t *inputs = fabric->crossbar[at].input;
	port_set outputs = PORT_SET_NONE;

	for (unsigned port = 0; port < fabric->sw[at]->ports; port += BITS_BYTES)
		outputs |= port_set_from(bits_equal_bytes(&inputs[port], (uint8_t)input), port);
	return outputs;
}

/* Counts the blocks of 'input' that are still leaving, per VC. */
static void count_leaving(const struct virtual_fabric *fabric, uint32_t at, unsigned input,
	weft_time now, uint32_t leaving[FRAME_VCS_MAX])
{
	const struct weft_switch *sw = fabric->sw[at];

	for (unsigned vc = 0; vc < sw->vcs; vc++)
		leaving[vc] = 0;
	PORT_SET_EACH(set, outputs_of(fabric, at, input)) {
		const struct virtual_tx *channel =
			virtual_switch_channel(fabric, at, port_set_first(set));

		if (virtual_is_sending(fabric, channel, now))
			leaving[channel->vc] += channel->blocks;
	}
}

/* Sends a credit frame for packets that left the buffers of 'input'. */
static void send_credit(struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now,
	const uint32_t leaving[FRAME_VCS_MAX])
{
	const struct virtual_tx *back = virtual_switch_channel(fabric, at, input);
	struct link_end *end = &fabric->sw[at]->port[input].link;
	port_set *watched = fabric->crossbar[at].watched;

	for (unsigned i = 0; i < fabric->vcs; i++)
		end->rx[i].released -= leaving[i];
	virtual_send_credit(fabric, end, back, now);
	for (unsigned i = 0; i < fabric->vcs; i++) {
		end->rx[i].released += leaving[i];
		watched[i] &= ~port_set_of(input);
	}
}

/* Sends a credit frame if one is due for the blocks that have left the buffer of (input, vc). */
static void grant(
	struct virtual_fabric *fabric, uint32_t at, unsigned input, unsigned vc, weft_time now)
{
	struct credit_rx left = fabric->sw[at]->port[input].link.rx[vc];
	uint32_t leaving[FRAME_VCS_MAX];

	if (__builtin_expect(fabric->foretells, 0) &&
		virtual_switch_channel(fabric, at, input)->foretells)
		return;
	count_leaving(fabric, at, input, now, leaving);
	left.released -= leaving[vc];
	if (virtual_credit_due(fabric, &left))
		send_credit(fabric, at, input, now, leaving);
}

/* Returns true if the sender may need the credits that the input withholds. */
static bool starves_sender(const struct virtual_fabric *fabric, const struct link_end *end,
	const uint32_t leaving[FRAME_VCS_MAX])
{
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		if (credit_ungranted(&end->rx[vc]) > leaving[vc] &&
			credit_expected(&end->rx[vc], 0) < run_config_frame_blocks(fabric->run))
			return true;
	return false;
}

bool virtual_switch_refresh(struct virtual_fabric *fabric, uint32_t at, weft_time now, bool send)
{
	uint32_t leaving[FRAME_VCS_MAX];
	bool some = false;

	for (unsigned input = 0; input < fabric->sw[at]->ports; input++) {
		const struct link_end *end = &fabric->sw[at]->port[input].link;

		if (!end->known || (send && now < end->credit_due))
			continue;
		count_leaving(fabric, at, input, now, leaving);
		if (!starves_sender(fabric, end, leaving))
			continue;
		some = true;
		if (send)
			send_credit(fabric, at, input, now, leaving);
	}
	return some;
}

void virtual_switch_grant_all(
	struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now)
{
	uint32_t leaving[FRAME_VCS_MAX];

	count_leaving(fabric, at, input, now, leaving);
	send_credit(fabric, at, input, now, leaving);
}

/* Returns true if 'channel' leads to a different partition. */
static inline bool crosses(const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return __builtin_expect(fabric->partitions != NULL, 0) && channel->crosses;
}

/* Lists the end of the transmission on 'channel', which may make a credit frame of 'back' due. */
static inline void list_end(struct virtual_fabric *fabric, const struct virtual_tx *back,
	const struct virtual_tx *channel)
{
	if (__builtin_expect(fabric->ends.wanted, 0) && back->crosses)
		virtual_ends_list(&fabric->ends, channel->free_at);
}

/* Arms an event for the end of each packet leaving (input, vc), because each may make a credit
 * frame due. For packets that start later, send() arms it. Lists these ends; 'begun' is the channel
 * that has just started (NULL: none). */
static void watch_input(struct virtual_fabric *fabric, uint32_t at, unsigned input, unsigned vc,
	const struct virtual_tx *begun, weft_time now)
{
	const struct virtual_tx *back = virtual_switch_channel(fabric, at, input);
	port_set *watched = &fabric->crossbar[at].watched[vc];

	if (port_set_has(*watched, input)) {
		if (begun != NULL)
			list_end(fabric, back, begun);
		return;
	}
	*watched |= port_set_of(input);
	/* Prefetched for the credit frame, which is at most one transmission away. */
	virtual_fetch_link(&fabric->sw[at]->port[input].link);
	__builtin_prefetch(back, 1);
	if (!crosses(fabric, back))
		__builtin_prefetch(virtual_tx_cold(fabric, back));
	PORT_SET_EACH(set, outputs_of(fabric, at, input)) {
		struct virtual_tx *channel =
			virtual_switch_channel(fabric, at, port_set_first(set));

		if (!virtual_is_sending(fabric, channel, now))
			continue;
		virtual_arm(fabric, channel);
		list_end(fabric, back, channel);
	}
}

/* Sends a credit frame if one is due for a discarded packet. Credit frames of packets that are
 * leaving may have been scheduled. */
static void grant_discarded(
	struct virtual_fabric *fabric, uint32_t at, unsigned input, unsigned vc, weft_time now)
{
	struct credit_rx *rx = fabric->sw[at]->port[input].link.rx;
	uint32_t leaving[FRAME_VCS_MAX];

	if (!virtual_switch_channel(fabric, at, input)->foretells) {
		watch_input(fabric, at, input, vc, NULL, now);
		grant(fabric, at, input, vc, now);
	} else if (credit_ungranted(&rx[vc]) > 0) {
		count_leaving(fabric, at, input, now, leaving);
		send_credit(fabric, at, input, now, leaving);
		for (unsigned i = 0; i < fabric->vcs; i++)
			rx[i].granted += leaving[i];
	}
}

/* Schedules the credit frame of a packet that has just started to leave. Returns false if the
 * input's link does not permit this. */
static bool foretell(struct virtual_fabric *fabric, uint32_t at, unsigned port,
	const struct virtual_tx *channel, const struct weft_packet *packet)
{
	const struct virtual_tx *back = virtual_switch_channel(fabric, at, packet->in_port);

	if (!back->foretells)
		return false;
	virtual_send_freed(fabric, &fabric->sw[at]->port[packet->in_port].link.rx[packet->vc], back,
		port, packet->vc, packet->blocks, channel->free_at);
	return true;
}

/* Starts to send a packet that left the switch through 'port'. */
static inline __attribute__((always_inline)) void send(struct virtual_fabric *fabric,
	struct weft_switch *sw, uint32_t at, unsigned port, struct virtual_tx *channel,
	struct weft_packet *packet, weft_time now, const bool voq)
{
	unsigned input = packet->in_port, vc = packet->vc;
	bool near;

	fabric->crossbar[at].input[port] = (uint8_t)input;
	channel->vc = (uint8_t)vc;
	channel->blocks = packet->blocks;
	virtual_start(fabric, channel, packet, now);
	if (!voq)
		switch_hold(sw, input);
	near = grant_is_near(fabric, &sw->port[input].link.rx[vc]) &&
	       !(__builtin_expect(fabric->foretells, 0) &&
		       foretell(fabric, at, port, channel, packet));
	/* Without VOQs, the input may not send again before the transmission ends. */
	if (!voq || near || port_set_has(sw->busy, port))
		virtual_arm_begun(fabric, channel);
	if (near)
		watch_input(fabric, at, input, vc, channel, now);
}

/* Sends a queued packet through an output, or arms the event for when the output becomes free. */
static inline __attribute__((always_inline)) void transmit(struct virtual_fabric *fabric,
	struct weft_switch *sw, uint32_t at, unsigned port, weft_time now, const bool voq,
	const bool rules)
{
	struct virtual_tx *channel = virtual_switch_channel(fabric, at, port);
	struct weft_packet *packet;

	if (virtual_is_sending(fabric, channel, now)) {
		virtual_arm(fabric, channel);
		return;
	}
	if (rules &&
		sw->port[port].output.control_head == NULL) /* control frames precede packets */
		arbiter_aim(sw, port, now);
	packet = switch_transmit_one(sw, port, now, voq);
	if (packet != NULL)
		send(fabric, sw, at, port, channel, packet, now, voq);
	else if (!port_set_is_empty(sw->port[port].output.stalled))
		virtual_note_blocked(channel, now);
}

void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	if (!port_set_has(sw->busy, port))
		return;
	if (sw->voq == SWITCH_VOQS)
		transmit(fabric, sw, at, port, now, true, false);
	else if (sw->voq == SWITCH_RULES)
		transmit(fabric, sw, at, port, now, true, true);
	else
		transmit(fabric, sw, at, port, now, false, false);
}

/* Without VOQs, the heads of an input that has just been read out may leave through any output. */
static void try_heads(struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		const struct weft_packet *head = switch_queues(sw, 0, input)[vc].head;

		if (head != NULL)
			virtual_switch_try(fabric, at, head->out_port, now);
	}
}

void virtual_switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now)
{
	struct virtual_tx *channel = virtual_switch_channel(fabric, at, port);
	struct weft_switch *sw = fabric->sw[at];
	unsigned input = fabric->crossbar[at].input[port], vc = channel->vc;

	channel->armed = false;
	if (!sw->voq)
		switch_let_go(sw, input);
	if (grant_is_near(fabric, &sw->port[input].link.rx[vc]))
		grant(fabric, at, input, vc, now);
	virtual_switch_try(fabric, at, port, now);
	if (!sw->voq)
		try_heads(fabric, at, input, now);
}

/* Returns the cable for which a discarded packet was meant. Packets with an old source route are
 * detected as soon as one with a new route arrives. */
static uint32_t cut_of(
	const struct virtual_fabric *fabric, uint32_t at, const struct weft_packet *packet)
{
	const struct weft_switch *sw = fabric->sw[at];
	struct topology_port port = {
		DEVICE_SWITCH, at, (packet->hop ^ ROUTE_PORT_BIT) & ~ROUTE_ADAPTIVE};
	const struct topology_link *link;

	if (packet->route_length != 0 && fabric->run->mapper.after_ps != WEFT_TIME_NEVER)
		return VIRTUAL_NO_CUT;
	if (packet->route_length == 0 && packet->destination <= sw->table_last)
		port.port = switch_table_port(sw, packet->destination);
	link = topology_link_at(fabric->topology, port);
	return link != NULL ? (uint32_t)(link - fabric->topology->link_at) : DATAGRAM_CAUSE_ANY;
}

void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at, bool stored)
{
	struct weft_packet *packet = switch_take_discards(fabric->sw[at]), *next;

	/* The space of these packets is free before the first credit frame for it. */
	for (next = stored && fabric->watch != NULL ? packet : NULL; next != NULL;
		next = next->next)
		virtual_trace_discarded(fabric, at, next, fabric->now);
	for (; packet != NULL; packet = next) {
		struct link_end *from = &fabric->sw[at]->port[packet->in_port].link;

		next = packet->next;
		if (packet->vc < from->config.vcs && grant_is_near(fabric, &from->rx[packet->vc]))
			grant_discarded(fabric, at, packet->in_port, packet->vc, fabric->now);
		if (__builtin_expect(fabric->faults != NULL, 0))
			virtual_recovery_lose(
				fabric, at, packet, cut_of(fabric, at, packet), fabric->now);
		else
			virtual_give_up(fabric, packet, fabric->now);
	}
}

void virtual_purge(struct virtual_fabric *fabric, uint32_t at)
{
	switch_purge(fabric->sw[at]);
	virtual_take_discards(fabric, at, true);
}

/* Handles the side effects of an admitted packet; called when the switch has an alert. */
static __attribute__((noinline)) void note_arrival(struct virtual_fabric *fabric,
	const struct weft_switch *sw, uint32_t at, unsigned input, unsigned vc, weft_time now)
{
	if (sw->congestion != NULL && sw->congestion->out_count != 0)
		virtual_send_arns(fabric, at, now);
	if ((sw->signal.alert & CONGESTION_PAUSES) != 0 && vc < sw->vcs &&
		virtual_pause_is_due(fabric, at, input, vc))
		virtual_switch_grant_all(fabric, at, input, now);
}

/* A host with in-transit buffers absorbs a packet only if it would have to wait. A packet that can
 * leave immediately through its next output bypasses the host. This cannot cause deadlock, because
 * waiting packets depend on the same channels as before. */
static __attribute__((noinline)) void pass_host(const struct virtual_fabric *fabric,
	const struct weft_switch *sw, uint32_t at, struct weft_packet *packet, weft_time now)
{
	unsigned mark = packet->cursor + 1, next, output, vc = sw->sl_to_vc[packet->sl & 15];

	mark += route_is_high(packet->hop);
	if (mark + 1 >= packet->route_length || packet->route[mark] != ROUTE_TYPE_ITB)
		return;
	next = mark + 1;
	output = route_port(packet->route, &next);
	if (sw->vc_rule != NULL)
		vc = vc_rule_next(
			sw->vc_rule, sw->vc_rule_at, packet->in_port, packet->vc, output, VC_GO_ON);
	if (!port_set_has(sw->idle, output) ||
		virtual_is_sending(fabric, virtual_switch_channel(fabric, at, output), now) ||
		!credit_suffices(&sw->port[output].link.tx[vc], packet->blocks))
		return;
	/* The first host would have set the flag (lib/nic/itb.h). */
	if ((packet->flags & FRAME_F_TAIL) != 0 &&
		memchr(packet->route, ROUTE_TYPE_ITB, packet->cursor) == NULL)
		packet->flags |= FRAME_F_END_MARK;
	packet->mutable_word += MUTABLE_CURSOR(mark + 1 - packet->cursor);
	packet->hop = packet->route[mark + 1];
}

static inline __attribute__((always_inline)) void arrive(struct virtual_fabric *fabric,
	struct weft_switch *sw, uint32_t at, unsigned input, struct weft_packet *packet,
	weft_time now, const bool voq, const bool rules)
{
	struct switch_port *port = &sw->port[input];
	const uint32_t header = packet->mutable_word;
	/* Read before the packet can change it. */
	const uint8_t alert = sw->signal.alert;
	struct virtual_tx *channel;
	unsigned output;

	packet->arrived_ps = now;
	packet->in_port = (uint8_t)input;
	packet->vc = packet->header_vc;
	packet->hop = packet->route_length != 0 ? packet->route[packet->cursor] : 0;
	switch_count_in(port, 1, packet->bytes);
	if (__builtin_expect(alert, 0)) {
		if ((alert & CONGESTION_ITBS) != 0)
			pass_host(fabric, sw, at, packet, now);
		if (sw->congestion != NULL && switch_congestion_is_due(sw, now))
			congestion_control_poll(sw->congestion, now);
	}
	output = switch_admit(sw, port, packet, now);
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_trace_admitted(fabric, at, packet, header, output, now);
	if (__builtin_expect(alert, 0))
		note_arrival(fabric, sw, at, input, packet->vc, now);
	if (__builtin_expect(output == SWITCH_PORT_NONE, 0)) {
		virtual_take_discards(fabric, at, false);
		return;
	}
	channel = virtual_switch_channel(fabric, at, output);
	if (voq && !rules && !virtual_is_sending(fabric, channel, now) &&
		switch_pass(sw, port, packet, output, voq)) {
		switch_count_passed(sw, input, packet->vc, output, 1, packet->bytes);
		send(fabric, sw, at, output, channel, packet, now, voq);
		return;
	}
	switch_store(sw, packet, output, now);
	if (port_set_has(sw->busy, output))
		transmit(fabric, sw, at, output, now, voq, rules);
}

void virtual_switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned input,
	struct weft_packet *packet, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	if (sw->voq == SWITCH_VOQS)
		arrive(fabric, sw, at, input, packet, now, true, false);
	else if (sw->voq == SWITCH_RULES)
		arrive(fabric, sw, at, input, packet, now, true, true);
	else
		arrive(fabric, sw, at, input, packet, now, false, false);
}

/* Handles a control frame other than a record of credits. */
static __attribute__((noinline)) void take_other(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	if (__builtin_expect(virtual_is_arn(fabric, item), 0)) {
		const struct control_arn arn = virtual_take_arn(fabric, item);

		congestion_control_on_arn(sw->congestion, port, &arn, now, now);
		return;
	}
	virtual_take_freed(fabric, item, &sw->port[port].link);
	switch_granted(sw, port);
	virtual_switch_try(fabric, at, port, now);
}

void virtual_switch_credit(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];
	struct control_credit credit;

	if (__builtin_expect(item >= fabric->freed, 0)) {
		take_other(fabric, at, port, item, now);
		return;
	}
	virtual_open_credit(fabric, item, &sw->port[port].link, &credit);
	switch_on_credit(sw, port, &credit, now);
	virtual_switch_try(fabric, at, port, now);
}
