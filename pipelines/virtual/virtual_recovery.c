/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Frames that hosts of a virtual fabric have discarded, on their way back to be sent again
 * (datagram_recovery.h). As credit frames, reports take no time on links: only the delays of the
 * way back. */

#include "virtual_dispatch.h"

#include "partition_message.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

void virtual_recovery_report(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	struct virtual_tx *channel = virtual_host_channel(fabric, packet->source);
	weft_time link = virtual_tx_cold(fabric, channel)->delay_ps;
	weft_time due = now + (packet->cursor + 1u) * (link + fabric->routing_delay_ps) + 1;

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
