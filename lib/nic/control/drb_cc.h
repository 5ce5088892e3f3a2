/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * DRB beside end-node detection (ours; no paper has it). Paths help where flows to different
 * destinations share a link. Where all share the destination (an incast), the link into that host
 * is full whatever path they take, and more paths only carry the congestion to more switches. Both
 * look alike to a latency; the contending flows tell them apart:
 *
 *     some flow has another destination   DRB: zone H opens a path, zone L closes one
 *     all have this destination           an incast: each such notification raises the flow's
 *                                         index of InfiniBand congestion control (iba_cc.h), in
 *                                         zone H or not; nothing is opened, and paths close
 *
 * A notification without flows says nothing of that; then the pair's last that did counts. The
 * judgement of a pair is a score, so that a single notification does not turn it. A plain state
 * machine; no allocation.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cn.h"
#include "iba_cc.h"
#include "metapath.h"

#define DRB_CC_SCORE_MAX 8 /* notifications that turn the judgement whole */

/* Of one pair. */
struct drb_cc_pair {
	int8_t score; /* above 0: an incast */
};

/* An acknowledgement from the destination. Returns by how many paths more are open. */
int drb_cc_hear(struct drb_cc_pair *pair, struct metapath *path, const struct metapath_rules *rules,
	struct iba_cc *cc, uint16_t destination, const struct cn *cn, uint64_t now_ns);
