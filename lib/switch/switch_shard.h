/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* clang-format off */
/* A switch divided among cores (docs/how-to/divide-a-switch.md)
 *
 *   Each shard is a switch (switch.h) with all ports, some of which it owns; each port has one owner.
 *   The owner of an input admits its packets and accounts for its buffer. The owner of an output
 *   holds its queues, arbitration, credits and link. A packet from one shard to another passes through
 *   a ring (struct shard_ring) after admission.
 *
 *   For each foreign input, a shard has a shadow account of the blocks that it received from there and
 *   released. It publishes the released total of each VC. The owner adds the increase to its own
 *   account and grants it. The owner's account therefore covers all blocks of the buffer, wherever
 *   they are, and no buffer overflows. The only other information about a port is whether it is usable.
 *
 * Entry points, in the loop of a shard
 *     switch_shard_pull()           reads what the other shards published
 *     switch_receive_sharded(), switch_shard_receive()    a data frame in, for switch_receive_*()
 *     switch_shard_flush()        publishes packets for other shards
 *     switch_shard_accept(), switch_shard_pass()          packets from the rings
 *     switch_shard_push()           publishes everything for the other shards
 *   For a shard's own ports, everything else is the same as for a whole switch.
 *
 * Switches that cannot be divided: those without VOQs, whose queues belong to no single output, and
 * those whose decisions depend on the state of all outputs (congestion control, marks, waiting
 * times).
 *
 * Threads
 *   One per shard. Creation, check, drain and destruction: one thread, while no shard runs. */
/* clang-format on */

#include <stdint.h>

#include "forward.h"
#include "switch.h"
#include "wire/packet.h"

/* Carries packets between the shards of a divided switch: one producer, one consumer, entries that
 * need no descriptor. The producer never reads the consumer's position, because its input buffers
 * limit how much it has in the ring. Their space is released only after the consumer has read the
 * entry. A ring therefore moves two cache lines between the cores, one for its entries and one for
 * the position.
 *
 * Inline, because it is used per packet. */

/* A packet after admission. The header in its frame is the one for the next device. */
struct shard_entry {
	struct weft_packet *packet; /* set only for the switch's control frames */
	uint16_t bytes, blocks;
	uint8_t input, output;
	uint8_t vc, vc_next; /* 'vc' is SHARD_CONTROL or SHARD_OWN for other than data */
};

#define SHARD_CONTROL 0x80 /* control frame; 'output' may be SHARD_AGENT */
#define SHARD_OWN     0xC0 /* frame that the driver made; no switch has counted it */
#define SHARD_AGENT   0xFE /* for the device's agent, in shard 0 */

_Static_assert(sizeof(struct shard_entry) == 16, "four to a cache line");

struct shard_ring {
	struct shard_entry *entry; /* [mask + 1] */
	uint32_t mask;
	/* The producer's position. */
	uint32_t put __attribute__((aligned(64)));
	/* Position up to which the consumer may read. */
	uint32_t published __attribute__((aligned(64)));
	/* The consumer's position; other threads read it only while neither thread runs. */
	uint32_t taken __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* Returns space for the next entry. The consumer sees it after shard_ring_flush(). */
static inline struct shard_entry *shard_ring_put(struct shard_ring *ring)
{
	return &ring->entry[ring->put++ & ring->mask];
}

static inline void shard_ring_flush(struct shard_ring *ring)
{
	if (ring->published != ring->put)
		__atomic_store_n(&ring->published, ring->put, __ATOMIC_RELEASE);
}

/* Returns the number of entries that the consumer has not taken yet. */
static inline uint32_t shard_ring_waiting(const struct shard_ring *ring)
{
	return __atomic_load_n(&ring->published, __ATOMIC_ACQUIRE) - ring->taken;
}

/* Returns waiting entry 'i'. */
static inline const struct shard_entry *shard_ring_at(const struct shard_ring *ring, uint32_t i)
{
	return &ring->entry[(ring->taken + i) & ring->mask];
}

static inline void shard_ring_take(struct shard_ring *ring, uint32_t entries)
{
	ring->taken += entries;
}

#define SWITCH_SHARDS_MAX 16

/* Values that a shard, their only writer, publishes for the other shards. */
struct shard_board {
	port_set usable; /* usable outputs that the shard owns */
	/* By shard: control frames taken from that shard's ring. */
	uint32_t control_taken[SWITCH_SHARDS_MAX] __attribute__((aligned(64)));
	/* Blocks released per foreign input and VC, one cache line per input. */
	uint32_t released[SWITCH_PORTS_MAX][FRAME_VCS_MAX] __attribute__((aligned(64)));
	/* When the last of these blocks was released; set by the driver, before 'released'. */
	weft_time left_at[SWITCH_PORTS_MAX];
} __attribute__((aligned(64)));

_Static_assert(sizeof(uint32_t[FRAME_VCS_MAX]) == 64, "a line for each input");

/* A shard's information about another shard. */
struct shard_other {
	struct shard_ring *out; /* in the other shard's memory */
	port_set away;          /* own inputs that may have packets there */
	uint32_t control_handed;
	uint32_t heard[SWITCH_PORTS_MAX][FRAME_VCS_MAX]; /* last value read of 'released' there */
};

struct switch_division;

struct switch_shard {
	struct weft_switch *sw;
	struct switch_division *division;
	unsigned number;
	port_set own;     /* owned ports */
	port_set foreign; /* all remaining ports */
	uint64_t filled;  /* shards with packets in their ring that are not published yet */
	port_set guests;  /* foreign inputs that have had packets here since the last push */
	struct shard_other other[SWITCH_SHARDS_MAX];
	struct shard_ring in[SWITCH_SHARDS_MAX]; /* from each shard */
	struct shard_board board;
	weft_time left_at[SWITCH_PORTS_MAX]; /* last value read of 'left_at' for own inputs */
};

struct switch_division {
	unsigned shards;
	uint8_t owner[SWITCH_PORTS_MAX]; /* owner of each port */
	struct switch_config config;     /* configuration of the whole switch */
	struct switch_shard *shard[SWITCH_SHARDS_MAX];
};

/* 'owner' is the shard of each port, 0 to shards - 1. What 'config' points to is borrowed. Returns
 * NULL with errno EINVAL (a number out of range, a shard without a port, no VOQs) or ENOMEM. */
struct switch_division *switch_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards);
/* Allocates a shard and the rings that lead to it. Each shard's own thread may call it, so that the
 * memory is near its core. Returns 0, -EINVAL or -ENOMEM. */
int switch_shard_create(struct switch_division *division, unsigned shard, weft_time now);
/* Call when all shards have been created. */
void switch_division_connect(struct switch_division *division);
/* Call switch_division_drain() first, so that the driver can free stored packets. Accepts NULL. */
void switch_division_destroy(struct switch_division *division);

/* Discards all packets in queues and rings. */
void switch_division_drain(struct switch_division *division);
uint64_t switch_division_stored(const struct switch_division *division);
/* Checks invariants within and between the shards, while no shard runs. Returns NULL or a
 * description of the violation. */
const char *switch_division_check(const struct switch_division *division);

/* Returns true if the buffers of the shard's own inputs are empty, here and in all other shards. */
bool switch_shard_is_empty(const struct switch_shard *shard);

/* Call at the start of each iteration. */
void switch_shard_pull(struct switch_shard *shard);
/* Call at the end of each iteration. */
void switch_shard_push(struct switch_shard *shard);

/* Publishes the packets that were passed to other shards since the last call. */
static inline void switch_shard_flush(struct switch_shard *shard)
{
	for (; shard->filled != 0; shard->filled &= shard->filled - 1)
		shard_ring_flush(shard->other[__builtin_ctzll(shard->filled)].out);
}

static inline bool switch_shard_is_foreign(const struct switch_shard *shard, unsigned output)
{
	return port_set_has(shard->foreign, output);
}

/* Passes an admitted packet, described by 'as', to the shard that owns its output. */
static inline __attribute__((always_inline)) void switch_shard_hand(struct switch_shard *shard,
	struct weft_packet *packet, const struct weft_packet *as, unsigned output)
{
	unsigned to = shard->division->owner[output];
	struct shard_entry *entry = shard_ring_put(shard->other[to].out);

	*entry = (struct shard_entry){
		.packet = packet,
		.bytes = as->bytes,
		.blocks = as->blocks,
		.input = as->in_port,
		.output = (uint8_t)output,
		.vc = as->vc,
		.vc_next = as->vc_next,
	};
	shard->other[to].away |= port_set_of(as->in_port);
	shard->filled |= BIT64(to);
}

/* Like switch_receive_direct(), for a shard. It also admits plain packets for foreign outputs: the
 * driver then calls switch_shard_hand() with 'packet' as 'as'. */
static inline __attribute__((always_inline)) unsigned switch_receive_sharded(
	struct switch_shard *shard, struct switch_port *port, struct weft_packet *packet,
	port_set outputs)
{
	struct weft_switch *sw = shard->sw;
	unsigned output = forward_output(sw, packet);

	packet->vc_next = sw->sl_to_vc[packet->sl & 15];
	if (!forward_is_plain(
		    sw, port, packet, output, (sw->idle & outputs) | (sw->usable & shard->foreign)))
		return SWITCH_PORT_NONE;
	if (!switch_shard_is_foreign(shard, output) &&
		!forward_pass(sw, port, packet, output, true))
		return SWITCH_PORT_NONE;
	credit_arrive(&port->link.rx[packet->vc], packet->blocks);
	forward_set_header_vc(packet);
	return output;
}

/* Like switch_receive(), for a shard. The next flush passes the packet to its output's shard. */
static inline void switch_shard_receive(
	struct switch_shard *shard, struct weft_packet *packet, weft_time now)
{
	struct weft_switch *sw = shard->sw;
	unsigned output = switch_admit(sw, &sw->port[packet->in_port], packet, now);

	if (output == SWITCH_PORT_NONE)
		return;
	if (!switch_shard_is_foreign(shard, output)) {
		switch_store(sw, packet, output, now);
		return;
	}
	packet->out_port = (uint8_t)output;
	switch_shard_hand(shard, packet, packet, output);
}

/* For forward.c: passes a routed control frame to the shard that owns its output, or with
 * SHARD_AGENT to shard 0. Returns false if too many control frames are in transit there. */
bool switch_shard_hand_control(
	struct switch_shard *shard, struct weft_packet *packet, unsigned output);
/* Passes a frame that the driver made to the shard that owns the port. The driver finds it there in
 * the ring, calls switch_shard_take_own() and sends it. */
bool switch_shard_hand_own(struct switch_shard *shard, struct weft_packet *packet, unsigned port);
void switch_shard_take_own(struct switch_shard *shard, unsigned from);

static inline bool switch_shard_is_own(const struct shard_entry *entry)
{
	return __builtin_expect(entry->vc == SHARD_OWN, 0);
}

/* Accounts for an entry from a ring: its input now has a packet in this shard. */
static inline void switch_shard_admit(struct switch_shard *shard, const struct shard_entry *entry)
{
	credit_arrive(&shard->sw->port[entry->input].link.rx[entry->vc], entry->blocks);
	shard->guests |= port_set_of(entry->input);
}

/* Like switch_pass(), for a data packet from another shard. If it returns false, call
 * switch_shard_accept(). */
static inline __attribute__((always_inline)) bool switch_shard_pass(
	struct switch_shard *shard, const struct shard_entry *entry, port_set outputs)
{
	struct weft_switch *sw = shard->sw;
	struct credit_tx *tx = &sw->port[entry->output].link.tx[entry->vc_next];

	if (!__builtin_expect(port_set_has(sw->idle & outputs, entry->output), 1) ||
		__builtin_expect((entry->vc & SHARD_CONTROL) != 0, 0) ||
		__builtin_expect(!credit_suffices(tx, entry->blocks), 0))
		return false;
	switch_shard_admit(shard, entry);
	credit_take(tx, entry->blocks);
	credit_release(&sw->port[entry->input].link.rx[entry->vc], entry->blocks);
	return true;
}

/* Stores a packet from shard 'from', or discards it if its output has gone down. */
void switch_shard_accept(
	struct switch_shard *shard, unsigned from, const struct shard_entry *entry, weft_time now);

/* Shared by the checks of a switch and of its shards. */

/* Returns the number of blocks in an own input's account that are not in this shard's queues: in
 * other shards, in transit, or released but not read yet. Returns 0 for a foreign input. */
uint32_t switch_shard_elsewhere(const struct switch_shard *shard, unsigned input, unsigned vc);
