/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_reorder.h"

#include <stdlib.h>

#define SOURCE_STEP 0x9E37u /* odd, so that sources start in different chains */

struct datagram_reorder *datagram_reorder_create(
	uint32_t held_max, enum pair_numbers_kind kind, uint32_t hosts)
{
	struct datagram_reorder *order = calloc(1, sizeof(*order));

	if (order == NULL)
		return NULL;
	order->held_max = held_max;
	if (pair_numbers_init(&order->latest, kind, hosts, NULL) == 0)
		return order;
	free(order);
	return NULL;
}

void datagram_reorder_destroy(struct datagram_reorder *order)
{
	if (order == NULL)
		return;
	pair_numbers_fini(&order->latest);
	free(order);
}

/* Consecutive frames of a source are in consecutive chains. */
static struct weft_packet **chain_of(
	struct datagram_reorder *order, uint16_t source, uint32_t sequence)
{
	return &order->held[(source * SOURCE_STEP + sequence) & (DATAGRAM_ORDER_CHAINS - 1)];
}

static void insert(struct datagram *nic, struct weft_packet *packet, weft_time now)
{
	struct datagram_reorder *order = nic->order;
	struct weft_packet **chain = chain_of(order, packet->source, packet->sequence);

	packet->arrived_ps = now;
	packet->next = *chain;
	*chain = packet;
	if (++nic->held > order->max)
		order->max = nic->held;
}

static enum datagram_arrival hold(struct datagram *nic, struct weft_packet *packet, weft_time now)
{
	struct datagram_reorder *order = nic->order;

	if (nic->held >= order->held_max) {
		order->no_room++;
		return DATAGRAM_REFUSED;
	}
	if ((int32_t)(packet->sequence + 1 - pair_numbers_get(&order->latest, packet->source)) > 0)
		pair_numbers_set(&order->latest, packet->source, packet->sequence + 1);
	order->reordered++;
	insert(nic, packet, now);
	return DATAGRAM_HELD;
}

bool datagram_reorder_lose(struct datagram *nic, struct weft_packet *packet, weft_time now)
{
	if (packet->sequence == datagram_expected(nic, packet->source)) {
		datagram_expect(nic, packet->source, packet->sequence + 1);
		return true;
	}
	packet->control = 1;
	insert(nic, packet, now);
	return false;
}

static void deliver(struct datagram *nic, const struct weft_packet *packet)
{
	datagram_expect(nic, packet->source, packet->sequence + 1);
	nic->frames_received++;
	nic->bytes_received += datagram_payload_bytes(packet);
	nic->messages_received += (packet->flags & FRAME_F_TAIL) != 0;
}

enum datagram_arrival datagram_reorder_receive(
	struct datagram *nic, struct weft_packet *packet, weft_time now)
{
	struct credit_rx *rx = &nic->link.rx[packet->vc];
	int32_t early = (int32_t)(packet->sequence - datagram_expected(nic, packet->source));

	credit_arrive(rx, packet->blocks);
	credit_release(rx, packet->blocks);
	if (nic->itb != NULL && itb_was_overtaken(packet)) {
		nic->refused++;
		return DATAGRAM_REFUSED;
	}
	nic->order->overtaken += (int32_t)(packet->sequence - pair_numbers_get(&nic->order->latest,
								      packet->source)) < 0;
	if (early > 0)
		return hold(nic, packet, now);
	/* Frames are retransmitted only after a discard, so a duplicate is an error, which the
	 * result shows. */
	nic->out_of_order += early < 0;
	deliver(nic, packet);
	return DATAGRAM_DELIVERED;
}

struct weft_packet *datagram_reorder_release(struct datagram *nic, uint16_t source, weft_time now)
{
	uint32_t expected = datagram_expected(nic, source);
	struct weft_packet **at, *packet;

	if (nic->held == 0)
		return NULL;
	at = chain_of(nic->order, source, expected);
	while (*at != NULL && ((*at)->source != source || (*at)->sequence != expected))
		at = &(*at)->next;
	packet = *at;
	if (packet == NULL)
		return NULL;
	*at = packet->next;
	nic->held--;
	if (datagram_reorder_is_lost(packet)) {
		datagram_expect(nic, source, expected + 1);
		return packet;
	}
	nic->order->held_ps += now - packet->arrived_ps;
	deliver(nic, packet);
	return packet;
}

const char *datagram_reorder_check(const struct datagram *nic)
{
	const struct datagram_reorder *order = nic->order;
	uint64_t held = 0;

	for (unsigned i = 0; i < DATAGRAM_ORDER_CHAINS; i++)
		for (const struct weft_packet *packet = order->held[i]; packet != NULL;
			packet = packet->next, held++) {
			uint32_t expected = datagram_expected(nic, packet->source);

			if ((int32_t)(packet->sequence - expected) <= 0)
				return "a frame is waiting although it is due or has been delivered";
		}
	if (held != nic->held || held > order->max)
		return "the number of early frames is wrong";
	return NULL;
}
