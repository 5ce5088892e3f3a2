/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* DRB combined with end-node detection (Weft's own design, not from a paper). More paths help where
 * flows to different destinations share a link. Where most share the destination (an incast), the
 * link into that host is full whatever path they take, and more paths only carry the congestion to
 * more switches. Latencies look alike in both cases; the contending flows tell them apart:
 *
 *     most have this destination     an incast: nothing is opened, and paths close; the flow pauses
 *                                    after each packet for as many packets as other sources have
 *                                    been seen, so that all together fill the link into the host
 *     most have contended before     DRB: zone H opens a path, zone L closes one
 *     most are new                   all links are busy with changing flows: a longer path would
 *                                    only take capacity from them; nothing is opened, paths close
 *
 * Switches report the flows at the last place where a packet waited, not the first (contention.h):
 * the last is nearest to where the congestion begins, and further back there are only victims. The
 * pause follows from the table index of InfiniBand congestion control (iba_cc.h): the index is
 * raised at once to the first whose pause is long enough, or by one if it is there already. The
 * timer lowers it again, which finds capacity that others do not use; at the minimum the sources
 * are forgotten. A notification without flows decides nothing; then the pair's last one with flows
 * counts. Both judgements are scores, so that a single notification does not reverse them. A plain
 * state machine; no allocation. */

#include <stdbool.h>
#include <stdint.h>

#include "iba_cc.h"
#include "metapath.h"
#include "wire/cn.h"

#define DRB_CC_SCORE_MAX   8  /* notifications that reverse a judgement */
#define DRB_CC_SOURCES_MAX 64 /* that count */
#define DRB_CC_RECENT      16 /* flows that are remembered */

/* State per pair. */
struct drb_cc_pair {
	int8_t incast;    /* above 0: it is one */
	int8_t recurring; /* above 0: the same flows contend repeatedly */
	uint8_t sources;
	uint8_t recents, oldest;
	uint16_t source[DRB_CC_SOURCES_MAX];  /* other hosts that send to the destination */
	struct cn_flow recent[DRB_CC_RECENT]; /* that contended */
};

/* An acknowledgement arrived from the destination. Returns the change in the number of open
 * paths. */
int drb_cc_on_notification(struct drb_cc_pair *pair, struct metapath *path,
	const struct metapath_rules *rules, struct iba_cc *cc, uint16_t destination,
	const struct cn *cn, uint64_t now_ns);
