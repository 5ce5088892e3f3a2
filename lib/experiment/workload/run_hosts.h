/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The senders and destinations of a run: 'from' and 'to' of a run file as host indices. */

#include <stdint.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"

struct run_packets; /* packet_file.h */

/* Hosts of a traffic entry in ascending order (permutation: in file order). */
struct run_hosts_entry {
	/* If hosts have several ports, 'from' holds every port of each sender, and 'to' only the
	 * first port of each destination. */
	uint16_t *from, *to;
	uint32_t from_count, to_count; /* permutation: equal counts, and from[i] sends to to[i] */
	struct run_packets *packets;   /* pcap; else NULL */
};

struct run_hosts {
	const struct topology *topology;
	struct run_hosts_entry *entry; /* [entries], as config->traffic */
	uint32_t entries;
	uint16_t *edge;      /* [edges], as config->edges */
	struct rails *rails; /* NULL: every host has one port */
};

/* Resolves 'from' and 'to' of all entries. 'all' is every host. A share of N hosts is N times the
 * share, rounded to the nearest integer, and drawn from the seed. The draw excludes edges, hosts
 * that any entry lists or an earlier entry drew, and, for hot spots, hosts listed or drawn on the
 * entry's other side. 'rest' is all hosts that then remain. A source without destinations is
 * omitted, such as a bit-reversal host whose number reads the same backwards. A listed source that
 * could only send to itself is an error. Returns NULL with error set: unknown hosts, too few hosts,
 * or a bad permutation file. */
struct run_hosts *run_config_resolve(
	const struct run_config *config, const struct topology *topology, struct error *error);
/* Like run_config_resolve(), but keeps the hosts of schedules, which have no message sources. */
struct run_hosts *run_hosts_resolve_all(
	const struct run_config *config, const struct topology *topology, struct error *error);
void run_hosts_destroy(struct run_hosts *hosts);

/* Assigns hosts to the jobs of a run. Jobs with a file choose first, then the others in order, from
 * hosts without a job and without an edge. Absent jobs keep their hosts, so a baseline uses the
 * same hosts.
 *
 *     packed    the first free hosts of the topology
 *     random    drawn from the seed, in the order drawn
 *     by-group  whole groups where possible, always from the group with the most free hosts.
 *               Groups are dragonfly groups (switches with hosts in a triangle of links)
 *               or the pods of a tree (switches with hosts and the same neighbours). If all
 *               switches form one group, each switch is a group
 *     spread    one host per switch, in rotation
 *     file      as listed: one host name per line, '#' for comments */

struct job_placement {
	uint16_t *host;                   /* hosts of all jobs, in rank order */
	uint32_t first[RUN_JOBS_MAX + 1]; /* job i uses host[first[i]] to host[first[i + 1] - 1] */
};

/* Assigns the hosts. Returns 0, or a negative errno with error set. Always free 'host'. */
int job_placement_make(const struct run_config *run, const struct topology *topology,
	struct job_placement *placement, struct error *error);

/* Permutation files: pairs of hosts, "SOURCE DESTINATION". Each host is a source at most once and a
 * destination at most once. */

/* Reads the file. Returns 0, or a negative code with error set. The caller always frees '*from' and
 * '*to', which may be NULL. */
int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct error *error);

/* Draws a single cycle over all hosts from the seed, so no host sends to itself. Returns 0,
 * -ENOMEM, or -EINVAL if there are fewer than two hosts. */
int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct error *error);

/* Files with two words per line. '#' starts a comment; empty lines are skipped. */

/* Processes a pair. Returns 0, or a negative code with error set. */
typedef int (*pair_file_take_fn)(void *ctx, char *first, char *second);

struct pair_file {
	const char *path;
	const char *words; /* column names for messages: "RANK HOST" */
	pair_file_take_fn take;
	void *ctx;
	struct error *error;
	unsigned line; /* number of the current line */
};

/* Calls 'take' for each line. Returns 0, or a negative code with error set. */
int pair_file_read(struct pair_file *file);

/* Compares two host numbers (uint16_t), for qsort(). */
int run_hosts_compare(const void *a, const void *b);
