/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/program_threads.h"
#include "virtual_ranks.h"

/* State of a partition in virtual_worker.claim, above the index of its current or last thread. */
#define CLAIM_RESTS   (0u << 8) /* between two rounds */
#define CLAIM_BEGINS  (1u << 8) /* has not posted since the pause */
#define CLAIM_RUNS    (2u << 8)
#define CLAIM_STOPPED (3u << 8) /* in a pause */
#define CLAIM_STATE   (3u << 8)
#define CLAIM_THREAD  0xffu

_Static_assert(VIRTUAL_WORKERS_MAX <= CLAIM_THREAD + 1, "there is a number for each thread");

/* Unsuccessful polls before a thread releases its claims and runs other threads' partitions. */
#define HELP_LOOKS 250u
/* Polls of a thread's first partition between two polls of everything else. */
#define LOOKS_AT_ONCE 25u

/* A sleeping thread polls again after this time even without a wake-up. */
#define SLEEP_S 1e-3

/* A thread stays out for a multiple of the time that others lost by waiting. The factor doubles
 * each time that the thread is soon found to be unnecessary again. */
#define FACTOR_MAX 64u
#define SOON       8
#define OUT_MAX_S  1.0
#define LOST_MIN_S 20e-6

/* --- sleeping --- */

static bool is_ending(const struct virtual_partitions *partitions)
{
	return atomic_load_explicit(&partitions->quit, memory_order_acquire) != 0;
}

/* Sleeps until a wake-up or the timeout, unless the word differs from 'value'. */
static void sleep_on(atomic_uint *word, unsigned value, double seconds)
{
	const struct timespec time = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
}

static void wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void sleep_a_while(struct virtual_partitions *partitions)
{
	unsigned bell = atomic_load_explicit(&partitions->bell, memory_order_relaxed);

	atomic_fetch_add_explicit(&partitions->sleepers, 1, memory_order_relaxed);
	sleep_on(&partitions->bell, bell, SLEEP_S);
	atomic_fetch_sub_explicit(&partitions->sleepers, 1, memory_order_relaxed);
}

/* Wakes sleeping threads. A thread about to sleep may miss the wake-up and sleep for SLEEP_S. */
static void ring(struct virtual_partitions *partitions)
{
	if (atomic_load_explicit(&partitions->sleepers, memory_order_relaxed) == 0)
		return;
	atomic_fetch_add_explicit(&partitions->bell, 1, memory_order_relaxed);
	wake(&partitions->bell);
}

/* --- waiting --- */

static void begin_wait(struct virtual_thread *thread)
{
	if (thread->looks == 0)
		thread->since = measure_wall_seconds();
	thread->looks++;
}

static void end_wait(struct virtual_thread *thread)
{
	if (thread->looks > 0)
		thread->waiting += measure_wall_seconds() - thread->since;
	thread->looks = 0;
	thread->culprit = NULL;
}

static double core_seconds(const struct virtual_thread *thread)
{
	struct timespec time = {0};

	clock_gettime(thread->core_clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the seconds of this wait in which the culprit had no core. */
static double lost_seconds(const struct virtual_thread *thread)
{
	return measure_wall_seconds() - thread->noted -
	       (core_seconds(thread->culprit) - thread->noted_core);
}

/* Finds the thread whose round this thread waits for. */
static void note_culprit(struct virtual_thread *thread)
{
	struct virtual_partitions *partitions = thread->partitions;
	unsigned own = atomic_load_explicit(&thread->first->posts, memory_order_relaxed);

	for (unsigned i = 0; i < partitions->own && thread->culprit == NULL; i++) {
		const struct virtual_worker *partition = &partitions->worker[i];
		unsigned claim = atomic_load_explicit(&partition->claim, memory_order_acquire);

		thread->noted_post = atomic_load_explicit(&partition->posts, memory_order_relaxed);
		if ((claim & CLAIM_STATE) != CLAIM_RUNS || thread->noted_post == own)
			continue;
		thread->culprit = &partitions->thread[claim & CLAIM_THREAD];
		thread->noted_part = partition;
		thread->noted = measure_wall_seconds();
		thread->noted_core = core_seconds(thread->culprit);
	}
}

/* Lets other threads run this thread's partitions. */
static void give_up(struct virtual_thread *thread)
{
	struct virtual_partitions *partitions = thread->partitions;

	for (unsigned i = 0; i < partitions->own; i++)
		if (thread->has[i] == VIRTUAL_CLAIMED) {
			thread->has[i] = VIRTUAL_OWN;
			atomic_store_explicit(&partitions->worker[i].claim,
				CLAIM_RESTS | thread->number, memory_order_release);
		}
}

static void stay_out(struct virtual_thread *thread, double lost)
{
	struct virtual_partitions *partitions = thread->partitions;
	double now = measure_wall_seconds();

	begin_wait(thread);
	give_up(thread);
	if (now - thread->joined > SOON * thread->out)
		thread->factor = 1;
	else if (thread->factor < FACTOR_MAX)
		thread->factor *= 2;
	thread->out = lost * partitions->threads * thread->factor;
	if (thread->out > OUT_MAX_S)
		thread->out = OUT_MAX_S;
	thread->joined = now + thread->out;
	for (; now < thread->joined && !is_ending(partitions); now = measure_wall_seconds())
		sleep_on(&partitions->quit, 0, thread->joined - now);
}

/* If the round that this thread waited for had no core for some time, there is one thread too many.
 * Thread 0 never stays out, because pauses need it. */
static void judge_wait(struct virtual_thread *thread)
{
	struct virtual_thread *culprit = thread->culprit;
	atomic_uint *blamed = &thread->partitions->blamed;
	unsigned ended = thread->noted_post + 1;
	double lost;

	if (culprit == NULL || atomic_load_explicit(&thread->noted_part->posts,
				       memory_order_relaxed) == thread->noted_post)
		return;
	lost = lost_seconds(thread);
	thread->culprit = NULL;
	/* At most one thread stays out per such round. */
	if (lost < LOST_MIN_S ||
		atomic_exchange_explicit(blamed, ended, memory_order_relaxed) == ended)
		return;
	if (thread->number == 0)
		atomic_store_explicit(
			&culprit->needless_us, (unsigned)(lost * 1e6), memory_order_relaxed);
	else
		stay_out(thread, lost);
}

/* Returns true if all partitions have stopped (thread 0), or if the run is ending (others). */
static bool is_over(const struct virtual_thread *thread)
{
	const struct virtual_partitions *partitions = thread->partitions;

	if (thread->number > 0)
		return is_ending(partitions);
	return atomic_load_explicit(&partitions->stopped, memory_order_acquire) == partitions->own;
}

/* Returns true if the partition could continue unless a different thread were running it. */
static bool may_go_on(const struct virtual_worker *partition)
{
	unsigned claim = atomic_load_explicit(&partition->claim, memory_order_relaxed);

	return (claim & CLAIM_STATE) == CLAIM_BEGINS ||
	       ((claim & CLAIM_STATE) != CLAIM_STOPPED && virtual_round_is_ready(partition));
}

/* Call when there was no work. */
static void wait_a_while(struct virtual_thread *thread)
{
	const struct virtual_partitions *partitions = thread->partitions;

	begin_wait(thread);
	if (thread->looks >= partitions->help_looks)
		give_up(thread);
	if (thread->culprit == NULL && thread->looks >= partitions->spin_looks / 2)
		note_culprit(thread);
	if (thread->looks >= partitions->spin_looks) {
		/* Sleeps after many polls, unless the thread being waited for is on a core. */
		judge_wait(thread);
		if (thread->culprit != NULL && lost_seconds(thread) < LOST_MIN_S)
			thread->looks = thread->partitions->spin_looks / 2 + 1;
		else
			sleep_a_while(thread->partitions);
		return;
	}
	for (unsigned i = 0; i < LOOKS_AT_ONCE; i++) {
		if (may_go_on(thread->first) || is_over(thread))
			return;
		thread->looks++;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
}

/* --- rounds --- */

/* Keeps the claim to the thread's own partition: a new claim per round would cost as much as
 * fetching a cache line from a different core. */
static void run_claimed(struct virtual_thread *thread, unsigned which, bool begins)
{
	struct virtual_worker *partition = &thread->partitions->worker[which];
	bool own = partition->use.thread == thread->number;
	unsigned next = own ? CLAIM_RUNS : CLAIM_RESTS;

	end_wait(thread);
	if (begins)
		virtual_round_push(partition);
	else if (!virtual_round_run(partition))
		next = CLAIM_STOPPED;
	else if (!own)
		partition->use.helped++;
	thread->has[which] = !own                 ? VIRTUAL_ADOPTED
			     : next == CLAIM_RUNS ? VIRTUAL_CLAIMED
						  : VIRTUAL_OWN;
	if (next != CLAIM_RUNS)
		atomic_store_explicit(
			&partition->claim, next | thread->number, memory_order_release);
	if (next == CLAIM_STOPPED)
		atomic_fetch_add_explicit(&thread->partitions->stopped, 1, memory_order_acq_rel);
	ring(thread->partitions);
}

/* Runs the partition's next round, if it can start and no other thread has the partition. */
static bool try_part(struct virtual_thread *thread, unsigned which)
{
	struct virtual_worker *partition = &thread->partitions->worker[which];
	unsigned claim = atomic_load_explicit(&partition->claim, memory_order_relaxed);
	unsigned state = claim & CLAIM_STATE, runs = CLAIM_RUNS | thread->number;

	if (thread->has[which] == VIRTUAL_CLAIMED) {
		if (!virtual_round_is_ready(partition))
			return false;
		run_claimed(thread, which, false);
		return true;
	}
	if (state != CLAIM_BEGINS && (state != CLAIM_RESTS || !virtual_round_is_ready(partition)))
		return false;
	if (!atomic_compare_exchange_strong_explicit(
		    &partition->claim, &claim, runs, memory_order_acquire, memory_order_relaxed))
		return false;
	/* A different thread may have run it since the first poll. */
	if (state == CLAIM_RESTS && !virtual_round_is_ready(partition)) {
		atomic_store_explicit(&partition->claim, claim, memory_order_release);
		return false;
	}
	run_claimed(thread, which, state == CLAIM_BEGINS);
	return true;
}

/* Runs own and adopted partitions, except those that other threads have run since. */
static bool run_parts(struct virtual_thread *thread)
{
	struct virtual_partitions *partitions = thread->partitions;
	bool ran = false;

	for (unsigned i = 0; i < partitions->own; i++) {
		if (thread->has[i] == VIRTUAL_ADOPTED &&
			(atomic_load_explicit(&partitions->worker[i].claim, memory_order_relaxed) &
				CLAIM_THREAD) != thread->number)
			thread->has[i] = VIRTUAL_OTHERS;
		if (thread->has[i] != VIRTUAL_OTHERS)
			ran |= try_part(thread, i);
	}
	return ran;
}

/* Adopts a partition whose own thread does not show up. */
static bool adopt_part(struct virtual_thread *thread)
{
	struct virtual_partitions *partitions = thread->partitions;

	if (thread->looks < partitions->help_looks)
		return false;
	for (unsigned i = 0; i < partitions->own; i++)
		if (thread->has[i] == VIRTUAL_OTHERS && try_part(thread, i))
			return true;
	return false;
}

/* Exchanges data with other ranks once all partitions have posted. For thread 0. */
static bool exchange(struct virtual_thread *thread)
{
	struct virtual_partitions *partitions = thread->partitions;
	unsigned number = atomic_load_explicit(&partitions->exchanged, memory_order_relaxed) + 1;

	for (unsigned i = 0; i < partitions->own; i++)
		if (atomic_load_explicit(&partitions->worker[i].posts, memory_order_acquire) !=
			number)
			return false;
	begin_wait(thread);
	virtual_ranks_exchange(partitions, VIRTUAL_SIDE_OF(number));
	end_wait(thread);
	atomic_store_explicit(&partitions->exchanged, number, memory_order_release);
	ring(partitions);
	return true;
}

static void serve(struct virtual_thread *thread)
{
	bool exchanges = thread->number == 0 && thread->partitions->ranks != NULL;

	while (!is_over(thread)) {
		if (atomic_load_explicit(&thread->needless_us, memory_order_relaxed) != 0)
			stay_out(thread, atomic_exchange(&thread->needless_us, 0) * 1e-6);
		if (!run_parts(thread) && !(exchanges && exchange(thread)) && !adopt_part(thread))
			wait_a_while(thread);
	}
	end_wait(thread);
}

bool virtual_threads_run(struct virtual_partitions *partitions, weft_time limit, uint32_t *steps)
{
	struct virtual_worker *first = &partitions->worker[0];

	/* The caller acts first, so starting a round would not pay off. */
	if (*steps == 0)
		return true;
	partitions->limit = limit;
	/* Rank 0 decides for all ranks (virtual_run.c). */
	first->steps = partitions->ranks == NULL || partitions->ranks->own == 0 ? steps : NULL;
	partitions->pauses++;
	atomic_store_explicit(&partitions->stopped, 0, memory_order_relaxed);
	for (unsigned i = 0; i < partitions->own; i++) {
		atomic_uint *claim = &partitions->worker[i].claim;
		unsigned last = atomic_load_explicit(claim, memory_order_relaxed) & CLAIM_THREAD;

		atomic_store_explicit(claim, CLAIM_BEGINS | last, memory_order_release);
	}
	ring(partitions);
	serve(&partitions->thread[0]);
	partitions->pauses++;
	virtual_partitions_join(first->fabric);
	return !partitions->reached;
}

/* --- threads --- */

static void *work(void *argument)
{
	struct virtual_thread *thread = argument;

	pthread_getcpuclockid(pthread_self(), &thread->core_clock);
	serve(thread);
	return NULL;
}

int virtual_threads_create(struct virtual_partitions *partitions)
{
	unsigned cores = cpu_count();

	partitions->threads = partitions->own < cores ? partitions->own : cores;
	partitions->help_looks = HELP_LOOKS;
	partitions->spin_looks = VIRTUAL_SPIN_LOOKS;
	partitions->thread = aligned_alloc(64, partitions->own * sizeof(*partitions->thread));
	return partitions->thread != NULL ? 0 : -ENOMEM;
}

void virtual_threads_destroy(struct virtual_partitions *partitions)
{
	free(partitions->thread);
}

/* Distributes the partitions evenly over the threads. */
static void deal_parts(struct virtual_partitions *partitions)
{
	memset(partitions->thread, 0, partitions->threads * sizeof(*partitions->thread));
	for (unsigned i = 0; i < partitions->own; i++) {
		struct virtual_worker *partition = &partitions->worker[i];

		partition->use.thread = i * partitions->threads / partitions->own;
		partition->fabric->measure_from = partitions->worker[0].fabric->measure_from;
		partitions->thread[partition->use.thread].has[i] = VIRTUAL_OWN;
		partitions->thread[partition->use.thread].first = partition;
		atomic_store_explicit(&partition->claim, CLAIM_STOPPED | partition->use.thread,
			memory_order_relaxed);
	}
}

void virtual_threads_start(struct virtual_partitions *partitions)
{
	deal_parts(partitions);
	atomic_store_explicit(&partitions->quit, 0, memory_order_relaxed);
	pthread_getcpuclockid(pthread_self(), &partitions->thread[0].core_clock);
	for (unsigned i = 0; i < partitions->threads; i++) {
		partitions->thread[i].partitions = partitions;
		partitions->thread[i].number = i;
	}
	for (partitions->started = 1; partitions->started < partitions->threads;
		partitions->started++) {
		struct virtual_thread *thread = &partitions->thread[partitions->started];

		if (pthread_create(&thread->id, NULL, work, thread) != 0)
			break;
	}
}

void virtual_threads_end(struct virtual_partitions *partitions)
{
	atomic_store_explicit(&partitions->quit, 1, memory_order_release);
	wake(&partitions->quit);
	ring(partitions);
	for (unsigned i = 1; i < partitions->started; i++)
		pthread_join(partitions->thread[i].id, NULL);
	for (unsigned i = 0; i < partitions->own; i++)
		partitions->worker[i].use.waiting =
			partitions->thread[partitions->worker[i].use.thread].waiting;
}
