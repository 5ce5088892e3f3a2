/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric in several processes (ranks.h): each has as many of its parts
 * (virtual_partitions.h), with their threads. All of them create the whole fabric, but the devices
 * of others stay as they were created: a rank's own parts have the lowest numbers, so it is part 0
 * that is the fabric itself in each. When all threads have ended a round one of them exchanges what
 * crosses to other ranks, and what is told; between rounds ranks agree on everything that they
 * decide by. After the run rank 0 has the counters of all devices (virtual_measure.h).
 *
 * On one process these functions do nothing. */

#include "partition_message.h"
#include "virtual/parallel/ranks.h"
#include "virtual_partitions.h"

/* The first of a rank's parts, by this rank's numbers. */
static inline unsigned virtual_ranks_first(
	const struct virtual_partitions *partitions, unsigned rank)
{
	unsigned count = partitions->ranks->count;

	return (rank + count - partitions->ranks->own) % count * partitions->own;
}

/* -EINVAL for all ranks, if their routes are not the same: libraries of another version may compute
 * others. */
int virtual_ranks_compare(
	const struct virtual_fabric *fabric, struct ranks *ranks, struct error *error);

/* Once all own parts have told and filled their boxes of this side: sends what is for other ranks,
 * and hears them. By one thread while the others wait. */
void virtual_ranks_exchange(struct virtual_partitions *partitions, unsigned side);
/* Rank 0, until the next exchange: what 'rank' has appended (virtual_append_fn). False: its message
 * makes no sense. */
bool virtual_ranks_rest(
	const struct virtual_partitions *partitions, unsigned rank, struct ranks_reader *rest);
/* Then by each thread: what other ranks have sent to its part becomes events. */
void virtual_ranks_take(struct virtual_worker *worker);

/* Each value becomes the largest, or the sum, of those of all ranks. Between rounds. */
void virtual_ranks_max(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);
void virtual_ranks_sum(const struct virtual_fabric *fabric, uint64_t *value, unsigned values);

/* Adds other ranks' numbers to rank 0's; those of the others stay. Between rounds. */
void virtual_ranks_add(const struct virtual_fabric *fabric, uint32_t *value, size_t values);

/* Adds the heads that wait in other ranks' switches (deadlock.h). Between rounds. */
void virtual_ranks_collect(const struct virtual_fabric *fabric, struct deadlock_heads *heads);
