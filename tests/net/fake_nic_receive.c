/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The receive side of a fake NIC. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "fake_nic_device.h"

/* --- the ring --- */

static uint32_t choose_buffer(const struct fake_nic *nic, struct rte_mempool *pool)
{
	uint32_t room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	uint32_t step = nic->arguments.round;

	if (step == FAKE_ROUND_POW2)
		return RTE_MIN(rte_align32prevpow2(room), 16384u);
	return step == 0 ? room : room - room % step;
}

int fake_receiver_set_up(struct fake_nic *nic, uint16_t descriptors, struct rte_mempool *pool)
{
	uint32_t wanted = nic->dev->data->mtu + RTE_ETHER_HDR_LEN + nic->arguments.room;
	struct fake_receiver *rx = &nic->rx;
	uint64_t offloads = nic->dev->data->dev_conf.rxmode.offloads;

	rx->scatter = nic->arguments.scatter_always || (offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	rx->stamps = (offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	if (rx->stamps && fake_nic_refuse(nic, FAKE_STEP_stamps) < 0)
		return fake_nic_refuse(nic, FAKE_STEP_stamps);
	if (rx->stamps && rte_mbuf_dyn_rx_timestamp_register(&rx->stamp_at, &rx->stamp_flag) < 0)
		return -ENOMEM;
	rx->buffer_bytes = choose_buffer(nic, pool);
	if (rx->buffer_bytes == 0) {
		FAKE_NIC_SAY(
			ERR, "mbufs have no room for a step of %u bytes", nic->arguments.round);
		return -EINVAL;
	}
	if (nic->arguments.room > 0 && !rx->scatter && rx->buffer_bytes < wanted) {
		FAKE_NIC_SAY(ERR,
			"no place for a VLAN tag: mbufs have room for %u bytes, %u bytes wanted",
			rx->buffer_bytes, wanted);
		return -EINVAL;
	}
	rx->ring = calloc(descriptors, sizeof(*rx->ring));
	rx->descriptors = descriptors;
	rx->pool = pool;
	return rx->ring == NULL ? -ENOMEM : 0;
}

int fake_receiver_start(struct fake_nic *nic)
{
	struct fake_receiver *rx = &nic->rx;

	if (rx->ring == NULL)
		return -EINVAL;
	if (rte_pktmbuf_alloc_bulk(rx->pool, rx->ring, rx->descriptors) != 0) {
		FAKE_NIC_SAY(ERR, "no %u mbufs for its receive ring", rx->descriptors);
		memset(rx->ring, 0, rx->descriptors * sizeof(*rx->ring));
		return -ENOMEM;
	}
	rx->at = 0;
	nic->dev->data->scattered_rx = rx->scatter && fake_nic_frame_max(nic) > rx->buffer_bytes;
	fake_cable_listen(&nic->cable, rx->descriptors, rx->buffer_bytes, nic->arguments.split);
	return 0;
}

void fake_receiver_stop(struct fake_nic *nic)
{
	struct fake_receiver *rx = &nic->rx;

	fake_cable_deaf(&nic->cable);
	for (uint32_t i = 0; rx->ring != NULL && i < rx->descriptors; i++) {
		rte_pktmbuf_free(rx->ring[i]);
		rx->ring[i] = NULL;
	}
}

void fake_receiver_free(struct fake_nic *nic)
{
	free(nic->rx.ring);
	nic->rx.ring = NULL;
}

/* --- frames --- */

/* Returns the number of segments of a frame with that many bytes; 0: this NIC drops it. */
static uint32_t count_segments(const struct fake_nic *nic, uint32_t bytes)
{
	uint32_t needed = (bytes + nic->rx.buffer_bytes - 1) / nic->rx.buffer_bytes;

	if (bytes > fake_nic_frame_max(nic))
		return 0;
	if (needed > 1 && !nic->rx.scatter && nic->arguments.split == 0)
		return 0;
	needed = RTE_MAX(needed, nic->arguments.split);
	return needed <= FAKE_SPLIT_MAX ? needed : 0;
}

static bool is_for_us(const struct fake_nic *nic, const uint8_t *frame)
{
	const struct rte_ether_addr *to = (const struct rte_ether_addr *)frame;

	return nic->dev->data->promiscuous || nic->arguments.promisc_unsupported ||
	       rte_is_broadcast_ether_addr(to) || rte_is_same_ether_addr(to, &nic->address);
}

/* An mbuf of the ring, with part of the frame; 'fresh' replaces it. */
static struct rte_mbuf *fill(
	struct fake_nic *nic, struct rte_mbuf *fresh, const uint8_t *bytes, uint32_t count)
{
	struct fake_receiver *rx = &nic->rx;
	struct rte_mbuf *mbuf = rx->ring[rx->at];

	rx->ring[rx->at] = fresh;
	rx->at = (rx->at + 1) % rx->descriptors;
	memcpy(rte_pktmbuf_mtod(mbuf, void *), bytes, count);
	mbuf->data_len = (uint16_t)count;
	mbuf->pkt_len = count;
	mbuf->port = nic->dev->data->port_id;
	return mbuf;
}

static void stamp(struct fake_nic *nic, struct rte_mbuf *mbuf)
{
	int64_t ahead =
		(int64_t)(int32_t)nic->arguments.stamps_ahead * (int64_t)(rte_get_tsc_hz() / 1000);
	uint64_t at = fake_cable_first_tsc(&nic->cable) + (uint64_t)ahead;

	if (nic->rx.stampable++ % RTE_MAX(nic->arguments.stamps_every, 1u) != 0)
		return;
	*RTE_MBUF_DYNFIELD(mbuf, nic->rx.stamp_at, rte_mbuf_timestamp_t *) =
		fake_nic_ticks(nic, at);
	mbuf->ol_flags |= nic->rx.stamp_flag;
}

static struct rte_mbuf *deliver(struct fake_nic *nic, struct rte_mbuf **fresh, uint32_t segments,
	const uint8_t *frame, uint32_t bytes)
{
	bool split = nic->arguments.split > 0;
	uint32_t piece = split ? (bytes + segments - 1) / segments : nic->rx.buffer_bytes;
	struct rte_mbuf *first = fill(nic, fresh[0], frame, RTE_MIN(piece, bytes));
	struct rte_mbuf *last = first;
	uint32_t done = first->data_len;

	for (uint32_t i = 1; i < segments; i++) {
		last->next = fill(nic, fresh[i], frame + done, RTE_MIN(piece, bytes - done));
		last = last->next;
		done += last->data_len;
		first->nb_segs++;
	}
	first->pkt_len = bytes;
	if (nic->rx.stamps)
		stamp(nic, first);
	nic->cable.own->segmented += segments > 1;
	nic->cable.own->received++;
	nic->rx.packets++;
	nic->rx.bytes += bytes;
	return first;
}

/* Returns the next frame, if there is one and its mbufs can be replaced. */
static struct rte_mbuf *receive_one(struct fake_nic *nic)
{
	struct rte_mbuf *fresh[FAKE_SPLIT_MAX], *mbuf;
	const uint8_t *frame;
	uint32_t bytes, segments;

	while ((frame = fake_cable_first(&nic->cable, &bytes)) != NULL) {
		segments = count_segments(nic, bytes);
		if (segments > 0 && is_for_us(nic, frame))
			break;
		nic->rx.errors += segments == 0;
		fake_cable_take(&nic->cable);
	}
	if (frame == NULL)
		return NULL;
	if (rte_pktmbuf_alloc_bulk(nic->rx.pool, fresh, segments) != 0) {
		nic->dev->data->rx_mbuf_alloc_failed++;
		return NULL;
	}
	mbuf = deliver(nic, fresh, segments, frame, bytes);
	fake_cable_take(&nic->cable);
	return mbuf;
}

uint16_t fake_receive(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct fake_nic *nic = queue;
	uint16_t received = 0;

	if (unlikely(nic->tx.done != nic->tx.head))
		fake_transmitter_go_on(nic);
	while (received < count && (mbufs[received] = receive_one(nic)) != NULL)
		received++;
	return received;
}
