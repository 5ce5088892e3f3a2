/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Predictive distributed routing balancing (PR-DRB paper, sections 2 and 3, table 2): what a pair
 * of hosts does on an acknowledgement in addition to, or instead of, DRB.
 *
 * An episode starts when the pair has one open path and ends when it is back at one in zone L. Its
 * pattern is the union of the contending flows in the acknowledgements of path 0. In zone H a
 * matching solution of the database (solutions.h) is applied as a whole, once per episode;
 * otherwise, and if the zone is still H afterwards, paths are opened as in DRB. With more than one
 * path open in zone M ('stable'), or in zone L ('below', the letter of table 2), the open paths are
 * saved.
 *
 * A plain state machine without a clock; no allocation. One thread. */

#include "metapath.h"
#include "solutions.h"
#include "wire/cn.h"

struct pr_drb_rules {
	bool save_below; /* save in zone L, not M */
	bool improve;    /* paths are opened in zone H although a solution was applied */
};

/* State per pair. */
struct episode {
	struct flow_pattern pattern;
	bool applied; /* a solution */
	bool looked;  /* searches for a solution since the pattern last changed */
};

struct pr_drb_counters {
	uint64_t opened, closed; /* paths, including paths of solutions */
	uint64_t applied, missed, saved;
};

struct pr_drb {
	struct pr_drb_rules rules;
	struct metapath_rules paths;
	struct solutions base;
	struct pr_drb_counters count;
};

/* An acknowledgement from the destination, whose metapath and episode these are. */
void pr_drb_on_notification(struct pr_drb *control, struct metapath *path, struct episode *episode,
	uint16_t destination, const struct cn *cn, uint64_t now_ns);
