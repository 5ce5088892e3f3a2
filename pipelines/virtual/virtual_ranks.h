/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric in several processes (ranks.h): each has the same number of its partitions
 * (virtual_partitions.h), with their threads. All of them create the whole fabric, but the devices
 * of other ranks stay as they were created. A rank's own partitions have the lowest numbers, so
 * partition 0 is the fabric itself in each. When all threads have ended a round, one of them
 * exchanges the reports and the frames that cross to other ranks. Between rounds, ranks agree on
 * everything that decides their next steps. After the run rank 0 has the counters of all devices
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

/* Returns -EINVAL in all ranks if their routes differ, because other versions of libraries may
 * compute other routes. */
int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct error *error);

/* Called by one thread while the others wait, once all own partitions have reported and filled
 * their mailboxes of this side: sends the data for other ranks and receives theirs. */
void virtual_ranks_exchange(struct virtual_partitions *partitions, unsigned side);
/* Rank 0, until the next exchange: the data that 'rank' appended (virtual_append_fn). Returns false
 * if that message is invalid. */
bool virtual_ranks_rest(
	const struct virtual_partitions *partitions, unsigned rank, struct ranks_reader *rest);
/* Then called by each thread: turns the data that other ranks sent to its partition into events. */
void virtual_ranks_take(struct virtual_worker *worker);

/* Each value becomes the maximum, or the sum, over all ranks. Between rounds. */
void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);
void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);

/* Adds other ranks' values to rank 0's; the others keep their own. Between rounds. */
void virtual_ranks_add(const struct virtual_fabric *fabric, uint32_t *value, size_t values);

/* Adds the heads that wait in other ranks' switches (deadlock.h). Between rounds. */
void virtual_ranks_collect(const struct virtual_fabric *fabric, struct deadlock_heads *heads);
