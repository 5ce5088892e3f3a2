/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Predictive distributed routing balancing (PR-DRB paper, sections 2 and 3, table 2): a pair's
 * reaction to an acknowledgement, in addition to DRB or instead of it.
 *
 * An episode starts while the pair has one open path and ends when it has one again, in zone L. Its
 * pattern is the union of the contending flows in acknowledgements for path 0. In zone H, a
 * matching solution from the database is applied as a whole, once per episode. Without a match, or
 * if the zone is still H afterwards, paths are opened as in DRB. If more than one path is open in
 * zone M ('stable'), or in zone L ('below', the wording of table 2), the open paths are saved.
 *
 * Pure state machine: the caller passes the time. No allocation. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "metapath.h"
#include "wire/cn.h"

/* The database of PR-DRB (PR-DRB paper, table 2): which paths helped against which contending
 * flows. A solution belongs to a destination and a pattern, which is the set of contending flows.
 * It consists of the open paths with their latencies, and the lowest L* that they reached.
 *
 * A pattern matches a solution if a sufficient share of the observed flows is stored with it
 * (interpretation 'union': a share of both sets together). The paper's term is "similar situation".
 * If several solutions match, the most similar one is used. The database has a fixed size; the
 * entry unused for longest is replaced. O(entries), with one comparison per entry of a different
 * destination. No allocation after solutions_init(). Single-threaded. */

#define SOLUTION_FLOWS_MAX 32 /* maximum number of flows in a pattern; others are ignored */

struct solution;

/* The contending flows of a pair. Caches the result of the last search, because a source searches
 * once per notification, and pattern and database seldom change. */
struct flow_pattern {
	uint8_t count;
	struct cn_flow flow[SOLUTION_FLOWS_MAX];
	struct solution *found;
	uint64_t found_at; /* solutions.changes at the last search; 0: flows were added since */
};

struct solution {
	struct flow_pattern pattern;
	uint64_t used; /* solutions.uses at the last use; 0: empty */
	uint64_t best; /* lowest L* */
	uint32_t latency_ns[METAPATH_PATHS_MAX];
	uint16_t destination;
	uint8_t open;
};

struct solutions_config {
	uint32_t entries;        /* 1 or more */
	uint32_t similarity_ppm; /* minimum similarity, up to 1000000 */
	bool of_union;
};

struct solutions {
	struct solutions_config config;
	struct solution *entry; /* [config.entries] */
	uint64_t uses;
	uint64_t changes; /* counts from 1 */
	uint32_t stored;
};

/* Sets 64 entries and a similarity of 80 % of the observed flows. */
void solutions_config_default(struct solutions_config *config);

/* Returns 0, -EINVAL or -ENOMEM. */
int solutions_init(struct solutions *base, const struct solutions_config *config);
void solutions_fini(struct solutions *base);

/* Adds a flow if it is new and there is room. Returns true if it was added. */
bool flow_pattern_add(struct flow_pattern *pattern, struct cn_flow flow);

/* Returns the most similar matching solution and counts its use, or NULL. An empty pattern matches
 * nothing. */
struct solution *solutions_find(
	struct solutions *base, uint16_t destination, struct flow_pattern *pattern);

/* Stores the open paths: as a new solution if none matches, or in place of the matching one if they
 * have a lower L* or there are more of them. Returns true if they were stored. */
bool solutions_save(struct solutions *base, uint16_t destination, struct flow_pattern *pattern,
	const struct metapath *path, uint64_t best);

struct pr_drb_rules {
	bool save_below; /* save in zone L instead of M */
	bool improve;    /* open paths in zone H even after a solution was applied */
};

/* State of a pair. */
struct episode {
	struct flow_pattern pattern;
	bool applied; /* a solution was applied */
	bool looked;  /* searched since the pattern last changed */
};

struct pr_drb_counters {
	uint64_t opened, closed; /* number of paths, including solution paths */
	uint64_t applied, missed, saved;
};

struct pr_drb {
	struct pr_drb_rules rules;
	struct metapath_rules paths;
	struct solutions base;
	struct pr_drb_counters count;
};

/* Handles an acknowledgement from the destination, to which 'path' and 'episode' belong. */
void pr_drb_on_notification(struct pr_drb *control, struct metapath *path, struct episode *episode,
	uint16_t destination, const struct cn *cn, uint64_t now_ns);
