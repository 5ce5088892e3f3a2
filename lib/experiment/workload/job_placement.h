/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Assigns hosts to the jobs of a run. Jobs choose in order, among the hosts without a job and
 * without an edge. Jobs with a file choose first. Absent jobs keep their hosts, so a baseline uses
 * the same ones.
 *
 *     packed    the first free hosts of the topology
 *     random    drawn from the seed, in the order drawn
 *     by-group  whole groups as far as possible: always from the group with the most free hosts.
 *               Groups are the groups of a dragonfly (switches with hosts in a triangle of links)
 *               or the pods of a tree (switches with hosts and the same neighbours). If all
 *               switches are one group, each switch is a group
 *     spread    one host of each switch, in rotation
 *     file      as listed: a host's name per line, '#' for comments */

#include "experiment/run/run_jobs.h"

struct job_placement {
	uint16_t *host;                   /* hosts of all jobs, in the order of their ranks */
	uint32_t first[RUN_JOBS_MAX + 1]; /* job i has host[first[i]] .. [first[i + 1] - 1] */
};

/* The caller always frees 'host'. Returns 0, or a negative errno with error set. */
int job_placement_make(const struct run_config *run, const struct topology *topology,
	struct job_placement *placement, struct error *error);
