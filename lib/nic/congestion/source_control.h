/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion management at the source (docs/explanation/source-control.md): one of the mechanisms
 * in this folder, for all pairs of a host. It chooses the path of each message, handles
 * notifications, and decides when a frame may be sent.
 *
 *     none     nothing
 *     iba-cc   InfiniBand congestion control: marks delay a flow's packets (iba_cc.h)
 *     dcqcn    congestion control of RDMA over Ethernet: marks reduce a flow's rate (dcqcn.h)
 *     drb-cn   marks open paths, no throttling (marked_paths.h; DRB paper on InfiniBand)
 *     drb      latencies open paths (metapath.h; DRB as in the PR-DRB paper)
 *     pr-drb   as drb, but solutions that helped before are applied immediately (pr_drb.h)
 *     drb-cc   as drb, but throttles as iba-cc if most contending flows share the destination,
 *              because no other path helps then (Weft's own; drb_cc.h)
 *
 * A state machine: times are arguments in ns. No allocation after source_control_create(), no
 * floating point. Single-threaded. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "dcqcn.h"
#include "drb_cc.h"
#include "iba_cc.h"
#include "marked_paths.h"
#include "metapath.h"
#include "pr_drb.h"
#include "wire/cn.h"

/* The mechanisms above: identifier, and word in run files. */

#define SOURCE_CONTROLS(X)  \
	X(NONE, "none")     \
	X(IBA_CC, "iba-cc") \
	X(DCQCN, "dcqcn")   \
	X(DRB_CN, "drb-cn") \
	X(DRB, "drb")       \
	X(PR_DRB, "pr-drb") \
	X(DRB_CC, "drb-cc")

#define X(id, text) SOURCE_CONTROL_##id,
enum source_control_kind { SOURCE_CONTROLS(X) };
#undef X

/* Counters of a host. */
#define SOURCE_CONTROL_COUNTERS(X)              \
	X(CN_SENT, cn_sent)                     \
	X(CN_RECEIVED, cn_received)             \
	X(PATHS_OPENED, paths_opened)           \
	X(PATHS_CLOSED, paths_closed)           \
	X(SOLUTIONS_APPLIED, solutions_applied) \
	X(SOLUTIONS_MISSED, solutions_missed)   \
	X(SOLUTIONS_SAVED, solutions_saved)     \
	X(SOLUTIONS_STORED, solutions_stored)   \
	X(THROTTLED_NS, throttled_ns)

#define X(id, name) SOURCE_CONTROL_##id,
enum source_control_counter { SOURCE_CONTROL_COUNTERS(X) SOURCE_CONTROL_COUNTER_COUNT };
#undef X

struct source_control_config {
	enum source_control_kind kind;
	uint16_t host;
	uint32_t hosts;
	uint64_t seed;
	uint64_t frame_ns; /* zero-load time of a full frame, without its switches */
	uint64_t hop_ns;   /* additional time per switch */
	struct iba_cc_config iba;
	struct dcqcn_config dcqcn;
	struct metapath_rules paths;
	struct pr_drb_rules pr;
	struct solutions_config solutions;
};

/* Sums from which means over all messages and packets are computed. */
struct source_control_sums {
	uint64_t messages, open_paths; /* messages with a choice, and sum of the paths open */
	uint64_t notices, waiting_ns;  /* notifications, and their waiting times */
	uint64_t packets, ccti;        /* packets of throttling kinds, and their table indices */
};

struct source_control {
	struct source_control_config config;
	struct rng rng;
	struct iba_cc cc;            /* used by iba-cc, drb-cc */
	struct dcqcn dcqcn;          /* used by dcqcn */
	uint64_t throttled_ns;       /* total delay of packets */
	struct marked_paths *marked; /* [hosts] drb-cn; count 0: pair not in use */
	struct metapath *path;       /* [hosts] drb, pr-drb, drb-cc; count 0: pair not in use */
	struct episode *episode;     /* [hosts] pr-drb */
	struct pr_drb pr;            /* pr-drb */
	struct drb_cc_pair *end;     /* [hosts] drb-cc */
	struct source_control_sums sum;
	uint64_t count[SOURCE_CONTROL_COUNTER_COUNT];
};

void source_control_config_default(struct source_control_config *config);

/* Returns NULL with errno EINVAL or ENOMEM. The memory of unused destinations is never touched. */
struct source_control *source_control_create(const struct source_control_config *config);
void source_control_destroy(struct source_control *control);

/* Properties of kinds. */
static inline bool source_control_spreads(enum source_control_kind kind)
{
	return kind >= SOURCE_CONTROL_DRB_CN;
}
static inline bool source_control_throttles(enum source_control_kind kind)
{
	return kind == SOURCE_CONTROL_IBA_CC || kind == SOURCE_CONTROL_DCQCN ||
	       kind == SOURCE_CONTROL_DRB_CC;
}
static inline bool source_control_measures(enum source_control_kind kind)
{
	return kind >= SOURCE_CONTROL_DRB;
}
static inline bool source_control_wants_flows(enum source_control_kind kind)
{
	return kind >= SOURCE_CONTROL_PR_DRB;
}

/* Returns true if the destination's routes are known (source_control_begin() was called). */
static inline bool source_control_has_begun(
	const struct source_control *control, uint16_t destination)
{
	if (control->path != NULL)
		return control->path[destination].count != 0;
	return control->marked == NULL || control->marked[destination].count != 0;
}

/* Sets the destination's routes: 'count', 1 or more, each over the given number of switches. Routes
 * beyond METAPATH_PATHS_MAX are not used. Resets the state of earlier paths. */
void source_control_begin(struct source_control *control, uint16_t destination, unsigned count,
	const uint8_t *switches);

/* Returns the path of the next message to the destination, which starts now. */
unsigned source_control_choose(
	struct source_control *control, uint16_t destination, uint64_t now_ns);

/* Handles a notification from the destination. Ignored if the pair does not have its path. */
void source_control_on_notification(
	struct source_control *control, uint16_t destination, const struct cn *cn, uint64_t now_ns);

/* Returns when the next frame to the destination may be sent. */
static inline uint64_t source_control_ready_ns(
	const struct source_control *control, uint16_t destination)
{
	if (control->dcqcn.flow != NULL)
		return control->dcqcn.flow[destination].ready_ns;
	return control->cc.flow == NULL ? 0 : iba_cc_ready_ns(&control->cc, destination);
}

/* Counts the pause of a frame that was ready at 'since_ns' and is sent now. */
void source_control_count_pause(
	struct source_control *control, uint16_t destination, uint64_t since_ns, uint64_t now_ns);

/* Call when a frame to the destination starts to be sent. 'frame_ns' is its transmission time. */
void source_control_sent(
	struct source_control *control, uint16_t destination, uint64_t frame_ns, uint64_t now_ns);

/* Adds this host's sums since creation to *sum. */
void source_control_add_sums(const struct source_control *control, struct source_control_sums *sum);

/* Stores the current counters, [SOURCE_CONTROL_COUNTER_COUNT]. */
void source_control_counters(const struct source_control *control, uint64_t *count);
const char *source_control_counter_name(unsigned counter);
