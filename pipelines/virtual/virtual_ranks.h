/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric in several processes (ranks.h): each has the same number of its partitions
 * (virtual_partitions.h), with their threads. All of them create the whole fabric, but the devices
 * of others stay as they were created: a rank's own partitions have the lowest numbers, so
 * partition 0 is the fabric itself in each. When all threads have ended a round one of them
 * exchanges what crosses to other ranks, and the reports; between rounds ranks agree on everything
 * that decides their next steps. After the run rank 0 has the counters of all devices
 * (virtual_measure.h).
 *
 * With one process these functions do nothing. */

#include "partition_message.h"
#include "virtual/parallel/ranks.h"
#include "virtual_partitions.h"

/* A rank's first partition, in this rank's numbering. */
static inline unsigned virtual_ranks_first(
	const struct virtual_partitions *partitions, unsigned rank)
{
	unsigned count = partitions->ranks->count;

	return (rank + count - partitions->ranks->own) % count * partitions->own;
}

/* -EINVAL for all ranks, if their routes differ: other versions of libraries may compute other
 * routes. */
int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct error *error);

/* Once all own partitions have reported and filled their mailboxes of this side: sends what is for
 * other ranks, and receives theirs. By one thread while the others wait. */
void virtual_ranks_exchange(struct virtual_partitions *partitions, unsigned side);
/* Rank 0, until the next exchange: what 'rank' appended (virtual_append_fn). False: its message is
 * invalid. */
bool virtual_ranks_rest(
	const struct virtual_partitions *partitions, unsigned rank, struct ranks_reader *rest);
/* Then by each thread: turns what other ranks sent to its partition into events. */
void virtual_ranks_take(struct virtual_worker *worker);

/* Each value becomes the maximum, or the sum, over all ranks. Between rounds. */
void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);
void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);

/* Adds other ranks' numbers to rank 0's; the others keep theirs. Between rounds. */
void virtual_ranks_add(const struct virtual_fabric *fabric, uint32_t *value, size_t values);

/* Adds the heads that wait in other ranks' switches (deadlock.h). Between rounds. */
void virtual_ranks_collect(const struct virtual_fabric *fabric, struct deadlock_heads *heads);
