/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "starvation.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/frame.h"

/* Turns of all hosts on one link that an incast can explain. */
#define TURNS 8
/* Smaller differences in transit count as fluctuations. */
#define TRANSIT_FEW 16

/* Returns the length of the longest frame; with wormhole switching, of the longest message. */
static uint64_t unit_bytes(const struct run_config *run)
{
	uint64_t bytes = 0;

	if (run->sw.switching != RUN_SWITCHING_WORMHOLE)
		return run->nic.mtu_bytes + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	for (uint32_t i = 0; i < run->traffic.count; i++) {
		const struct run_config_traffic *traffic = &run->traffic.at[i];

		bytes = traffic->value.message_bytes > bytes ? traffic->value.message_bytes : bytes;
		bytes = traffic->value.message_max_bytes > bytes ? traffic->value.message_max_bytes
								 : bytes;
	}
	return bytes > 0 ? bytes : 1;
}

/* Returns the time of one frame on the slowest link. If a VC's buffer is too small to cover a
 * link's delay, the time per returned credit applies to that link. */
static weft_time turn_ps(const struct topology *topology, const struct run_config *run)
{
	const uint64_t bytes = unit_bytes(run);
	uint64_t frames = run->sw.buffer_bytes / run_config_vcs(run) / bytes;
	weft_time slowest = 0;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		weft_time frame = bytes_ps(bytes, byte_time_of(link->rate_bps));
		weft_time loop = 2 * (frame + link->delay_ps) / (frames > 0 ? frames : 1);

		frame = loop > frame && run->sw.switching != RUN_SWITCHING_WORMHOLE ? loop : frame;
		slowest = frame > slowest ? frame : slowest;
	}
	return slowest;
}

weft_time starvation_patience(
	const struct topology *topology, const struct run_config *run, weft_time measured_ps)
{
	weft_time turns = TURNS * topology->hosts * turn_ps(topology, run);

	return measured_ps / 2 > turns ? measured_ps / 2 : turns;
}

static int compare(const void *a, const void *b)
{
	const struct deadlock_head *x = a, *y = b;

	if (deadlock_is_host(x) != deadlock_is_host(y))
		return deadlock_is_host(x) ? -1 : 1;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->output < y->output ? -1 : x->output > y->output;
}

/* Merges entries of the same host or queue, keeping the maximum wait. */
static void merge(struct deadlock_heads *kept)
{
	size_t count = 0;

	if (kept->count > 0)
		qsort(kept->head, kept->count, sizeof(*kept->head), compare);
	for (size_t i = 0; i < kept->count; i++) {
		const struct deadlock_head *from = &kept->head[i];
		struct deadlock_head *last = &kept->head[count > 0 ? count - 1 : 0];

		if (count == 0 || compare(last, from) != 0) {
			kept->head[count++] = *from;
			continue;
		}
		last->dead = last->dead || from->dead;
		if (from->waited_ps > last->waited_ps)
			last->waited_ps = from->waited_ps;
	}
	kept->count = count;
}

int starvation_keep(struct deadlock_heads *kept, const struct deadlock_heads *seen,
	weft_time measured_ps, weft_time patience_ps)
{
	for (size_t i = 0, next; i < seen->count; i = next) {
		struct deadlock_head head = seen->head[i];

		/* A host can proceed in any of its VCs, so it is dead only if all are. */
		for (next = i + 1; next < seen->count && deadlock_is_host(&head) &&
				   seen->head[next].buffer == head.buffer;
			next++)
			head.dead = head.dead && seen->head[next].dead;
		if (!head.dead && head.waited_ps > measured_ps)
			head.waited_ps = measured_ps;
		if (!head.dead && head.waited_ps < patience_ps)
			continue;
		if (deadlock_heads_reserve(kept, kept->count + 1) < 0)
			return -ENOMEM;
		kept->head[kept->count++] = head;
	}
	merge(kept);
	return 0;
}

void starvation_begin(struct deadlock_heads *kept)
{
	size_t count = 0;

	for (size_t i = 0; i < kept->count; i++)
		if (kept->head[i].dead)
			kept->head[count++] = kept->head[i];
	kept->count = count;
}

static int add(const struct deadlock_head *head, const struct topology *topology,
	struct run_result *result)
{
	struct topology_port at = deadlock_input(head->buffer);
	struct run_starved *starved = run_result_add_starved(result);

	if (starved == NULL)
		return -ENOMEM;
	starved->waited_ns = ps_to_ns(head->waited_ps);
	starved->stuck = head->dead;
	if (deadlock_is_host(head)) {
		snprintf(starved->host, sizeof(starved->host), "%s",
			topology->host_at[at.device].name);
		return 0;
	}
	topology_port_name(topology, at, starved->input, sizeof(starved->input));
	at.port = head->output;
	topology_port_name(topology, at, starved->output, sizeof(starved->output));
	return 0;
}

int starvation_result(const struct deadlock_heads *kept, const struct topology *topology,
	weft_time patience_ps, weft_time measured_ps, struct run_result *result)
{
	int code = 0;

	result->starvation_known = measured_ps > 0 && patience_ps <= measured_ps / 2;
	for (size_t i = 0; i < kept->count && code == 0; i++)
		if (kept->head[i].dead ||
			(result->starvation_known && kept->head[i].waited_ps >= patience_ps))
			code = add(&kept->head[i], topology, result);
	return code;
}

int starvation_judge_transit(const char *host, const struct starvation_transit *middle,
	const struct starvation_transit *end, struct run_result *result)
{
	uint64_t came = run_result_minus(end->came, middle->came);
	uint64_t left = run_result_minus(end->left, middle->left);
	struct run_pool *pool;

	if (!middle->taken || came < left + TRANSIT_FEW || came - left <= left / 10)
		return 0;
	pool = run_result_add_pool(result);
	if (pool == NULL)
		return -ENOMEM;
	snprintf(pool->host, sizeof(pool->host), "%s", host);
	pool->came = came;
	pool->left = left;
	return 0;
}
