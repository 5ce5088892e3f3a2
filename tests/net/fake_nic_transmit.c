/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The transmit side of a fake NIC. */

#include <errno.h>
#include <stdlib.h>

#include "fake_nic_device.h"

/* Sent mbufs are freed in batches of this size, when no more descriptors are free. */
#define FREE_THRESHOLD 32u

/* --- the ring --- */

int fake_transmitter_set_up(struct fake_nic *nic, uint16_t descriptors)
{
	struct fake_transmitter *tx = &nic->tx;
	uint64_t offloads = nic->dev->data->dev_conf.txmode.offloads;

	tx->ring = calloc(descriptors, sizeof(*tx->ring));
	tx->descriptors = descriptors;
	tx->multi = (offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
	return tx->ring == NULL ? -ENOMEM : 0;
}

static struct rte_mbuf *take(struct fake_transmitter *tx, uint32_t *at)
{
	return tx->ring[(*at)++ % tx->descriptors];
}

static void free_one(struct fake_transmitter *tx)
{
	struct rte_mbuf *mbuf = take(tx, &tx->tail);

	tx->used -= mbuf->nb_segs;
	rte_pktmbuf_free(mbuf);
}

static uint32_t free_sent(struct fake_nic *nic, uint32_t max)
{
	uint32_t freed = 0;

	for (; freed < max && nic->tx.tail != nic->tx.done; freed++)
		free_one(&nic->tx);
	__atomic_store_n(&nic->cable.own->kept, nic->tx.used, __ATOMIC_RELAXED);
	return freed;
}

void fake_transmitter_stop(struct fake_nic *nic)
{
	nic->tx.done = nic->tx.head;
	free_sent(nic, UINT32_MAX);
}

void fake_transmitter_free(struct fake_nic *nic)
{
	free(nic->tx.ring);
	nic->tx.ring = NULL;
}

int fake_transmitter_clean_up(void *queue, uint32_t max)
{
	struct fake_nic *nic = queue;

	return (int)free_sent(nic, max == 0 ? UINT32_MAX : max);
}

/* --- frames --- */

/* Frees mbufs that are not kept, and some kept ones if descriptors are few. */
static void reclaim(struct fake_nic *nic)
{
	struct fake_transmitter *tx = &nic->tx;
	uint32_t limit = RTE_MIN(nic->arguments.keep, tx->descriptors);
	uint32_t threshold = RTE_MIN(FREE_THRESHOLD, limit / 4);

	if (limit == 0)
		free_sent(nic, UINT32_MAX);
	else if (tx->used + threshold > limit)
		free_sent(nic, FREE_THRESHOLD);
}

static void note_kept(struct fake_nic *nic)
{
	struct fake_cable_end *own = nic->cable.own;

	__atomic_store_n(&own->kept, nic->tx.used, __ATOMIC_RELAXED);
	if (nic->tx.used > own->kept_max)
		__atomic_store_n(&own->kept_max, nic->tx.used, __ATOMIC_RELAXED);
}

void fake_transmitter_go_on(struct fake_nic *nic)
{
	struct fake_transmitter *tx = &nic->tx;
	bool carrier = fake_nic_has_carrier(nic);

	while (tx->done != tx->head && (carrier || !nic->arguments.hold)) {
		const struct rte_mbuf *mbuf = take(tx, &tx->done);

		if (!carrier)
			continue;
		fake_cable_send(&nic->cable, mbuf);
		tx->packets++;
		tx->bytes += mbuf->pkt_len;
	}
}

static bool can_send(const struct fake_nic *nic, const struct rte_mbuf *mbuf)
{
	return (mbuf->nb_segs == 1 || nic->tx.multi) &&
	       mbuf->pkt_len + RTE_ETHER_CRC_LEN <= nic->arguments.max_frame;
}

/* Returns whether it was accepted. */
static bool transmit_one(struct fake_nic *nic, struct rte_mbuf *mbuf)
{
	struct fake_transmitter *tx = &nic->tx;

	if (!can_send(nic, mbuf)) {
		tx->errors++;
		rte_pktmbuf_free(mbuf);
		return true;
	}
	reclaim(nic);
	if (tx->used + mbuf->nb_segs > tx->descriptors)
		return false;
	tx->ring[tx->head++ % tx->descriptors] = mbuf;
	tx->used += mbuf->nb_segs;
	fake_transmitter_go_on(nic);
	note_kept(nic);
	if (nic->arguments.keep == 0)
		reclaim(nic);
	return true;
}

uint16_t fake_transmit(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fake_nic *nic = queue;
	uint16_t sent = 0;

	while (sent < count && transmit_one(nic, mbufs[sent]))
		sent++;
	return sent;
}
