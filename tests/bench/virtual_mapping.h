/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Mapping on the virtual clock: agents in all devices of a topology, a mapper beside host 0, and
 * cables with exact rates and delays, to measure mapping from a cold start and after one cut cable.
 * Switches store and forward, as the poll driver's do with control frames. There is no other
 * traffic, no loss, and routes take no virtual time to compute: how long that takes is wall-clock
 * time, the caller's to measure around it.
 *
 * Same topology and options, same figures. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "route/route_algorithm.h"
#include "topo/topology.h"

struct virtual_mapping_options {
	const struct route_algorithm *algorithm;
	bool tables;          /* destination tables, where the algorithm has any */
	weft_time agent_ps;   /* an agent's time per answer */
	weft_time mapper_ps;  /* the mapper's time per sent frame */
	unsigned outstanding; /* questions at a time */
	unsigned part_bytes;  /* size of an image's parts, one per frame */
	uint32_t cut; /* number of the link to cut after the first map; UINT32_MAX: the first
			 between two non-leaf switches, or, without any, between two switches */
};

/* The assumptions of weft-bench-mapping: 1 us per answer and per frame of the mapper, 64 requests
 * at a time, parts of 8 KiB, and no link to cut chosen. */
static inline struct virtual_mapping_options virtual_mapping_usual(
	const struct route_algorithm *algorithm, bool tables)
{
	return (struct virtual_mapping_options){.algorithm = algorithm,
		.tables = tables,
		.agent_ps = PS_PER_US,
		.mapper_ps = PS_PER_US,
		.outstanding = 64,
		.part_bytes = 8192,
		.cut = UINT32_MAX};
}

/* From the first probe, or from the report of the cable's first end, until all answering devices
 * have committed. */
struct virtual_mapping_phase {
	weft_time time_ps;
	uint64_t frames;                    /* sent by mapper and agents */
	uint64_t hops;                      /* the same, over each cable */
	uint64_t probes, tables_and_phases; /* how many of the frames are the mapper's */
	bool live;                          /* tables changed without a pause */
};

struct virtual_mapping_result {
	struct virtual_mapping_phase cold, heal;
	uint32_t cut; /* number of the link */
};

/* Returns 0; -EINVAL if the network is not mapped in ten virtual seconds, or the map differs from
 * the topology; -ENOMEM. */
int virtual_mapping_run(const struct topology *topology,
	const struct virtual_mapping_options *options, struct virtual_mapping_result *result,
	struct error *error);
