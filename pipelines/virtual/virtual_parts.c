/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology_cut.h"
#include "virtual_cn.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_goal.h"
#include "virtual_measure.h"
#include "virtual_order.h"
#include "virtual_ranks.h"

#define STEPS UINT32_C(1 << 30)

/* A round counts as so many events of worker 0, so that it looks for an early end although only
 * other workers have events. */
#define ROUND_STEPS 64u

/* --- rounds --- */

/* Packets that a part has, or has sent. */
static uint64_t count_out(const struct virtual_worker *worker)
{
	uint64_t out = worker->fabric->pool.out;

	for (unsigned i = 0; i < worker->parts->count; i++)
		out += worker->box[worker->side][i].packets;
	return out;
}

/* Packets and control frames that the worker has sent to others in the round. */
static uint64_t count_crossed(const struct virtual_worker *worker)
{
	uint64_t crossed = 0;

	for (unsigned i = 0; i < worker->parts->count; i++)
		crossed += worker->box[worker->side][i].packets +
			   worker->box[worker->side][i].controls;
	return crossed;
}

uint64_t virtual_packets_out(const struct virtual_fabric *fabric)
{
	uint64_t out = 0;

	if (fabric->parts == NULL)
		return fabric->pool.out;
	for (unsigned i = 0; i < fabric->parts->own; i++)
		out += count_out(&fabric->parts->worker[i]);
	return out + fabric->parts->out_elsewhere;
}

static void tell(struct virtual_worker *worker)
{
	struct virtual_told *told = &worker->told[worker->side];
	const struct virtual_box *box = worker->box[worker->side];
	struct virtual_fabric *fabric = worker->fabric;

	/* The other parts have read it last. */
	__builtin_prefetch(told, 1);
	virtual_cross_complete(fabric);
	fabric->failed = fabric->failed || event_queue_failed(fabric->events);
	*told = (struct virtual_told){.next = event_queue_next(fabric->events),
		.out = count_out(worker),
		.events = worker->use.events - worker->events_told,
		.pause = worker->pause || fabric->failed,
		.goal = fabric->goal_state};
	worker->events_told = worker->use.events;
	worker->use.crossed += count_crossed(worker);
	for (unsigned i = 0; i < worker->parts->count; i++)
		told->next = box[i].first < told->next ? box[i].first : told->next;
}

/* Until all parts of all ranks have told. */
static void wait(struct virtual_worker *worker)
{
	struct virtual_parts *parts = worker->parts;
	double since = measure_wall_seconds();

	round_barrier_wait(&parts->barrier);
	if (parts->ranks != NULL) {
		if (worker->fabric->part == 0)
			virtual_ranks_exchange(parts, worker->side);
		round_barrier_wait(&parts->barrier);
	}
	worker->use.waiting += measure_wall_seconds() - since;
}

static void take_boxes(struct virtual_worker *worker)
{
	struct virtual_parts *parts = worker->parts;
	unsigned own = worker->fabric->part;

	/* Other cores have written them: all together they take as long as one. */
	for (unsigned i = 0; i < parts->own; i++) {
		__builtin_prefetch(&parts->worker[i].told[worker->side]);
		__builtin_prefetch(&parts->worker[i].box[worker->side][own]);
	}
	for (unsigned i = 0; i < parts->own; i++)
		if (i != own)
			virtual_cross_take(
				worker->fabric, &parts->worker[i].box[worker->side][own]);
	if (parts->ranks != NULL)
		virtual_ranks_take(worker);
}

/* When the rounds end. */
static weft_time end_of(const struct virtual_worker *worker, const struct virtual_goal_state *goal)
{
	const struct virtual_fabric *fabric = worker->fabric;
	weft_time end = worker->parts->limit;

	if (virtual_goal_is_over(fabric, goal) && goal->changed + fabric->goal_rest_ps < end)
		end = goal->changed + fabric->goal_rest_ps;
	return end;
}

/* All that was told; the same for each worker. */
static struct virtual_told hear(const struct virtual_parts *parts, unsigned side)
{
	struct virtual_told all = parts->others;

	for (unsigned i = 0; i < parts->own; i++) {
		const struct virtual_told *told = &parts->worker[i].told[side];

		all.next = told->next < all.next ? told->next : all.next;
		all.out += told->out;
		all.events = told->events > all.events ? told->events : all.events;
		all.pause = all.pause || told->pause;
		virtual_goal_add(&all.goal, &told->goal);
	}
	all.pause = all.pause || all.out > parts->out_max;
	return all;
}

/* All events of the part before 'limit'. */
static void run_round(struct virtual_worker *worker, weft_time limit)
{
	uint32_t many = STEPS, *steps = worker->steps != NULL ? worker->steps : &many;

	worker->fabric->limit = limit;
	worker->use.rounds++;
	if (worker->steps != NULL)
		*steps = *steps > ROUND_STEPS ? *steps - ROUND_STEPS : 0;
	for (;;) {
		uint32_t before = *steps;

		if (!virtual_dispatch(worker->fabric, steps)) {
			worker->use.events += before - *steps;
			return;
		}
		worker->use.events += before;
		*steps = STEPS;
		worker->pause = true;
	}
}

/* By worker 0. */
static void stop_rounds(struct virtual_worker *worker, const struct virtual_told *all)
{
	struct virtual_parts *parts = worker->parts;

	parts->reached = !all->pause;
	if (virtual_goal_is_over(worker->fabric, &all->goal))
		worker->fabric->goal_ended = all->goal.changed;
	if (all->out > parts->out_max)
		virtual_refuse_parts(
			worker->fabric, "too many frames wait at hosts for those before them");
}

/* The other side, which all have read, is filled again. */
static void turn(struct virtual_worker *worker)
{
	worker->side ^= 1;
	for (unsigned i = 0; i < worker->parts->count; i++)
		virtual_box_clear(&worker->box[worker->side][i]);
}

static void run_rounds(struct virtual_worker *worker)
{
	struct virtual_parts *parts = worker->parts;

	for (;;) {
		struct virtual_told all;
		weft_time end;

		tell(worker);
		wait(worker);
		take_boxes(worker);
		if (worker->fabric->part == 0 && parts->each_round != NULL)
			parts->each_round(parts->round_ctx, worker->side);
		all = hear(parts, worker->side);
		if (worker->fabric->part == 0)
			worker->critical_events += all.events;
		turn(worker);
		end = end_of(worker, &all.goal);
		if (all.pause || all.next >= end) {
			if (worker->fabric->part == 0)
				stop_rounds(worker, &all);
			worker->pause = false;
			return;
		}
		run_round(worker, all.next + parts->lookahead_ps < end
					  ? all.next + parts->lookahead_ps
					  : end);
	}
}

static void *work(void *argument)
{
	struct virtual_worker *worker = argument;
	struct virtual_parts *parts = worker->parts;

	for (;;) {
		round_barrier_wait(&parts->barrier);
		if (parts->quit)
			return NULL;
		run_rounds(worker);
		round_barrier_wait(&parts->barrier);
	}
}

void virtual_parts_join(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_parts_count(fabric); i++) {
		const struct virtual_fabric *part = virtual_part_at(fabric, i);

		fabric->now = part->now > fabric->now ? part->now : fabric->now;
		fabric->failed = fabric->failed || part->failed;
		if (fabric->refused == NULL)
			fabric->refused = part->refused;
	}
}

bool virtual_parts_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps)
{
	struct virtual_worker *first = &parts->worker[0];

	/* A round is not worth beginning: the caller looks around first. */
	if (*steps == 0)
		return true;
	parts->limit = limit;
	/* Rank 0 counts for all (virtual_run.c). */
	first->steps = parts->ranks == NULL || parts->ranks->own == 0 ? steps : NULL;
	parts->pauses++;
	round_barrier_wait(&parts->barrier);
	run_rounds(first);
	round_barrier_wait(&parts->barrier);
	parts->pauses++;
	virtual_parts_join(first->fabric);
	return !parts->reached;
}

int virtual_parts_start(struct virtual_parts *parts, struct fault *fault)
{
	round_barrier_init(&parts->barrier, parts->own);
	parts->quit = false;
	for (parts->started = 1; parts->started < parts->own; parts->started++) {
		struct virtual_worker *worker = &parts->worker[parts->started];

		worker->fabric->measure_from = parts->worker[0].fabric->measure_from;
		if (pthread_create(&worker->thread, NULL, work, worker) != 0)
			break;
	}
	if (parts->started == parts->own)
		return 0;
	round_barrier_expect(&parts->barrier, parts->started);
	virtual_parts_end(parts);
	return fault_set(fault, EAGAIN, "this machine does not allow %u threads", parts->own);
}

void virtual_parts_end(struct virtual_parts *parts)
{
	parts->quit = true;
	round_barrier_wait(&parts->barrier);
	for (unsigned i = 1; i < parts->started; i++)
		pthread_join(parts->worker[i].thread, NULL);
}

/* --- sums --- */

static void gather_entry(struct virtual_entry *into, struct virtual_entry *from, uint32_t hosts)
{
	into->wire_bytes += from->wire_bytes;
	into->latency_sum_ps += from->latency_sum_ps;
	into->warm_messages += from->warm_messages;
	histogram_merge(&into->network_ns, &from->network_ns);
	histogram_merge(&into->total_ns, &from->total_ns);
	for (uint32_t i = 0; from->flow != NULL && i < hosts; i++) {
		struct measure_flow *flow = &from->flow[i];

		into->flow[i].delivered += flow->delivered;
		if (flow->last_ps > into->flow[i].last_ps)
			into->flow[i].last_ps = flow->last_ps;
		*flow = (struct measure_flow){0};
	}
	*from = (struct virtual_entry){.flow = from->flow};
}

void virtual_parts_gather(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_parts_count(fabric); i++) {
		struct virtual_fabric *part = virtual_part_at(fabric, i);

		for (unsigned k = 0; k < fabric->window.entries; k++)
			gather_entry(&fabric->entry[k], &part->entry[k], fabric->hosts);
		fabric->arns_sent += part->arns_sent;
		fabric->goal_messages += part->goal_messages;
		fabric->goal_wire_bytes += part->goal_wire_bytes;
		fabric->dropped += part->dropped;
		fabric->fingerprint += part->fingerprint;
		part->arns_sent = part->dropped = part->fingerprint = 0;
		part->goal_messages = part->goal_wire_bytes = 0;
	}
}

/* --- creation --- */

const char *virtual_parts_text(const struct virtual_fabric *fabric, char text[VIRTUAL_PARTS_TEXT])
{
	const struct virtual_parts *parts = fabric->parts;

	if (parts->ranks == NULL)
		snprintf(text, VIRTUAL_PARTS_TEXT, "--workers %u", parts->own);
	else if (parts->own == 1)
		snprintf(text, VIRTUAL_PARTS_TEXT, "--mpi %u", parts->ranks->count);
	else
		snprintf(text, VIRTUAL_PARTS_TEXT, "--mpi %u --workers %u", parts->ranks->count,
			parts->own);
	return text;
}

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

/* Own parts get the lowest numbers, and those of the next ranks follow. */
static void number_parts(struct virtual_parts *parts, size_t devices)
{
	unsigned first = parts->ranks != NULL ? parts->ranks->own * parts->own : 0;

	for (size_t i = 0; first > 0 && i < devices; i++)
		parts->of_device[i] =
			(uint16_t)((parts->of_device[i] + parts->count - first) % parts->count);
}

/* By rank 0, for all: on another machine METIS may be another one. */
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

/* The least time in which one part can change another. Notifications of congestion and news of
 * discarded packets, which pass no links, take the delay of a host's link, or longer. */
static weft_time lookahead_of(
	const struct virtual_fabric *fabric, const struct virtual_parts *parts)
{
	weft_time least = topology_cut_delay(fabric->topology, parts->of_device);
	bool hosts_hear = fabric->answers || virtual_order_reserve(fabric) > 0;

	for (uint32_t i = 0; hosts_hear && i < fabric->hosts; i++) {
		int32_t link = fabric->topology->host_link[i];
		weft_time delay = link < 0 ? least : fabric->topology->link_at[link].delay_ps;

		least = delay < least ? delay : least;
	}
	return least < PS_PER_S ? least : PS_PER_S;
}

static int cut(struct virtual_fabric *fabric, struct virtual_parts *parts, struct fault *fault)
{
	char text[VIRTUAL_PARTS_TEXT];
	int result = assign(fabric, parts, fault);

	if (result < 0)
		return result;
	number_parts(parts, (size_t)fabric->switches + fabric->hosts);
	parts->lookahead_ps = lookahead_of(fabric, parts);
	if (parts->lookahead_ps == 0 && topology_cut_delay(fabric->topology, parts->of_device) != 0)
		return fault_set(fault, EINVAL,
			"%s: a host's link has no delay, after which workers hear of congestion and "
			"discarded frames: expected 'delay' above 0ps",
			virtual_parts_text(fabric, text));
	if (parts->lookahead_ps == 0)
		return fault_set(fault, EINVAL,
			"%s: a link without delay would be cut, and workers need a delay between "
			"them: expected 'delay' above 0ps",
			virtual_parts_text(fabric, text));
	return 0;
}

/* Frames that wait at hosts for those before them take packets of which all hosts have a share. One
 * worker holds all hosts back when there is none left (virtual_order.h); parts do not know of each
 * other's in time, and end the run before that. */
static int limit_out(
	struct virtual_fabric *fabric, struct virtual_parts *parts, struct fault *fault)
{
	uint64_t hosts = fabric->hosts, least = UINT64_MAX, round;
	uint64_t frame = virtual_least_payload(fabric) + FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD;
	char text[VIRTUAL_PARTS_TEXT];

	parts->out_max = UINT64_MAX;
	if (virtual_order_reserve(fabric) == 0)
		return 0;
	for (uint32_t i = 0; i < fabric->topology->links; i++) {
		uint64_t each = ps_per_byte(fabric->topology->link_at[i].rate_bps);

		least = each < least ? each : least;
	}
	/* Packets that a host can begin to send in a round. */
	round = parts->lookahead_ps / (frame * (least > 0 ? least : 1)) + 2;
	parts->out_max = run_result_minus(fabric->pool.size, hosts * (round + 1));
	if (parts->out_max >= hosts)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: in the delay of a cut link, %g us, a host sends more frames than there is "
		"memory for where frames can overtake each other: only one worker can run this",
		virtual_parts_text(fabric, text), (double)parts->lookahead_ps / (double)PS_PER_US);
}

static int create_part(struct virtual_fabric *fabric, struct virtual_worker *worker, unsigned which)
{
	struct virtual_fabric *part = calloc(1, sizeof(*part));

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
		}
	}
	return 0;
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
	parts->others.next = WEFT_TIME_NEVER;
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
	if (create_workers(fabric, parts) < 0)
		return fault_set(fault, ENOMEM, "no memory for %u workers", workers);
	mark_links(fabric, parts);
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
	free(parts->use_elsewhere);
	free(parts->of_device);
	free(parts);
	fabric->parts = NULL;
}
