/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A host's marks, which ARNs set when no switch can route around a congestion root
 * (docs/explanation/congestion.md). For the lifetime of a switch's entry, packets for the marked
 * destination and VC are sent with the adapted bit on the adapted-flow channel, on their usual
 * route.
 *
 * A mark is looked up when a packet reaches the head of its FIFO. The table has a fixed size, and
 * each mark has only a few possible slots, so all operations are O(1). Without marks, a lookup is
 * one comparison. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"

#define ARN_MARKS       512 /* a power of two */
#define ARN_MARK_PLACES 8   /* adjacent slots that can hold a given mark */

struct arn_mark {
	weft_time until_ps; /* end of validity; 0: unused */
	uint16_t destination;
	uint8_t vc;
};

struct arn_marks {
	weft_time ttl_ps;
	weft_time until_ps; /* end of the last mark */
	uint64_t forgotten; /* number of evicted marks */
	struct arn_mark mark[ARN_MARKS];
};

void arn_marks_init(struct arn_marks *marks, weft_time ttl_ps);

/* Creates the marks of an interface; release them with free(). '*marks' is NULL if 'ttl_ps' is 0,
 * because no mark would ever be valid. Returns 0 or -ENOMEM. */
int arn_marks_create(struct arn_marks **marks, weft_time ttl_ps);

/* Sets or renews a mark when an ARN arrives. 'vc' is the VC of the queuing scheme. */
void arn_marks_set(struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

/* Returns true if packets for this destination and VC must use the adapted-flow channel. */
bool arn_marks_find(const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now);

static inline bool arn_marks_has(
	const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	return now < marks->until_ps && arn_marks_find(marks, destination, vc, now);
}
