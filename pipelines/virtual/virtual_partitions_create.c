/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Cuts a virtual fabric into partitions and creates them. */

#include "virtual_partitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "topo/topology.h"
#include "virtual_control.h"
#include "virtual_measure.h"
#include "virtual_threads.h"

static int check(const struct virtual_fabric *fabric, struct error *error)
{
	char text[VIRTUAL_PARTITIONS_TEXT];

	virtual_partitions_text(fabric, text);
	if (fabric->partitions->count > fabric->switches ||
		fabric->partitions->count > VIRTUAL_WORKERS_MAX)
		return error_set(error, EINVAL,
			"%s: must be 1 to %u%s for a fabric with %u switch%s", text,
			fabric->switches < VIRTUAL_WORKERS_MAX ? fabric->switches
							       : VIRTUAL_WORKERS_MAX,
			fabric->partitions->ranks != NULL ? " workers in total" : "",
			fabric->switches, plural(fabric->switches, "es"));
	if (run_config_needs_oracle(fabric->run))
		return error_set(error, EINVAL,
			"%s: routing.algorithm df-ugal-g reads the queues of other switches, so it needs a single worker",
			text);
	return 0;
}

/* Computes the cut in rank 0 for all ranks, because METIS versions may differ between machines. */
static int assign(
	struct virtual_fabric *fabric, struct virtual_partitions *partitions, struct error *error)
{
	size_t devices = (size_t)fabric->switches + fabric->hosts;
	struct ranks *ranks = partitions->ranks;
	int result = 0;

	partitions->of_device = calloc(devices + 1, sizeof(*partitions->of_device));
	if (partitions->of_device == NULL)
		result = -ENOMEM;
	else if (ranks == NULL || ranks->own == 0)
		result = topology_cut(fabric->topology, partitions->count, partitions->of_device);
	if (result < 0)
		error_set(error, -result, "%s: cannot be divided into %u parts",
			fabric->topology->name, partitions->count);
	result = ranks_agree(ranks, result, error);
	if (result == 0 && ranks != NULL &&
		ranks_share(ranks, partitions->of_device,
			devices * sizeof(*partitions->of_device)) < 0) {
		*error = ranks->error;
		return -EIO;
	}
	return result;
}

/* Marks links between partitions, which write to mailboxes. */
static void mark_links(struct virtual_fabric *fabric, const struct virtual_partitions *partitions)
{
	struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];

	for (struct virtual_tx *channel = fabric->channel; channel < end; channel++) {
		uint32_t from = virtual_device_of(fabric, channel->done);
		uint32_t to = virtual_device_of(fabric, channel->arrive);

		channel->crosses = channel->byte_time != 0 &&
				   partitions->of_device[from] != partitions->of_device[to];
		channel->special = virtual_is_special(fabric, channel);
	}
}

static int cut(
	struct virtual_fabric *fabric, struct virtual_partitions *partitions, struct error *error)
{
	char text[VIRTUAL_PARTITIONS_TEXT];
	int result = assign(fabric, partitions, error);
	size_t devices;
	unsigned first;

	if (result < 0)
		return result;
	/* Renumbers: own partitions first, followed by the next ranks'. */
	devices = (size_t)fabric->switches + fabric->hosts;
	first = partitions->ranks != NULL ? partitions->ranks->own * partitions->own : 0;
	for (size_t i = 0; first > 0 && i < devices; i++)
		partitions->of_device[i] =
			(uint16_t)((partitions->of_device[i] + partitions->count - first) %
				   partitions->count);
	mark_links(fabric, partitions);
	virtual_lookahead_open(&partitions->lookahead, fabric, partitions->of_device);
	fabric->ends.wanted = virtual_lookahead_wants_ends(&partitions->lookahead);
	if (partitions->lookahead.min_ps == 0 &&
		topology_cut_delay(fabric->topology, partitions->of_device) != 0)
		return error_set(error, EINVAL,
			"%s: congestion notifications and discarded frames reach other workers "
			"after the delay of a host's link, so 'delay' must be above 0ps",
			virtual_partitions_text(fabric, text));
	if (partitions->lookahead.min_ps == 0)
		return error_set(error, EINVAL,
			"%s: a link without delay would connect two workers; 'delay' must be "
			"above 0ps",
			virtual_partitions_text(fabric, text));
	return 0;
}

/* Frames waiting at hosts for earlier ones take packets from a reserve shared by all hosts. A
 * single worker pauses all hosts when it is used up (virtual_send.h). Partitions do not see each
 * other's use in time, so they end the run before that. */
static int limit_out(
	struct virtual_fabric *fabric, struct virtual_partitions *partitions, struct error *error)
{
	uint64_t hosts = fabric->hosts, min = UINT64_MAX, round;
	uint64_t frame = virtual_min_payload(fabric) + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	char text[VIRTUAL_PARTITIONS_TEXT];

	partitions->out_max = UINT64_MAX;
	if (virtual_order_reserve(fabric) == 0)
		return 0;
	for (uint32_t i = 0; i < fabric->topology->links; i++) {
		uint64_t each = byte_time_of(fabric->topology->link_at[i].rate_bps);

		min = each < min ? each : min;
	}
	/* Number of packets that a host can start to send in a round. */
	round = bytes_within(partitions->lookahead.packet_ps, frame * (min > 0 ? min : 1)) + 2;
	partitions->out_max = run_result_minus(fabric->pool.size, hosts * (round + 1));
	if (partitions->out_max >= hosts)
		return 0;
	return error_set(error, EINVAL,
		"%s: within the delay of a cut link (%g us), a host can send more frames than memory can hold for reordering; use one worker",
		virtual_partitions_text(fabric, text),
		(double)partitions->lookahead.packet_ps / (double)PS_PER_US);
}

static int create_part(struct virtual_fabric *fabric, struct virtual_worker *worker, unsigned which)
{
	/* Aligned, so that partitions share no cache line. */
	struct virtual_fabric *partition = aligned_alloc(64, (sizeof(*partition) + 63) / 64 * 64);

	worker->fabric = partition;
	if (partition == NULL)
		return -ENOMEM;
	*partition = *fabric;
	partition->partition = which;
	partition->arena = (struct arena){0};
	partition->pool = (struct virtual_pool){0};
	partition->credits = partition->arns = partition->cns = (struct virtual_control){0};
	partition->extension = NULL;
	partition->events = NULL;
	partition->entry = NULL;
	partition->held = NULL;
	if (virtual_fabric_open_own(partition) < 0)
		return -ENOMEM;
	for (uint32_t at = 0; at < fabric->switches; at++)
		if (!virtual_is_elsewhere(partition, at))
			virtual_cn_move_switch(partition, at);
	return virtual_entries_open_own(partition);
}

static int create_workers(struct virtual_fabric *fabric, struct virtual_partitions *partitions)
{
	partitions->use_elsewhere = calloc(partitions->count, sizeof(*partitions->use_elsewhere));
	if (partitions->use_elsewhere == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < partitions->own; i++) {
		struct virtual_worker *worker = &partitions->worker[i];

		worker->partitions = partitions;
		worker->fabric = fabric;
		if ((i > 0 ? create_part(fabric, worker, i) : virtual_fabric_fit_events(fabric)) <
			0)
			return -ENOMEM;
		for (unsigned side = 0; side < 2; side++) {
			size_t bytes = partitions->count * sizeof(struct partition_mailbox);

			worker->box[side] = aligned_alloc(64, bytes);
			if (worker->box[side] == NULL)
				return -ENOMEM;
			for (unsigned k = 0; k < partitions->count; k++)
				worker->box[side][k] =
					(struct partition_mailbox){.first = WEFT_TIME_NEVER};
			worker->post[side] = aligned_alloc(
				64, partitions->own * sizeof(struct partition_header));
			if (worker->post[side] == NULL)
				return -ENOMEM;
			memset(worker->post[side], 0,
				partitions->own * sizeof(struct partition_header));
		}
	}
	return 0;
}

int virtual_partitions_create(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error)
{
	size_t bytes = sizeof(struct virtual_partitions) + workers * sizeof(struct virtual_worker);
	struct virtual_partitions *partitions = aligned_alloc(64, (bytes + 63) / 64 * 64);
	int result;

	if (partitions == NULL)
		return error_set(error, ENOMEM, "not enough memory for %u workers", workers);
	memset(partitions, 0, bytes);
	partitions->ranks = ranks;
	partitions->others = VIRTUAL_TOLD_NOTHING;
	partitions->own = workers;
	partitions->count = workers * (ranks != NULL ? ranks->count : 1);
	fabric->partitions = partitions;
	result = check(fabric, error);
	if (result == 0)
		result = cut(fabric, partitions, error);
	if (result == 0)
		result = limit_out(fabric, partitions, error);
	if (result < 0)
		return result;
	if (create_workers(fabric, partitions) < 0 || virtual_threads_create(partitions) < 0)
		return error_set(error, ENOMEM, "not enough memory for %u workers", workers);
	/* Separated, so that threads do not write to the same cache lines, and a process touches
	 * only the rows of its own hosts. */
	for (uint32_t i = 0; i < fabric->hosts; i++)
		datagram_separate_numbers(&fabric->host[i].nic);
	return 0;
}

static void destroy_worker(struct virtual_worker *worker, unsigned which, unsigned count)
{
	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; worker->box[side] != NULL && i < count; i++)
			partition_mailbox_free(&worker->box[side][i]);
		free(worker->box[side]);
		free(worker->post[side]);
	}
	if (which == 0 || worker->fabric == NULL)
		return;
	virtual_entries_close(worker->fabric);
	virtual_fabric_close_own(worker->fabric);
	free(worker->fabric);
}

void virtual_partitions_destroy(struct virtual_fabric *fabric)
{
	struct virtual_partitions *partitions = fabric->partitions;

	if (partitions == NULL)
		return;
	for (unsigned i = 0; i < partitions->own; i++)
		destroy_worker(&partitions->worker[i], i, partitions->count);
	virtual_threads_destroy(partitions);
	free(partitions->use_elsewhere);
	free(partitions->of_device);
	free(partitions);
	fabric->partitions = NULL;
}
