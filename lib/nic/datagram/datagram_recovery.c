/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_recovery.h"

/* If two reports have equal arrival times, the one that was made first wins, whatever order the
 * driver processes them in. Any order that prefers some destinations starves others while discards
 * go on for long. */
static bool is_before(const struct weft_packet *a, const struct weft_packet *b)
{
	if (a->arrived_ps != b->arrived_ps)
		return a->arrived_ps < b->arrived_ps;
	return a->latency_ns <= b->latency_ns;
}

void datagram_recovery_discard(struct weft_packet *packet, uint16_t host)
{
	packet->latency_ns = (uint32_t)(UINT8_MAX - packet->cursor) << 16 | host;
}

void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet **at = &recovery->again;

	/* Restores the header that datagram_inject() made. */
	packet->cursor = 0;
	packet->flags &= FRAME_F_TAIL | FRAME_F_LATENCY;
	packet->vc = packet->vc_next = packet->header_vc = packet->vc_original =
		nic->config.sl_to_vc[packet->sl & 15];
	packet->stalled = 0;
	packet->arrived_ps = due;
	while (*at != NULL && is_before(*at, packet))
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
	recovery->again_count++;
	recovery->reported++;
}

/* Gives a frame a route of now, which may be longer or shorter. */
static void reroute(struct datagram *nic, struct weft_packet *packet)
{
	const struct datagram_message message = {
		.bytes = packet->bytes, .destination = packet->destination, .sl = packet->sl};
	struct datagram_route chosen;

	if (packet->route_length == 0 || !datagram_choose_route(nic, &message, &chosen))
		return;
	packet->bytes = (uint16_t)(packet->bytes - packet->route_length + chosen.length);
	packet->blocks = (uint16_t)frame_blocks(packet->bytes);
	packet->route_length = chosen.length;
	packet->route = chosen.route;
}

struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet *packet = recovery->again;

	if (!datagram_recovery_waits(recovery, now))
		return NULL;
	if (recovery->rerouted)
		reroute(nic, packet);
	if (!credit_suffices(&nic->link.tx[packet->vc], packet->blocks))
		return NULL;
	recovery->again = packet->next;
	packet->next = NULL;
	packet->latency_ns = 0;
	recovery->again_count--;
	recovery->retransmitted++;
	credit_take(&nic->link.tx[packet->vc], packet->blocks);
	if (nic->itb != NULL)
		itb_share_sent_own(&nic->itb->turn);
	return packet;
}

weft_time datagram_recovery_due(const struct datagram_recovery *recovery, weft_time now)
{
	const struct weft_packet *packet = recovery->again;

	while (packet != NULL && packet->arrived_ps <= now)
		packet = packet->next;
	return packet != NULL ? packet->arrived_ps : WEFT_TIME_NEVER;
}

const char *datagram_recovery_check(const struct datagram_recovery *recovery)
{
	uint64_t again = 0;

	for (const struct weft_packet *packet = recovery->again; packet != NULL;
		packet = packet->next) {
		if (packet->next != NULL && packet->next->arrived_ps < packet->arrived_ps)
			return "frames to be sent again are not in the order of their reports";
		again++;
	}
	if (again != recovery->again_count || recovery->reported != recovery->retransmitted + again)
		return "frames reported are not sent again + those to be";
	return NULL;
}
