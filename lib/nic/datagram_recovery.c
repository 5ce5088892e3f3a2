/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_recovery.h"

#include <stdlib.h>

struct datagram_recovery *datagram_recovery_create(uint32_t held_max)
{
	struct datagram_recovery *recovery = calloc(1, sizeof(*recovery));

	if (recovery != NULL)
		recovery->held_max = held_max;
	return recovery;
}

void datagram_recovery_destroy(struct datagram_recovery *recovery)
{
	free(recovery);
}

static struct weft_packet **chain_of(struct datagram_recovery *recovery, uint16_t source)
{
	return &recovery->held[source % DATAGRAM_RECOVERY_CHAINS];
}

/* The place in its chain before which all is of a lesser source, or earlier. */
static struct weft_packet **place_of(
	struct datagram_recovery *recovery, uint16_t source, uint32_t sequence)
{
	struct weft_packet **at = chain_of(recovery, source);

	while (*at != NULL &&
		((*at)->source < source ||
			((*at)->source == source && (int32_t)((*at)->sequence - sequence) < 0)))
		at = &(*at)->next;
	return at;
}

static enum datagram_arrival hold(struct datagram_recovery *recovery, struct weft_packet *packet)
{
	struct weft_packet **at;

	if (recovery->held_count == recovery->held_max) {
		recovery->no_room++;
		return DATAGRAM_REFUSED;
	}
	at = place_of(recovery, packet->source, packet->sequence);
	packet->next = *at;
	*at = packet;
	recovery->held_count++;
	recovery->reordered++;
	return DATAGRAM_HELD;
}

static uint32_t *expected_of(struct datagram *nic, uint16_t source)
{
	return &nic->come[(size_t)source * nic->come_step].expected;
}

static void deliver(struct datagram *nic, const struct weft_packet *packet)
{
	*expected_of(nic, packet->source) = packet->sequence + 1;
	nic->frames_received++;
	nic->bytes_received += packet->bytes - FRAME_HEADER_BYTES - packet->route_length;
	nic->messages_received += (packet->flags & FRAME_F_TAIL) != 0;
}

enum datagram_arrival datagram_recovery_receive(struct datagram *nic, struct weft_packet *packet)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];
	int32_t early = (int32_t)(packet->sequence - *expected_of(nic, packet->source));

	credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	if (itb_was_overtaken(packet)) {
		nic->refused++;
		return DATAGRAM_REFUSED;
	}
	if (early > 0)
		return hold(nic->recovery, packet);
	/* Nobody sends twice what was not discarded: a fault, and seen in the result. */
	nic->out_of_order += early < 0;
	deliver(nic, packet);
	return DATAGRAM_DELIVERED;
}

struct weft_packet *datagram_recovery_release(struct datagram *nic, uint16_t source)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet **at, *packet;

	if (recovery->held_count == 0)
		return NULL;
	at = place_of(recovery, source, *expected_of(nic, source));
	packet = *at;
	if (packet == NULL || packet->source != source ||
		packet->sequence != *expected_of(nic, source))
		return NULL;
	*at = packet->next;
	recovery->held_count--;
	deliver(nic, packet);
	return packet;
}

/* As datagram_inject() made it. */
static void renew(const struct datagram *nic, struct weft_packet *packet)
{
	packet->cursor = 0;
	packet->flags &= FRAME_F_TAIL;
	packet->vc = packet->vc_next = packet->header_vc = packet->vc_original =
		nic->config.sl_to_vc[packet->sl & 15];
	packet->stalled = 0;
	packet->latency_ns = 0;
}

void datagram_recovery_report(struct datagram *nic, struct weft_packet *packet, weft_time due)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet **at = &recovery->again;

	renew(nic, packet);
	packet->arrived_ps = due;
	while (*at != NULL && (*at)->arrived_ps <= due)
		at = &(*at)->next;
	packet->next = *at;
	*at = packet;
	recovery->again_count++;
	recovery->reported++;
}

struct weft_packet *datagram_recovery_resend(struct datagram *nic, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet *packet = recovery->again;

	if (!datagram_recovery_waits(recovery, now) ||
		!credit_suffices(&nic->link.tx[packet->vc], packet->blocks))
		return NULL;
	recovery->again = packet->next;
	packet->next = NULL;
	recovery->again_count--;
	recovery->retransmitted++;
	credit_take(&nic->link.tx[packet->vc], packet->blocks);
	if (nic->itb != NULL)
		itb_turn_sent_own(&nic->itb->turn);
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
	uint64_t again = 0, held = 0;

	for (const struct weft_packet *packet = recovery->again; packet != NULL;
		packet = packet->next) {
		if (packet->next != NULL && packet->next->arrived_ps < packet->arrived_ps)
			return "frames to be sent again are not in the order of their reports";
		again++;
	}
	for (unsigned i = 0; i < DATAGRAM_RECOVERY_CHAINS; i++)
		for (const struct weft_packet *packet = recovery->held[i]; packet != NULL;
			packet = packet->next)
			held++;
	if (again != recovery->again_count || recovery->reported != recovery->retransmitted + again)
		return "frames reported are not sent again + those to be";
	if (held != recovery->held_count || held > recovery->held_max)
		return "frames that came too early are counted wrongly, or too many";
	return NULL;
}
