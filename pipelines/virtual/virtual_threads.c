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

#include "cpu_count.h"
#include "virtual_ranks.h"

/* States of a part, in the bits of virtual_worker.claim above the number of the thread that runs it
 * or ran it last. */
#define CLAIM_RESTS   (0u << 8) /* between two rounds */
#define CLAIM_BEGINS  (1u << 8) /* it has not posted since the pause */
#define CLAIM_RUNS    (2u << 8)
#define CLAIM_STOPPED (3u << 8) /* in a pause */
#define CLAIM_STATE   (3u << 8)
#define CLAIM_THREAD  0xffu

_Static_assert(VIRTUAL_WORKERS_MAX <= CLAIM_THREAD + 1, "there is a number for each thread");

/* Unsuccessful polls before a thread releases its claims, and runs parts of other threads. */
#define HELP_LOOKS 250u
/* Polls of its first part between two polls of everything else. */
#define LOOKS_AT_ONCE 25u

/* A sleeping thread polls again after this time, even without a wake-up. */
#define SLEEP_S 1e-3

/* A thread stays out for a multiple of the time that others lost waiting. The factor doubles each
 * time that it is needless again soon. */
#define FACTOR_MAX 64u
#define SOON       8
#define OUT_MAX_S  1.0
#define LOST_MIN_S 20e-6

/* --- sleeping --- */

static bool is_ending(const struct virtual_parts *parts)
{
	return atomic_load_explicit(&parts->quit, memory_order_acquire) != 0;
}

/* Until a wake-up or the time-out; not at all if the word is not 'value'. */
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

static void sleep_a_while(struct virtual_parts *parts)
{
	unsigned bell = atomic_load_explicit(&parts->bell, memory_order_relaxed);

	atomic_fetch_add_explicit(&parts->sleepers, 1, memory_order_relaxed);
	sleep_on(&parts->bell, bell, SLEEP_S);
	atomic_fetch_sub_explicit(&parts->sleepers, 1, memory_order_relaxed);
}

/* There may be work. A thread that is just going to sleep may miss the wake-up, and sleeps for
 * SLEEP_S. */
static void ring(struct virtual_parts *parts)
{
	if (atomic_load_explicit(&parts->sleepers, memory_order_relaxed) == 0)
		return;
	atomic_fetch_add_explicit(&parts->bell, 1, memory_order_relaxed);
	wake(&parts->bell);
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

/* Seconds during this wait in which the culprit had no core. */
static double lost_seconds(const struct virtual_thread *thread)
{
	return measure_wall_seconds() - thread->noted -
	       (core_seconds(thread->culprit) - thread->noted_core);
}

/* The thread for whose round this one waits. */
static void note_culprit(struct virtual_thread *thread)
{
	struct virtual_parts *parts = thread->parts;
	unsigned own = atomic_load_explicit(&thread->first->posts, memory_order_relaxed);

	for (unsigned i = 0; i < parts->own && thread->culprit == NULL; i++) {
		const struct virtual_worker *part = &parts->worker[i];
		unsigned claim = atomic_load_explicit(&part->claim, memory_order_acquire);

		thread->noted_post = atomic_load_explicit(&part->posts, memory_order_relaxed);
		if ((claim & CLAIM_STATE) != CLAIM_RUNS || thread->noted_post == own)
			continue;
		thread->culprit = &parts->thread[claim & CLAIM_THREAD];
		thread->noted_part = part;
		thread->noted = measure_wall_seconds();
		thread->noted_core = core_seconds(thread->culprit);
	}
}

/* Allows other threads to run its parts. */
static void give_up(struct virtual_thread *thread)
{
	struct virtual_parts *parts = thread->parts;

	for (unsigned i = 0; i < parts->own; i++)
		if (thread->has[i] == VIRTUAL_CLAIMED) {
			thread->has[i] = VIRTUAL_OWN;
			atomic_store_explicit(&parts->worker[i].claim, CLAIM_RESTS | thread->number,
				memory_order_release);
		}
}

static void stay_out(struct virtual_thread *thread, double lost)
{
	struct virtual_parts *parts = thread->parts;
	double now = measure_wall_seconds();

	begin_wait(thread);
	give_up(thread);
	if (now - thread->joined > SOON * thread->out)
		thread->factor = 1;
	else if (thread->factor < FACTOR_MAX)
		thread->factor *= 2;
	thread->out = lost * parts->threads * thread->factor;
	if (thread->out > OUT_MAX_S)
		thread->out = OUT_MAX_S;
	thread->joined = now + thread->out;
	for (; now < thread->joined && !is_ending(parts); now = measure_wall_seconds())
		sleep_on(&parts->quit, 0, thread->joined - now);
}

/* If the round that it waited for had no core for some time, there is one thread too many. Thread 0
 * never stays out: it is needed in pauses. */
static void judge_wait(struct virtual_thread *thread)
{
	struct virtual_thread *culprit = thread->culprit;
	atomic_uint *blamed = &thread->parts->blamed;
	unsigned ended = thread->noted_post + 1;
	double lost;

	if (culprit == NULL || atomic_load_explicit(&thread->noted_part->posts,
				       memory_order_relaxed) == thread->noted_post)
		return;
	lost = lost_seconds(thread);
	thread->culprit = NULL;
	/* At most one thread per such round. */
	if (lost < LOST_MIN_S ||
		atomic_exchange_explicit(blamed, ended, memory_order_relaxed) == ended)
		return;
	if (thread->number == 0)
		atomic_store_explicit(
			&culprit->needless_us, (unsigned)(lost * 1e6), memory_order_relaxed);
	else
		stay_out(thread, lost);
}

/* For thread 0: all parts have stopped. For others: the run ends. */
static bool is_over(const struct virtual_thread *thread)
{
	const struct virtual_parts *parts = thread->parts;

	if (thread->number > 0)
		return is_ending(parts);
	return atomic_load_explicit(&parts->stopped, memory_order_acquire) == parts->own;
}

/* True if the part can continue, or could if no other thread had it. */
static bool may_go_on(const struct virtual_worker *part)
{
	unsigned claim = atomic_load_explicit(&part->claim, memory_order_relaxed);

	return (claim & CLAIM_STATE) == CLAIM_BEGINS ||
	       ((claim & CLAIM_STATE) != CLAIM_STOPPED && virtual_round_is_ready(part));
}

/* There was no work. */
static void wait_a_while(struct virtual_thread *thread)
{
	const struct virtual_parts *parts = thread->parts;

	begin_wait(thread);
	if (thread->looks >= parts->help_looks)
		give_up(thread);
	if (thread->culprit == NULL && thread->looks >= parts->spin_looks / 2)
		note_culprit(thread);
	if (thread->looks >= parts->spin_looks) {
		/* After many polls, sleeps unless the thread that it waits for is on a core. */
		judge_wait(thread);
		if (thread->culprit != NULL && lost_seconds(thread) < LOST_MIN_S)
			thread->looks = thread->parts->spin_looks / 2 + 1;
		else
			sleep_a_while(thread->parts);
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

/* A thread keeps the claim to its own part: a new claim for each round would cost as much as a
 * cache line from another core. */
static void run_claimed(struct virtual_thread *thread, unsigned which, bool begins)
{
	struct virtual_worker *part = &thread->parts->worker[which];
	bool own = part->use.thread == thread->number;
	unsigned next = own ? CLAIM_RUNS : CLAIM_RESTS;

	end_wait(thread);
	if (begins)
		virtual_round_tell(part);
	else if (!virtual_round_run(part))
		next = CLAIM_STOPPED;
	else if (!own)
		part->use.helped++;
	thread->has[which] = !own                 ? VIRTUAL_ADOPTED
			     : next == CLAIM_RUNS ? VIRTUAL_CLAIMED
						  : VIRTUAL_OWN;
	if (next != CLAIM_RUNS)
		atomic_store_explicit(&part->claim, next | thread->number, memory_order_release);
	if (next == CLAIM_STOPPED)
		atomic_fetch_add_explicit(&thread->parts->stopped, 1, memory_order_acq_rel);
	ring(thread->parts);
}

/* Runs the part's next round, if it can start and no other thread has the part. */
static bool try_part(struct virtual_thread *thread, unsigned which)
{
	struct virtual_worker *part = &thread->parts->worker[which];
	unsigned claim = atomic_load_explicit(&part->claim, memory_order_relaxed);
	unsigned state = claim & CLAIM_STATE, runs = CLAIM_RUNS | thread->number;

	if (thread->has[which] == VIRTUAL_CLAIMED) {
		if (!virtual_round_is_ready(part))
			return false;
		run_claimed(thread, which, false);
		return true;
	}
	if (state != CLAIM_BEGINS && (state != CLAIM_RESTS || !virtual_round_is_ready(part)))
		return false;
	if (!atomic_compare_exchange_strong_explicit(
		    &part->claim, &claim, runs, memory_order_acquire, memory_order_relaxed))
		return false;
	/* Another thread may have run it since the first poll. */
	if (state == CLAIM_RESTS && !virtual_round_is_ready(part)) {
		atomic_store_explicit(&part->claim, claim, memory_order_release);
		return false;
	}
	run_claimed(thread, which, state == CLAIM_BEGINS);
	return true;
}

/* Its own parts, and adopted ones, unless another thread has run them since. */
static bool run_parts(struct virtual_thread *thread)
{
	struct virtual_parts *parts = thread->parts;
	bool ran = false;

	for (unsigned i = 0; i < parts->own; i++) {
		if (thread->has[i] == VIRTUAL_ADOPTED &&
			(atomic_load_explicit(&parts->worker[i].claim, memory_order_relaxed) &
				CLAIM_THREAD) != thread->number)
			thread->has[i] = VIRTUAL_OTHERS;
		if (thread->has[i] != VIRTUAL_OTHERS)
			ran |= try_part(thread, i);
	}
	return ran;
}

/* Adopts a part whose thread does not come. */
static bool adopt_part(struct virtual_thread *thread)
{
	struct virtual_parts *parts = thread->parts;

	if (thread->looks < parts->help_looks)
		return false;
	for (unsigned i = 0; i < parts->own; i++)
		if (thread->has[i] == VIRTUAL_OTHERS && try_part(thread, i))
			return true;
	return false;
}

/* By thread 0, when all parts have posted. */
static bool exchange(struct virtual_thread *thread)
{
	struct virtual_parts *parts = thread->parts;
	unsigned number = atomic_load_explicit(&parts->exchanged, memory_order_relaxed) + 1;

	for (unsigned i = 0; i < parts->own; i++)
		if (atomic_load_explicit(&parts->worker[i].posts, memory_order_acquire) != number)
			return false;
	begin_wait(thread);
	virtual_ranks_exchange(parts, VIRTUAL_SIDE_OF(number));
	end_wait(thread);
	atomic_store_explicit(&parts->exchanged, number, memory_order_release);
	ring(parts);
	return true;
}

static void serve(struct virtual_thread *thread)
{
	bool exchanges = thread->number == 0 && thread->parts->ranks != NULL;

	while (!is_over(thread)) {
		if (atomic_load_explicit(&thread->needless_us, memory_order_relaxed) != 0)
			stay_out(thread, atomic_exchange(&thread->needless_us, 0) * 1e-6);
		if (!run_parts(thread) && !(exchanges && exchange(thread)) && !adopt_part(thread))
			wait_a_while(thread);
	}
	end_wait(thread);
}

bool virtual_threads_run(struct virtual_parts *parts, weft_time limit, uint32_t *steps)
{
	struct virtual_worker *first = &parts->worker[0];

	/* Not worth starting a round: the caller acts first. */
	if (*steps == 0)
		return true;
	parts->limit = limit;
	/* Rank 0 decides for all (virtual_run.c). */
	first->steps = parts->ranks == NULL || parts->ranks->own == 0 ? steps : NULL;
	parts->pauses++;
	atomic_store_explicit(&parts->stopped, 0, memory_order_relaxed);
	for (unsigned i = 0; i < parts->own; i++) {
		atomic_uint *claim = &parts->worker[i].claim;
		unsigned last = atomic_load_explicit(claim, memory_order_relaxed) & CLAIM_THREAD;

		atomic_store_explicit(claim, CLAIM_BEGINS | last, memory_order_release);
	}
	ring(parts);
	serve(&parts->thread[0]);
	parts->pauses++;
	virtual_parts_join(first->fabric);
	return !parts->reached;
}

/* --- threads --- */

static void *work(void *argument)
{
	struct virtual_thread *thread = argument;

	pthread_getcpuclockid(pthread_self(), &thread->core_clock);
	serve(thread);
	return NULL;
}

int virtual_threads_create(struct virtual_parts *parts)
{
	unsigned cores = cpu_count();

	parts->threads = parts->own < cores ? parts->own : cores;
	parts->help_looks = HELP_LOOKS;
	parts->spin_looks = VIRTUAL_SPIN_LOOKS;
	parts->thread = aligned_alloc(64, parts->own * sizeof(*parts->thread));
	return parts->thread != NULL ? 0 : -ENOMEM;
}

void virtual_threads_destroy(struct virtual_parts *parts)
{
	free(parts->thread);
}

/* All threads get about the same number of parts. */
static void deal_parts(struct virtual_parts *parts)
{
	memset(parts->thread, 0, parts->threads * sizeof(*parts->thread));
	for (unsigned i = 0; i < parts->own; i++) {
		struct virtual_worker *part = &parts->worker[i];

		part->use.thread = i * parts->threads / parts->own;
		part->fabric->measure_from = parts->worker[0].fabric->measure_from;
		parts->thread[part->use.thread].has[i] = VIRTUAL_OWN;
		parts->thread[part->use.thread].first = part;
		atomic_store_explicit(
			&part->claim, CLAIM_STOPPED | part->use.thread, memory_order_relaxed);
	}
}

void virtual_threads_start(struct virtual_parts *parts)
{
	deal_parts(parts);
	atomic_store_explicit(&parts->quit, 0, memory_order_relaxed);
	pthread_getcpuclockid(pthread_self(), &parts->thread[0].core_clock);
	for (unsigned i = 0; i < parts->threads; i++) {
		parts->thread[i].parts = parts;
		parts->thread[i].number = i;
	}
	for (parts->started = 1; parts->started < parts->threads; parts->started++) {
		struct virtual_thread *thread = &parts->thread[parts->started];

		if (pthread_create(&thread->id, NULL, work, thread) != 0)
			break;
	}
}

void virtual_threads_end(struct virtual_parts *parts)
{
	atomic_store_explicit(&parts->quit, 1, memory_order_release);
	wake(&parts->quit);
	ring(parts);
	for (unsigned i = 1; i < parts->started; i++)
		pthread_join(parts->thread[i].id, NULL);
	for (unsigned i = 0; i < parts->own; i++)
		parts->worker[i].use.waiting = parts->thread[parts->worker[i].use.thread].waiting;
}
