/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_rounds.h"

#include <errno.h>
#include <unistd.h>

#include "spin_wait.h"
#include "virtual_dispatch.h"
#include "virtual_goal.h"
#include "virtual_measure.h"
#include "virtual_ranks.h"

#define STEPS UINT32_C(1 << 30)

/* After so many looks, the second half of which gave its core to others, a worker sleeps after
 * each: the one it waits for has no core, or writes captures to a slow disk. */
#define LOOKS_AWAKE (2 * SPIN_WAIT_LOOKS)
#define SLEEP_US    50

/* A round counts as so many events of worker 0, so that it looks for an early end although only
 * other workers have events. */
#define ROUND_STEPS 64u

/* Packets and control frames that the worker has sent to others in the round. */
static uint64_t count_crossed(const struct virtual_worker *worker)
{
	uint64_t crossed = 0;

	for (unsigned i = 0; i < worker->parts->count; i++)
		crossed += worker->box[worker->side][i].packets +
			   worker->box[worker->side][i].controls;
	return crossed;
}

/* For other parts, in their lines. */
static void post(struct virtual_worker *worker, const struct virtual_told *told)
{
	for (unsigned to = 0; to < worker->parts->own; to++) {
		struct virtual_post *line = &worker->post[worker->side][to];

		if (to == worker->fabric->part)
			continue;
		line->out = (uint32_t)told->out;
		line->events = (uint32_t)told->events;
		line->pause = told->pause;
		line->next = told->next;
		line->end = told->end;
		line->contents = virtual_box_look(&worker->box[worker->side][to]);
		atomic_store_explicit(&line->number, worker->posts, memory_order_release);
	}
}

/* The earliest time in the boxes. If it is before the end of the round another part has passed it,
 * and the result could differ from that of one worker: the run fails. That is always a bug. */
static weft_time first_sent(struct virtual_worker *worker)
{
	const struct virtual_box *box = worker->box[worker->side];
	weft_time first = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < worker->parts->count; i++)
		first = box[i].first < first ? box[i].first : first;
	if (first < worker->ran)
		virtual_refuse_parts(worker->fabric,
			"a fault of Weft, please report it: something came too late for another "
			"worker");
	return first;
}

static void tell(struct virtual_worker *worker)
{
	struct virtual_told *told = &worker->told[worker->side];
	struct virtual_fabric *fabric = worker->fabric;
	weft_time sent = first_sent(worker), own;

	/* The other parts have read them last. Not earlier in the round: a part that waits
	 * already would take them back. */
	for (unsigned i = 0; i < worker->parts->own; i++)
		__builtin_prefetch(&worker->post[worker->side][i], 1);
	virtual_cross_complete(fabric);
	fabric->failed = fabric->failed || event_queue_failed(fabric->events);
	own = event_queue_next(fabric->events);
	*told = (struct virtual_told){.next = own < sent ? own : sent,
		.end = virtual_ends_next(&fabric->ends, worker->ran),
		.out = virtual_packets_of(worker),
		.events = worker->use.events - worker->events_told,
		.pause = worker->pause || fabric->failed,
		.goal = fabric->goal_state};
	worker->events_told = worker->use.events;
	worker->use.crossed += count_crossed(worker);
	worker->posts++;
	post(worker, told);
}

/* True if the other part has posted this round. */
static bool has_told(const struct virtual_post *line, unsigned number)
{
	return atomic_load_explicit(&line->number, memory_order_acquire) == number;
}

/* The clock is not read if the post is there: others may wait for this part. */
static void wait_for(struct virtual_worker *worker, const struct virtual_post *line)
{
	double since;

	if (has_told(line, worker->posts))
		return;
	since = measure_wall_seconds();
	for (unsigned looks = 0; !has_told(line, worker->posts); looks++)
		if (looks < LOOKS_AWAKE)
			spin_wait(looks);
		else
			usleep(SLEEP_US);
	worker->use.waiting += measure_wall_seconds() - since;
}

static void wait_at_barrier(struct virtual_worker *worker)
{
	double since = measure_wall_seconds();

	round_barrier_wait(&worker->parts->barrier);
	worker->use.waiting += measure_wall_seconds() - since;
}

static void wait_for_ranks(struct virtual_worker *worker)
{
	double since = measure_wall_seconds();

	virtual_ranks_exchange(worker->parts, worker->side);
	worker->use.waiting += measure_wall_seconds() - since;
}

/* Until all parts of all ranks have posted. */
static void wait(struct virtual_worker *worker)
{
	struct virtual_parts *parts = worker->parts;
	unsigned own = worker->fabric->part;

	if (!round_barrier_spins(&parts->barrier))
		wait_at_barrier(worker);
	for (unsigned i = 0; i < parts->own; i++)
		if (i != own)
			wait_for(worker, &parts->worker[i].post[worker->side][own]);
	if (parts->ranks == NULL)
		return;
	if (own == 0)
		wait_for_ranks(worker);
	wait_at_barrier(worker);
}

static void take_boxes(struct virtual_worker *worker)
{
	struct virtual_parts *parts = worker->parts;
	unsigned own = worker->fabric->part;

	for (unsigned i = 0; i < parts->own; i++)
		if (i != own)
			virtual_cross_take(
				worker->fabric, &parts->worker[i].post[worker->side][own].contents);
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

void virtual_told_add(struct virtual_told *all, const struct virtual_told *of)
{
	all->next = of->next < all->next ? of->next : all->next;
	all->end = of->end < all->end ? of->end : all->end;
	all->out += of->out;
	all->events = of->events > all->events ? of->events : all->events;
	all->pause = all->pause || of->pause;
	virtual_goal_add(&all->goal, &of->goal);
}

/* By another part of the process. */
static struct virtual_told told_by(const struct virtual_worker *worker, unsigned part)
{
	const struct virtual_worker *from = &worker->parts->worker[part];
	const struct virtual_post *line = &from->post[worker->side][worker->fabric->part];
	struct virtual_told told = {.next = line->next,
		.end = line->end,
		.out = line->out,
		.events = line->events,
		.pause = line->pause};

	if (worker->fabric->goal != NULL)
		told.goal = from->told[worker->side].goal;
	return told;
}

/* All that was told; the same for each worker. */
static struct virtual_told hear(const struct virtual_worker *worker)
{
	const struct virtual_parts *parts = worker->parts;
	struct virtual_told all = worker->told[worker->side];

	for (unsigned i = 0; i < parts->own; i++) {
		struct virtual_told told;

		if (i == worker->fabric->part)
			continue;
		told = told_by(worker, i);
		virtual_told_add(&all, &told);
	}
	if (parts->ranks != NULL)
		virtual_told_add(&all, &parts->others);
	all.pause = all.pause || all.out > parts->out_max;
	return all;
}

/* All events of the part before 'limit'. */
static void run_round(struct virtual_worker *worker, weft_time limit)
{
	uint32_t many = STEPS, *steps = worker->steps != NULL ? worker->steps : &many;

	worker->fabric->limit = worker->ran = limit;
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
		weft_time end, round;

		tell(worker);
		wait(worker);
		take_boxes(worker);
		if (worker->fabric->part == 0 && parts->each_round != NULL)
			parts->each_round(parts->round_ctx, worker->side);
		all = hear(worker);
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
		round = virtual_lookahead_end(&parts->lookahead, all.next, all.end);
		run_round(worker, round < end ? round : end);
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

bool virtual_rounds_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps)
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

int virtual_rounds_start(struct virtual_parts *parts, struct fault *fault)
{
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
	virtual_rounds_end(parts);
	return fault_set(fault, EAGAIN, "this machine does not allow %u threads", parts->own);
}

void virtual_rounds_end(struct virtual_parts *parts)
{
	parts->quit = true;
	round_barrier_wait(&parts->barrier);
	for (unsigned i = 1; i < parts->started; i++)
		pthread_join(parts->worker[i].thread, NULL);
}
