/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric in several processes (ranks.h). Each process has the same number of partitions
 * (virtual_partitions.h), with their threads. All processes create the whole fabric, but devices of
 * other ranks stay as created. A rank's own partitions have the lowest numbers, so partition 0 is
 * the fabric itself in each rank. When all threads have ended a round, one of them exchanges
 * summaries, and frames that cross to other ranks. Between rounds, ranks agree on everything that
 * determines their next steps. After the run, rank 0 has the counters of all devices
 * (virtual_measure.h).
 *
 * With one process these functions do nothing. */

#include "partition_message.h"
#include "virtual/parallel/ranks.h"
#include "virtual_partitions.h"

/* Returns a rank's first partition, in this rank's numbering. */
static inline unsigned virtual_ranks_first(
	const struct virtual_partitions *partitions, unsigned rank)
{
	unsigned count = partitions->ranks->count;

	return (rank + count - partitions->ranks->own) % count * partitions->own;
}

/* Returns -EINVAL in all ranks, with error set, if their routes differ: different library versions
 * may compute different routes. */
int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct error *error);

/* Exchanges data with the other ranks. Called by one thread while the others wait, once all own
 * partitions have posted summaries and filled their mailboxes of this side. */
void virtual_ranks_exchange(struct virtual_partitions *partitions, unsigned side);
/* For rank 0, until the next exchange: finds the data that 'rank' appended (virtual_append_fn).
 * Returns false if the message is invalid. */
bool virtual_ranks_rest(
	const struct virtual_partitions *partitions, unsigned rank, struct ranks_reader *rest);
/* Turns other ranks' data for the worker's partition into events; call then, in each thread. */
void virtual_ranks_take(struct virtual_worker *worker);

/* Replaces each value with the maximum or sum over all ranks. Call between rounds. */
void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);
void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);

/* Adds other ranks' values to rank 0's, leaving theirs unchanged. Call between rounds. */
void virtual_ranks_add(const struct virtual_fabric *fabric, uint32_t *value, size_t values);

/* Appends the heads waiting in other ranks' switches (deadlock.h). Call between rounds. */
void virtual_ranks_collect(const struct virtual_fabric *fabric, struct deadlock_heads *heads);
