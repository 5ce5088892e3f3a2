/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* clang-format off */
/* A switch divided among cores (docs/how-to/divide-a-switch.md)
 *
 *   Each part is a switch (switch.h) with all ports, of which it owns some; each port has one owner.
 *   The owner of an input admits its packets and accounts for its buffer. The owner of an output
 *   has its queues, arbitration, credits and link. A packet between two parts goes through a ring
 *   (struct part_ring) once it is admitted.
 *
 *   A part counts a foreign input in a shadow: blocks that it got from there, and that have left it.
 *   It publishes the latter, as a total for each VC; the owner adds what is new to its own account
 *   and grants it. So the owner's account has all blocks of the buffer, wherever they are, and no
 *   buffer is ever over. Of an output other parts know whether it is usable.
 *
 * Entry points, in the loop of a part
 *     switch_part_hear()           what the others have published
 *     switch_receive_parted(), switch_part_receive()    a data frame in, for switch_receive_*()
 *     switch_part_publish()        what it has handed over
 *     switch_part_accept(), switch_part_pass()          from the rings
 *     switch_part_tell()           what the others may know
 *   All else as for a whole switch, for its own ports.
 *
 * Not divided: a switch without VOQs, whose queues are of no single output, and one that decides
 * with the state of its outputs (congestion control, marks, waiting times).
 *
 * Threads
 *   One per part. Creation, check, drain and end: one thread, while no part runs. */
/* clang-format on */

#include <stdint.h>

#include "forward.h"
#include "packet.h"
#include "switch.h"

/* The way of packets from one part of a divided switch to another (switch_part.h): one producer,
 * one consumer, entries that need no descriptor. The producer never asks how far the consumer is:
 * what it may have in the ring is limited by its input buffers, whose space comes back with a
 * release that the consumer publishes after it has read the entry. So a ring moves two cache lines
 * between the cores, that of its entries and that of the position.
 *
 * Inline: per packet. */

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

#define SWITCH_PARTS_MAX 16

/* Published by a part, which alone writes it, for the others: of an input, for its owner. */
struct part_board {
	uint64_t usable; /* outputs, of its own */
	/* Control frames that it has taken from the ring of each part. */
	uint32_t control_taken[SWITCH_PARTS_MAX] __attribute__((aligned(64)));
	/* Blocks that have left it, of each VC of each foreign input. A line each. */
	uint32_t released[SWITCH_PORTS_MAX][FRAME_VCS_MAX] __attribute__((aligned(64)));
	/* When the last of them left it; the driver's, stored before 'released'. */
	weft_time left_at[SWITCH_PORTS_MAX];
} __attribute__((aligned(64)));

_Static_assert(sizeof(uint32_t[FRAME_VCS_MAX]) == 64, "a line for each input");

/* A part's memory of another one. */
struct part_other {
	struct part_ring *out; /* that ring is the other's memory */
	uint64_t away;         /* own inputs that may have packets there */
	uint32_t control_handed;
	uint32_t heard[SWITCH_PORTS_MAX][FRAME_VCS_MAX]; /* of 'released' there */
};

struct switch_division;

struct switch_part {
	struct weft_switch *sw;
	struct switch_division *division;
	unsigned number;
	uint64_t own;     /* ports */
	uint64_t foreign; /* the other ones */
	uint64_t filled;  /* parts to which something was handed and not published yet */
	uint64_t guests; /* foreign inputs that may have packets here, or had since the last tell */
	struct part_other other[SWITCH_PARTS_MAX];
	struct part_ring in[SWITCH_PARTS_MAX]; /* from each part */
	struct part_board board;
	weft_time left_at[SWITCH_PORTS_MAX]; /* when packets of own inputs left others, as heard */
};

struct switch_division {
	unsigned parts;
	uint8_t owner[SWITCH_PORTS_MAX]; /* of each port */
	struct switch_config config;     /* of the whole */
	struct switch_part *part[SWITCH_PARTS_MAX];
};

/* 'owner' of each port: a part, 0 to parts - 1. NULL with errno EINVAL (a number out of range, a
 * part without a port, no VOQs) or ENOMEM. What 'config' points to stays the caller's. */
struct switch_division *switch_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned parts);
/* The memory of a part, and of the rings that lead to it. Each part's own thread may call it, so
 * that the memory is near its core. 0, -EINVAL or -ENOMEM. */
int switch_part_create(struct switch_division *division, unsigned part, weft_time now);
/* When all parts are there. */
void switch_division_connect(struct switch_division *division);
/* The driver frees stored packets first: switch_division_drain(). NULL is allowed. */
void switch_division_destroy(struct switch_division *division);

/* Discards what is stored and what is in the rings. */
void switch_division_drain(struct switch_division *division);
uint64_t switch_division_stored(const struct switch_division *division);
/* Invariants of the parts and between them; while no part runs. NULL, or what is wrong. */
const char *switch_division_check(const struct switch_division *division);

/* No buffer of its own inputs holds anything, here or in another part. */
bool switch_part_is_empty(const struct switch_part *part);

/* At the beginning of each iteration. */
void switch_part_hear(struct switch_part *part);
/* At the end of each iteration. */
void switch_part_tell(struct switch_part *part);

/* Packets that were handed over since the last call are the others' now. */
static inline void switch_part_publish(struct switch_part *part)
{
	for (; part->filled != 0; part->filled &= part->filled - 1)
		part_ring_publish(part->other[__builtin_ctzll(part->filled)].out);
}

static inline bool switch_part_is_foreign(const struct switch_part *part, unsigned output)
{
	return (part->foreign >> output & 1) != 0;
}

/* Hands an admitted packet over to the part of its output. */
static inline __attribute__((always_inline)) void switch_part_hand(struct switch_part *part,
	struct weft_packet *packet, const struct weft_packet *as, unsigned output)
{
	unsigned to = part->division->owner[output];
	struct part_entry *entry = part_ring_put(part->other[to].out);

	*entry = (struct part_entry){
		.packet = packet,
		.bytes = as->bytes,
		.blocks = as->blocks,
		.input = as->in_port,
		.output = (uint8_t)output,
		.vc = as->vc,
		.vc_next = as->vc_next,
	};
	part->other[to].away |= BIT64(as->in_port);
	part->filled |= BIT64(to);
}

/* switch_receive_direct() of a part: a plain packet for a foreign output is admitted as well, and
 * the driver calls switch_part_hand() with 'packet' as its description. */
static inline __attribute__((always_inline)) unsigned switch_receive_parted(
	struct switch_part *part, struct switch_port *port, struct weft_packet *packet,
	uint64_t outputs)
{
	struct weft_switch *sw = part->sw;
	unsigned output = forward_output(sw, packet);

	packet->vc_next = sw->sl_to_vc[packet->sl & 15];
	if (!forward_is_plain(
		    sw, port, packet, output, (sw->idle & outputs) | (sw->usable & part->foreign)))
		return SWITCH_PORT_NONE;
	if (!switch_part_is_foreign(part, output) && !forward_pass(sw, port, packet, output, true))
		return SWITCH_PORT_NONE;
	credit_arrive(&port->link.rx[packet->vc], packet->blocks);
	forward_set_header_vc(packet);
	return output;
}

/* switch_receive() of a part. The packet is the other part's after the next publication. */
static inline void switch_part_receive(
	struct switch_part *part, struct weft_packet *packet, weft_time now)
{
	struct weft_switch *sw = part->sw;
	unsigned output = switch_admit(sw, &sw->port[packet->in_port], packet, now);

	if (output == SWITCH_PORT_NONE)
		return;
	if (!switch_part_is_foreign(part, output)) {
		switch_store(sw, packet, output, now);
		return;
	}
	packet->out_port = (uint8_t)output;
	switch_part_hand(part, packet, packet, output);
}

/* For forward.c: a control frame with its route done, to the part of its output, or with PART_AGENT
 * to part 0. False: too many of them are on their way there. */
bool switch_part_hand_control(
	struct switch_part *part, struct weft_packet *packet, unsigned output);
/* The same with a frame that the driver has made, to the part that has the port. There the driver
 * finds it in the ring, calls switch_part_take_own() and sends it. */
bool switch_part_hand_own(struct switch_part *part, struct weft_packet *packet, unsigned port);
void switch_part_take_own(struct switch_part *part, unsigned from);

static inline bool switch_part_is_own(const struct part_entry *entry)
{
	return __builtin_expect(entry->vc == PART_OWN, 0);
}

/* An entry of a ring came: its input has a guest here. */
static inline void switch_part_admit(struct switch_part *part, const struct part_entry *entry)
{
	credit_arrive(&part->sw->port[entry->input].link.rx[entry->vc], entry->blocks);
	part->guests |= BIT64(entry->input);
}

/* switch_pass() for a data packet from another part. False: switch_part_accept(). */
static inline __attribute__((always_inline)) bool switch_part_pass(
	struct switch_part *part, const struct part_entry *entry, uint64_t outputs)
{
	struct weft_switch *sw = part->sw;
	struct credit_tx *tx = &sw->port[entry->output].link.tx[entry->vc_next];

	if (__builtin_expect((sw->idle & outputs) >> entry->output & 1, 1) == 0 ||
		__builtin_expect((entry->vc & PART_CONTROL) != 0, 0) ||
		__builtin_expect(!credit_suffices(tx, entry->blocks), 0))
		return false;
	switch_part_admit(part, entry);
	credit_take(tx, entry->blocks);
	credit_release(&sw->port[entry->input].link.rx[entry->vc], entry->blocks);
	return true;
}

/* Queues a packet from part 'from', or discards it if its output has gone down meanwhile. */
void switch_part_accept(
	struct switch_part *part, unsigned from, const struct part_entry *entry, weft_time now);

/* Between the checks of a switch and of its parts. */

/* Blocks that an own input's account has and that its own queues have not: in other parts, on the
 * way there, or gone without having been heard of. 0 for a foreign input. */
uint32_t switch_part_elsewhere(const struct switch_part *part, unsigned input, unsigned vc);
