/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The senders and destinations of a run: 'from' and 'to' of a run file, as numbers of hosts in a
 * topology. */

#include <stdint.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"

struct run_packets; /* packet_file.h */

/* Hosts of one traffic entry in ascending order (permutation: in the file's order). */
struct run_hosts_entry {
	/* If hosts have several ports, 'from' has every port of each sender, 'to' only the first
	 * port of each destination. */
	uint16_t *from, *to;
	uint32_t from_count, to_count; /* permutation: equal, from[i] sends to to[i] */
	struct run_packets *packets;   /* pcap; else NULL */
};

struct run_hosts {
	const struct topology *topology;
	struct run_hosts_entry *entry; /* as config->traffic */
	uint32_t entries;
	uint16_t *edge;      /* as config->edges */
	struct rails *rails; /* NULL: all hosts have one port */
};

/* 'all' is every host. A share of N hosts is N times the share, rounded to the nearest integer. Its
 * hosts are drawn from the seed; hosts that an entry lists or an earlier entry drew, edges and, for
 * hot spots, hosts that are listed or drawn on the entry's other side are excluded. 'rest' is all
 * hosts that are then left. A source without destinations, such as a number that reads the same
 * backwards under bit-reversal, is left out; a listed one that could only send to the one host in
 * 'to', itself, is an error. Returns NULL with error set: hosts that do not exist, too few of them,
 * or a bad permutation file. */
struct run_hosts *run_config_resolve(
	const struct run_config *config, const struct topology *topology, struct error *error);
/* The same for schedules made of drawn flows, whose hosts have no message sources. */
struct run_hosts *run_hosts_of_schedules(
	const struct run_config *config, const struct topology *topology, struct error *error);
void run_hosts_destroy(struct run_hosts *hosts);

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

struct job_placement {
	uint16_t *host;                   /* hosts of all jobs, in the order of their ranks */
	uint32_t first[RUN_JOBS_MAX + 1]; /* job i has host[first[i]] .. [first[i + 1] - 1] */
};

/* The caller always frees 'host'. Returns 0, or a negative errno with error set. */
int job_placement_make(const struct run_config *run, const struct topology *topology,
	struct job_placement *placement, struct error *error);

/* A permutation file: pairs of hosts, "SOURCE DESTINATION". Each host is a source at
 * most once and a destination at most once. */

/* The caller frees '*from' and '*to', even after a failure (they may be NULL). Returns 0, or a
 * negative code with error set. */
int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct error *error);

/* Draws a single cycle over all hosts from the seed: each host sends, but not to itself. Returns
 * -EINVAL with fewer than two hosts; -ENOMEM. */
int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct error *error);

/* Reads a file with two words per line. '#' starts a comment; empty lines are skipped. */

/* Returns 0, or a negative code with error set. */
typedef int (*pair_file_take_fn)(void *ctx, char *first, char *second);

struct pair_file {
	const char *path;
	const char *words; /* the two columns, for messages: "RANK HOST" */
	pair_file_take_fn take;
	void *ctx;
	struct error *error;
	unsigned line; /* number of the present one */
};

/* Returns 0, or a negative code with error set. */
int pair_file_read(struct pair_file *file);
