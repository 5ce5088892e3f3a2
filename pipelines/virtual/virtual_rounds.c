/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_threads.h"

#include "virtual_dispatch.h"
#include "virtual_ranks.h"

#define STEPS UINT32_C(1 << 30)

/* Events that a round counts as, so that worker 0 checks for an early end even without events. */
#define ROUND_STEPS 64u

/* Publishes the partition's summary to other partitions, in their posts. */
static void post(
	struct virtual_worker *worker, const struct partition_summary *told, unsigned number)
{
	for (unsigned to = 0; to < worker->partitions->own; to++) {
		struct partition_header *line = &worker->post[worker->side][to];

		if (to == worker->fabric->partition)
			continue;
		line->out = (uint32_t)told->out;
		line->events = (uint32_t)told->events;
		line->pause = told->pause;
		line->next = told->next;
		line->end = told->end;
		line->contents = partition_mailbox_look(&worker->box[worker->side][to]);
		atomic_store_explicit(&line->number, number, memory_order_release);
	}
}

/* Returns the earliest time in the mailboxes. If it is before the end of the round, the receiving
 * partition is already past it, and the result could differ from that of a single worker. The run
 * then fails; this is always a bug. */
static weft_time first_sent(struct virtual_worker *worker)
{
	const struct partition_mailbox *box = worker->box[worker->side];
	weft_time first = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < worker->partitions->count; i++)
		first = box[i].first < first ? box[i].first : first;
	if (first < worker->ran)
		virtual_refuse_partitions(worker->fabric,
			"this is a bug in Weft, please report it: an event arrived too late for another worker");
	return first;
}

void virtual_round_push(struct virtual_worker *worker)
{
	unsigned number = atomic_load_explicit(&worker->posts, memory_order_relaxed) + 1;
	struct partition_summary *told = &worker->told[worker->side];
	struct virtual_fabric *fabric = worker->fabric;
	weft_time sent = first_sent(worker), own;
	uint64_t crossed = 0;

	/* These lines, which the other partitions read last, are not prefetched earlier in the
	 * round: a partition that is already waiting would fetch them back. */
	for (unsigned i = 0; i < worker->partitions->own; i++)
		__builtin_prefetch(&worker->post[worker->side][i], 1);
	partition_message_complete(fabric);
	fabric->failed = fabric->failed || event_queue_failed(fabric->events);
	own = event_queue_next(fabric->events);
	*told = (struct partition_summary){.next = own < sent ? own : sent,
		.end = virtual_ends_next(&fabric->ends, worker->ran),
		.out = virtual_packets_of(worker),
		.events = worker->use.events - worker->events_told,
		.pause = worker->pause || fabric->failed,
		.goal = fabric->goal_state};
	worker->events_told = worker->use.events;
	/* Counts the packets and control frames that the worker sent to others in the round. */
	for (unsigned i = 0; i < worker->partitions->count; i++)
		crossed += worker->box[worker->side][i].packets +
			   worker->box[worker->side][i].controls;
	worker->use.crossed += crossed;
	post(worker, told, number);
	atomic_store_explicit(&worker->posts, number, memory_order_release);
}

bool virtual_round_is_ready(const struct virtual_worker *worker)
{
	const struct virtual_partitions *partitions = worker->partitions;
	unsigned own = worker->fabric->partition;
	unsigned number = atomic_load_explicit(&worker->posts, memory_order_acquire);

	for (unsigned i = 0; i < partitions->own; i++) {
		const struct partition_header *side =
			partitions->worker[i].post[VIRTUAL_SIDE_OF(number)];

		if (i != own &&
			atomic_load_explicit(&side[own].number, memory_order_acquire) != number)
			return false;
	}
	return partitions->ranks == NULL ||
	       atomic_load_explicit(&partitions->exchanged, memory_order_acquire) == number;
}

static void take_boxes(struct virtual_worker *worker)
{
	struct virtual_partitions *partitions = worker->partitions;
	unsigned own = worker->fabric->partition;

	for (unsigned i = 0; i < partitions->own; i++)
		if (i != own)
			partition_message_take(worker->fabric,
				&partitions->worker[i].post[worker->side][own].contents);
	if (partitions->ranks != NULL)
		virtual_ranks_take(worker);
}

/* Returns the end of the rounds. */
static weft_time end_of(const struct virtual_worker *worker, const struct virtual_goal_state *goal)
{
	const struct virtual_fabric *fabric = worker->fabric;
	weft_time end = worker->partitions->limit;

	if (virtual_goal_is_over(fabric, goal) && goal->changed + fabric->goal_rest_ps < end)
		end = goal->changed + fabric->goal_rest_ps;
	return end;
}

void partition_summary_add(struct partition_summary *all, const struct partition_summary *of)
{
	all->next = of->next < all->next ? of->next : all->next;
	all->end = of->end < all->end ? of->end : all->end;
	all->out += of->out;
	all->events = of->events > all->events ? of->events : all->events;
	all->pause = all->pause || of->pause;
	virtual_goal_add(&all->goal, &of->goal);
}

/* Returns the summary posted by a different partition of the process. */
static struct partition_summary told_by(const struct virtual_worker *worker, unsigned partition)
{
	const struct virtual_worker *from = &worker->partitions->worker[partition];
	const struct partition_header *line = &from->post[worker->side][worker->fabric->partition];
	struct partition_summary told = {.next = line->next,
		.end = line->end,
		.out = line->out,
		.events = line->events,
		.pause = line->pause};

	if (worker->fabric->goal != NULL)
		told.goal = from->told[worker->side].goal;
	return told;
}

/* Combines all summaries, which are the same for each worker. */
static struct partition_summary hear(const struct virtual_worker *worker)
{
	const struct virtual_partitions *partitions = worker->partitions;
	struct partition_summary all = worker->told[worker->side];

	for (unsigned i = 0; i < partitions->own; i++) {
		struct partition_summary told;

		if (i == worker->fabric->partition)
			continue;
		told = told_by(worker, i);
		partition_summary_add(&all, &told);
	}
	if (partitions->ranks != NULL)
		partition_summary_add(&all, &partitions->others);
	all.pause = all.pause || all.out > partitions->out_max;
	return all;
}

/* Executes all events of the partition before 'limit'. */
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

/* Ends the rounds; for worker 0. */
static void stop_rounds(struct virtual_worker *worker, const struct partition_summary *all)
{
	struct virtual_partitions *partitions = worker->partitions;

	partitions->reached = !all->pause;
	if (virtual_goal_is_over(worker->fabric, &all->goal))
		worker->fabric->goal_ended = all->goal.changed;
	if (all->out > partitions->out_max)
		virtual_refuse_partitions(
			worker->fabric, "too many frames are waiting at hosts for earlier frames");
}

bool virtual_round_run(struct virtual_worker *worker)
{
	struct virtual_partitions *partitions = worker->partitions;
	struct partition_summary all;
	weft_time end, round;

	take_boxes(worker);
	if (worker->fabric->partition == 0 && partitions->each_round != NULL)
		partitions->each_round(partitions->round_ctx, worker->side);
	all = hear(worker);
	if (worker->fabric->partition == 0)
		worker->critical_events += all.events;
	/* All partitions have read the other side; it is now refilled. */
	worker->side ^= 1;
	for (unsigned i = 0; i < worker->partitions->count; i++)
		partition_mailbox_clear(&worker->box[worker->side][i]);
	end = end_of(worker, &all.goal);
	if (all.pause || all.next >= end) {
		if (worker->fabric->partition == 0)
			stop_rounds(worker, &all);
		worker->pause = false;
		return false;
	}
	round = virtual_lookahead_end(&partitions->lookahead, all.next, all.end);
	run_round(worker, round < end ? round : end);
	virtual_round_push(worker);
	return true;
}
