/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "packet_file.h"
#include "traffic/traffic_pattern.h"

#define FAR UINT32_MAX

bool run_source_sends(const struct run_hosts_entry *entry, uint32_t host)
{
	for (uint32_t i = 0; i < entry->from_count; i++)
		if (entry->from[i] == host)
			return true;
	return false;
}

/* Breadth-first search from 'start', up to a distance of 'links'. */
static void spread(const struct topology *topology, uint32_t start, uint32_t links,
	uint32_t *distance, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		distance[i] = FAR;
	distance[start] = 0;
	queue[tail++] = start;
	while (head < tail && distance[queue[head]] < links) {
		struct topology_port at = {DEVICE_SWITCH, queue[head++], 0}, peer;

		for (at.port = 0; at.port < topology->switch_at[at.device].ports; at.port++) {
			if (!topology_peer(topology, at, &peer) || peer.kind != DEVICE_SWITCH ||
				distance[peer.device] != FAR)
				continue;
			distance[peer.device] = distance[at.device] + 1;
			queue[tail++] = peer.device;
		}
	}
}

static bool find_switch(const struct topology *topology, uint32_t host, uint32_t *at)
{
	struct topology_port port = {DEVICE_HOST, host, 0}, peer;

	if (!topology_peer(topology, port, &peer) || peer.kind != DEVICE_SWITCH)
		return false;
	*at = peer.device;
	return true;
}

int hosts_within(const struct topology *topology, uint32_t host, uint32_t links, uint16_t *near,
	uint32_t *count)
{
	uint32_t *distance = calloc((size_t)topology->switches + 1, sizeof(*distance));
	uint32_t *queue = calloc((size_t)topology->switches + 1, sizeof(*queue));
	bool room = distance != NULL && queue != NULL;
	uint32_t at;

	*count = 0;
	if (room && find_switch(topology, host, &at)) {
		spread(topology, at, links, distance, queue);
		for (uint32_t i = 0; i < topology->hosts; i++)
			if (find_switch(topology, i, &at) && distance[at] != FAR)
				near[(*count)++] = (uint16_t)i;
	}
	free(distance);
	free(queue);
	return room ? 0 : -ENOMEM;
}

/* Lists the destination of each host; hosts that do not send are listed with themselves. */
static int list_successors(
	const struct run_hosts_entry *entry, struct traffic_config *config, uint16_t *list)
{
	for (uint32_t i = 0; i < config->hosts; i++)
		list[i] = (uint16_t)i;
	for (uint32_t i = 0; i < entry->from_count; i++)
		list[entry->from[i]] = entry->to[i];
	config->permutation = list;
	return 0;
}

/* Keeps the hosts of an ascending list, for local traffic only those in 'to'. Returns the number.
 */
static uint32_t keep_destinations(const struct run_config_traffic *traffic,
	const struct run_hosts_entry *entry, uint16_t *list, uint32_t count)
{
	uint32_t kept = 0, to = 0;

	for (uint32_t i = 0; i < count; i++) {
		while (to < entry->to_count && entry->to[to] < list[i])
			to++;
		if (traffic->pattern->anywhere ||
			(to < entry->to_count && entry->to[to] == list[i]))
			list[kept++] = list[i];
	}
	return kept;
}

/* Lists the hosts in reach. */
static int list_near(const struct run_config_traffic *traffic, const struct run_hosts *hosts,
	const struct run_hosts_entry *entry, struct traffic_config *config, uint16_t *list)
{
	uint32_t count;

	if (hosts_within(hosts->topology, config->host, traffic->value.switches, list, &count) < 0)
		return -ENOMEM;
	config->near = list;
	config->near_count = keep_destinations(traffic, entry, list, count);
	return 0;
}

/* --- hosts with several ports: patterns contain host numbers (rails.h), lists contain ports --- */

static void number_hosts(
	const struct rails *rails, uint16_t *to, const uint16_t *from, uint32_t *count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++) {
		uint16_t host = (uint16_t)rails->host_of[from[i]];

		if (kept == 0 || to[kept - 1] != host)
			to[kept++] = host;
	}
	*count = kept;
}

/* Stores the hosts of 'list' that are destinations in config->near. */
static void keep_near(const struct run_config_traffic *traffic, const struct run_hosts_entry *entry,
	const struct rails *rails, struct traffic_config *config, uint16_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		list[i] = (uint16_t)rails->port[rails->first[rails->host_of[list[i]]]];
	qsort(list, count, sizeof(*list), run_hosts_compare);
	count = keep_destinations(traffic, entry, list, count);
	number_hosts(rails, list, list, &count);
	config->near = list;
	config->near_count = count;
}

static void list_partners(const struct rails *rails, const struct run_hosts_entry *entry,
	struct traffic_config *config, uint16_t *list)
{
	for (uint32_t i = 0; i < rails->hosts; i++)
		list[i] = (uint16_t)i;
	for (uint32_t i = 0; i < entry->from_count; i++)
		list[rails->host_of[entry->from[i]]] = (uint16_t)rails->host_of[entry->to[i]];
	config->permutation = list;
}

/* The first half of the list holds near hosts or partners, the second half targets. */
static int list_railed(const struct run_config_traffic *traffic, const struct run_hosts *hosts,
	const struct run_hosts_entry *entry, struct traffic_config *config, uint16_t **list)
{
	const struct rails *rails = hosts->rails;
	uint32_t entries = hosts->topology->hosts, count;
	uint16_t *made = malloc(2 * (size_t)entries * sizeof(*made));

	*list = made;
	if (made == NULL)
		return -ENOMEM;
	if (traffic->pattern->pairs) {
		list_partners(rails, entry, config, made);
	} else if (traffic->pattern->near) {
		if (hosts_within(hosts->topology, config->port, traffic->value.switches, made,
			    &count) < 0)
			return -ENOMEM;
		keep_near(traffic, entry, rails, config, made, count);
	}
	if (config->targets != NULL) {
		number_hosts(rails, made + entries, config->targets, &config->targets_count);
		config->targets = made + entries;
	}
	config->rails = rails;
	config->rail = traffic->rail;
	config->host = (uint16_t)rails->host_of[config->port];
	config->hosts = rails->hosts;
	return 0;
}

static int make_list(const struct run_config_traffic *traffic, const struct run_hosts *hosts,
	const struct run_hosts_entry *entry, struct traffic_config *config, uint16_t **list)
{
	bool pairs = traffic->pattern->pairs;

	/* The packets of a capture are sent from port to port. */
	if (hosts->rails != NULL && !traffic->pattern->packets)
		return list_railed(traffic, hosts, entry, config, list);
	if (!pairs && !traffic->pattern->near)
		return 0;
	*list = malloc(config->hosts * sizeof(**list));
	if (*list == NULL)
		return -ENOMEM;
	return pairs ? list_successors(entry, config, *list)
		     : list_near(traffic, hosts, entry, config, *list);
}

/* Translates the pattern and its destinations. */
static void set_targets(const struct run_config_traffic *traffic, const struct run_hosts *hosts,
	const struct run_hosts_entry *entry, struct traffic_config *config)
{
	config->pattern = traffic->pattern;
	/* Hosts that were removed from a lab leave gaps. */
	if (traffic->pattern->all_without_targets && traffic->to.kind == RUN_HOSTS_ALL &&
		entry->to_count == hosts->topology->nodes)
		return;
	config->targets = entry->to;
	config->targets_count = entry->to_count;
}

static void set_packets(const struct run_config_traffic *traffic,
	const struct run_hosts_entry *entry, struct traffic_config *config)
{
	const struct run_packets *packets = entry->packets;

	if (packets == NULL)
		return;
	config->packet = &packets->at[packets->first[config->host]];
	config->packets = packets->first[config->host + 1] - packets->first[config->host];
	config->loops = traffic->packets.loops;
	config->loop_ps = packets->period_ps;
	config->value.message_bytes = RUN_MESSAGE_MIN;
}

int run_source_config(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	const struct run_source_place *place, struct traffic_config *config, uint16_t **list)
{
	const struct run_config_traffic *entry = &run->traffic.at[which];

	*list = NULL;
	*config = (struct traffic_config){
		.host = place->host,
		.port = place->host,
		.hosts = place->hosts,
		.entry = (uint8_t)which,
		.seed = run->seed,
		.rate_bps = place->rate_bps,
		.value = entry->value,
		.sl = (uint8_t)entry->class,
		.bare = run->sw.switching == RUN_SWITCHING_WORMHOLE,
		.mean_route = place->route_bytes * TRAFFIC_ROUTE_BYTE,
		.start_ps = place->from_ps + entry->start_ps,
		.stop_ps = place->until_ps,
	};
	if (entry->stop_ps != WEFT_TIME_NEVER && place->from_ps + entry->stop_ps < config->stop_ps)
		config->stop_ps = place->from_ps + entry->stop_ps;
	set_targets(entry, traffic, &traffic->entry[which], config);
	set_packets(entry, &traffic->entry[which], config);
	return make_list(entry, traffic, &traffic->entry[which], config, list);
}

/* Returns true if the pattern may assign no destination to a host. With all other patterns, a host
 * sends if 'to' contains another host. */
static bool may_stay_silent(const struct traffic_pattern *pattern)
{
	return pattern->sends != NULL && !pattern->pairs && !pattern->to_suffices;
}

/* Draws a port's first message, for hosts with several ports. Returns false if there is none. */
static bool port_sends(const struct run_config *run, struct traffic_config *config)
{
	struct traffic *source;
	bool sends;

	config->rate_bps = TOPOLOGY_RATE_BPS;
	config->frame_bytes = run->nic.mtu_bytes;
	config->stop_ps = WEFT_TIME_NEVER;
	source = traffic_create(config, &(struct error){""});
	sends = source == NULL || traffic_next(source) != WEFT_TIME_NEVER;
	traffic_destroy(source);
	return sends;
}

/* Returns 0 if the pattern assigns no destination to this host. */
static int sends(const struct run_config *run, const struct run_hosts *traffic, uint32_t which,
	uint16_t host)
{
	const struct run_source_place place = {.host = host, .hosts = traffic->topology->hosts};
	const struct traffic_pattern *pattern = run->traffic.at[which].pattern;
	struct traffic_config config;
	void *state = NULL;
	uint16_t *list;
	int result = run_source_config(run, traffic, which, &place, &config, &list);

	/* run_source_check() reports an invalid entry. */
	if (result == 0 && config.rails != NULL) {
		result = port_sends(run, &config);
	} else if (result == 0 && traffic_pattern_init(pattern, &state, &config, NULL) < 0) {
		result = 1;
	} else if (result == 0) {
		result = traffic_pattern_sends(pattern, state, &config);
		traffic_pattern_fini(pattern, state);
	}
	free(list);
	return result;
}

static bool same_switch(const struct topology *topology, uint32_t host, uint32_t other)
{
	uint32_t at, there;

	return other < topology->hosts && find_switch(topology, host, &at) &&
	       find_switch(topology, other, &there) && at == there;
}

static int keep_senders(const struct run_config *run, struct run_hosts *traffic, uint32_t which)
{
	const struct topology *topology = traffic->topology;
	struct run_hosts_entry *entry = &traffic->entry[which];
	bool local = run->traffic.at[which].pattern->near;
	uint32_t kept = 0;
	int result = 1;

	for (uint32_t i = 0; i < entry->from_count && result >= 0; i++) {
		uint16_t host = entry->from[i];

		/* Avoids the search, which would examine 65536 hosts for each of 65536 hosts. */
		result = local && traffic->rails == NULL && entry->to_count == topology->hosts &&
					 (same_switch(topology, host, host - 1u) ||
						 same_switch(topology, host, host + 1u))
				 ? 1
				 : sends(run, traffic, which, host);
		if (result > 0 && run->traffic.at[which].pattern->pairs)
			entry->to[kept] = entry->to[i];
		if (result > 0)
			entry->from[kept++] = host;
	}
	entry->from_count = kept;
	if (run->traffic.at[which].pattern->pairs)
		entry->to_count = kept;
	return result < 0 ? result : 0;
}

int run_source_keep_senders(const struct run_config *run, struct run_hosts *traffic)
{
	int result = 0;

	for (uint32_t i = 0; i < traffic->entries && result == 0; i++) {
		const struct traffic_pattern *pattern = run->traffic.at[i].pattern;

		/* Every sender of a capture has packets. */
		if (may_stay_silent(pattern) ||
			(traffic->rails != NULL && !pattern->schedule && !pattern->packets))
			result = keep_senders(run, traffic, i);
	}
	return result;
}

static uint64_t slowest_sender(const struct topology *topology, const struct run_hosts_entry *entry)
{
	uint64_t rate_bps = TOPOLOGY_RATE_MAX_BPS;

	for (uint32_t i = 0; i < entry->from_count; i++) {
		int32_t link = topology->host_link[entry->from[i]];

		if (link >= 0 && topology->link_at[link].rate_bps < rate_bps)
			rate_bps = topology->link_at[link].rate_bps;
	}
	return rate_bps;
}

/* The sources of an entry differ only in host and rate, so checking one of them is enough. */
static int check_entry(const struct run_config *run, const struct run_hosts *traffic,
	uint32_t which, struct error *error)
{
	const struct run_source_place place = {
		.host = traffic->entry[which].from[0],
		.hosts = traffic->topology->hosts,
		.rate_bps = slowest_sender(traffic->topology, &traffic->entry[which]),
		.until_ps = WEFT_TIME_NEVER,
	};
	struct traffic_config config;
	struct traffic *source;
	struct error why = {""};
	uint16_t *list;
	int result = run_source_config(run, traffic, which, &place, &config, &list);

	config.frame_bytes = run->nic.mtu_bytes;
	source = result == 0 ? traffic_create(&config, &why) : NULL;
	if (result < 0)
		error_set(error, ENOMEM, "%s: not enough memory for traffic", run->origin);
	else if (source == NULL)
		result = run_config_refuse(
			run, &run->traffic.at[which].place, error, "%s", why.text);
	traffic_destroy(source);
	free(list);
	return result;
}

int run_source_check(
	const struct run_config *run, const struct run_hosts *traffic, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < traffic->entries && result == 0; i++)
		if (traffic->entry[i].from_count > 0)
			result = check_entry(run, traffic, i, error);
	return result;
}

/* Reports that entry 'which' needs more sources than host 'at' has. */
static int refuse_entry(const struct run_config *run, const struct run_hosts *traffic,
	uint32_t which, uint32_t at, uint32_t entries, unsigned lanes, unsigned room,
	struct error *error)
{
	const struct topology *topology = traffic->topology;
	char what[256];

	snprintf(what, sizeof(what),
		"%s sends for %u traffic entries with %u sources each, but a host has at most %u "
		"sources; use at most %u such entries",
		topology->host_at[at].name, entries, lanes, room, room / lanes);
	return run_config_refuse(run, &run->traffic.at[which].place, error, "%s", what);
}

int run_source_check_room(const struct run_config *run, const struct run_hosts *traffic,
	unsigned lanes, unsigned room, struct error *error)
{
	uint32_t *entries = calloc(traffic->topology->hosts, sizeof(*entries));
	int result = 0;

	if (entries == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for traffic", run->origin);
	for (uint32_t i = 0; i < traffic->entries && result == 0; i++) {
		const struct run_hosts_entry *entry = &traffic->entry[i];

		for (uint32_t j = 0; j < entry->from_count && result == 0; j++) {
			uint32_t count = ++entries[entry->from[j]];

			if (count * lanes > room)
				result = refuse_entry(
					run, traffic, i, entry->from[j], count, lanes, room, error);
		}
	}
	free(entries);
	return result;
}
