/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric that re-inject packets in transit. */

#include "virtual_dispatch.h"

#include "virtual_partitions.h"
#include "virtual_send.h"

/* Counts the host's own messages of which no frame has left, including those for which its
 * interface has no space. */
static uint32_t own_waiting(const struct virtual_host *host)
{
	uint64_t waiting = datagram_waiting(&host->nic);

	for (unsigned i = 0; i < host->sources; i++) {
		const struct traffic_counters *count = traffic_counters(host->source[i]);

		waiting += count->generated_messages - count->accepted_messages;
	}
	return waiting < UINT32_MAX ? (uint32_t)waiting : UINT32_MAX;
}

struct weft_packet *virtual_transit_next(
	struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_host *host = &fabric->host[number];
	struct weft_packet *packet;
	bool blocked;

	packet = datagram_transit(
		&host->nic, own_waiting(host), !virtual_order_is_full(fabric), now, &blocked);
	if (blocked)
		virtual_note_blocked(virtual_host_channel(fabric, number), now);
	return packet;
}

uint64_t virtual_transit_held(const struct virtual_fabric *fabric)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		held += fabric->host[i].nic.itb != NULL ? fabric->host[i].nic.itb->frames : 0;
	return held;
}

uint64_t virtual_transit_absorbed(const struct virtual_fabric *fabric)
{
	uint64_t absorbed = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		absorbed += fabric->host[i].nic.itb != NULL ? fabric->host[i].nic.itb->absorbed : 0;
	return absorbed;
}

const char *virtual_transit_check(const struct virtual_fabric *fabric)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->hosts && wrong == NULL; i++)
		if (virtual_is_ours(fabric, fabric->switches + i))
			wrong = fabric->host[i].nic.itb != NULL ? itb_check(fabric->host[i].nic.itb)
								: NULL;
	return wrong;
}

static struct starvation_transit transit_of(const struct itb *itb)
{
	return (struct starvation_transit){itb->absorbed + itb->discarded, itb->reinjected, true};
}

void virtual_transit_middle(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (fabric->host[i].nic.itb != NULL)
			fabric->host[i].middle = transit_of(fabric->host[i].nic.itb);
}

int virtual_transit_judge(const struct virtual_fabric *fabric, struct run_result *result)
{
	int code = 0;

	for (uint32_t i = 0; i < fabric->hosts && fabric->routes.itbs && code == 0; i++) {
		const struct virtual_host *host = &fabric->host[i];
		struct starvation_transit end = transit_of(host->nic.itb);

		code = starvation_judge_transit(
			fabric->topology->host_at[i].name, &host->middle, &end, result);
	}
	return code;
}

void virtual_transit_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t peak_bytes = 0;

	if (!fabric->routes.itbs)
		return;
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram *nic = &fabric->host[i].nic;
		const struct itb *itb = nic->itb;

		run_result_count(result, "host_itb_absorbed", itb->absorbed);
		run_result_count(result, "host_itb_reinjected", itb->reinjected);
		run_result_count(result, "host_itb_discarded", itb->discarded);
		run_result_count(result, "host_itb_messages", itb->messages);
		run_result_count(result, "host_itb_overtaken", itb->overtaken);
		run_result_count(result, "host_discard_end_mark", nic->refused);
		run_result_count(result, "host_discard_routing_error", nic->misrouted);
		if (itb->pool.peak > peak_bytes)
			peak_bytes = itb->pool.peak;
	}
	run_result_count(result, "host_itb_peak_bytes", peak_bytes);
}
