/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A cable between two fake NICs: memory that both ends map, with a ring of frames each way, and a
 * word by which anybody cuts it. It lies in the file of its path, or in memory of this process
 * alone. All zeros is a cable in order with nobody at its ends.
 *
 * The ring of a way stands for the receiving NIC's memory: who sends counts the receiver's
 * descriptors, and what finds none is missed. An end that starts forgets what was sent to it
 * before. A process may die at any time: what it has not finished does not count. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define FAKE_CABLE_RING_BYTES (4u << 20)

/* One end, written by its own process; 'missed' by the far end's. Other tests read it: 64-bit words
 * from byte 128 of the file for a, from 256 for b. */
struct fake_cable_end {
	uint64_t sent, received, segmented; /* frames */
	uint64_t kept, kept_max;            /* sent mbufs that it has not freed */
	uint64_t missed;                    /* frames for it that found no descriptor */
	uint64_t head, given;               /* bytes and descriptors of the far end, written */
	uint64_t tail, taken;               /* bytes and descriptors of its own, read */
	uint32_t descriptors;               /* in its ring; 0: it is not started */
	uint32_t buffer_bytes;              /* a descriptor's */
	uint32_t split;                     /* minimum number of descriptors per frame */
} __attribute__((aligned(128)));

struct fake_cable_map {
	uint32_t cut; /* not 0: no carrier at either end */
	struct fake_cable_end end[2];
	uint8_t ring[2][FAKE_CABLE_RING_BYTES]; /* what end 0 and end 1 send */
};

_Static_assert(offsetof(struct fake_cable_map, end[1]) == 256, "as labs.py reads it");

/* One end's view. */
struct fake_cable {
	struct fake_cable_map *map;
	struct fake_cable_end *own, *far;
	uint8_t *out, *in;
	int file;                 /* holds a lock on the end until the process ends */
	unsigned side;            /* 0: a */
	struct fake_local *local; /* NULL: a file's */
};

/* Returns 0, -EBUSY if another port uses the end, or the system's error. */
int fake_cable_open(struct fake_cable *cable, const char *name, unsigned side);
void fake_cable_close(struct fake_cable *cable);

/* Frames come from now on. */
void fake_cable_listen(
	struct fake_cable *cable, uint32_t descriptors, uint32_t buffer_bytes, uint32_t split);
void fake_cable_deaf(struct fake_cable *cable);

bool fake_cable_is_cut(const struct fake_cable *cable);
void fake_cable_cut(struct fake_cable *cable, bool cut);
/* Returns whether a live process has started the far end's port. */
bool fake_cable_far_started(const struct fake_cable *cable);

/* Copies a frame to the far end, which may miss it. */
void fake_cable_send(struct fake_cable *cable, const struct rte_mbuf *frame);
/* Returns the oldest frame, or NULL; it stays until taken. */
const uint8_t *fake_cable_first(struct fake_cable *cable, uint32_t *bytes);
/* Returns the arrival time of the oldest frame, by the time stamp counter. */
uint64_t fake_cable_first_tsc(struct fake_cable *cable);
void fake_cable_take(struct fake_cable *cable);
