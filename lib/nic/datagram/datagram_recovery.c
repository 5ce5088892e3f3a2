/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_recovery.h"

#include <stdlib.h>

#include "datagram_cuts.h"

struct datagram_recovery *datagram_recovery_create(void)
{
	struct datagram_recovery *recovery = calloc(1, sizeof(*recovery));

	if (recovery != NULL)
		recovery->pairs_due = WEFT_TIME_NEVER;
	return recovery;
}

void datagram_recovery_destroy(struct datagram_recovery *recovery)
{
	if (recovery != NULL)
		free(recovery->pair);
	free(recovery);
}

/* Orders reports. If two have equal arrival times, the earlier discard comes first, regardless of
 * the order in which the driver processes them. Any order that prefers some destinations would
 * starve the others during long periods of discards. */
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

void datagram_recovery_insert(
	struct datagram_recovery *recovery, struct weft_packet *first, struct weft_packet *last)
{
	struct weft_packet **at = &recovery->again;

	if (*at != NULL && is_before(recovery->latest, first))
		at = &recovery->latest->next;
	while (*at != NULL && is_before(*at, first))
		at = &(*at)->next;
	if (*at == NULL)
		recovery->latest = last;
	last->next = *at;
	*at = first;
}

void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due)
{
	struct datagram_recovery *recovery = nic->recovery;

	/* Restores the header that datagram_inject() created. */
	packet->cursor = 0;
	packet->flags &= FRAME_F_TAIL | FRAME_F_LATENCY;
	packet->vc = packet->vc_next = packet->header_vc = packet->vc_original =
		nic->config.sl_to_vc[packet->sl & 15];
	if (packet->stalled != DATAGRAM_WAIT_CUT)
		packet->stalled = DATAGRAM_WAIT_REPORT;
	packet->arrived_ps = due;
	datagram_recovery_insert(recovery, packet, packet);
	recovery->again_count++;
	recovery->reported++;
}

/* Assigns a current route, which may be longer or shorter. */
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

/* Returns true if no later frame reveals this loss: the frame then waits for the timer, once. */
static bool waits_for_timer(const struct datagram *nic, struct weft_packet *packet)
{
	if (nic->config.last_wait_ps == 0 || packet->stalled ||
		pair_numbers_get(&nic->sent, packet->destination) != packet->sequence + 1)
		return false;
	packet->stalled = DATAGRAM_WAIT_TIMER;
	packet->arrived_ps += nic->config.last_wait_ps;
	return true;
}

void datagram_recovery_settle(struct datagram *nic, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;

	while (datagram_recovery_waits(recovery, now)) {
		struct weft_packet *packet = recovery->again;

		if (packet->stalled != DATAGRAM_WAIT_CUT && !waits_for_timer(nic, packet))
			break;
		recovery->again = packet->next;
		if (packet->stalled == DATAGRAM_WAIT_CUT)
			datagram_cuts_hold(nic, packet, now);
		else
			datagram_recovery_insert(recovery, packet, packet);
	}
	datagram_cuts_poll(nic, now);
}

/* Go-back-N: moves the earliest due frame to the head's destination to the front. */
static void bring_first(struct datagram_recovery *recovery, weft_time now)
{
	struct weft_packet *head = recovery->again, *first = head, *before = NULL;

	for (struct weft_packet *at = head; at->next != NULL && at->next->arrived_ps <= now;
		at = at->next)
		if (at->next->destination == head->destination &&
			(int32_t)(at->next->sequence - first->sequence) < 0) {
			before = at;
			first = at->next;
		}
	if (before == NULL)
		return;
	before->next = first->next;
	if (recovery->latest == first)
		recovery->latest = before;
	first->arrived_ps = head->arrived_ps;
	first->next = head;
	recovery->again = first;
}

struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet *packet;

	if (!datagram_recovery_waits(recovery, now))
		return NULL;
	if (nic->config.go_back)
		bring_first(recovery, now);
	packet = recovery->again;
	if (recovery->rerouted)
		reroute(nic, packet);
	if (!credit_suffices(&nic->link.tx[packet->vc], packet->blocks))
		return NULL;
	recovery->again = packet->next;
	packet->next = NULL;
	packet->latency_ns = 0;
	recovery->again_count--;
	if (packet->stalled == DATAGRAM_WAIT_FIRST) {
		recovery->unsent--;
		nic->frames_sent++;
		nic->messages_sent += (packet->flags & FRAME_F_TAIL) != 0;
	} else {
		recovery->retransmitted++;
	}
	packet->stalled = 0;
	credit_take(&nic->link.tx[packet->vc], packet->blocks);
	if (nic->itb != NULL)
		itb_share_sent_own(&nic->itb->turn);
	datagram_cuts_sent(nic, packet->destination, now);
	return packet;
}

weft_time datagram_recovery_due(const struct datagram_recovery *recovery, weft_time now)
{
	const struct weft_packet *head = recovery->again;
	weft_time due = head != NULL && head->arrived_ps > now ? head->arrived_ps : WEFT_TIME_NEVER;

	return recovery->pairs_due > now && recovery->pairs_due < due ? recovery->pairs_due : due;
}

const char *datagram_recovery_check(const struct datagram_recovery *recovery)
{
	uint64_t again = 0;

	for (const struct weft_packet *packet = recovery->again; packet != NULL;
		packet = packet->next) {
		if (packet->next != NULL && packet->next->arrived_ps < packet->arrived_ps)
			return "frames to be resent are not in the order of their reports";
		again++;
	}
	if (again + recovery->waits != recovery->again_count ||
		recovery->reported + recovery->unsent !=
			recovery->retransmitted + recovery->abandoned + recovery->again_count)
		return "reported frames differ from resent + given up + pending";
	return NULL;
}
