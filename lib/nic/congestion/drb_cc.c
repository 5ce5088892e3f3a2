/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "drb_cc.h"

/* Returns true if most of the contending flows go to the destination. */
static bool is_incast(const struct cn *cn, uint16_t destination)
{
	unsigned same = 0;

	for (unsigned i = 0; i < cn->flows; i++)
		same += cn->flow[i].destination == destination;
	return 2 * same > cn->flows;
}

static void judge(int8_t *score, bool yes)
{
	if (yes && *score < DRB_CC_SCORE_MAX)
		(*score)++;
	else if (!yes && *score > -DRB_CC_SCORE_MAX)
		(*score)--;
}

/* Returns true if the flow is remembered; otherwise, it replaces the oldest one. */
static bool recall(struct drb_cc_pair *pair, struct cn_flow flow)
{
	for (unsigned i = 0; i < pair->recents; i++)
		if (pair->recent[i].source == flow.source &&
			pair->recent[i].destination == flow.destination)
			return true;
	pair->recent[pair->oldest] = flow;
	pair->oldest = (uint8_t)((pair->oldest + 1) % DRB_CC_RECENT);
	if (pair->recents < DRB_CC_RECENT)
		pair->recents++;
	return false;
}

/* Returns true if most of the contending flows have contended before. */
static bool is_recurring(struct drb_cc_pair *pair, const struct cn *cn)
{
	unsigned known = 0;

	for (unsigned i = 0; i < cn->flows; i++)
		known += recall(pair, cn->flow[i]);
	return 2 * known > cn->flows;
}

static void add_source(struct drb_cc_pair *pair, uint16_t source)
{
	for (unsigned i = 0; i < pair->sources; i++)
		if (pair->source[i] == source)
			return;
	if (pair->sources < DRB_CC_SOURCES_MAX)
		pair->source[pair->sources++] = source;
}

int drb_cc_on_notification(struct drb_cc_pair *pair, struct metapath *path,
	const struct metapath_rules *rules, struct iba_cc *cc, uint16_t destination,
	const struct cn *cn, uint64_t now_ns)
{
	bool incast = is_incast(cn, destination);

	if (cn->flows > 0) {
		judge(&pair->incast, incast);
		judge(&pair->recurring, is_recurring(pair, cn));
	}
	if (pair->incast <= 0 && pair->recurring > 0)
		return metapath_on_notification(path, rules, cn->path, cn->waiting_ns, now_ns);
	metapath_measure(path, rules, cn->path, cn->waiting_ns, now_ns);
	if (incast && pair->incast > 0) {
		if (iba_cc_index(cc, destination, now_ns) == cc->config.min)
			pair->sources = 0;
		for (unsigned i = 0; i < cn->flows; i++)
			if (cn->flow[i].destination == destination)
				add_source(pair, cn->flow[i].source);
		iba_cc_mark(cc, destination, now_ns);
		iba_cc_raise(cc, destination, pair->sources, now_ns);
	}
	return -(int)metapath_close_last(path, rules, now_ns);
}
