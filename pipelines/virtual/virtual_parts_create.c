/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Cuts a virtual fabric into parts and creates them. */

#include "virtual_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology_cut.h"
#include "virtual_cn.h"
#include "virtual_measure.h"
#include "virtual_threads.h"

static int check(const struct virtual_fabric *fabric, struct fault *fault)
{
	char text[VIRTUAL_PARTS_TEXT];

	virtual_parts_text(fabric, text);
	if (fabric->parts->count > fabric->switches || fabric->parts->count > VIRTUAL_WORKERS_MAX)
		return fault_set(fault, EINVAL,
			"%s: expected 1 to %u%s, of a fabric with %u switches", text,
			fabric->switches < VIRTUAL_WORKERS_MAX ? fabric->switches
							       : VIRTUAL_WORKERS_MAX,
			fabric->parts->ranks != NULL ? " workers in all" : "", fabric->switches);
	return 0;
}

/* Computed by rank 0 for all, because METIS versions may differ between machines. */
static int assign(struct virtual_fabric *fabric, struct virtual_parts *parts, struct fault *fault)
{
	size_t devices = (size_t)fabric->switches + fabric->hosts;
	struct ranks *ranks = parts->ranks;
	int result = 0;

	parts->of_device = calloc(devices + 1, sizeof(*parts->of_device));
	if (parts->of_device == NULL)
		result = -ENOMEM;
	else if (ranks == NULL || ranks->own == 0)
		result = topology_cut(fabric->topology, parts->count, parts->of_device);
	if (result < 0)
		fault_set(fault, -result, "%s: cannot be cut into %u parts", fabric->topology->name,
			parts->count);
	result = ranks_agree(ranks, result, fault);
	if (result == 0 && ranks != NULL &&
		ranks_share(ranks, parts->of_device, devices * sizeof(*parts->of_device)) < 0) {
		*fault = ranks->fault;
		return -EIO;
	}
	return result;
}

/* Links between parts: what they send goes into boxes. */
static void mark_links(struct virtual_fabric *fabric, const struct virtual_parts *parts)
{
	struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];

	for (struct virtual_tx *channel = fabric->channel; channel < end; channel++) {
		uint32_t from = virtual_device_of(fabric, channel->done);
		uint32_t to = virtual_device_of(fabric, channel->arrive);

		channel->crosses =
			channel->ps_per_byte != 0 && parts->of_device[from] != parts->of_device[to];
		channel->special = channel->crosses;
	}
}

static int cut(struct virtual_fabric *fabric, struct virtual_parts *parts, struct fault *fault)
{
	char text[VIRTUAL_PARTS_TEXT];
	int result = assign(fabric, parts, fault);
	size_t devices;
	unsigned first;

	if (result < 0)
		return result;
	/* Own parts get the lowest numbers, and those of the next ranks follow. */
	devices = (size_t)fabric->switches + fabric->hosts;
	first = parts->ranks != NULL ? parts->ranks->own * parts->own : 0;
	for (size_t i = 0; first > 0 && i < devices; i++)
		parts->of_device[i] =
			(uint16_t)((parts->of_device[i] + parts->count - first) % parts->count);
	mark_links(fabric, parts);
	virtual_lookahead_open(&parts->lookahead, fabric, parts->of_device);
	fabric->ends.wanted = virtual_lookahead_wants_ends(&parts->lookahead);
	if (parts->lookahead.min_ps == 0 &&
		topology_cut_delay(fabric->topology, parts->of_device) != 0)
		return fault_set(fault, EINVAL,
			"%s: a host's link has no delay, after which workers hear of congestion and "
			"discarded frames: expected 'delay' above 0ps",
			virtual_parts_text(fabric, text));
	if (parts->lookahead.min_ps == 0)
		return fault_set(fault, EINVAL,
			"%s: a link without delay would be cut, and workers need a delay between "
			"them: expected 'delay' above 0ps",
			virtual_parts_text(fabric, text));
	return 0;
}

/* Frames that wait at hosts for those before them take packets of which all hosts have a share. One
 * worker holds all hosts back when there is none left (virtual_send.h); parts do not know of
 * each other's in time, and end the run before that. */
static int limit_out(
	struct virtual_fabric *fabric, struct virtual_parts *parts, struct fault *fault)
{
	uint64_t hosts = fabric->hosts, min = UINT64_MAX, round;
	uint64_t frame = virtual_min_payload(fabric) + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	char text[VIRTUAL_PARTS_TEXT];

	parts->out_max = UINT64_MAX;
	if (virtual_order_reserve(fabric) == 0)
		return 0;
	for (uint32_t i = 0; i < fabric->topology->links; i++) {
		uint64_t each = ps_per_byte(fabric->topology->link_at[i].rate_bps);

		min = each < min ? each : min;
	}
	/* Packets that a host can begin to send in a round. */
	round = parts->lookahead.packet_ps / (frame * (min > 0 ? min : 1)) + 2;
	parts->out_max = run_result_minus(fabric->pool.size, hosts * (round + 1));
	if (parts->out_max >= hosts)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: in the delay of a cut link, %g us, a host sends more frames than there is "
		"memory for where frames can overtake each other: only one worker can run this",
		virtual_parts_text(fabric, text),
		(double)parts->lookahead.packet_ps / (double)PS_PER_US);
}

static int create_part(struct virtual_fabric *fabric, struct virtual_worker *worker, unsigned which)
{
	/* In cache lines of its own. */
	struct virtual_fabric *part = aligned_alloc(64, (sizeof(*part) + 63) / 64 * 64);

	worker->fabric = part;
	if (part == NULL)
		return -ENOMEM;
	*part = *fabric;
	part->part = which;
	part->arena = (struct arena){0};
	part->pool = (struct virtual_pool){0};
	part->credits = part->arns = part->cns = (struct virtual_control){0};
	part->extension = NULL;
	part->events = NULL;
	part->entry = NULL;
	part->held = NULL;
	if (virtual_fabric_open_own(part) < 0)
		return -ENOMEM;
	for (uint32_t at = 0; at < fabric->switches; at++)
		if (!virtual_is_elsewhere(part, at))
			virtual_cn_move_switch(part, at);
	return virtual_entries_open_own(part);
}

static int create_workers(struct virtual_fabric *fabric, struct virtual_parts *parts)
{
	parts->use_elsewhere = calloc(parts->count, sizeof(*parts->use_elsewhere));
	if (parts->use_elsewhere == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < parts->own; i++) {
		struct virtual_worker *worker = &parts->worker[i];

		worker->parts = parts;
		worker->fabric = fabric;
		if ((i > 0 ? create_part(fabric, worker, i) : virtual_fabric_fit_events(fabric)) <
			0)
			return -ENOMEM;
		for (unsigned side = 0; side < 2; side++) {
			size_t bytes = parts->count * sizeof(struct virtual_box);

			worker->box[side] = aligned_alloc(64, bytes);
			if (worker->box[side] == NULL)
				return -ENOMEM;
			for (unsigned k = 0; k < parts->count; k++)
				worker->box[side][k] =
					(struct virtual_box){.first = WEFT_TIME_NEVER};
			worker->post[side] =
				aligned_alloc(64, parts->own * sizeof(struct virtual_post));
			if (worker->post[side] == NULL)
				return -ENOMEM;
			memset(worker->post[side], 0, parts->own * sizeof(struct virtual_post));
		}
	}
	return 0;
}

int virtual_parts_create(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct fault *fault)
{
	size_t bytes = sizeof(struct virtual_parts) + workers * sizeof(struct virtual_worker);
	struct virtual_parts *parts = aligned_alloc(64, (bytes + 63) / 64 * 64);
	int result;

	if (parts == NULL)
		return fault_set(fault, ENOMEM, "no memory for %u workers", workers);
	memset(parts, 0, bytes);
	parts->ranks = ranks;
	parts->others = VIRTUAL_TOLD_NOTHING;
	parts->own = workers;
	parts->count = workers * (ranks != NULL ? ranks->count : 1);
	fabric->parts = parts;
	result = check(fabric, fault);
	if (result == 0)
		result = cut(fabric, parts, fault);
	if (result == 0)
		result = limit_out(fabric, parts, fault);
	if (result < 0)
		return result;
	if (create_workers(fabric, parts) < 0 || virtual_threads_create(parts) < 0)
		return fault_set(fault, ENOMEM, "no memory for %u workers", workers);
	/* Threads do not write the same lines then, and a process touches the rows of its own hosts
	 * only. */
	for (uint32_t i = 0; i < fabric->hosts; i++)
		datagram_separate_numbers(&fabric->host[i].nic);
	return 0;
}

static void destroy_worker(struct virtual_worker *worker, unsigned which, unsigned count)
{
	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; worker->box[side] != NULL && i < count; i++)
			virtual_box_free(&worker->box[side][i]);
		free(worker->box[side]);
		free(worker->post[side]);
	}
	if (which == 0 || worker->fabric == NULL)
		return;
	virtual_entries_close(worker->fabric);
	virtual_fabric_close_own(worker->fabric);
	free(worker->fabric);
}

void virtual_parts_destroy(struct virtual_fabric *fabric)
{
	struct virtual_parts *parts = fabric->parts;

	if (parts == NULL)
		return;
	for (unsigned i = 0; i < parts->own; i++)
		destroy_worker(&parts->worker[i], i, parts->count);
	virtual_threads_destroy(parts);
	free(parts->use_elsewhere);
	free(parts->of_device);
	free(parts);
	fabric->parts = NULL;
}
