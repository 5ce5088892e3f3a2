/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a host remembers of the adaptive-routing notifications that have reached it (readings:
 * congestion.md): nobody in the network can go around the root that they tell of, so the host acts.
 * Its packets to that destination and of that VC leave with the adapted bit, in the adapted-flow
 * channel, on their usual way, for as long as an entry of a switch would live.
 *
 * A mark is looked for when a packet reaches the head of its FIFO. A table of fixed size in which
 * each mark has a few places: everything is O(1), and while there is no mark a look is one
 * comparison. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weft_time.h"

#define ARN_MARKS       512 /* a power of two */
#define ARN_MARK_PLACES 8   /* of one mark, next to each other */

struct arn_mark {
	weft_time until_ps; /* it has no meaning from then on; 0: none was here */
	uint16_t destination;
	uint8_t vc;
};

struct arn_marks {
	weft_time ttl_ps;
	weft_time until_ps; /* the last mark ends */
	uint64_t forgotten; /* marks that had to make room */
	struct arn_mark mark[ARN_MARKS];
};

void arn_marks_init(struct arn_marks *marks, weft_time ttl_ps);

/* Those of an interface, for the caller to free(): NULL and 0 if 'ttl_ps' is 0, where none would
 * ever hold; -ENOMEM. */
int arn_marks_create(struct arn_marks **marks, weft_time ttl_ps);

/* A notification has arrived; 'vc' is that of the queuing scheme. */
void arn_marks_set(struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

/* True if packets of (destination, VC) are to leave in the AFC. */
bool arn_marks_find(const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

static inline bool arn_marks_has(
	const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	return now < marks->until_ps && arn_marks_find(marks, destination, vc, now);
}
