/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Returns frames discarded by hosts of a virtual fabric to their sources, which resend them
 * (datagram_recovery.h). Like credit frames, reports take only the delays of the return path. */

#include "virtual_dispatch.h"

#include "partition_message.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

/* Returns the time to cross links without queues over this many switches. */
static weft_time path_ps(
	const struct virtual_fabric *fabric, const struct weft_packet *packet, unsigned switches)
{
	const struct virtual_tx *channel = virtual_host_channel(fabric, packet->source);
	weft_time link = virtual_tx_cold(fabric, channel)->delay_ps;

	return (switches + 1u) * (link + fabric->routing_delay_ps) + 1;
}

/* Returns the number of switches that the packet passed; with Ethernet tables, all on its path. */
static unsigned passed(const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	return fabric->pauses != NULL && packet->route_length == 0
		       ? virtual_links_between(fabric, packet->source, packet->destination)
		       : packet->cursor;
}

/* Returns a random addition of up to a path's time. With equal times, the same frames would always
 * be dropped. */
static weft_time jitter(
	const struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now)
{
	uint64_t flow = (uint64_t)packet->source << 48 | (uint64_t)packet->destination << 32;

	return fabric->pauses == NULL
		       ? 0
		       : rng_mix(rng_mix(fabric->run->seed ^ now) ^ flow ^ packet->sequence) %
				 path_ps(fabric, packet, passed(fabric, packet));
}

void virtual_recovery_report(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	weft_time due =
		now + path_ps(fabric, packet, passed(fabric, packet)) + jitter(fabric, packet, now);

	datagram_recovery_discard(packet, (uint16_t)number);
	if (virtual_is_elsewhere(fabric, fabric->switches + packet->source))
		partition_send_packet(fabric, packet, VIRTUAL_CROSSING_REPORT, due,
			virtual_host_order(fabric, packet->source, VIRTUAL_WAKE));
	else
		virtual_recovery_take(fabric, packet, due);
}

void virtual_recovery_take(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due)
{
	datagram_recovery_report(&fabric->host[packet->source].nic, packet, due);
	virtual_host_wake_by(fabric, packet->source, due);
}

static struct topology_port port_of(const struct virtual_fabric *fabric, uint32_t order)
{
	if (virtual_is_host(fabric, order))
		return (struct topology_port){DEVICE_HOST, virtual_host_of(fabric, order), 0};
	return (struct topology_port){
		DEVICE_SWITCH, VIRTUAL_SWITCH(order), (uint8_t)VIRTUAL_PORT(order)};
}

/* Returns the channel into a connected port. */
static struct virtual_tx *channel_into(const struct virtual_fabric *fabric, struct topology_port at)
{
	struct topology_port from = at;

	topology_peer(fabric->topology, at, &from);
	return virtual_channel_at(fabric, from);
}

void virtual_recovery_take_lost(
	struct virtual_fabric *fabric, uint32_t order, struct weft_packet *packet, weft_time now)
{
	struct topology_port at = port_of(fabric, order);
	struct virtual_fault *fault = virtual_fault_of(fabric, channel_into(fabric, at));
	uint32_t link =
		(uint32_t)(topology_link_at(fabric->topology, at) - fabric->topology->link_at);

	fault->lost[packet->header_vc] += packet->blocks;
	virtual_recovery_lose(fabric, virtual_device_of(fabric, order), packet,
		fault->cuts > 0 ? link : VIRTUAL_NO_CUT, now);
}

/* Returns the time until the source resends a damaged frame: return path, doubled per loss. */
static weft_time pause_of(
	const struct virtual_fabric *fabric, const struct weft_packet *packet, unsigned losses)
{
	weft_time back = path_ps(fabric, packet, packet->cursor);
	weft_time pause = back << (losses < 16 ? losses : 16);

	if (pause > fabric->run->nic.retry_ps)
		pause = fabric->run->nic.retry_ps;
	return pause > back ? pause : back;
}

/* Returns the time until a dropped frame is detected, by the arrival of the next one. */
static weft_time notice_of(const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	unsigned switches = packet->route_length != 0
				    ? route_switches(packet->route, packet->route_length)
				    : passed(fabric, packet);

	return 2 * path_ps(fabric, packet, switches);
}

void virtual_recovery_release(struct virtual_fabric *fabric, uint32_t cause, weft_time now)
{
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		struct datagram *nic = &fabric->host[i].nic;

		if (!virtual_is_ours(fabric, fabric->switches + i) || nic->recovery == NULL ||
			nic->recovery->again_count == 0)
			continue;
		datagram_cuts_release(nic, cause, now);
		virtual_host_wake_by(virtual_partition_of(fabric, fabric->switches + i), i, now);
	}
}

void virtual_recovery_settle(struct virtual_fabric *fabric, uint32_t host, weft_time now)
{
	struct datagram_recovery *recovery = fabric->host[host].nic.recovery;
	struct weft_packet *packet;

	datagram_recovery_settle(&fabric->host[host].nic, now);
	while ((packet = recovery->given_up) != NULL) {
		recovery->given_up = packet->next;
		fabric->fault_count.abandoned += packet->stalled != DATAGRAM_WAIT_FIRST;
		fabric->fault_count.unsent += packet->stalled == DATAGRAM_WAIT_FIRST;
		virtual_give_up(fabric, packet, now);
	}
}

/* Returns when the source is notified of the loss. */
static weft_time report_due(const struct virtual_fabric *fabric, const struct weft_packet *packet,
	unsigned losses, bool cut, weft_time now)
{
	if (fabric->pauses != NULL)
		return now + jitter(fabric, packet, now) + notice_of(fabric, packet);
	return now +
	       (cut ? path_ps(fabric, packet, packet->cursor) : pause_of(fabric, packet, losses));
}

void virtual_recovery_lose(struct virtual_fabric *fabric, uint32_t device,
	struct weft_packet *packet, uint32_t cut, weft_time now)
{
	struct datagram_origin *origin = virtual_origin_of(fabric, packet);
	bool waits = cut != VIRTUAL_NO_CUT && fabric->pauses == NULL;
	weft_time due = report_due(fabric, packet, origin->losses, waits, now);

	fabric->fault_count.lost++;
	if (!waits && now - origin->injected_ps > fabric->run->nic.give_up_ps) {
		fabric->fault_count.abandoned++;
		virtual_give_up(fabric, packet, now);
		return;
	}
	origin->losses += origin->losses < UINT8_MAX;
	packet->stalled = waits ? DATAGRAM_WAIT_CUT : DATAGRAM_WAIT_REPORT;
	virtual_forget_flows(fabric, packet);
	/* Breaks ties between simultaneous reports. */
	packet->latency_ns =
		waits && cut != DATAGRAM_CAUSE_ANY ? cut : DATAGRAM_CAUSE_DEVICE | device;
	if (virtual_is_elsewhere(fabric, fabric->switches + packet->source))
		partition_send_packet(fabric, packet, VIRTUAL_CROSSING_REPORT, due,
			virtual_host_order(fabric, packet->source, VIRTUAL_WAKE));
	else
		virtual_recovery_take(fabric, packet, due);
}

uint64_t virtual_recovery_held(const struct virtual_fabric *fabric)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram_recovery *recovery = fabric->host[i].nic.recovery;

		held += recovery != NULL ? recovery->again_count : 0;
	}
	return held;
}

const char *virtual_recovery_check(const struct virtual_fabric *fabric)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->hosts && wrong == NULL; i++)
		if (fabric->host[i].nic.recovery != NULL &&
			virtual_is_ours(fabric, fabric->switches + i))
			wrong = datagram_recovery_check(fabric->host[i].nic.recovery);
	return wrong;
}

void virtual_recovery_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram_recovery *recovery = fabric->host[i].nic.recovery;

		if (recovery == NULL)
			continue;
		result->packets.retransmitted += recovery->retransmitted;
		result->packets.dropped += recovery->reported;
		run_result_count(result, "host_frames_retransmitted", recovery->retransmitted);
		run_result_count(
			result, "host_frames_reordered", fabric->host[i].nic.order->reordered);
		run_result_count(
			result, "host_discard_no_window", fabric->host[i].nic.order->no_room);
	}
}
