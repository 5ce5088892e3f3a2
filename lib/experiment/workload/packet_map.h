/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Maps the addresses in a capture to hosts of a topology: from a file with lines of ADDRESS HOST
 * (IPv4, IPv6 or MAC; '#' starts a comment), or round robin in order of appearance. */

#include "experiment/run/run_config.h"
#include "packet_file.h"
#include "topo/topology.h"

#define PACKET_MAP_NONE  (-1)
#define PACKET_MAP_GROUP (-2) /* a broadcast or multicast address that the file does not map */

struct packet_map;

/* 'usable' ([hosts]; NULL: all): the hosts for round robin ('path' NULL), or those that the file
 * may name. NULL, errno and error: bad file, no memory. Topology and 'usable' still belong to the
 * caller. */
struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, const bool *usable, struct error *error);
void packet_map_destroy(struct packet_map *map);
/* Maps an address to a host unless it is mapped already. -ENOMEM. */
int packet_map_add(struct packet_map *map, const struct packet_address *address, uint16_t host);

/* The host of the first address, or else of the second. Round robin maps the first address that is
 * present. PACKET_MAP_NONE, PACKET_MAP_GROUP; -ENOMEM. */
int32_t packet_map_host(struct packet_map *map, const struct packet_address address[2]);

/* Chooses the hosts of a capture's packets. */
struct packet_hosts {
	struct packet_map *map; /* NULL: 'sender' sends all packets */
	uint16_t sender;
	const uint16_t *to; /* the receivers of packets to addresses without a host */
	uint32_t to_count;
	struct run_packets_count count;
};

/* 1: 'from' sends the packet to 'to' or, if 'drawn', to another host of hosts->to. 0: the packet is
 * counted but not sent. -ENOMEM. */
int packet_hosts_choose(struct packet_hosts *hosts, const struct packet *packet, uint16_t *from,
	uint16_t *to, bool *drawn);
