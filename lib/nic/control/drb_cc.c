/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "drb_cc.h"

static bool all_share(const struct cn *cn, uint16_t destination)
{
	for (unsigned i = 0; i < cn->flows; i++)
		if (cn->flow[i].destination != destination)
			return false;
	return true;
}

static void judge(struct drb_cc_pair *pair, const struct cn *cn, uint16_t destination)
{
	bool incast;

	if (cn->flows == 0)
		return;
	incast = all_share(cn, destination);
	if (incast && pair->score < DRB_CC_SCORE_MAX)
		pair->score++;
	else if (!incast && pair->score > -DRB_CC_SCORE_MAX)
		pair->score--;
}

int drb_cc_hear(struct drb_cc_pair *pair, struct metapath *path, const struct metapath_rules *rules,
	struct iba_cc *cc, uint16_t destination, const struct cn *cn, uint64_t now_ns)
{
	judge(pair, cn, destination);
	if (pair->score <= 0)
		return metapath_hear(path, rules, cn->path, cn->waiting_ns, now_ns);
	metapath_measure(path, rules, cn->path, cn->waiting_ns, now_ns);
	if (cn->flows != 0 && all_share(cn, destination))
		iba_cc_mark(cc, destination, now_ns);
	return -(int)metapath_close_last(path, rules, now_ns);
}
