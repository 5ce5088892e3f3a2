/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A shard of a switch takes the packets that other shards received for it. */

#include "poll_division.h"
#include "poll_switch_private.h"
#include "switch/switch_shard.h"

/* Drivers read fields of the mbuf of a passing frame, which another core wrote. */
static inline void prefetch_mbuf(struct weft_packet *packet)
{
	const struct rte_mbuf *mbuf = packet_mbuf(packet);

	rte_prefetch0(mbuf);
	rte_prefetch0(&mbuf->next);
}

/* Handles an entry as if the packet had arrived here on the same input. */
static inline void accept_entry(
	struct poll_switch *ps, unsigned from, const struct shard_entry *entry, weft_time now)
{
	if (switch_shard_is_own(entry)) {
		switch_shard_take_own(ps->shard, from);
		poll_division_send(ps, entry->output, packet_mbuf(entry->packet), now);
		return;
	}
	if (!switch_shard_pass(ps->shard, entry, ps->direct)) {
		switch_shard_accept(ps->shard, from, entry, now);
		return;
	}
	poll_switch_append(ps, entry->output, packet_mbuf(entry->packet), entry->bytes, entry->vc);
	ps->filled |= port_set_of(entry->output);
}

/* At most a burst at a time, so that the outputs have room. */
static void accept_burst(struct poll_switch *ps, unsigned from, unsigned count, weft_time now)
{
	struct shard_ring *ring = &ps->shard->in[from];
	unsigned input = shard_ring_at(ring, 0)->input;

	for (uint32_t i = 0; i < count; i++)
		prefetch_mbuf(shard_ring_at(ring, i)->packet);
	for (uint32_t i = 0; i < count; i++) {
		const struct shard_entry *entry = shard_ring_at(ring, i);

		if (entry->input != input)
			poll_switch_flush(ps, input, now);
		input = entry->input;
		accept_entry(ps, from, entry, now);
	}
	shard_ring_take(ring, count);
	poll_switch_flush(ps, input, now);
}

/* Takes everything that is waiting; an entry that arrives meanwhile is left to the next
 * iteration. */
static unsigned accept_ring(struct poll_switch *ps, unsigned from, weft_time now)
{
	unsigned waiting = shard_ring_waiting(&ps->shard->in[from]);

	for (unsigned left = waiting, count; left > 0; left -= count) {
		count = RTE_MIN(left, PORT_BURST);
		accept_burst(ps, from, count, now);
	}
	return waiting;
}

unsigned poll_switch_accept(struct poll_switch *ps, weft_time now)
{
	unsigned shards = ps->shard->division->shards, moved = 0;

	switch_shard_pull(ps->shard);
	for (unsigned from = 0; from < shards; from++)
		if (from != ps->shard->number)
			moved += accept_ring(ps, from, now);
	if (ps->sw->for_agent != NULL)
		poll_switch_control_up(ps);
	return moved;
}
