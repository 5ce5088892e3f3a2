/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The way of packets from one part of a divided switch to another (switch_part.h): one producer,
 * one consumer, entries that need no descriptor. The producer never asks how far the consumer is:
 * what it may have in the ring is limited by its input buffers, whose space comes back with a
 * release that the consumer publishes after it has read the entry. So a ring moves two cache lines
 * between the cores, that of its entries and that of the position.
 *
 * Inline: per packet. */

#include <stdint.h>

#include "packet.h"

/* A packet as admission has left it; the header in its frame is that for the next device. */
struct part_entry {
	struct weft_packet *packet; /* filled in only if it is a control frame of the switch */
	uint16_t bytes, blocks;
	uint8_t input, output;
	uint8_t vc, vc_next; /* PART_CONTROL or PART_OWN in 'vc': no data */
};

#define PART_CONTROL 0x80 /* a control frame; 'output' may be PART_AGENT */
#define PART_OWN     0xC0 /* one of the driver's own, which no switch has counted */
#define PART_AGENT   0xFE /* for the agent of the device, in part 0 */

_Static_assert(sizeof(struct part_entry) == 16, "four to a cache line");

struct part_ring {
	struct part_entry *entry; /* [mask + 1] */
	uint32_t mask;
	/* The producer's. */
	uint32_t put __attribute__((aligned(64)));
	/* How much of it the consumer may read. */
	uint32_t published __attribute__((aligned(64)));
	/* The consumer's; others read it when both are at rest. */
	uint32_t taken __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* Room for the next entry. The consumer sees it after part_ring_publish(). */
static inline struct part_entry *part_ring_put(struct part_ring *ring)
{
	return &ring->entry[ring->put++ & ring->mask];
}

static inline void part_ring_publish(struct part_ring *ring)
{
	if (ring->published != ring->put)
		__atomic_store_n(&ring->published, ring->put, __ATOMIC_RELEASE);
}

/* Entries that the consumer has not taken yet. */
static inline uint32_t part_ring_waiting(const struct part_ring *ring)
{
	return __atomic_load_n(&ring->published, __ATOMIC_ACQUIRE) - ring->taken;
}

/* Entry 'i' of those. */
static inline const struct part_entry *part_ring_at(const struct part_ring *ring, uint32_t i)
{
	return &ring->entry[(ring->taken + i) & ring->mask];
}

static inline void part_ring_take(struct part_ring *ring, uint32_t entries)
{
	ring->taken += entries;
}
