/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion management at the source, from a run file: for interfaces on both clocks. */

#include "experiment/run/run_config.h"
#include "nic/congestion/cn_generator.h"
#include "nic/congestion/source_control.h"
#include "topo/topology.h"

/* The state machines of a host. */
void control_setup_source(const struct run_config *run, const struct topology *topology,
	uint32_t host, struct source_control_config *config);

/* The frames that a host answers. */
void control_setup_cn_generator(
	const struct run_config *run, uint32_t hosts, struct cn_generator_config *config);

/* Frames overtake each other by several paths, and hosts restore their order. */
static inline bool control_setup_reorders(const struct run_config *run)
{
	return source_control_spreads(run->nic.control) || run_config_ladder(run) != NULL;
}
