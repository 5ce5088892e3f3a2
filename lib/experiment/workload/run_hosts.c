/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "packet_file.h"
#include "run_hosts.h"
#include "run_source.h"
#include "traffic/traffic_pattern.h"

/* Random stream from which hosts are drawn, entry by entry. Devices use other streams. */
#define STREAM_DRAW 0x64726177

struct run_host_list {
	uint16_t *host;
	uint32_t count;
};

enum side { FROM, TO };

struct resolver {
	const struct run_config *config;
	const struct topology *topology;
	struct run_hosts *hosts;
	uint16_t *scratch; /* [hosts] */
	bool *taken;       /* [hosts]: edge, listed, or drawn */
	bool *opposite;    /* [hosts]: on the other side of a hot-spot entry (note_opposite()) */
	struct error *error;
};

static int refuse(
	const struct resolver *resolver, const struct run_config_place *place, const char *what)
{
	return run_config_refuse(resolver->config, place, resolver->error, "%s", what);
}

static int refuse_memory(const struct resolver *resolver)
{
	return error_set(resolver->error, ENOMEM, "%s: out of memory", resolver->config->origin);
}

static int find_host(const struct resolver *resolver, const char *name,
	const struct run_config_place *place, uint16_t *host)
{
	int32_t found = topology_find_host(resolver->topology, name);
	char what[256];

	if (found < 0) {
		snprintf(what, sizeof(what),
			"topology %s has no host '%s'; its %u hosts are %s to %s",
			resolver->topology->name, name, resolver->topology->hosts,
			resolver->topology->hosts > 0 ? resolver->topology->host_at[0].name : "-",
			resolver->topology->hosts > 0
				? resolver->topology->host_at[resolver->topology->hosts - 1].name
				: "-");
		return refuse(resolver, place, what);
	}
	*host = (uint16_t)found;
	return 0;
}

static bool is_owner(const struct topology *topology, uint32_t entry)
{
	return topology->host_at[entry].owner == entry;
}

/* Appends the ports of the host to the scratch space. Returns their number. */
static uint32_t add_ports(const struct resolver *resolver, uint32_t entry, uint32_t count)
{
	uint32_t first = count;

	for (;; entry = resolver->topology->host_at[entry].next) {
		resolver->scratch[count++] = (uint16_t)entry;
		if (resolver->topology->host_at[entry].next == 0)
			return count - first;
	}
}

int run_hosts_compare(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

static int make_room(const struct resolver *resolver, struct run_host_list *list, uint32_t count)
{
	list->host = malloc(((size_t)count + 1) * sizeof(*list->host));
	list->count = count;
	return list->host == NULL ? refuse_memory(resolver) : 0;
}

/* Copies 'count' hosts from the scratch space, in ascending order. */
static int keep(const struct resolver *resolver, uint32_t count, struct run_host_list *list)
{
	int result = make_room(resolver, list, count);

	if (result < 0)
		return result;
	memcpy(list->host, resolver->scratch, count * sizeof(*list->host));
	qsort(list->host, count, sizeof(*list->host), run_hosts_compare);
	return 0;
}

/* A sender without a port stands for all of its ports. */
static int resolve_list(const struct resolver *resolver, enum side side,
	const struct run_config_hosts *hosts, struct run_host_list *list)
{
	uint32_t count = 0;
	int result = make_room(resolver, list, hosts->count * TOPOLOGY_HOST_PORTS_MAX);

	for (uint32_t i = 0; i < hosts->count && result == 0; i++) {
		bool port = strchr(hosts->name[i], ':') != NULL;

		result = find_host(resolver, hosts->name[i], &hosts->place, &list->host[count]);
		if (result == 0 && port && side == TO)
			return refuse(resolver, &hosts->place,
				"'to' names a port; list hosts instead, because 'rail' selects "
				"their ports");
		if (result == 0 && !port && side == FROM) {
			uint32_t ports = add_ports(resolver, list->host[count], 0);

			memcpy(&list->host[count], resolver->scratch, ports * sizeof(*list->host));
			count += ports - 1;
		}
		count += result == 0;
	}
	list->count = count;
	if (result < 0)
		return result;
	qsort(list->host, list->count, sizeof(*list->host), run_hosts_compare);
	for (uint32_t i = 1; i < list->count; i++)
		if (list->host[i] == list->host[i - 1])
			return refuse(resolver, &hosts->place, "a host is listed twice");
	return 0;
}

/* Collects all hosts, or all free hosts; with 'ports', all ports of each. */
static uint32_t gather(const struct resolver *resolver, bool ports, bool free_only)
{
	uint32_t count = 0;

	for (uint32_t host = 0; host < resolver->topology->hosts; host++)
		if (!resolver->topology->host_at[host].absent &&
			(ports || is_owner(resolver->topology, host)) &&
			(!free_only || !resolver->taken[host]))
			resolver->scratch[count++] = (uint16_t)host;
	return count;
}

/* Records the hosts on the other side of a hot-spot entry, if they are listed or drawn, because a
 * hot host does not send to itself. 'rest' and 'all' may contain both sides. */
static void note_opposite(const struct resolver *resolver, enum side side, uint32_t number)
{
	const struct run_config_traffic *traffic = &resolver->config->traffic.at[number];
	const struct run_hosts_entry *entry = &resolver->hosts->entry[number];
	bool drawn = traffic->from.kind == RUN_HOSTS_LIST || traffic->from.kind == RUN_HOSTS_SHARE;

	memset(resolver->opposite, 0, resolver->topology->hosts);
	if (!traffic->pattern->spots)
		return;
	for (uint32_t i = 0; side == TO && drawn && i < entry->from_count; i++)
		resolver->opposite[resolver->topology->host_at[entry->from[i]].owner] = true;
	if (side == TO || traffic->to.kind != RUN_HOSTS_LIST)
		return;
	/* Unknown names are reported when 'to' is resolved. */
	for (uint32_t i = 0; i < traffic->to.count; i++) {
		int32_t host = topology_find_host(resolver->topology, traffic->to.name[i]);

		if (host >= 0)
			resolver->opposite[host] = true;
	}
}

static uint32_t count_drawable(const struct resolver *resolver, uint32_t gathered)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < gathered; i++)
		count += !resolver->opposite[resolver->scratch[i]];
	return count;
}

/* Moves 'wanted' hosts to the front of the scratch space (Fisher-Yates, only as far as needed).
 * Excluded hosts are skipped after they are drawn, so that they do not affect other draws. */
static void draw(
	const struct resolver *resolver, uint64_t stream, uint32_t gathered, uint32_t wanted)
{
	uint16_t *scratch = resolver->scratch;
	uint32_t kept = 0;
	struct rng rng;

	rng_init(&rng, resolver->config->seed, stream, STREAM_DRAW);
	for (uint32_t i = 0; kept < wanted; i++) {
		uint32_t other = i + (uint32_t)rng_below(&rng, gathered - i);
		uint16_t drawn = scratch[other];

		scratch[other] = scratch[i];
		if (!resolver->opposite[drawn])
			scratch[kept++] = drawn;
	}
}

/* Appends the other ports of the first 'count' hosts; the scratch space holds all ports. */
static uint32_t expand(const struct resolver *resolver, uint32_t count)
{
	const struct topology *topology = resolver->topology;
	uint32_t all = count;

	for (uint32_t i = 0; i < count; i++)
		if (topology->host_at[resolver->scratch[i]].next != 0)
			all += add_ports(
				resolver, topology->host_at[resolver->scratch[i]].next, all);
	return all;
}

/* Draws a share of all hosts from those that are free. */
static int resolve_share(const struct resolver *resolver, enum side side, uint32_t number,
	struct run_host_list *list)
{
	const struct run_config_traffic *traffic = &resolver->config->traffic.at[number];
	const struct run_config_hosts *hosts = side == FROM ? &traffic->from : &traffic->to;
	uint64_t wanted =
		((uint64_t)topology_present_nodes(resolver->topology) * hosts->share_ppm + 500000) /
		1000000;
	uint32_t gathered = gather(resolver, false, true), left;
	char what[128];

	note_opposite(resolver, side, number);
	left = count_drawable(resolver, gathered);
	if (wanted == 0 || wanted > left) {
		snprintf(what, sizeof(what),
			"the percentage amounts to %u of %u hosts, but only %u are left to choose from",
			(unsigned)wanted, resolver->topology->nodes, left);
		return refuse(resolver, &hosts->place, what);
	}
	draw(resolver, 2 * (uint64_t)number + side, gathered, (uint32_t)wanted);
	if (side == TO)
		return keep(resolver, (uint32_t)wanted, list);
	return keep(resolver, expand(resolver, (uint32_t)wanted), list);
}

static void take(const struct resolver *resolver, const uint16_t *host, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		resolver->taken[host[i]] = true;
}

/* Resolves 'from' or 'to' of an entry if it is of this kind. */
static int resolve_set(
	const struct resolver *resolver, enum side side, uint32_t number, enum run_hosts_kind kind)
{
	const struct run_config_traffic *traffic = &resolver->config->traffic.at[number];
	const struct run_config_hosts *hosts = side == FROM ? &traffic->from : &traffic->to;
	struct run_host_list list = {0};
	int result;

	if (hosts->kind != kind)
		return 0;
	if (kind == RUN_HOSTS_LIST)
		result = resolve_list(resolver, side, hosts, &list);
	else if (kind == RUN_HOSTS_SHARE)
		result = resolve_share(resolver, side, number, &list);
	else
		result = keep(
			resolver, gather(resolver, side == FROM, kind == RUN_HOSTS_REST), &list);
	if (side == FROM) {
		resolver->hosts->entry[number].from = list.host;
		resolver->hosts->entry[number].from_count = list.count;
	} else {
		resolver->hosts->entry[number].to = list.host;
		resolver->hosts->entry[number].to_count = list.count;
	}
	if (result == 0 && (kind == RUN_HOSTS_LIST || kind == RUN_HOSTS_SHARE))
		take(resolver, list.host, list.count);
	if (result == 0 && list.count == 0)
		result = refuse(resolver, &hosts->place,
			"no host is left for 'rest', the default for 'from'; list the hosts, or use 'all'");
	return result;
}

/* Marks the hosts of jobs as taken, so that they are neither drawn nor part of 'rest'. */
static int resolve_jobs(const struct resolver *resolver, enum side side)
{
	const struct run_config *config = resolver->config;
	struct job_placement placement = {NULL};
	int result = 0;

	if (config->jobs.count > 0)
		result =
			job_placement_make(config, resolver->topology, &placement, resolver->error);
	for (uint32_t i = 0; i < config->jobs.count && result == 0; i++) {
		struct run_hosts_entry *entry = &resolver->hosts->entry[run_job_entry(config, i)];
		const uint16_t *host = placement.host + placement.first[i];
		struct run_host_list list = {0};

		take(resolver, host, placement.first[i + 1] - placement.first[i]);
		if (config->jobs.at[i].schedule != NULL)
			continue;
		memcpy(resolver->scratch, host,
			(placement.first[i + 1] - placement.first[i]) * sizeof(*host));
		result = keep(resolver, placement.first[i + 1] - placement.first[i], &list);
		*(side == FROM ? &entry->from : &entry->to) = list.host;
		*(side == FROM ? &entry->from_count : &entry->to_count) = list.count;
	}
	free(placement.host);
	return result;
}

/* Resolves lists first, then random hosts, then the remaining hosts. */
static int resolve_side(const struct resolver *resolver, enum side side)
{
	static const enum run_hosts_kind order[] = {
		RUN_HOSTS_LIST, RUN_HOSTS_SHARE, RUN_HOSTS_REST, RUN_HOSTS_ALL};
	int result;

	memset(resolver->taken, 0, resolver->topology->hosts);
	take(resolver, resolver->hosts->edge, resolver->config->edges.count);
	result = resolve_jobs(resolver, side);
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (uint32_t entry = 0; entry < resolver->hosts->entries && result == 0; entry++)
			result = resolve_set(resolver, side, entry, order[i]);
	return result;
}

/* Returns false if destinations outside 'to' are possible. */
static bool sends_there_only(const struct run_config_traffic *traffic)
{
	return !traffic->pattern->anywhere &&
	       (traffic->value.share_ppm == 0 || traffic->value.share_ppm == QUANTITY_WHOLE_PPM);
}

/* Removes the senders whose only destination would be themselves. */
static int drop_lonely(const struct resolver *resolver, uint32_t number)
{
	const struct run_config_traffic *traffic = &resolver->config->traffic.at[number];
	const struct run_config_hosts *from = &traffic->from;
	struct run_hosts_entry *entry = &resolver->hosts->entry[number];
	uint32_t kept = 0;

	if (entry->to_count != 1 || !sends_there_only(traffic))
		return 0;
	for (uint32_t i = 0; i < entry->from_count; i++)
		if (resolver->topology->host_at[entry->from[i]].owner != entry->to[0])
			entry->from[kept++] = entry->from[i];
	if (kept != entry->from_count && from->kind == RUN_HOSTS_LIST)
		return refuse(resolver, &from->place, "a listed source would send only to itself");
	entry->from_count = kept;
	return kept == 0 ? refuse(resolver, &from->place, "no host is left to send") : 0;
}

/* Makes every port of a source send to the source's partner. */
static int expand_pairs(const struct resolver *resolver, struct run_hosts_entry *entry)
{
	const struct topology *topology = resolver->topology;
	size_t room = (size_t)topology->hosts + 1, count = 0;
	uint16_t *from = calloc(room, sizeof(*from)), *to = calloc(room, sizeof(*to));

	for (uint32_t i = 0; from != NULL && to != NULL && i < entry->from_count; i++)
		for (uint32_t port = entry->from[i];; port = topology->host_at[port].next) {
			from[count] = (uint16_t)port;
			to[count++] = entry->to[i];
			if (topology->host_at[port].next == 0)
				break;
		}
	free(entry->from);
	free(entry->to);
	entry->from = from;
	entry->to = to;
	entry->from_count = entry->to_count = (uint32_t)count;
	return from != NULL && to != NULL ? 0 : refuse_memory(resolver);
}

static int resolve_permutation(const struct resolver *resolver, uint32_t number)
{
	const struct run_config *config = resolver->config;
	struct run_hosts_entry *entry = &resolver->hosts->entry[number];
	const char *file = config->traffic.at[number].file;
	int result;

	if (file != NULL)
		result = permutation_load(file, resolver->topology, &entry->from, &entry->to,
			&entry->from_count, resolver->error);
	else
		result = permutation_draw(config->seed, number, config->origin, resolver->topology,
			&entry->from, &entry->to, &entry->from_count, resolver->error);
	entry->to_count = entry->from_count;
	return result == 0 && resolver->hosts->rails != NULL ? expand_pairs(resolver, entry)
							     : result;
}

/* Completes an entry whose 'to' is resolved. */
static int resolve_rest(const struct resolver *resolver, uint32_t number)
{
	const struct run_config_traffic *traffic = &resolver->config->traffic.at[number];

	if (traffic->pattern->packets)
		return run_packets_load(resolver->config, traffic, resolver->topology,
			&resolver->hosts->entry[number], resolver->error);
	return traffic->pattern->pairs ? resolve_permutation(resolver, number)
				       : drop_lonely(resolver, number);
}

static int resolve_pairs(const struct resolver *resolver)
{
	int result = 0;

	for (uint32_t i = 0; i < resolver->hosts->entries && result == 0; i++)
		result = resolve_rest(resolver, i);
	return result;
}

static int resolve_edges(const struct resolver *resolver)
{
	const struct run_config *config = resolver->config;
	int result = 0;

	for (uint32_t i = 0; i < config->edges.count && result == 0; i++)
		result = find_host(resolver, config->edges.at[i].host, &config->edges.at[i].place,
			&resolver->hosts->edge[i]);
	return result;
}

static int resolve(const struct resolver *resolver)
{
	int result;

	if (resolver->scratch == NULL || resolver->taken == NULL || resolver->opposite == NULL ||
		resolver->hosts->entry == NULL || resolver->hosts->edge == NULL)
		return refuse_memory(resolver);
	result = resolve_edges(resolver);
	if (result == 0)
		result = resolve_side(resolver, FROM);
	if (result == 0)
		result = resolve_side(resolver, TO);
	if (result == 0)
		result = resolve_pairs(resolver);
	for (uint32_t i = 0; i < resolver->hosts->entries; i++)
		if (run_job_is_absent(resolver->config, &resolver->config->traffic.at[i]))
			resolver->hosts->entry[i].from_count = resolver->hosts->entry[i].to_count =
				0;
	if (result == 0 && run_source_keep_senders(resolver->config, resolver->hosts) < 0)
		result = refuse_memory(resolver);
	for (uint32_t i = 0; result == 0 && i < resolver->hosts->entries; i++)
		if (resolver->hosts->rails != NULL && resolver->hosts->entry[i].from_count == 0 &&
			!resolver->config->traffic.at[i].pattern->schedule)
			result = refuse(resolver, &resolver->config->traffic.at[i].place,
				"with this 'rail', no port of the senders reaches a destination");
	return result;
}

/* In frames and messages between hosts, the highest number means 'none'. */
static int check_hosts(const struct resolver *resolver)
{
	const struct run_config *run = resolver->config;
	const char *what = run->clock == RUN_CLOCK_REAL     ? "clock: real"
			   : run->nic.control != 0          ? "nic.control"
			   : run_config_is_adaptive(run)    ? "routing.adaptive"
			   : run_config_ladder(run) != NULL ? "routing.algorithm"
			   : run->sw.fecn != 0              ? "switch.fecn"
							    : NULL;

	if (resolver->topology->hosts <= FRAME_HOSTS_MAX || what == NULL)
		return 0;
	return error_set(resolver->error, EINVAL,
		"%s: %s: %s has %u hosts; at most %u are "
		"allowed",
		run->origin, what, resolver->topology->name, resolver->topology->hosts,
		FRAME_HOSTS_MAX);
}

struct run_hosts *run_hosts_resolve_all(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	struct run_hosts *hosts = calloc(1, sizeof(*hosts));
	struct resolver resolver = {
		.config = config,
		.topology = topology,
		.hosts = hosts,
		.scratch = malloc(((size_t)topology->hosts + 1) * sizeof(*resolver.scratch)),
		.taken = calloc((size_t)topology->hosts + 1, sizeof(*resolver.taken)),
		.opposite = calloc((size_t)topology->hosts + 1, sizeof(*resolver.opposite)),
		.error = error,
	};
	int result = hosts == NULL ? refuse_memory(&resolver) : 0;

	if (result == 0) {
		hosts->topology = topology;
		if (rails_create(topology, &hosts->rails) < 0)
			result = refuse_memory(&resolver);
		hosts->entries = config->traffic.count;
		hosts->entry = calloc((size_t)hosts->entries + 1, sizeof(*hosts->entry));
		hosts->edge = calloc((size_t)config->edges.count + 1, sizeof(*hosts->edge));
		if (result == 0)
			result = check_hosts(&resolver);
		if (result == 0)
			result = resolve(&resolver);
	}
	free(resolver.scratch);
	free(resolver.taken);
	free(resolver.opposite);
	if (result == 0)
		return hosts;
	run_hosts_destroy(hosts);
	errno = -result;
	return NULL;
}

struct run_hosts *run_config_resolve(
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	struct run_hosts *hosts = run_hosts_resolve_all(config, topology, error);

	for (uint32_t i = 0; hosts != NULL && i < hosts->entries; i++)
		if (config->traffic.at[i].pattern->schedule)
			hosts->entry[i].from_count = hosts->entry[i].to_count = 0;
	return hosts;
}

void run_hosts_destroy(struct run_hosts *hosts)
{
	if (hosts == NULL)
		return;
	for (uint32_t i = 0; i < hosts->entries && hosts->entry != NULL; i++) {
		free(hosts->entry[i].from);
		free(hosts->entry[i].to);
		run_packets_destroy(hosts->entry[i].packets);
	}
	free(hosts->entry);
	free(hosts->edge);
	rails_destroy(hosts->rails);
	free(hosts);
}
