/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "byte_hash.h"
#include "virtual_dispatch.h"
#include "virtual_threads.h"

/* The head of a message of a round. Then for each part of the receiver comes a section, and what
 * all parts of the sender have for it; and then, for rank 0, what has been appended. */
struct head {
	uint64_t next, end, out, events; /* as struct virtual_told, of all parts of the sender */
	uint64_t pause;
	struct virtual_goal_state goal;
};

struct section {
	uint32_t packets, controls;
	uint64_t bytes;
};

/* --- sending --- */

/* The contents for part 'to', which is in another rank, in the boxes of all parts. */
static struct section section_for(struct virtual_parts *parts, unsigned side, unsigned to)
{
	struct section section = {0};

	for (unsigned from = 0; from < parts->own; from++) {
		const struct virtual_box *box = &parts->worker[from].box[side][to];

		section.packets += box->packets;
		section.controls += box->controls;
	}
	return section;
}

static uint8_t *copy_boxes(struct virtual_parts *parts, unsigned side, unsigned to, uint8_t *out)
{
	const struct virtual_fabric *fabric = parts->worker[0].fabric;

	for (unsigned from = 0; from < parts->own; from++) {
		const struct virtual_box *box = &parts->worker[from].box[side][to];

		for (uint32_t i = 0; i < box->packets; i++)
			out = virtual_record_put_packet(fabric, out, &box->packet[i],
				fabric->extension != NULL ? &box->extension[i] : NULL);
	}
	for (unsigned from = 0; from < parts->own; from++) {
		const struct virtual_box *box = &parts->worker[from].box[side][to];

		for (uint32_t i = 0; i < box->controls; i++)
			out = virtual_record_put_control(fabric, out, &box->control[i]);
	}
	return out;
}

/* 0 or -ENOMEM. */
static int put_section(
	struct virtual_parts *parts, struct ranks_message *message, unsigned side, unsigned to)
{
	struct section section = section_for(parts, side, to);
	size_t most = sizeof(section) + virtual_record_room(parts->worker[0].fabric,
						section.packets, section.controls);
	uint8_t *begin, *out;

	if (ranks_reserve(message, message->used + most) < 0)
		return -ENOMEM;
	begin = message->bytes + message->used;
	out = copy_boxes(parts, side, to, begin + sizeof(section));
	section.bytes = (uint64_t)(out - begin) - sizeof(section);
	memcpy(begin, &section, sizeof(section));
	message->used = (size_t)(out - message->bytes);
	return 0;
}

/* All that goes to a rank. 0 or -ENOMEM. */
static int put_message(
	struct virtual_parts *parts, unsigned side, unsigned rank, const struct head *head)
{
	struct ranks_message *message = &parts->ranks->out[rank];
	unsigned first = virtual_ranks_first(parts, rank);
	void *begin = ranks_append(message, sizeof(*head));
	int result = begin == NULL ? -ENOMEM : 0;

	if (result == 0)
		memcpy(begin, head, sizeof(*head));
	for (unsigned to = 0; to < parts->own && result == 0; to++)
		result = put_section(parts, message, side, first + to);
	if (result == 0 && rank == 0 && parts->append != NULL)
		result = parts->append(parts->round_ctx, side, message);
	return result;
}

/* --- exchange --- */

static struct head head_of(const struct virtual_parts *parts, unsigned side)
{
	struct virtual_told all = VIRTUAL_TOLD_NOTHING;

	for (unsigned i = 0; i < parts->own; i++)
		virtual_told_add(&all, &parts->worker[i].told[side]);
	return (struct head){all.next, all.end, all.out, all.events, all.pause, all.goal};
}

static void hear(struct virtual_parts *parts, unsigned rank)
{
	const struct ranks_message *message = &parts->ranks->in[rank];
	struct virtual_told told;
	struct head head;

	if (message->used < sizeof(head)) {
		ranks_fail(parts->ranks, "another rank does something else");
		return;
	}
	memcpy(&head, message->bytes, sizeof(head));
	told = (struct virtual_told){
		head.next, head.end, head.out, head.events, head.pause != 0, head.goal};
	virtual_told_add(&parts->others, &told);
}

void virtual_ranks_exchange(struct virtual_parts *parts, unsigned side)
{
	struct ranks *ranks = parts->ranks;
	const struct head head = head_of(parts, side);

	parts->others = VIRTUAL_TOLD_NOTHING;
	for (unsigned rank = 0; rank < ranks->count; rank++)
		if (rank != ranks->own && put_message(parts, side, rank, &head) < 0)
			ranks_fail(ranks, "no memory for messages");
	if (ranks_exchange(ranks) == 0)
		for (unsigned rank = 0; rank < ranks->count; rank++)
			if (rank != ranks->own)
				hear(parts, rank);
	if (!ranks->failed)
		return;
	parts->others.pause = true;
	parts->worker[0].fabric->failed = true;
}

/* --- receiving --- */

static bool take_section(
	struct virtual_fabric *fabric, const struct section *section, struct ranks_reader *reader)
{
	for (uint32_t i = 0; i < section->packets; i++)
		if (!virtual_record_take_packet(fabric, reader))
			return false;
	virtual_cross_end_packets(fabric);
	for (uint32_t i = 0; i < section->controls; i++)
		if (!virtual_record_take_control(fabric, reader))
			return false;
	return reader->left == 0;
}

/* The next section and its contents. */
static bool read_section(
	struct ranks_reader *reader, struct section *section, struct ranks_reader *inside)
{
	const void *bytes = ranks_take(reader, sizeof(*section));

	if (bytes == NULL)
		return false;
	memcpy(section, bytes, sizeof(*section));
	*inside = (struct ranks_reader){reader->at, section->bytes};
	return ranks_take(reader, section->bytes) != NULL;
}

/* The section of a rank's message that is for the worker. */
static bool take_message(struct virtual_worker *worker, const struct ranks_message *message)
{
	struct ranks_reader reader = {message->bytes, message->used}, inside;
	struct section section;

	ranks_take(&reader, sizeof(struct head));
	for (unsigned to = 0; to < worker->parts->own; to++) {
		if (!read_section(&reader, &section, &inside))
			return false;
		if (to == worker->fabric->part && !take_section(worker->fabric, &section, &inside))
			return false;
	}
	return reader.left == 0 || worker->parts->each_round != NULL;
}

bool virtual_ranks_rest(const struct virtual_parts *parts, unsigned rank, struct ranks_reader *rest)
{
	const struct ranks_message *message = &parts->ranks->in[rank];
	struct ranks_reader inside;
	struct section section;

	*rest = (struct ranks_reader){message->bytes, message->used};
	if (ranks_take(rest, sizeof(struct head)) == NULL)
		return false;
	for (unsigned to = 0; to < parts->own; to++)
		if (!read_section(rest, &section, &inside))
			return false;
	return true;
}

void virtual_ranks_take(struct virtual_worker *worker)
{
	const struct ranks *ranks = worker->parts->ranks;

	for (unsigned rank = 0; rank < ranks->count && !ranks->failed; rank++)
		if (rank != ranks->own && !take_message(worker, &ranks->in[rank])) {
			worker->parts->garbled = true;
			worker->fabric->failed = true;
		}
}

/* --- before the run --- */

static int hash_set(const struct route_set *set, uint64_t *hash)
{
	struct ranks_message block = {0};
	int result = 0;

	for (uint32_t to = 0; to < route_set_hosts(set) && result == 0; to++) {
		size_t bytes = route_set_pack(set, to, NULL);

		result = ranks_reserve(&block, bytes);
		if (result == 0)
			*hash = byte_hash(*hash, block.bytes, route_set_pack(set, to, block.bytes));
	}
	free(block.bytes);
	return result;
}

static uint64_t hash_table(const struct route_table *table, uint64_t hash)
{
	size_t entries = (size_t)table->switches * table->hosts;

	hash = byte_hash(hash, table->primary, entries);
	if (table->alternatives != NULL)
		hash = byte_hash(hash, table->alternatives, entries * sizeof(*table->alternatives));
	return hash;
}

int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct fault *fault)
{
	const struct route_set *set = fabric->routes.set;
	uint64_t hash = 1; /* of nothing */
	int result = 0;

	if (set != NULL && route_set_is_on_demand(set)) {
		/* No route has been computed yet: compare their inputs and lengths. */
		hash = byte_hash(hash, route_set_origin_const(set), sizeof(struct route_origin));
		hash = byte_hash(hash, fabric->route_sum, fabric->hosts * sizeof(uint64_t));
	} else if (set != NULL && hash_set(set, &hash) < 0)
		result = fault_set(fault, ENOMEM, "no memory to compare routes");
	if (fabric->routes.table != NULL)
		hash = hash_table(fabric->routes.table, hash);
	result = ranks_agree(ranks, result, fault);
	if (result == 0)
		result = ranks_compare(ranks, &hash, sizeof(hash), "set of routes", fault);
	return result;
}

/* --- between rounds --- */

void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values)
{
	if (virtual_has_ranks(fabric))
		ranks_max(fabric->parts->ranks, value, values);
}

void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values)
{
	if (virtual_has_ranks(fabric))
		ranks_sum(fabric->parts->ranks, value, values);
}

static bool add_numbers(uint32_t *value, size_t values, const struct ranks_message *message)
{
	const uint8_t *at = message->bytes;
	uint32_t number;

	if (message->used != values * sizeof(number))
		return false;
	for (size_t i = 0; i < values; i++) {
		memcpy(&number, at + i * sizeof(number), sizeof(number));
		value[i] += number;
	}
	return true;
}

void virtual_ranks_add(const struct virtual_fabric *fabric, uint32_t *value, size_t values)
{
	struct ranks *ranks = virtual_has_ranks(fabric) ? fabric->parts->ranks : NULL;
	void *copy;

	if (ranks != NULL && ranks->own != 0) {
		copy = ranks_append(&ranks->out[0], values * sizeof(*value));
		if (copy != NULL)
			memcpy(copy, value, values * sizeof(*value));
		else
			ranks_fail(ranks, "no memory for messages");
	}
	if (ranks == NULL || ranks_exchange(ranks) < 0 || ranks->own != 0)
		return;
	for (unsigned rank = 1; rank < ranks->count; rank++)
		if (!add_numbers(value, values, &ranks->in[rank]))
			ranks_fail(ranks, "another rank measures something else");
}

static int add_heads(struct deadlock_heads *heads, const struct ranks_message *message)
{
	size_t count = message->used / sizeof(struct deadlock_head);

	if (count == 0)
		return 0;
	if (deadlock_heads_reserve(heads, heads->count + count) < 0)
		return -ENOMEM;
	memcpy(&heads->head[heads->count], message->bytes, count * sizeof(struct deadlock_head));
	heads->count += count;
	return 0;
}

void virtual_ranks_collect(const struct virtual_fabric *fabric, struct deadlock_heads *heads)
{
	size_t bytes = heads->count * sizeof(struct deadlock_head);
	struct ranks *ranks = virtual_has_ranks(fabric) ? fabric->parts->ranks : NULL;

	for (unsigned i = 0; ranks != NULL && i < ranks->count; i++) {
		void *copy = i != ranks->own ? ranks_append(&ranks->out[i], bytes) : NULL;

		if (copy != NULL && bytes > 0)
			memcpy(copy, heads->head, bytes);
		else if (copy == NULL && i != ranks->own)
			ranks_fail(ranks, "no memory for messages");
	}
	if (ranks == NULL || ranks_exchange(ranks) < 0)
		return;
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->own && add_heads(heads, &ranks->in[i]) < 0)
			ranks_fail(ranks, "no memory for messages");
}
