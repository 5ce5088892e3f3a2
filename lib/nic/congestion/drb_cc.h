/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* DRB combined with end-node detection (Weft's own design, not from a paper). More paths help where
 * flows to different destinations share a link. If most flows share the destination (incast), the
 * link to that host is saturated whatever path they take, and more paths only spread the congestion
 * to more switches. Latencies look alike in both cases, but the contending flows distinguish them:
 *
 *     most have this destination     incast: no path is opened, and paths close; the flow pauses
 *                                    after each packet for as many packet times as other sources
 *                                    have been seen, so that together they fill the host's link
 *     most have contended before     DRB: zone H opens a path, zone L closes one
 *     most are new                   all links carry changing flows, and a longer path would only
 *                                    take capacity from them: no path is opened, and paths close
 *
 * Switches report the flows at the last switch where a packet waited, not at the first
 * (contention.h). The last one is closest to the origin of the congestion; the flows further
 * upstream are only victims. The pause follows from the table index of InfiniBand congestion
 * control (iba_cc.h). The index is raised directly to the first one whose pause is long enough, or
 * by one if it is already there. The timer lowers it again, which finds unused capacity; at the
 * minimum, the sources are discarded. A notification without flows leaves the pair's last judgement
 * unchanged. Both judgements are scores, so that a single notification does not reverse them. A
 * state machine; no allocation. */

#include <stdbool.h>
#include <stdint.h>

#include "iba_cc.h"
#include "metapath.h"
#include "wire/cn.h"

#define DRB_CC_SCORE_MAX   8  /* notifications needed to reverse a judgement */
#define DRB_CC_SOURCES_MAX 64 /* maximum number of sources counted */
#define DRB_CC_RECENT      16 /* number of flows remembered */

/* State of a pair. */
struct drb_cc_pair {
	int8_t incast;    /* above 0: incast */
	int8_t recurring; /* above 0: the same flows contend repeatedly */
	uint8_t sources;
	uint8_t recents, oldest;
	uint16_t source[DRB_CC_SOURCES_MAX];  /* other hosts that send to the destination */
	struct cn_flow recent[DRB_CC_RECENT]; /* flows that contended */
};

/* Handles an acknowledgement from the destination. Returns the change in the number of open paths.
 */
int drb_cc_on_notification(struct drb_cc_pair *pair, struct metapath *path,
	const struct metapath_rules *rules, struct iba_cc *cc, uint16_t destination,
	const struct cn *cn, uint64_t now_ns);
