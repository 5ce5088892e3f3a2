/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "discard.h"

static uint64_t ports_of(const struct switch_division *division, unsigned part)
{
	uint64_t ports = 0;

	for (unsigned port = 0; port < division->config.ports; port++)
		if (division->owner[port] == part)
			ports |= BIT64(port);
	return ports;
}

static uint64_t all_ports(const struct switch_division *division)
{
	return UINT64_MAX >> (SWITCH_PORTS_MAX - division->config.ports);
}

static bool is_valid(const struct switch_config *config, const uint8_t *owner, unsigned parts)
{
	if (!config->voq || switch_bytes(config) == 0 || parts == 0 || parts > SWITCH_PARTS_MAX)
		return false;
	for (unsigned port = 0; port < config->ports; port++)
		if (owner[port] >= parts)
			return false;
	return true;
}

struct switch_division *switch_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned parts)
{
	struct switch_division *division;

	if (!is_valid(config, owner, parts)) {
		errno = EINVAL;
		return NULL;
	}
	division = calloc(1, sizeof(*division));
	if (division == NULL)
		return NULL;
	division->parts = parts;
	division->config = *config;
	memcpy(division->owner, owner, config->ports);
	for (unsigned part = 0; part < parts; part++)
		if (ports_of(division, part) == 0) {
			free(division);
			errno = EINVAL;
			return NULL;
		}
	return division;
}

/* Entries that a part can have in a ring: each packet takes a block of its buffers at least, or one
 * place of the reserve of control frames. */
static uint32_t most_under_way(const struct switch_division *division, unsigned from)
{
	const struct switch_config *config = &division->config;
	uint32_t entries = config->control_reserve;

	for (uint64_t ports = ports_of(division, from); ports != 0; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctzll(ports);
		uint32_t slots = config->port_slots[port];

		entries +=
			slots != 0 && slots < config->buffer_blocks ? slots : config->buffer_blocks;
	}
	return entries;
}

static int create_ring(struct part_ring *ring, uint32_t entries)
{
	uint32_t size = 4;

	while (size < entries + 1)
		size *= 2;
	ring->mask = size - 1;
	ring->entry = aligned_alloc(64, size * sizeof(*ring->entry));
	if (ring->entry == NULL)
		return -ENOMEM;
	memset(ring->entry, 0, size * sizeof(*ring->entry));
	return 0;
}

/* The other ports have no cable here. */
static int create_switch(struct switch_part *part, weft_time now)
{
	struct switch_config config = part->division->config;

	config.absent_ports |= part->foreign;
	part->sw = switch_create(&config, now);
	if (part->sw == NULL)
		return -errno;
	part->sw->part = part;
	part->board.usable = part->sw->usable;
	return 0;
}

int switch_part_create(struct switch_division *division, unsigned number, weft_time now)
{
	struct switch_part *part = aligned_alloc(64, sizeof(*part));
	int result;

	if (part == NULL)
		return -ENOMEM;
	memset(part, 0, sizeof(*part));
	division->part[number] = part;
	part->division = division;
	part->number = number;
	part->own = ports_of(division, number);
	part->foreign = all_ports(division) & ~part->own;
	result = create_switch(part, now);
	for (unsigned from = 0; from < division->parts && result == 0; from++)
		if (from != number)
			result = create_ring(&part->in[from], most_under_way(division, from));
	return result;
}

void switch_division_connect(struct switch_division *division)
{
	for (unsigned from = 0; from < division->parts; from++)
		for (unsigned to = 0; to < division->parts; to++)
			division->part[from]->other[to].out = &division->part[to]->in[from];
	for (unsigned part = 0; part < division->parts; part++)
		switch_part_hear(division->part[part]);
}

static void destroy_part(struct switch_part *part)
{
	if (part == NULL)
		return;
	switch_destroy(part->sw);
	for (unsigned from = 0; from < SWITCH_PARTS_MAX; from++)
		free(part->in[from].entry);
	free(part);
}

void switch_division_destroy(struct switch_division *division)
{
	if (division == NULL)
		return;
	for (unsigned part = 0; part < division->parts; part++)
		destroy_part(division->part[part]);
	free(division);
}

/* --- what the others have published, and what they may know --- */

static void hear_time(struct switch_part *part, const struct part_board *board, unsigned input)
{
	weft_time left_at = __atomic_load_n(&board->left_at[input], __ATOMIC_RELAXED);

	if (left_at > part->left_at[input])
		part->left_at[input] = left_at;
}

/* Packets that came in here and have left part 'from'. */
static void hear_releases(struct switch_part *part, unsigned from)
{
	struct part_other *other = &part->other[from];
	const struct part_board *board = &part->division->part[from]->board;

	for (uint64_t inputs = other->away; inputs != 0; inputs &= inputs - 1) {
		unsigned input = (unsigned)__builtin_ctzll(inputs);
		struct credit_rx *rx = part->sw->port[input].link.rx;
		bool holds = false;

		for (unsigned vc = 0; vc < part->sw->vcs; vc++) {
			/* After this the entries of the ring that they were in may be overwritten.
			 */
			uint32_t total =
				__atomic_load_n(&board->released[input][vc], __ATOMIC_ACQUIRE);

			if (total != other->heard[input][vc])
				hear_time(part, board, input);
			credit_release(&rx[vc], total - other->heard[input][vc]);
			other->heard[input][vc] = total;
			holds = holds || credit_stored(&rx[vc]) != 0;
		}
		if (!holds)
			other->away &= ~BIT64(input);
	}
}

void switch_part_hear(struct switch_part *part)
{
	const struct switch_division *division = part->division;
	uint64_t usable = part->sw->usable & part->own;

	for (unsigned from = 0; from < division->parts; from++) {
		if (from == part->number)
			continue;
		usable |= __atomic_load_n(&division->part[from]->board.usable, __ATOMIC_RELAXED);
		if (part->other[from].away != 0)
			hear_releases(part, from);
	}
	part->sw->usable = usable;
}

static void tell_releases(struct switch_part *part)
{
	for (uint64_t inputs = part->guests; inputs != 0; inputs &= inputs - 1) {
		unsigned input = (unsigned)__builtin_ctzll(inputs);
		const struct credit_rx *rx = part->sw->port[input].link.rx;
		uint32_t *released = part->board.released[input];
		bool holds = false;

		for (unsigned vc = 0; vc < part->sw->vcs; vc++) {
			if (released[vc] != rx[vc].released)
				__atomic_store_n(&released[vc], rx[vc].released, __ATOMIC_RELEASE);
			holds = holds || credit_stored(&rx[vc]) != 0;
		}
		if (!holds)
			part->guests &= ~BIT64(input);
	}
}

void switch_part_tell(struct switch_part *part)
{
	uint64_t usable = part->sw->usable & part->own;

	switch_part_publish(part);
	if (part->board.usable != usable)
		__atomic_store_n(&part->board.usable, usable, __ATOMIC_RELAXED);
	if (part->guests != 0)
		tell_releases(part);
}

/* --- the rings --- */

static bool hand_control(struct switch_part *part, struct weft_packet *packet, unsigned to,
	unsigned output, uint8_t vc)
{
	struct part_other *other = &part->other[to];
	const uint32_t *taken = &part->division->part[to]->board.control_taken[part->number];

	if (other->control_handed - __atomic_load_n(taken, __ATOMIC_ACQUIRE) >=
		part->sw->control_reserve)
		return false;
	other->control_handed++;
	*part_ring_put(other->out) = (struct part_entry){
		.packet = packet,
		.input = packet->in_port,
		.output = (uint8_t)output,
		.vc = vc,
	};
	part->filled |= BIT64(to);
	return true;
}

bool switch_part_hand_control(struct switch_part *part, struct weft_packet *packet, unsigned output)
{
	unsigned to = output == PART_AGENT ? 0 : part->division->owner[output];

	return hand_control(part, packet, to, output, PART_CONTROL);
}

bool switch_part_hand_own(struct switch_part *part, struct weft_packet *packet, unsigned port)
{
	return hand_control(part, packet, part->division->owner[port], port, PART_OWN);
}

void switch_part_take_own(struct switch_part *part, unsigned from)
{
	uint32_t *taken = &part->board.control_taken[from];

	__atomic_store_n(taken, *taken + 1, __ATOMIC_RELEASE);
}

static void accept_control(
	struct switch_part *part, unsigned from, struct weft_packet *packet, unsigned output)
{
	switch_part_take_own(part, from);
	if (output == PART_AGENT)
		forward_give_to_agent(part->sw, packet);
	else if (forward_is_in(part->sw->usable & part->own, output))
		forward_queue_control(part->sw, packet, output);
	else
		discard_frame(part->sw, packet, SWITCH_CONTROL_DISCARD_DOWN);
}

/* The rest of a descriptor is of no use to an output. */
static void describe(struct weft_packet *packet, const struct part_entry *entry)
{
	packet->bytes = entry->bytes;
	packet->blocks = entry->blocks;
	packet->in_port = entry->input;
	packet->vc = entry->vc;
	packet->vc_next = entry->vc_next;
	packet->control = 0;
	packet->stalled = 0;
}

void switch_part_accept(
	struct switch_part *part, unsigned from, const struct part_entry *entry, weft_time now)
{
	struct weft_packet *packet = entry->packet;

	if ((entry->vc & PART_CONTROL) != 0) {
		accept_control(part, from, packet, entry->output);
		return;
	}
	describe(packet, entry);
	switch_part_admit(part, entry);
	if (forward_is_in(part->sw->usable & part->own, entry->output))
		switch_store(part->sw, packet, entry->output, now);
	else
		discard_stored(part->sw, packet, SWITCH_DISCARD_LINK_DOWN);
}

/* --- the end --- */

/* Such a frame counts nowhere. */
static void discard_own(struct switch_part *part, unsigned from, struct weft_packet *packet)
{
	switch_part_take_own(part, from);
	packet->next = part->sw->discarded;
	part->sw->discarded = packet;
}

static void drain_rings(struct switch_part *part)
{
	for (unsigned from = 0; from < part->division->parts; from++) {
		struct part_ring *ring = &part->in[from];

		for (; part_ring_waiting(ring) != 0; part_ring_take(ring, 1)) {
			const struct part_entry *entry = part_ring_at(ring, 0);

			if (switch_part_is_own(entry))
				discard_own(part, from, entry->packet);
			else
				switch_part_accept(part, from, entry, 0);
		}
	}
}

void switch_division_drain(struct switch_division *division)
{
	for (unsigned part = 0; part < division->parts; part++)
		switch_part_publish(division->part[part]);
	for (unsigned part = 0; part < division->parts; part++) {
		drain_rings(division->part[part]);
		switch_drain(division->part[part]->sw);
	}
}

bool switch_part_is_empty(const struct switch_part *part)
{
	for (uint64_t inputs = part->own; inputs != 0; inputs &= inputs - 1) {
		const struct credit_rx *rx = part->sw->port[__builtin_ctzll(inputs)].link.rx;

		for (unsigned vc = 0; vc < part->sw->vcs; vc++)
			if (credit_stored(&rx[vc]) != 0)
				return false;
	}
	return true;
}
