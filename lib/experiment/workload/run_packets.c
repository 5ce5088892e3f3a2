/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "packet_file.h"

#include <stdlib.h>

#include "base/arrays.h"
#include "base/quantity.h"
#include "topo/topology_hosts.h"
#include "wire/frame.h"

#define SPEED_ONE 1000u /* run files specify thousandths */

struct loader {
	const struct run_config *run;
	const struct run_config_traffic *traffic;
	const struct topology *topology;
	struct run_hosts_entry *entry;
	struct run_packets *packets;
	struct packet_hosts *hosts;
	uint32_t count, room; /* used and allocated entries of packets->at */
	uint32_t drew; /* last sender found to reach every host in hosts->to, plus 1; 0: none */
	uint64_t wire_bytes;
	struct error *error;
};

static uint64_t wire_bytes(const struct run_config *run, uint32_t bytes)
{
	if (run->sw.switching == RUN_SWITCHING_WORMHOLE)
		return bytes;
	return bytes + (uint64_t)frame_count(bytes, run->nic.mtu_bytes) *
			       (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD);
}

static int refuse_memory(const struct loader *loader)
{
	return error_set(loader->error, ENOMEM, "%s: not enough memory for the packets",
		loader->traffic->file);
}

/* Returns a possible destination of the packet to which there is no path, or -1. */
static int32_t find_apart(struct loader *loader, uint16_t from, uint16_t to, bool drawn)
{
	const struct topology *topology = loader->topology;
	const struct packet_hosts *hosts = loader->hosts;

	if (!drawn)
		return topology_apart(topology, from, to) ? to : -1;
	if (!topology_has_rails(topology) || loader->drew == from + 1u)
		return -1;
	for (uint32_t i = 0; i < hosts->to_count; i++)
		if (hosts->to[i] != from && topology_apart(topology, from, hosts->to[i]))
			return hosts->to[i];
	loader->drew = from + 1u;
	return -1;
}

static int take_packet(struct loader *loader, const struct packet *packet)
{
	struct run_packets *packets = loader->packets;
	struct traffic_packet made = {.at_ps = packet->at_ps,
		.bytes = packet->bytes < RUN_MESSAGE_MIN ? RUN_MESSAGE_MIN : packet->bytes};
	uint16_t from, to;
	bool drawn;
	int result = packet_hosts_choose(loader->hosts, packet, &from, &to, &drawn);
	int32_t apart;

	if (result <= 0)
		return result < 0 ? refuse_memory(loader) : 0;
	apart = find_apart(loader, from, to, drawn);
	if (apart >= 0)
		return run_config_refuse(loader->run, &loader->traffic->place, loader->error,
			"pattern pcap: a packet goes from %s to %s, but no cables lead there; "
			"use ports in one plane",
			loader->topology->host_at[from].name,
			loader->topology->host_at[apart].name);
	made.from = from;
	made.to = to;
	made.drawn = drawn;
	if (loader->count == RUN_PACKETS_MAX)
		return error_set(loader->error, EINVAL, "%s: more than %u packets",
			loader->traffic->file, RUN_PACKETS_MAX);
	if (!array_reserve(&packets->at, &loader->room, loader->count + 1u, sizeof(made)))
		return refuse_memory(loader);
	packets->at[loader->count++] = made;
	loader->wire_bytes += wire_bytes(loader->run, made.bytes);
	return 0;
}

static int check_addresses(const struct loader *loader, const struct packet_file *file)
{
	if (loader->hosts->map == NULL || packet_file_has_addresses(file))
		return 0;
	return run_config_refuse(loader->run, &loader->traffic->place, loader->error,
		"pattern pcap: Weft cannot find addresses in packets of link type '%s'; set "
		"'host', the sender of all packets",
		packet_file_link(file));
}

static int read_packets(struct loader *loader)
{
	struct packet_file *file = packet_file_open(loader->traffic->file, loader->error);
	struct packet packet;
	int result = file == NULL ? -errno : check_addresses(loader, file);

	while (result == 0) {
		result = packet_file_next(file, &packet, loader->error);
		if (result <= 0)
			break;
		result = take_packet(loader, &packet);
	}
	packet_file_close(file);
	return result;
}

static int refuse_silence(const struct loader *loader)
{
	const struct run_packets_count *count = &loader->hosts->count;

	if (count->read == 0)
		return error_set(
			loader->error, EINVAL, "%s: contains no packets", loader->traffic->file);
	return run_config_refuse(loader->run, &loader->traffic->place, loader->error,
		"pattern pcap: none of the %llu packets connects two hosts: %llu have a source "
		"address without a host, %llu have a destination address without a host, and "
		"%llu have the same host as source and destination",
		(unsigned long long)count->read, (unsigned long long)count->no_source,
		(unsigned long long)count->no_destination, (unsigned long long)count->same_host);
}

/* Sorts the packets by sender, and keeps their order in time. */
static int sort_packets(struct loader *loader)
{
	struct run_packets *packets = loader->packets;
	uint32_t hosts = loader->topology->hosts, senders = 0;
	struct traffic_packet *sorted = malloc(loader->count * sizeof(*sorted));

	packets->first = calloc(hosts + 2u, sizeof(*packets->first));
	loader->entry->from = calloc(hosts + 1u, sizeof(*loader->entry->from));
	if (sorted == NULL || packets->first == NULL || loader->entry->from == NULL) {
		free(sorted);
		return refuse_memory(loader);
	}
	for (uint32_t i = 0; i < loader->count; i++)
		packets->first[packets->at[i].from + 2]++;
	for (uint32_t host = 0; host < hosts; host++) {
		if (packets->first[host + 2] > 0)
			loader->entry->from[senders++] = (uint16_t)host;
		packets->first[host + 2] += packets->first[host + 1];
	}
	/* Afterwards, each element is the index of the next host's first packet. */
	for (uint32_t i = 0; i < loader->count; i++)
		sorted[packets->first[packets->at[i].from + 1]++] = packets->at[i];
	free(packets->at);
	packets->at = sorted;
	loader->entry->from_count = senders;
	return 0;
}

/* Returns the time that the senders' links need for all packets at this load, at most
 * WEFT_TIME_NEVER. */
static weft_time period_at_load(const struct loader *loader)
{
	const struct topology *topology = loader->topology;
	unsigned __int128 bits = (unsigned __int128)loader->wire_bytes * 8 * PS_PER_S;
	unsigned __int128 rate = 0;

	for (uint32_t i = 0; i < loader->entry->from_count; i++) {
		int32_t link = topology->host_link[loader->entry->from[i]];

		rate += link >= 0 ? topology->link_at[link].rate_bps : 0;
	}
	rate *= loader->traffic->value.load_ppm;
	if (rate == 0)
		return 0;
	bits = bits * QUANTITY_WHOLE_PPM / rate;
	return bits < WEFT_TIME_NEVER ? (weft_time)bits : WEFT_TIME_NEVER;
}

/* Scales the times by 'speed', or to 'load'. The gap between two loops is the mean packet gap. */
static int scale_times(struct loader *loader, weft_time last_ps)
{
	const struct run_config_packets *how = &loader->traffic->packets;
	struct run_packets *packets = loader->packets;
	weft_time period = last_ps + (loader->count > 1 ? last_ps / (loader->count - 1) : 0);
	unsigned __int128 up = SPEED_ONE, down = how->speed, end;

	if (loader->traffic->value.load_ppm != 0) {
		up = period_at_load(loader);
		down = period;
	}
	if (period == 0 && (loader->traffic->value.load_ppm != 0 || how->loops > 1))
		return error_set(loader->error, EINVAL,
			"%s: all packets have the same time, but 'load' and 'loop' require gaps",
			loader->traffic->file);
	end = period * up / down * (how->loops - 1u) + last_ps * up / down;
	if (end > WEFT_TIME_NEVER / 4)
		return run_config_refuse(loader->run, &loader->traffic->place, loader->error,
			"pattern pcap: with this 'speed', 'load' or 'loop' the capture would take "
			"longer than 53 days");
	for (uint32_t i = 0; i < loader->count; i++)
		packets->at[i].at_ps = (weft_time)(packets->at[i].at_ps * up / down);
	packets->up = (uint64_t)up;
	packets->down = (uint64_t)down;
	packets->period_ps = (weft_time)(period * up / down);
	packets->end_ps = (weft_time)end;
	return 0;
}

int run_packets_read(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct packet_hosts *hosts, struct run_hosts_entry *entry,
	struct error *error)
{
	struct loader loader = {.run = run,
		.traffic = traffic,
		.topology = topology,
		.entry = entry,
		.hosts = hosts,
		.packets = calloc(1, sizeof(*loader.packets)),
		.error = error};
	weft_time last_ps = 0;
	int result;

	entry->packets = loader.packets;
	result = loader.packets == NULL ? refuse_memory(&loader) : read_packets(&loader);
	if (result == 0 && loader.count == 0)
		result = refuse_silence(&loader);
	if (result == 0) {
		loader.packets->count = hosts->count;
		last_ps = loader.packets->at[loader.count - 1].at_ps;
		result = sort_packets(&loader);
	}
	return result == 0 ? scale_times(&loader, last_ps) : result;
}

static int open_hosts(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct packet_hosts *hosts, struct error *error)
{
	const struct run_config_packets *how = &traffic->packets;
	int32_t host;

	if (how->host[0] == '\0') {
		hosts->map = packet_map_create(how->by, topology, NULL, error);
		return hosts->map == NULL ? -errno : 0;
	}
	host = topology_find_host(topology, how->host);
	if (host < 0)
		return run_config_refuse(run, &traffic->place, error,
			"'host: %s': topology %s has no such host", how->host, topology->name);
	hosts->sender = (uint16_t)host;
	return 0;
}

int run_packets_load(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct run_hosts_entry *entry, struct error *error)
{
	struct packet_hosts hosts = {.to = entry->to, .to_count = entry->to_count};
	int result = open_hosts(run, traffic, topology, &hosts, error);

	if (result == 0)
		result = run_packets_read(run, traffic, topology, &hosts, entry, error);
	packet_map_destroy(hosts.map);
	return result;
}

void run_packets_destroy(struct run_packets *packets)
{
	if (packets == NULL)
		return;
	free(packets->at);
	free(packets->first);
	free(packets);
}
