/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_shard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static port_set ports_of(const struct switch_division *division, unsigned shard)
{
	port_set ports = PORT_SET_NONE;

	for (unsigned port = 0; port < division->config.ports; port++)
		if (division->owner[port] == shard)
			ports |= port_set_of(port);
	return ports;
}

static bool is_valid(const struct switch_config *config, const uint8_t *owner, unsigned shards)
{
	if (!config->voq || switch_bytes(config) == 0 || shards == 0 || shards > SWITCH_SHARDS_MAX)
		return false;
	for (unsigned port = 0; port < config->ports; port++)
		if (owner[port] >= shards)
			return false;
	return true;
}

struct switch_division *switch_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards)
{
	struct switch_division *division;

	if (!is_valid(config, owner, shards)) {
		errno = EINVAL;
		return NULL;
	}
	division = calloc(1, sizeof(*division));
	if (division == NULL)
		return NULL;
	division->shards = shards;
	division->config = *config;
	memcpy(division->owner, owner, config->ports);
	for (unsigned shard = 0; shard < shards; shard++)
		if (port_set_is_empty(ports_of(division, shard))) {
			free(division);
			errno = EINVAL;
			return NULL;
		}
	return division;
}

/* Returns the maximum number of ring entries of a shard: each packet occupies at least one block of
 * the shard's buffers, or one entry of the reserve for control frames. */
static uint32_t max_under_way(const struct switch_division *division, unsigned from)
{
	const struct switch_config *config = &division->config;
	uint32_t entries = config->control_reserve;

	PORT_SET_EACH(ports, ports_of(division, from)) {
		unsigned port = port_set_first(ports);
		uint32_t slots = config->port_slots[port];

		entries +=
			slots != 0 && slots < config->buffer_blocks ? slots : config->buffer_blocks;
	}
	return entries;
}

static int create_ring(struct shard_ring *ring, uint32_t entries)
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

/* Creates the shard's switch, in which foreign ports have no cable. */
static int create_switch(struct switch_shard *shard, weft_time now)
{
	struct switch_config config = shard->division->config;

	config.absent_ports |= shard->foreign;
	shard->sw = switch_create(&config, now);
	if (shard->sw == NULL)
		return -errno;
	shard->sw->shard = shard;
	shard->board.usable = shard->sw->usable;
	return 0;
}

int switch_shard_create(struct switch_division *division, unsigned number, weft_time now)
{
	struct switch_shard *shard = aligned_alloc(64, sizeof(*shard));
	int result;

	if (shard == NULL)
		return -ENOMEM;
	memset(shard, 0, sizeof(*shard));
	division->shard[number] = shard;
	shard->division = division;
	shard->number = number;
	shard->own = ports_of(division, number);
	shard->foreign = port_set_all(division->config.ports) & ~shard->own;
	result = create_switch(shard, now);
	for (unsigned from = 0; from < division->shards && result == 0; from++)
		if (from != number)
			result = create_ring(&shard->in[from], max_under_way(division, from));
	return result;
}

void switch_division_connect(struct switch_division *division)
{
	for (unsigned from = 0; from < division->shards; from++)
		for (unsigned to = 0; to < division->shards; to++)
			division->shard[from]->other[to].out = &division->shard[to]->in[from];
	for (unsigned shard = 0; shard < division->shards; shard++)
		switch_shard_pull(division->shard[shard]);
}

static void destroy_part(struct switch_shard *shard)
{
	if (shard == NULL)
		return;
	switch_destroy(shard->sw);
	for (unsigned from = 0; from < SWITCH_SHARDS_MAX; from++)
		free(shard->in[from].entry);
	free(shard);
}

void switch_division_destroy(struct switch_division *division)
{
	if (division == NULL)
		return;
	for (unsigned shard = 0; shard < division->shards; shard++)
		destroy_part(division->shard[shard]);
	free(division);
}

/* --- values that other shards publish --- */

static void hear_time(struct switch_shard *shard, const struct shard_board *board, unsigned input)
{
	weft_time left_at = __atomic_load_n(&board->left_at[input], __ATOMIC_RELAXED);

	if (left_at > shard->left_at[input])
		shard->left_at[input] = left_at;
}

/* Releases the blocks of packets that arrived here and that shard 'from' has sent or discarded. */
static void hear_releases(struct switch_shard *shard, unsigned from)
{
	struct shard_other *other = &shard->other[from];
	const struct shard_board *board = &shard->division->shard[from]->board;

	PORT_SET_EACH(inputs, other->away) {
		unsigned input = port_set_first(inputs);
		struct credit_rx *rx = shard->sw->port[input].link.rx;
		bool holds = false;

		for (unsigned vc = 0; vc < shard->sw->vcs; vc++) {
			/* Afterwards the ring entries of these packets may be overwritten. */
			uint32_t total =
				__atomic_load_n(&board->released[input][vc], __ATOMIC_ACQUIRE);

			if (total != other->heard[input][vc])
				hear_time(shard, board, input);
			credit_release(&rx[vc], total - other->heard[input][vc]);
			other->heard[input][vc] = total;
			holds = holds || credit_stored(&rx[vc]) != 0;
		}
		if (!holds)
			other->away &= ~port_set_of(input);
	}
}

void switch_shard_pull(struct switch_shard *shard)
{
	const struct switch_division *division = shard->division;
	port_set usable = shard->sw->usable & shard->own;

	for (unsigned from = 0; from < division->shards; from++) {
		if (from == shard->number)
			continue;
		usable |= port_set_load(&division->shard[from]->board.usable, __ATOMIC_RELAXED);
		if (!port_set_is_empty(shard->other[from].away))
			hear_releases(shard, from);
	}
	shard->sw->usable = usable;
}

static void tell_releases(struct switch_shard *shard)
{
	PORT_SET_EACH(inputs, shard->guests) {
		unsigned input = port_set_first(inputs);
		const struct credit_rx *rx = shard->sw->port[input].link.rx;
		uint32_t *released = shard->board.released[input];
		bool holds = false;

		for (unsigned vc = 0; vc < shard->sw->vcs; vc++) {
			if (released[vc] != rx[vc].released)
				__atomic_store_n(&released[vc], rx[vc].released, __ATOMIC_RELEASE);
			holds = holds || credit_stored(&rx[vc]) != 0;
		}
		if (!holds)
			shard->guests &= ~port_set_of(input);
	}
}

void switch_shard_push(struct switch_shard *shard)
{
	port_set usable = shard->sw->usable & shard->own;

	switch_shard_flush(shard);
	if (!port_set_equal(shard->board.usable, usable))
		port_set_store(&shard->board.usable, usable, __ATOMIC_RELAXED);
	if (!port_set_is_empty(shard->guests))
		tell_releases(shard);
}

/* --- the rings --- */

static bool hand_control(struct switch_shard *shard, struct weft_packet *packet, unsigned to,
	unsigned output, uint8_t vc)
{
	struct shard_other *other = &shard->other[to];
	const uint32_t *taken = &shard->division->shard[to]->board.control_taken[shard->number];

	if (other->control_handed - __atomic_load_n(taken, __ATOMIC_ACQUIRE) >=
		shard->sw->control_reserve)
		return false;
	other->control_handed++;
	*shard_ring_put(other->out) = (struct shard_entry){
		.packet = packet,
		.input = packet->in_port,
		.output = (uint8_t)output,
		.vc = vc,
	};
	shard->filled |= BIT64(to);
	return true;
}

bool switch_shard_hand_control(
	struct switch_shard *shard, struct weft_packet *packet, unsigned output)
{
	unsigned to = output == SHARD_AGENT ? 0 : shard->division->owner[output];

	return hand_control(shard, packet, to, output, SHARD_CONTROL);
}

bool switch_shard_hand_own(struct switch_shard *shard, struct weft_packet *packet, unsigned port)
{
	return hand_control(shard, packet, shard->division->owner[port], port, SHARD_OWN);
}

void switch_shard_take_own(struct switch_shard *shard, unsigned from)
{
	uint32_t *taken = &shard->board.control_taken[from];

	__atomic_store_n(taken, *taken + 1, __ATOMIC_RELEASE);
}

static void accept_control(
	struct switch_shard *shard, unsigned from, struct weft_packet *packet, unsigned output)
{
	switch_shard_take_own(shard, from);
	if (output == SHARD_AGENT)
		forward_give_to_agent(shard->sw, packet);
	else if (forward_is_in(shard->sw->usable & shard->own, output))
		forward_queue_control(shard->sw, packet, output);
	else
		discard_frame(shard->sw, packet, SWITCH_CONTROL_DISCARD_DOWN);
}

/* Fills in the fields that an output needs. */
static void describe(struct weft_packet *packet, const struct shard_entry *entry)
{
	packet->bytes = entry->bytes;
	packet->blocks = entry->blocks;
	packet->in_port = entry->input;
	packet->vc = entry->vc;
	packet->vc_next = entry->vc_next;
	packet->control = 0;
	packet->stalled = 0;
}

void switch_shard_accept(
	struct switch_shard *shard, unsigned from, const struct shard_entry *entry, weft_time now)
{
	struct weft_packet *packet = entry->packet;

	if ((entry->vc & SHARD_CONTROL) != 0) {
		accept_control(shard, from, packet, entry->output);
		return;
	}
	describe(packet, entry);
	switch_shard_admit(shard, entry);
	if (forward_is_in(shard->sw->usable & shard->own, entry->output))
		switch_store(shard->sw, packet, entry->output, now);
	else
		discard_stored(shard->sw, packet, SWITCH_DISCARD_LINK_DOWN);
}

/* --- destruction --- */

/* Discards a frame that the driver made, which no counter includes. */
static void discard_own(struct switch_shard *shard, unsigned from, struct weft_packet *packet)
{
	switch_shard_take_own(shard, from);
	packet->next = shard->sw->discarded;
	shard->sw->discarded = packet;
}

static void drain_rings(struct switch_shard *shard)
{
	for (unsigned from = 0; from < shard->division->shards; from++) {
		struct shard_ring *ring = &shard->in[from];

		for (; shard_ring_waiting(ring) != 0; shard_ring_take(ring, 1)) {
			const struct shard_entry *entry = shard_ring_at(ring, 0);

			if (switch_shard_is_own(entry))
				discard_own(shard, from, entry->packet);
			else
				switch_shard_accept(shard, from, entry, 0);
		}
	}
}

void switch_division_drain(struct switch_division *division)
{
	for (unsigned shard = 0; shard < division->shards; shard++)
		switch_shard_flush(division->shard[shard]);
	for (unsigned shard = 0; shard < division->shards; shard++) {
		drain_rings(division->shard[shard]);
		switch_drain(division->shard[shard]->sw);
	}
}

bool switch_shard_is_empty(const struct switch_shard *shard)
{
	PORT_SET_EACH(inputs, shard->own) {
		const struct credit_rx *rx = shard->sw->port[port_set_first(inputs)].link.rx;

		for (unsigned vc = 0; vc < shard->sw->vcs; vc++)
			if (credit_stored(&rx[vc]) != 0)
				return false;
	}
	return true;
}
