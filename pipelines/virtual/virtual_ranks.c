/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "virtual_reroute.h"
#include "virtual_threads.h"

/* Packets and control frames that cross to a partition in a different rank, as records of a
 * message. Pointers are replaced with numbers that are valid in all ranks. */

/* A packet without pointers, followed by its latency extension if packets have them. */
struct sent_packet {
	struct weft_packet packet;
	weft_time at, injected_ps, generated_ps;
	uint32_t order;
	uint16_t payload_bytes;
	uint8_t path;
	uint8_t kind; /* enum partition_crossing */
	uint8_t losses;
	struct virtual_route_number route;
};

/* A credit frame, a notification, or a schedule message that was accepted. A credit frame is
 * followed by the limits of its VCs. The receiver knows the sender's totals, because nothing is
 * lost (virtual_open_credit()); the totals follow only for captures, which show them. A congestion
 * notification is followed by its struct virtual_answer. */
struct sent_control {
	weft_time at;
	uint32_t order;
	uint32_t channel; /* number of the sending channel */
	uint8_t kind;     /* enum partition_crossing_control_kind */
	uint8_t reserved[7];
	union {
		struct control_arn arn;
		uint32_t op;
	};
};

static size_t extension_bytes(const struct virtual_fabric *fabric)
{
	return fabric->extension != NULL ? sizeof(*fabric->extension) : 0;
}

static uint8_t *virtual_record_put_packet(const struct virtual_fabric *fabric, uint8_t *out,
	const struct partition_crossing_packet *crossing, const struct latency_extension *extension)
{
	struct sent_packet sent = {.packet = crossing->packet,
		.at = crossing->at,
		.injected_ps = crossing->origin.injected_ps,
		.generated_ps = crossing->origin.generated_ps,
		.order = crossing->order,
		.payload_bytes = crossing->origin.payload_bytes,
		.path = crossing->origin.path,
		.route = virtual_reroute_number(fabric, &crossing->packet),
		.losses = crossing->origin.losses,
		.kind = (uint8_t)crossing->kind};

	memcpy(out, &sent, sizeof(sent));
	if (extension != NULL)
		memcpy(out + sizeof(sent), extension, sizeof(*extension));
	return out + sizeof(sent) + extension_bytes(fabric);
}

static uint8_t *put_bytes(uint8_t *out, const void *from, size_t bytes)
{
	memcpy(out, from, bytes);
	return out + bytes;
}

static bool is_captured(const struct virtual_fabric *fabric)
{
	return fabric->partitions->each_round != NULL || fabric->partitions->append != NULL;
}

/* Maximum size of the data after a struct sent_control. */
#define REST_MAX (sizeof(struct virtual_answer) + FRAME_VCS_MAX * sizeof(struct virtual_credit))

/* Returns the maximum size of this many records. */
static size_t virtual_record_room(
	const struct virtual_fabric *fabric, size_t packets, size_t controls)
{
	return packets * (sizeof(struct sent_packet) + extension_bytes(fabric)) +
	       controls * (sizeof(struct sent_control) + REST_MAX);
}

static uint8_t *put_rest(const struct virtual_fabric *fabric, uint8_t *out,
	const struct partition_crossing_control *crossing)
{
	const struct virtual_credit *credit = crossing->credit;

	if (crossing->kind == VIRTUAL_CROSSING_ANSWER)
		return put_bytes(out, &crossing->answer, sizeof(crossing->answer));
	if (crossing->kind != VIRTUAL_CROSSING_CREDIT)
		return out;
	if (is_captured(fabric))
		return put_bytes(out, credit, fabric->vcs * sizeof(*credit));
	for (unsigned vc = 0; vc < fabric->vcs; vc++)
		out = put_bytes(out, &credit[vc].limit, sizeof(credit[vc].limit));
	return out;
}

/* Appends a record. Returns the byte after it. */
static uint8_t *virtual_record_put_control(const struct virtual_fabric *fabric, uint8_t *out,
	const struct partition_crossing_control *crossing)
{
	struct sent_control sent = {
		.at = crossing->at, .order = crossing->order, .kind = (uint8_t)crossing->kind};

	if (crossing->channel != NULL)
		sent.channel = (uint32_t)(crossing->channel - fabric->channel);
	if (crossing->kind == VIRTUAL_CROSSING_ARN)
		sent.arn = crossing->arn;
	if (crossing->kind == VIRTUAL_CROSSING_ACCEPT)
		sent.op = crossing->op;
	return put_rest(fabric, put_bytes(out, &sent, sizeof(sent)), crossing);
}

static bool virtual_record_take_packet(struct virtual_fabric *fabric, struct ranks_reader *reader)
{
	const uint8_t *bytes =
		ranks_take(reader, sizeof(struct sent_packet) + extension_bytes(fabric));
	struct partition_crossing_packet crossing;
	struct latency_extension extension;
	struct sent_packet sent;
	unsigned length;

	if (bytes == NULL)
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	memcpy(&extension, bytes + sizeof(sent), extension_bytes(fabric));
	crossing = (struct partition_crossing_packet){.packet = sent.packet,
		.origin = {.injected_ps = sent.injected_ps,
			.generated_ps = sent.generated_ps,
			.payload_bytes = sent.payload_bytes,
			.path = sent.path,
			.losses = sent.losses},
		.at = sent.at,
		.order = sent.order,
		.kind = (enum partition_crossing)sent.kind};
	if (sent.packet.route_length != 0)
		crossing.packet.route = route_set_get(virtual_reroute_set(fabric, sent.route.set),
			sent.packet.source, sent.packet.destination, sent.route.which, &length);
	partition_message_take_packet(
		fabric, &crossing, fabric->extension != NULL ? &extension : NULL);
	return true;
}

static bool get_bytes(struct ranks_reader *reader, void *to, size_t bytes)
{
	const void *from = ranks_take(reader, bytes);

	if (from != NULL)
		memcpy(to, from, bytes);
	return from != NULL;
}

static bool take_credit(const struct virtual_fabric *fabric, struct virtual_credit *credit,
	struct ranks_reader *reader)
{
	bool whole = true;

	if (is_captured(fabric))
		return get_bytes(reader, credit, fabric->vcs * sizeof(*credit));
	for (unsigned vc = 0; vc < fabric->vcs && whole; vc++)
		whole = get_bytes(reader, &credit[vc].limit, sizeof(credit[vc].limit));
	return whole;
}

static bool take_rest(const struct virtual_fabric *fabric,
	struct partition_crossing_control *crossing, const struct sent_control *sent,
	struct ranks_reader *reader)
{
	switch (crossing->kind) {
	case VIRTUAL_CROSSING_CREDIT:
		return take_credit(fabric, crossing->credit, reader);
	case VIRTUAL_CROSSING_ARN:
		crossing->arn = sent->arn;
		return true;
	case VIRTUAL_CROSSING_ANSWER:
		return get_bytes(reader, &crossing->answer, sizeof(crossing->answer));
	case VIRTUAL_CROSSING_ACCEPT:
		crossing->op = sent->op;
		return true;
	}
	return false;
}

/* Turns the next record into an event of this partition. Returns false if missing or invalid. */
static bool virtual_record_take_control(struct virtual_fabric *fabric, struct ranks_reader *reader)
{
	const void *bytes = ranks_take(reader, sizeof(struct sent_control));
	struct partition_crossing_control crossing = {0};
	struct sent_control sent;

	if (bytes == NULL)
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	crossing.at = sent.at;
	crossing.order = sent.order;
	crossing.channel = &fabric->channel[sent.channel];
	crossing.kind = (enum partition_crossing_control_kind)sent.kind;
	if (!take_rest(fabric, &crossing, &sent, reader))
		return false;
	partition_message_take_control(fabric, &crossing);
	return true;
}

/* Header of a round's message. It is followed by a section per partition of the receiver, with the
 * data from all partitions of the sender, and then, for rank 0, by the appended data. */
struct head {
	uint64_t next, end, out,
		events; /* as in struct partition_summary, over all partitions of the sender */
	uint64_t pause;
	struct virtual_goal_state goal;
};

struct section {
	uint32_t packets, controls;
	uint64_t bytes;
};

/* --- sending --- */

/* Counts the elements for partition 'to', which is in a different rank, in all mailboxes. */
static struct section section_for(struct virtual_partitions *partitions, unsigned side, unsigned to)
{
	struct section section = {0};

	for (unsigned from = 0; from < partitions->own; from++) {
		const struct partition_mailbox *box = &partitions->worker[from].box[side][to];

		section.packets += box->packets;
		section.controls += box->controls;
	}
	return section;
}

static uint8_t *copy_boxes(
	struct virtual_partitions *partitions, unsigned side, unsigned to, uint8_t *out)
{
	const struct virtual_fabric *fabric = partitions->worker[0].fabric;

	for (unsigned from = 0; from < partitions->own; from++) {
		const struct partition_mailbox *box = &partitions->worker[from].box[side][to];

		for (uint32_t i = 0; i < box->packets; i++)
			out = virtual_record_put_packet(fabric, out, &box->packet[i],
				fabric->extension != NULL ? &box->extension[i] : NULL);
	}
	for (unsigned from = 0; from < partitions->own; from++) {
		const struct partition_mailbox *box = &partitions->worker[from].box[side][to];

		for (uint32_t i = 0; i < box->controls; i++)
			out = virtual_record_put_control(fabric, out, &box->control[i]);
	}
	return out;
}

/* Returns 0 or -ENOMEM. */
static int put_section(struct virtual_partitions *partitions, struct ranks_message *message,
	unsigned side, unsigned to)
{
	struct section section = section_for(partitions, side, to);
	size_t max = sizeof(section) + virtual_record_room(partitions->worker[0].fabric,
					       section.packets, section.controls);
	uint8_t *begin, *out;

	if (ranks_reserve(message, message->used + max) < 0)
		return -ENOMEM;
	begin = message->bytes + message->used;
	out = copy_boxes(partitions, side, to, begin + sizeof(section));
	section.bytes = (uint64_t)(out - begin) - sizeof(section);
	memcpy(begin, &section, sizeof(section));
	message->used = (size_t)(out - message->bytes);
	return 0;
}

/* Packs all data for a rank. Returns 0 or -ENOMEM. */
static int put_message(struct virtual_partitions *partitions, unsigned side, unsigned rank,
	const struct head *head)
{
	struct ranks_message *message = &partitions->ranks->out[rank];
	unsigned first = virtual_ranks_first(partitions, rank);
	void *begin = ranks_append(message, sizeof(*head));
	int result = begin == NULL ? -ENOMEM : 0;

	if (result == 0)
		memcpy(begin, head, sizeof(*head));
	for (unsigned to = 0; to < partitions->own && result == 0; to++)
		result = put_section(partitions, message, side, first + to);
	if (result == 0 && rank == 0 && partitions->append != NULL)
		result = partitions->append(partitions->round_ctx, side, message);
	return result;
}

/* --- exchange --- */

static struct head head_of(const struct virtual_partitions *partitions, unsigned side)
{
	struct partition_summary all = VIRTUAL_TOLD_NOTHING;

	for (unsigned i = 0; i < partitions->own; i++)
		partition_summary_add(&all, &partitions->worker[i].told[side]);
	return (struct head){all.next, all.end, all.out, all.events, all.pause, all.goal};
}

static void hear(struct virtual_partitions *partitions, unsigned rank)
{
	const struct ranks_message *message = &partitions->ranks->in[rank];
	struct partition_summary told;
	struct head head;

	if (message->used < sizeof(head)) {
		ranks_fail(partitions->ranks, "another rank sent a message of unexpected length");
		return;
	}
	memcpy(&head, message->bytes, sizeof(head));
	told = (struct partition_summary){
		head.next, head.end, head.out, head.events, head.pause != 0, head.goal};
	partition_summary_add(&partitions->others, &told);
}

void virtual_ranks_exchange(struct virtual_partitions *partitions, unsigned side)
{
	struct ranks *ranks = partitions->ranks;
	const struct head head = head_of(partitions, side);

	partitions->others = VIRTUAL_TOLD_NOTHING;
	for (unsigned rank = 0; rank < ranks->count; rank++)
		if (rank != ranks->own && put_message(partitions, side, rank, &head) < 0)
			ranks_fail(ranks, "not enough memory for messages");
	if (ranks_exchange(ranks) == 0)
		for (unsigned rank = 0; rank < ranks->count; rank++)
			if (rank != ranks->own)
				hear(partitions, rank);
	if (!ranks->failed)
		return;
	partitions->others.pause = true;
	partitions->worker[0].fabric->failed = true;
}

/* --- receiving --- */

static bool take_section(
	struct virtual_fabric *fabric, const struct section *section, struct ranks_reader *reader)
{
	for (uint32_t i = 0; i < section->packets; i++)
		if (!virtual_record_take_packet(fabric, reader))
			return false;
	partition_message_end_packets(fabric);
	for (uint32_t i = 0; i < section->controls; i++)
		if (!virtual_record_take_control(fabric, reader))
			return false;
	return reader->left == 0;
}

/* Reads the next section and finds its contents. Returns false if it is invalid. */
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

/* Handles the worker's section of a message from a rank. Returns false if it is invalid. */
static bool take_message(struct virtual_worker *worker, const struct ranks_message *message)
{
	struct ranks_reader reader = {message->bytes, message->used}, inside;
	struct section section;

	ranks_take(&reader, sizeof(struct head));
	for (unsigned to = 0; to < worker->partitions->own; to++) {
		if (!read_section(&reader, &section, &inside))
			return false;
		if (to == worker->fabric->partition &&
			!take_section(worker->fabric, &section, &inside))
			return false;
	}
	return reader.left == 0 || worker->partitions->each_round != NULL;
}

bool virtual_ranks_rest(
	const struct virtual_partitions *partitions, unsigned rank, struct ranks_reader *rest)
{
	const struct ranks_message *message = &partitions->ranks->in[rank];
	struct ranks_reader inside;
	struct section section;

	*rest = (struct ranks_reader){message->bytes, message->used};
	if (ranks_take(rest, sizeof(struct head)) == NULL)
		return false;
	for (unsigned to = 0; to < partitions->own; to++)
		if (!read_section(rest, &section, &inside))
			return false;
	return true;
}

void virtual_ranks_take(struct virtual_worker *worker)
{
	const struct ranks *ranks = worker->partitions->ranks;

	for (unsigned rank = 0; rank < ranks->count && !ranks->failed; rank++)
		if (rank != ranks->own && !take_message(worker, &ranks->in[rank])) {
			worker->partitions->garbled = true;
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
		hash = byte_hash(hash, table->alternatives,
			entries * table->words * sizeof(*table->alternatives));
	return hash;
}

int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct error *error)
{
	const struct route_set *set = fabric->routes.set;
	uint64_t hash = 1; /* initial value */
	int result = 0;

	if (set != NULL && route_set_is_on_demand(set)) {
		/* Routes are not computed yet: compares their inputs and lengths. */
		hash = byte_hash(hash, route_set_origin_const(set), sizeof(struct route_origin));
		hash = byte_hash(hash, fabric->route_sum, fabric->hosts * sizeof(uint64_t));
	} else if (set != NULL && hash_set(set, &hash) < 0)
		result = error_set(error, ENOMEM, "not enough memory to compare routes");
	if (fabric->routes.table != NULL)
		hash = hash_table(fabric->routes.table, hash);
	result = ranks_agree(ranks, result, error);
	if (result == 0)
		result = ranks_compare(ranks, &hash, sizeof(hash), "route set", error);
	return result;
}

/* --- between rounds --- */

void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values)
{
	if (virtual_has_ranks(fabric))
		ranks_max(fabric->partitions->ranks, value, values);
}

void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values)
{
	if (virtual_has_ranks(fabric))
		ranks_sum(fabric->partitions->ranks, value, values);
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
	struct ranks *ranks = virtual_has_ranks(fabric) ? fabric->partitions->ranks : NULL;
	void *copy;

	if (ranks != NULL && ranks->own != 0) {
		copy = ranks_append(&ranks->out[0], values * sizeof(*value));
		if (copy != NULL)
			memcpy(copy, value, values * sizeof(*value));
		else
			ranks_fail(ranks, "not enough memory for messages");
	}
	if (ranks == NULL || ranks_exchange(ranks) < 0 || ranks->own != 0)
		return;
	for (unsigned rank = 1; rank < ranks->count; rank++)
		if (!add_numbers(value, values, &ranks->in[rank]))
			ranks_fail(ranks, "another rank sent a message of unexpected length");
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
	struct ranks *ranks = virtual_has_ranks(fabric) ? fabric->partitions->ranks : NULL;

	for (unsigned i = 0; ranks != NULL && i < ranks->count; i++) {
		void *copy = i != ranks->own ? ranks_append(&ranks->out[i], bytes) : NULL;

		if (copy != NULL && bytes > 0)
			memcpy(copy, heads->head, bytes);
		else if (copy == NULL && i != ranks->own)
			ranks_fail(ranks, "not enough memory for messages");
	}
	if (ranks == NULL || ranks_exchange(ranks) < 0)
		return;
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->own && add_heads(heads, &ranks->in[i]) < 0)
			ranks_fail(ranks, "not enough memory for messages");
}
