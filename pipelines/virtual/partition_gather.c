/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_measure.h"

#include <stdlib.h>
#include <string.h>

#include "nic/datagram/datagram_control.h"
#include "switch/congestion_control.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_ranks.h"

/* One walk over the fields does both writing and reading, so that the two cannot differ. */
struct mirror {
	struct ranks_message *out; /* NULL: reading */
	struct ranks_reader in;
	bool bad; /* out of memory while writing, or out of data while reading */
};

static void pass(struct mirror *mirror, void *field, size_t bytes)
{
	const void *from;
	void *to;

	if (mirror->out != NULL) {
		to = ranks_append(mirror->out, bytes);
		from = field;
	} else {
		to = field;
		from = ranks_take(&mirror->in, bytes);
	}
	if (to != NULL && from != NULL)
		memcpy(to, from, bytes);
	else
		mirror->bad = true;
}

#define PASS(mirror, field) pass(mirror, &(field), sizeof(field))

/* --- devices --- */

static void pass_link(struct mirror *mirror, struct link_end *end)
{
	pass(mirror, end->tx, end->config.vcs * sizeof(end->tx[0]));
	pass(mirror, end->rx, end->config.vcs * sizeof(end->rx[0]));
}

static void pass_channel(
	struct mirror *mirror, const struct virtual_fabric *fabric, struct virtual_tx *channel)
{
	struct virtual_tx_cold *cold = virtual_tx_cold(fabric, channel);

	PASS(mirror, channel->free_at);
	PASS(mirror, channel->blocked_since);
	PASS(mirror, channel->busy_ps);
	PASS(mirror, cold->blocked_ps);
	PASS(mirror, cold->warm);
	if (fabric->pauses != NULL)
		PASS(mirror, virtual_pause_of(fabric, channel)->frames);
}

static void pass_congestion(struct mirror *mirror, struct congestion_control *congestion)
{
	PASS(mirror, congestion->adapted);
	PASS(mirror, congestion->out_overflow);
	if (congestion->detector == NULL)
		return;
	PASS(mirror, congestion->detector->suspicions);
	PASS(mirror, congestion->detector->roots);
	PASS(mirror, congestion->table->counters);
}

static void pass_switch(struct mirror *mirror, const struct virtual_fabric *fabric, uint32_t at)
{
	struct weft_switch *sw = fabric->sw[at];

	for (unsigned port = 0; port < sw->ports; port++) {
		PASS(mirror, sw->port[port].count);
		pass_link(mirror, &sw->port[port].link);
		pass_channel(mirror, fabric, virtual_switch_channel(fabric, at, port));
	}
	if (sw->fecn != NULL)
		PASS(mirror, sw->fecn->marked);
	if (sw->contention != NULL) {
		PASS(mirror, sw->contention->waited_ps);
		PASS(mirror, sw->contention->recorded);
		PASS(mirror, sw->contention->bad);
	}
	if (fabric->waited != NULL)
		PASS(mirror, fabric->waited[at]);
	if (sw->congestion != NULL)
		pass_congestion(mirror, sw->congestion);
}

static void pass_control(struct mirror *mirror, struct virtual_host *host)
{
	struct source_control *source;

	PASS(mirror, host->answers.sent);
	if (host->nic.reps != NULL) {
		PASS(mirror, host->nic.reps->recycled);
		PASS(mirror, host->nic.reps->drawn);
	}
	if (host->nic.control == NULL)
		return;
	source = host->nic.control->source;
	PASS(mirror, source->count);
	PASS(mirror, source->pr.count);
	PASS(mirror, source->pr.base.stored);
	PASS(mirror, source->throttled_ns);
}

static void pass_itb(struct mirror *mirror, struct virtual_host *host)
{
	struct datagram *nic = &host->nic;
	struct itb *itb = nic->itb;

	PASS(mirror, itb->absorbed);
	PASS(mirror, itb->reinjected);
	PASS(mirror, itb->discarded);
	PASS(mirror, itb->messages);
	PASS(mirror, itb->overtaken);
	PASS(mirror, itb->pool.peak);
	PASS(mirror, nic->refused);
	PASS(mirror, nic->misrouted);
	PASS(mirror, host->middle);
}

static void pass_host(struct mirror *mirror, const struct virtual_fabric *fabric, uint32_t number)
{
	struct datagram *nic = &fabric->host[number].nic;

	PASS(mirror, nic->frames_sent);
	PASS(mirror, nic->messages_sent);
	PASS(mirror, nic->frames_received);
	PASS(mirror, nic->messages_received);
	PASS(mirror, nic->bytes_received);
	PASS(mirror, nic->out_of_order);
	PASS(mirror, nic->diverted);
	PASS(mirror, nic->unreachable);
	pass_link(mirror, &nic->link);
	pass_channel(mirror, fabric, virtual_host_channel(fabric, number));
	if (fabric->answers)
		pass_control(mirror, &fabric->host[number]);
	if (nic->itb != NULL)
		pass_itb(mirror, &fabric->host[number]);
	if (nic->recovery != NULL) {
		PASS(mirror, nic->recovery->retransmitted);
		PASS(mirror, nic->recovery->reported);
	}
	if (nic->order == NULL)
		return;
	PASS(mirror, nic->order->max);
	PASS(mirror, nic->order->reordered);
	PASS(mirror, nic->order->overtaken);
	PASS(mirror, nic->order->no_room);
	PASS(mirror, nic->order->held_ps);
}

static bool is_of_rank(const struct virtual_fabric *fabric, uint32_t device, unsigned rank)
{
	const struct virtual_partitions *partitions = fabric->partitions;

	return partitions->of_device[device] - virtual_ranks_first(partitions, rank) <
	       partitions->own;
}

/* Passes the devices of the rank, in order. */
static void pass_devices(struct mirror *mirror, const struct virtual_fabric *fabric, unsigned rank)
{
	for (uint32_t i = 0; i < fabric->switches + fabric->hosts && !mirror->bad; i++) {
		if (!is_of_rank(fabric, i, rank))
			continue;
		if (i < fabric->switches)
			pass_switch(mirror, fabric, i);
		else
			pass_host(mirror, fabric, i - fabric->switches);
	}
}

/* --- schedule --- */

/* Passes flow times of the rank's hosts: due times where flows start, arrivals where they end. */
static void pass_flow_times(
	struct mirror *mirror, const struct virtual_fabric *fabric, unsigned rank)
{
	const struct run_flows *flows = &fabric->goal->flows;

	for (uint32_t i = 0; i < flows->count && !mirror->bad; i++) {
		struct goal_replay_times *times =
			goal_replay_times(fabric->replay, flows->at[i].op);

		if (is_of_rank(fabric, fabric->switches + flows->at[i].from, rank))
			PASS(mirror, times->due_ps);
		if (is_of_rank(fabric, fabric->switches + flows->at[i].to, rank))
			PASS(mirror, times->arrived_ps);
	}
}

/* Passes the end times of those schedule ranks that run on this rank's hosts. */
static void pass_goal(struct mirror *mirror, const struct virtual_fabric *fabric, unsigned rank)
{
	for (uint32_t i = 0; i < fabric->goal->goal->ranks && !mirror->bad; i++) {
		struct goal_replay_end end = goal_replay_end(fabric->replay, i);
		uint8_t *states;
		size_t count;

		if (!is_of_rank(fabric, fabric->switches + fabric->goal->host_of[i], rank))
			continue;
		PASS(mirror, end);
		states = goal_replay_states(fabric->replay, i, &count);
		pass(mirror, states, count);
		if (mirror->out == NULL)
			goal_replay_set_end(fabric->replay, i, &end);
	}
	pass_flow_times(mirror, fabric, rank);
}

/* --- sums --- */

/* When reading, adds the value to the sum. */
static void pass_sum(struct mirror *mirror, uint64_t *sum)
{
	uint64_t before = *sum;

	PASS(mirror, *sum);
	if (mirror->out == NULL)
		*sum += before;
}

static void pass_flows(struct mirror *mirror, struct measure_flow *flow, uint32_t hosts)
{
	for (uint32_t i = 0; i < hosts; i++) {
		weft_time last = flow[i].last_ps;

		pass_sum(mirror, &flow[i].generated);
		pass_sum(mirror, &flow[i].delivered);
		PASS(mirror, flow[i].last_ps);
		if (flow[i].last_ps < last)
			flow[i].last_ps = last;
	}
}

static void pass_histogram(struct mirror *mirror, struct histogram *into)
{
	struct histogram other = *into;

	PASS(mirror, other);
	if (mirror->out == NULL)
		histogram_merge(into, &other);
}

static void pass_wait(struct mirror *mirror, struct order_wait *into)
{
	struct order_wait other = *into;

	PASS(mirror, other);
	if (mirror->out == NULL)
		order_wait_merge(into, &other);
}

static void pass_sums(struct mirror *mirror, struct virtual_fabric *fabric, unsigned rank)
{
	struct virtual_partitions *partitions = fabric->partitions;
	unsigned first = virtual_ranks_first(partitions, rank);
	uint64_t out =
		mirror->out != NULL ? virtual_packets_out(fabric) : partitions->out_elsewhere;

	pass_sum(mirror, &out);
	if (mirror->out == NULL)
		partitions->out_elsewhere = out;
	pass_sum(mirror, &fabric->dropped);
	pass_sum(mirror, &fabric->unsent);
	pass_sum(mirror, &fabric->fingerprint);
	for (unsigned i = 0; i < fabric->window.entries; i++) {
		struct virtual_entry *entry = &fabric->entry[i];

		pass_histogram(mirror, &entry->network_ns);
		pass_histogram(mirror, &entry->total_ns);
		if (entry->flow != NULL)
			pass_flows(mirror, entry->flow, fabric->hosts);
	}
	if (virtual_order_reserve(fabric) > 0)
		pass_wait(mirror, &fabric->held->wait);
	for (unsigned i = 0; i < partitions->own; i++)
		PASS(mirror,
			*(mirror->out != NULL
					? &partitions->worker[i].use
					: &partitions->use_elsewhere[first - partitions->own + i]));
}

/* --- gathering --- */

static void read_rank(struct virtual_fabric *fabric, struct ranks *ranks, unsigned rank)
{
	struct mirror mirror = {.in = {ranks->in[rank].bytes, ranks->in[rank].used}};

	pass_devices(&mirror, fabric, rank);
	if (fabric->goal != NULL)
		pass_goal(&mirror, fabric, rank);
	pass_sums(&mirror, fabric, rank);
	if (mirror.bad || mirror.in.left > 0)
		ranks_fail(ranks, "another rank's part of the result is invalid");
}

int partition_gather(struct virtual_fabric *fabric, struct error *error)
{
	struct ranks *ranks = fabric->partitions->ranks;
	struct mirror mirror = {.out = &ranks->out[0]};

	if (ranks->own != 0) {
		pass_devices(&mirror, fabric, ranks->own);
		if (fabric->goal != NULL)
			pass_goal(&mirror, fabric, ranks->own);
		pass_sums(&mirror, fabric, ranks->own);
	}
	if (mirror.bad)
		ranks_fail(ranks, "not enough memory for the results of a process");
	if (ranks_exchange(ranks) == 0 && ranks->own == 0)
		for (unsigned rank = 1; rank < ranks->count && !ranks->failed; rank++)
			read_rank(fabric, ranks, rank);
	if (ranks->failed)
		*error = ranks->error;
	return ranks->failed ? -EIO : 0;
}
