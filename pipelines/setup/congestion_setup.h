/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Configures adaptive routing, AFI, the congestion detector, notifications and marks from a run
 * file, for a switch and for the hosts; used by both clocks and every process of a lab. */

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

/* Returns limits on the notifications that the ports of a fabric's devices accept, on the real
 * clock. 'topology' is NULL for a single switch, whose fabric is unknown. */
struct arn_policer_config congestion_setup_guard(
	const struct run_config *run, const struct topology *topology);

/* Returns how long a host acts on a notification; 0: hosts ignore notifications. */
weft_time congestion_setup_mark_ps(const struct run_config *run);

/* Configures switch 'at' of the topology from the run file. Call after its tables are set and
 * before its first packet. Does nothing if the run file sets none of these keys. Returns 0, or
 * -EINVAL or -ENOMEM with error set. */
int congestion_setup_switch(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run, struct error *error);
/* Like congestion_setup_switch(), without an error text. 'topology' NULL: a single switch, treated
 * as one with hosts attached. */
int congestion_setup_alone(struct weft_switch *sw, const struct topology *topology, uint32_t at,
	const struct run_config *run);

/* Makes switch 'at' of the topology measure waiting times and record contending flows, if the
 * sources or measure.switches need them. 'contention' is borrowed and must outlive the switch.
 * 'driver' provides 'extension', 'ctx' and 'in_frame'; the rest comes from the run file. */
void congestion_setup_contention(struct weft_switch *sw, struct contention *contention,
	const struct topology *topology, uint32_t at, const struct run_config *run,
	const struct contention_config *driver);

/* Sets the run file's marking threshold and rules for each input and VC, and enables marking.
 * 'fecn' is borrowed and must outlive the switch. Does nothing if the threshold is 0. */
void congestion_setup_marks(
	struct weft_switch *sw, struct fecn *fecn, const struct run_config *run);

/* Congestion management at the sources, for interfaces on both clocks. */

/* Sets the configuration of a host's source control. */
void control_setup_source(const struct run_config *run, const struct topology *topology,
	uint32_t host, struct source_control_config *config);

/* Sets the rules for the frames that a host answers with congestion notifications. */
void control_setup_cn_generator(
	const struct run_config *run, uint32_t hosts, struct cn_generator_config *config);

/* Returns true if frames can overtake each other, so that hosts must restore their order. */
static inline bool control_setup_reorders(const struct run_config *run)
{
	return source_control_spreads(run->nic.control) || run_config_ladder(run) != NULL;
}
