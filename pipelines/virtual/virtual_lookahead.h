/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How long a round of a fabric on several threads may be (virtual_partitions.h,
 * docs/how-to/use-many-cores.md): it ends before anything sent in it can reach another partition.
 *
 * A packet needs the delay of a cut link and the routing delay of the switch behind it. A credit
 * frame needs the delay alone, so it limits the round. But a switch sends it when the tail of a
 * packet has left, and that time is known when the packet starts to leave. So a partition lists
 * these times, the ends, and reports the next one. */

#include "virtual_private.h"

struct virtual_lookahead {
	weft_time min_ps;    /* nothing reaches another partition sooner */
	weft_time packet_ps; /* no packet crosses earlier; 'min_ps' if rounds may not be longer */
	weft_time frame_ps;  /* the shortest transmission */
};

/* For a cut: 'of_device' has the partition of each device, and the channels know whether they
 * cross. 'min_ps' becomes 0 if a link without delay is cut, or if hosts interact without delay. */
void virtual_lookahead_open(struct virtual_lookahead *lookahead,
	const struct virtual_fabric *fabric, const uint16_t *of_device);

/* True if a round can be longer than 'min_ps'. Then partitions must list ends. */
static inline bool virtual_lookahead_wants_ends(const struct virtual_lookahead *lookahead)
{
	return lookahead->packet_ps > lookahead->min_ps;
}

/* The end of a round that starts at 'start'. 'listed' is the next listed end of all partitions. If
 * that is not after 'start', an end may occur at any time, and the round takes 'min_ps'. */
weft_time virtual_lookahead_end(
	const struct virtual_lookahead *lookahead, weft_time start, weft_time listed);

/* Lists a transmission that ends at 'at': a credit frame for another partition may be due then. */
static inline void virtual_ends_list(struct virtual_ends *ends, weft_time at)
{
	if (ends->count < VIRTUAL_ENDS_MAX)
		ends->at[ends->count++] = at;
	else if (at >= ends->unlisted_before)
		ends->unlisted_before = at + 1;
}

/* Drops the ends before 'from' and returns the earliest of the rest; 'from' if an end that was
 * dropped for lack of room may still lie ahead, WEFT_TIME_NEVER if there is none. */
weft_time virtual_ends_next(struct virtual_ends *ends, weft_time from);
