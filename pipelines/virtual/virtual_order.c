/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Early frames waiting for earlier ones at hosts of a virtual fabric (datagram_reorder.h). They no
 * longer occupy the network, so they delay nothing in it. They only take memory, which is sized to
 * run out only if something is wrong. Hosts then send nothing new until frames are released. */

#include "virtual_measure.h"

#include "experiment/run/run_events.h"
#include "setup/congestion_setup.h"

/* Maximum number of frames beyond the capacity of network and pools, per host and in total. This is
 * address space; memory is touched only when needed. */
#define RESERVE_FRAMES     4096
#define RESERVE_FRAMES_ALL (1u << 18)

uint64_t virtual_order_reserve(const struct virtual_fabric *fabric)
{
	if (congestion_setup_is_needed(fabric->run) || control_setup_reorders(fabric->run) ||
		run_config_breaks(fabric->run))
		return (uint64_t)fabric->hosts * RESERVE_FRAMES + RESERVE_FRAMES_ALL;
	return fabric->routes.itbs ? (uint64_t)fabric->hosts * RESERVE_FRAMES : 0;
}

void virtual_order_hold(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now)
{
	weft_time latency = now - virtual_origin_of(fabric, packet)->injected_ps;
	struct virtual_entry *entry = &fabric->entry[packet->entry];
	struct virtual_held *held = fabric->held;

	entry->wire_bytes += packet->bytes + fabric->counted_bytes;
	entry->held_bytes += packet->bytes + fabric->counted_bytes;
	entry->latency_sum_ps += latency;
	held->frames++;
	held->bytes += datagram_payload_bytes(packet);
	held->latency_ps += latency;
	if (now < fabric->measure_from)
		return;
	histogram_record(&entry->network_ns, ps_to_ns(latency));
	histogram_record(&held->wait.network_arrived_ns, ps_to_ns(latency));
}

void virtual_order_release(struct virtual_fabric *fabric, const struct weft_packet *packet,
	weft_time complete_ps, weft_time now)
{
	const struct datagram_origin *origin = virtual_origin_of(fabric, packet);
	struct virtual_held *held = fabric->held;

	fabric->entry[packet->entry].held_bytes -= packet->bytes + fabric->counted_bytes;
	held->frames--;
	held->bytes -= datagram_payload_bytes(packet);
	held->latency_ps -= packet->arrived_ps - origin->injected_ps;
	held->waited_ps += now - packet->arrived_ps;
	if (now < fabric->measure_from)
		return;
	histogram_record(&held->wait.waited_ns, ps_to_ns(now - packet->arrived_ps));
	histogram_record(&held->wait.network_released_ns, ps_to_ns(now - origin->injected_ps));
	if ((packet->flags & FRAME_F_TAIL) == 0)
		return;
	histogram_record(
		&held->wait.total_arrived_ns, ps_to_ns(complete_ps - origin->generated_ps));
	histogram_record(&held->wait.total_released_ns, ps_to_ns(now - origin->generated_ps));
}

void virtual_order_gather(struct virtual_held *into, struct virtual_held *from)
{
	order_wait_merge(&into->wait, &from->wait);
	order_wait_reset(&from->wait);
	into->frames += from->frames;
	into->bytes += from->bytes;
	into->latency_ps += from->latency_ps;
	into->waited_ps += from->waited_ps;
	from->frames = from->bytes = from->latency_ps = from->waited_ps = 0;
}

uint64_t virtual_order_held(const struct virtual_fabric *fabric)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		held += fabric->host[i].nic.held;
	return held;
}

const char *virtual_order_check(const struct virtual_fabric *fabric)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->hosts && wrong == NULL; i++)
		if (fabric->host[i].nic.order != NULL)
			wrong = datagram_reorder_check(&fabric->host[i].nic);
	return wrong;
}

void virtual_order_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t held_ps = 0, max = 0;

	if (!congestion_setup_is_needed(fabric->run) && !control_setup_reorders(fabric->run))
		return;
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram_reorder *order = fabric->host[i].nic.order;

		run_result_count(result, "host_frames_overtaken", order->overtaken);
		run_result_count(result, "host_frames_reordered", order->reordered);
		held_ps += order->held_ps;
		max = order->max > max ? order->max : max;
	}
	run_result_count(result, "host_frames_held_ns", ps_to_ns(held_ps));
	run_result_count(result, "host_frames_held_peak", max);
}
