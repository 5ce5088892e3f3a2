/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing, AFI, the congestion detector, notifications and marks as configured in a run
 * file, for one switch and for the hosts; the same on both clocks and in every process of a lab. */

#include "experiment/run/run_config.h"
#include "link/arn_policer.h"
#include "nic/congestion/cn_generator.h"
#include "nic/congestion/source_control.h"
#include "switch/contention.h"
#include "switch/fecn.h"
#include "switch/switch_congestion.h"
#include "topo/topology.h"

static inline bool congestion_setup_is_needed(const struct run_config *run)
{
	return run_config_is_adaptive(run);
}

/* Which notifications the ports of a fabric's devices accept, on the real clock. 'topology' NULL: a
 * single switch, whose fabric is unknown. */
struct arn_policer_config congestion_setup_guard(
	const struct run_config *run, const struct topology *topology);

/* How long a host acts on a notification; 0: hosts ignore them. */
weft_time congestion_setup_mark_ps(const struct run_config *run);

/* Configures switch 'at' of the topology as in the run file, once its tables are set and before its
 * first packet; does nothing if no such key is set. Returns 0, or -EINVAL or -ENOMEM with error
 * set. */
int congestion_setup_switch(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run, struct error *error);
/* The same without an error text. 'topology' NULL: a single switch, as one next to its hosts. */
int congestion_setup_alone(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run);

/* Times departures from switch 'at' of the topology, and records contending flows, if the sources
 * need it; 'contention' is the caller's and outlives the switch. The driver sets 'extension', 'ctx'
 * and 'in_frame' of its configuration, the run file the rest. */
void congestion_setup_contention(struct weft_switch *sw, struct contention *contention,
	const struct topology *topology, uint32_t at, const struct run_config *run,
	const struct contention_config *driver);

/* Sets the run file's threshold and rules at each input and VC of the switch, which marks from now
 * on; 'fecn' is the caller's and outlives the switch. Does nothing if the threshold is 0. */
void congestion_setup_marks(
	struct weft_switch *sw, struct fecn *fecn, const struct run_config *run);

/* Congestion management at the source, from a run file: for interfaces on both clocks. */

/* The state machines of a host. */
void control_setup_source(const struct run_config *run, const struct topology *topology,
	uint32_t host, struct source_control_config *config);

/* The frames that a host answers. */
void control_setup_cn_generator(
	const struct run_config *run, uint32_t hosts, struct cn_generator_config *config);

/* True if frames can overtake each other on several paths, so that hosts restore their order. */
static inline bool control_setup_reorders(const struct run_config *run)
{
	return source_control_spreads(run->nic.control) || run_config_ladder(run) != NULL;
}
