/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * How long a round of a fabric on several threads may be (virtual_parts.h, docs/parallel.md): until
 * the first time at which something that a part has not sent yet could change another part.
 *
 * A packet takes the delay of a cut link and the routing delay behind it. A credit frame takes the
 * delay alone, and ends a round sooner. But it is only sent when the tail of a packet has left, and
 * that time is known from the moment at which the packet begins to leave: so a part lists these
 * ends, and says when the next of them is.
 */

#include "virtual_private.h"

struct virtual_lookahead {
	weft_time least_ps;  /* after it anything can be in another part */
	weft_time packet_ps; /* the same for packets; 'least_ps' where ends need not be listed */
	weft_time frame_ps;  /* no transmission is shorter */
};

/* For parts by device (virtual_parts.of_device), once their channels know that they cross.
 * 'least_ps' 0: a link without delay is cut, or hosts hear of each other without any. */
void virtual_lookahead_open(struct virtual_lookahead *lookahead,
	const struct virtual_fabric *fabric, const uint16_t *of_device);

/* True if rounds can be longer than 'least_ps', where ends are listed. */
static inline bool virtual_lookahead_wants_ends(const struct virtual_lookahead *lookahead)
{
	return lookahead->packet_ps > lookahead->least_ps;
}

/* The end of a round from 'start' on. The next listed end of all parts is at 'listed', or it may be
 * at any time from now on, which is before 'start'. */
weft_time virtual_lookahead_end(
	const struct virtual_lookahead *lookahead, weft_time start, weft_time listed);

/* A transmission will be over at that time, and what it leaves may be told to another part. */
static inline void virtual_ends_list(struct virtual_ends *ends, weft_time at)
{
	if (ends->count < VIRTUAL_ENDS_MOST)
		ends->at[ends->count++] = at;
	else if (at >= ends->unlisted_before)
		ends->unlisted_before = at + 1;
}

/* The earliest in the list, without those before 'from', which are over; 'from' while some that
 * found no room are to come; WEFT_TIME_NEVER: none. */
weft_time virtual_ends_next(struct virtual_ends *ends, weft_time from);
