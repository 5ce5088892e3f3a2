/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Arrivals at hosts of a virtual fabric: measured and reordered, absorbed, or given up. */

#include "virtual_dispatch.h"

#include "base/rng.h"
#include "partition_message.h"
#include "virtual_control.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

static void grant(struct virtual_fabric *fabric, uint32_t number, unsigned vc, weft_time now)
{
	struct link_end *link = &fabric->host[number].nic.link;
	const struct virtual_tx *back = virtual_host_channel(fabric, number);

	if (!virtual_credit_due(fabric, &link->rx[vc]))
		return;
	if (__builtin_expect(back->foretells, 0))
		virtual_send_freed(
			fabric, &link->rx[vc], back, 0, vc, credit_ungranted(&link->rx[vc]), now);
	else
		virtual_send_credit(fabric, link, back, now);
}

/* Packets whose route cannot reach a host that accepts them would be retried forever. */
static bool is_lost(
	const struct virtual_fabric *fabric, uint32_t number, const struct weft_packet *packet)
{
	return fabric->host[number].nic.recovery == NULL ||
	       (packet->destination != number && (!itb_is_marked(packet) || !itb_is_route(packet)));
}

static void discard(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	if (!is_lost(fabric, number, packet)) {
		virtual_recovery_report(fabric, number, packet, now);
		return;
	}
	virtual_give_up(fabric, packet, now);
}

/* Absorbs a packet for another host: it leaves the network and waits to be re-injected. */
static void host_absorb(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	weft_time took = bytes_ps(packet->bytes + FRAME_WIRE_OVERHEAD,
		virtual_host_channel(fabric, number)->byte_time);
	unsigned vc = packet->vc;
	bool kept = datagram_absorb(&fabric->host[number].nic, packet, now - took, now);

	if (!kept && fabric->watch != NULL && itb_is_marked(packet) && itb_is_route(packet))
		virtual_trace_refused(fabric, number, packet, now);
	grant(fabric, number, vc, now);
	if (kept)
		virtual_host_try(fabric, number, now);
	else
		discard(fabric, number, packet, now);
}

/* Only some entries have flows. */
static void deliver_to_flow(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now)
{
	struct measure_flow *flow = fabric->entry[packet->entry].flow;

	if (flow == NULL || (packet->flags & FRAME_F_TAIL) == 0)
		return;
	flow[packet->source].delivered++;
	flow[packet->source].last_ps = now;
}

/* Delivers a frame to the host: measures and reports it. 'held': the frame was counted when it
 * arrived. 'complete_ps': when all frames of its message up to this one had arrived. */
static inline __attribute__((always_inline)) void deliver(struct virtual_fabric *fabric,
	uint32_t number, struct weft_packet *packet, const bool held, weft_time complete_ps,
	weft_time now)
{
	const struct datagram_origin *origin = virtual_origin_of(fabric, packet);
	struct virtual_entry *entry = &fabric->entry[packet->entry];
	weft_time latency = now - origin->injected_ps;

	if (!held) {
		entry->wire_bytes += packet->bytes + fabric->counted_bytes;
		entry->latency_sum_ps += latency;
	}
	if (now >= fabric->measure_from) {
		if (!held)
			histogram_record(&entry->network_ns, ps_to_ns(latency));
		if (packet->flags & FRAME_F_TAIL)
			histogram_record(
				&entry->total_ns, ps_to_ns(complete_ps - origin->generated_ps));
	} else if (packet->flags & FRAME_F_TAIL) {
		entry->warm_messages++;
	}
	if (__builtin_expect(fabric->flows, 0))
		deliver_to_flow(fabric, packet, now);
	/* A sum does not depend on the order in which hosts are processed. */
	fabric->fingerprint += rng_mix(now ^ (uint64_t)packet->source << 48 ^
				       (uint64_t)packet->destination << 32 ^ packet->sequence);
	if (__builtin_expect(fabric->replay != NULL, 0))
		virtual_goal_take(fabric, number, packet, now);
	virtual_give_packet(fabric, packet);
}

/* Frames given up before they were sent do not count as injected. */
static void drop(struct virtual_fabric *fabric, struct weft_packet *packet)
{
	if (packet->stalled == DATAGRAM_WAIT_FIRST)
		fabric->unsent--;
	else
		fabric->dropped++;
	virtual_give_packet(fabric, packet);
}

/* Delivers frames that waited for the one that just arrived, or for one that will never arrive.
 * 'tail': that frame ended its message. */
static void release(
	struct virtual_fabric *fabric, uint32_t number, uint16_t source, bool tail, weft_time now)
{
	weft_time complete_ps =
		tail ? 0
		     : now; /* without a tail, the following frames belong to the same message */
	struct weft_packet *packet;

	while ((packet = datagram_reorder_release(&fabric->host[number].nic, source, now)) !=
		NULL) {
		if (datagram_reorder_is_lost(packet)) {
			drop(fabric, packet);
			continue;
		}
		if (packet->arrived_ps > complete_ps)
			complete_ps = packet->arrived_ps;
		tail = (packet->flags & FRAME_F_TAIL) != 0;
		virtual_order_release(fabric, packet, complete_ps, now);
		deliver(fabric, number, packet, true, complete_ps, now);
		if (tail)
			complete_ps = 0;
	}
}

/* Delivers frames in the order of their numbers, where frames can overtake each other. */
static __attribute__((noinline)) void arrive_out_of_order(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;
	enum datagram_arrival arrival = datagram_reorder_receive(nic, packet, now);
	uint16_t source = packet->source;
	bool tail;

	grant(fabric, number, packet->vc, now);
	if (arrival == DATAGRAM_REFUSED)
		discard(fabric, number, packet, now);
	if (arrival == DATAGRAM_HELD)
		virtual_order_hold(fabric, packet, now);
	if (arrival != DATAGRAM_DELIVERED)
		return;
	tail = (packet->flags & FRAME_F_TAIL) != 0;
	deliver(fabric, number, packet, false, now, now);
	release(fabric, number, source, tail, now);
}

void virtual_host_lose(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct weft_packet *packet = fabric->host[number].lost;
	uint16_t source = packet->source;

	fabric->host[number].lost = packet->next;
	if (!datagram_reorder_lose(&fabric->host[number].nic, packet, now))
		return;
	drop(fabric, packet);
	release(fabric, number, source, false, now);
}

/* Orders frames with equal times by source and number, regardless of which switch was first. */
static bool is_lost_before(const struct weft_packet *a, const struct weft_packet *b)
{
	if (a->arrived_ps != b->arrived_ps)
		return a->arrived_ps < b->arrived_ps;
	if (a->source != b->source)
		return a->source < b->source;
	return a->sequence < b->sequence;
}

void virtual_host_lose_at(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due)
{
	struct weft_packet **link = &fabric->host[packet->destination].lost;

	packet->arrived_ps = due;
	while (*link != NULL && is_lost_before(*link, packet))
		link = &(*link)->next;
	packet->next = *link;
	*link = packet;
	event_queue_push(fabric->events,
		(struct sim_event){
			due, virtual_host_order(fabric, packet->destination, VIRTUAL_WAKE), 1});
}

void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now)
{
	uint16_t to = packet->destination;
	weft_time due;

	virtual_forget_flows(fabric, packet);
	if (to >= fabric->hosts || fabric->host[to].nic.order == NULL) {
		drop(fabric, packet);
		return;
	}
	due = now + virtual_tx_cold(fabric, virtual_host_channel(fabric, to))->delay_ps;
	if (virtual_is_elsewhere(fabric, fabric->switches + to))
		partition_send_packet(fabric, packet, VIRTUAL_CROSSING_LOSS, due,
			virtual_host_order(fabric, to, VIRTUAL_WAKE));
	else
		virtual_host_lose_at(fabric, packet, due);
}

void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;

	packet->vc = packet->header_vc;
	if (__builtin_expect(packet->destination != number, 0)) {
		host_absorb(fabric, number, packet, now);
		return;
	}
	if (__builtin_expect(fabric->answers, 0))
		virtual_cn_answer(fabric, number, packet, now);
	if (__builtin_expect(nic->order != NULL, 0) && !datagram_reorder_is_kept(nic, packet)) {
		arrive_out_of_order(fabric, number, packet, now);
		return;
	}
	if (__builtin_expect(
		    !datagram_receive(nic, packet, virtual_origin_of(fabric, packet)), 0)) {
		grant(fabric, number, packet->vc, now);
		discard(fabric, number, packet, now);
		return;
	}
	grant(fabric, number, packet->vc, now);
	deliver(fabric, number, packet, false, now, now);
}
