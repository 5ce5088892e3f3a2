/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Marks of a host, set by the ARNs that reached it (docs/explanation/congestion.md): no switch
 * could route around the root of the congestion, so the host acts. For the lifetime of a switch's
 * entry, its packets to that destination on that VC leave with the adapted bit on the adapted-flow
 * channel, on their usual route.
 *
 * A mark is looked up when a packet reaches the head of its FIFO. The table has a fixed size and a
 * few places for each mark: everything is O(1), and without marks a lookup is one comparison. One
 * thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

#define ARN_MARKS       512 /* a power of two */
#define ARN_MARK_PLACES 8   /* adjacent places in which a mark may be */

struct arn_mark {
	weft_time until_ps; /* end of validity; 0: unused */
	uint16_t destination;
	uint8_t vc;
};

struct arn_marks {
	weft_time ttl_ps;
	weft_time until_ps; /* end of the last mark */
	uint64_t forgotten; /* marks that were evicted */
	struct arn_mark mark[ARN_MARKS];
};

void arn_marks_init(struct arn_marks *marks, weft_time ttl_ps);

/* Creates the marks of an interface; the caller frees them with free(). '*marks' is NULL if
 * 'ttl_ps' is 0, because no mark would ever be valid. -ENOMEM. */
int arn_marks_create(struct arn_marks **marks, weft_time ttl_ps);

/* An ARN arrived; 'vc' is the VC of the queuing scheme. */
void arn_marks_set(struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

/* True if packets of (destination, VC) must leave in the AFC. */
bool arn_marks_find(const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

static inline bool arn_marks_has(
	const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	return now < marks->until_ps && arn_marks_find(marks, destination, vc, now);
}
