/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Predictive distributed routing balancing (PR-DRB paper, sections 2 and 3, table 2): what a pair
 * of hosts does on an acknowledgement in addition to, or instead of, DRB.
 *
 * An episode starts when the pair has one open path and ends when it is back at one in zone L. Its
 * pattern is the union of the contending flows in the acknowledgements of path 0. In zone H a
 * matching solution of the database is applied as a whole, once per episode;
 * otherwise, and if the zone is still H afterwards, paths are opened as in DRB. With more than one
 * path open in zone M ('stable'), or in zone L ('below', the letter of table 2), the open paths are
 * saved.
 *
 * A plain state machine without a clock; no allocation. One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "metapath.h"
#include "wire/cn.h"

/* The database of PR-DRB (PR-DRB paper, table 2): which paths helped against which contending
 * flows. A solution belongs to a destination and a pattern, which is the set of flows that
 * contended. It consists of the open paths with their latencies, and the lowest L* that they
 * reached.
 *
 * A pattern matches a solution if enough of the observed flows are among the stored ones (or of
 * both together: the reading 'union'); the paper's words are "similar situation". If several match,
 * the most similar one is used. The database has a fixed size; the entry with the oldest use is
 * replaced. O(entries) with one comparison for entries of other destinations; no allocation after
 * solutions_init(). One thread. */

#define SOLUTION_FLOWS_MAX 32 /* flows in a pattern; further ones are ignored */

struct solution;

/* The flows on the path to one destination. It caches the answer of its database: a source asks
 * once for each notification, and both seldom change. */
struct flow_pattern {
	uint8_t count;
	struct cn_flow flow[SOLUTION_FLOWS_MAX];
	struct solution *found;
	uint64_t found_at; /* solutions.changes at that time; 0: not asked since the last flow */
};

struct solution {
	struct flow_pattern pattern;
	uint64_t used; /* by solutions.uses; 0: empty */
	uint64_t best; /* L* */
	uint32_t latency_ns[METAPATH_PATHS_MAX];
	uint16_t destination;
	uint8_t open;
};

struct solutions_config {
	uint32_t entries;        /* 1 or more */
	uint32_t similarity_ppm; /* up to 1000000 */
	bool of_union;
};

struct solutions {
	struct solutions_config config;
	struct solution *entry; /* [config.entries] */
	uint64_t uses;
	uint64_t changes; /* counts from 1 */
	uint32_t stored;
};

/* 64 entries, 80 % of the observed flows. */
void solutions_config_default(struct solutions_config *config);

/* Returns 0, -EINVAL or -ENOMEM. */
int solutions_init(struct solutions *base, const struct solutions_config *config);
void solutions_fini(struct solutions *base);

/* Adds the flow if it is new and there is room. Returns true if it was added. */
bool flow_pattern_add(struct flow_pattern *pattern, struct cn_flow flow);

/* The most similar solution that matches, or NULL. It counts as used. An empty pattern matches
 * none. */
struct solution *solutions_find(
	struct solutions *base, uint16_t destination, struct flow_pattern *pattern);

/* Stores these open paths: as a new solution if none matches, or instead of the matching one if
 * they are better: a lower L*, or more paths. Returns true if they were stored. */
bool solutions_save(struct solutions *base, uint16_t destination, struct flow_pattern *pattern,
	const struct metapath *path, uint64_t best);

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
