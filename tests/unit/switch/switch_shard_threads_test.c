/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The shards of a switch run at the same time, each in its own thread. cmocka's assertions only
 * work in the main thread, so a wrong packet ends the program. */

#include <pthread.h>
#include <sched.h>

#include "shard_bench.h"

#define PACKETS 4000 /* minimum number that each shard sends */

struct worker {
	struct shard_bench *bench;
	unsigned shard;
	unsigned *unfinished; /* workers, atomic */
};

static uint64_t sent_by(const struct shard_bench *bench, unsigned shard)
{
	uint64_t sent = 0;

	for (unsigned port = shard; port < bench->ports; port += bench->shards)
		sent += bench->neighbour[port].sent;
	return sent;
}

/* Continues until all have sent enough, because each needs the others. */
static void *work(void *ctx)
{
	struct worker *worker = ctx;
	bool finished = false;

	while (__atomic_load_n(worker->unfinished, __ATOMIC_ACQUIRE) != 0) {
		uint64_t before = sent_by(worker->bench, worker->shard);
		uint64_t sent;

		pb_turn(worker->bench, worker->shard);
		sent = sent_by(worker->bench, worker->shard);
		if (sent == before)
			sched_yield();
		if (!finished && sent >= PACKETS) {
			finished = true;
			__atomic_sub_fetch(worker->unfinished, 1, __ATOMIC_RELEASE);
		}
	}
	return NULL;
}

static void run_threads(unsigned ports, unsigned vcs, unsigned shards)
{
	OWNED(shard_bench) *bench = pb_create(ports, vcs, shards, shards, WEFT_TIME_NEVER);
	struct worker worker[SWITCH_SHARDS_MAX];
	pthread_t thread[SWITCH_SHARDS_MAX];
	unsigned unfinished = shards;

	bench->lossless = true;
	for (unsigned shard = 0; shard < shards; shard++) {
		worker[shard] = (struct worker){bench, shard, &unfinished};
		assert_int_equal(pthread_create(&thread[shard], NULL, work, &worker[shard]), 0);
	}
	for (unsigned shard = 0; shard < shards; shard++)
		pthread_join(thread[shard], NULL);
	pb_check(bench);
	pb_finish(bench);
	assert_int_equal(pb_sum(bench, false), pb_sum(bench, true));
	pb_expect_all_credits(bench);
}

UNIT_TEST(two_parts_at_once_are_one_switch)
{
	run_threads(4, 2, 2);
}

UNIT_TEST(five_parts_at_once_are_one_switch)
{
	run_threads(11, 3, 5);
}
