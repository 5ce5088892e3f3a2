/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The hosts of a topology that stand for addresses of a capture: given by a file with lines of
 * ADDRESS HOST (IPv4, IPv6 or MAC; '#' starts a comment), or dealt round robin to addresses in the
 * order in which they appear. */

#include "experiment/run/run_config.h"
#include "packet_file.h"
#include "topo/topology.h"

#define PACKET_MAP_NONE  (-1)
#define PACKET_MAP_GROUP (-2) /* a broadcast or multicast address that the file does not map */

struct packet_map;

/* 'path' NULL: round robin over 'usable' ([hosts]; NULL: all), or those that a file may name. NULL,
 * errno and error: a bad file, no memory. Topology and 'usable' stay the caller's. */
struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, const bool *usable, struct error *error);
void packet_map_destroy(struct packet_map *map);
/* Gives an address a host, if none has it. -ENOMEM. */
int packet_map_add(struct packet_map *map, const struct packet_address *address, uint16_t host);

/* The host of the first address, else of the second one. Round robin gives a host to the first
 * address that is there. PACKET_MAP_NONE, PACKET_MAP_GROUP; -ENOMEM. */
int32_t packet_map_host(struct packet_map *map, const struct packet_address address[2]);

/* The hosts of a capture's packets. */
struct packet_hosts {
	struct packet_map *map; /* NULL: 'sender' sends all */
	uint16_t sender;
	const uint16_t *to; /* the receivers of packets to addresses without a host */
	uint32_t to_count;
	struct run_packets_count count;
};

/* 1: 'from' sends the packet, to 'to', or, if 'drawn', to a host of hosts->to but itself; 0: it is
 * not sent, and counted; -ENOMEM. */
int packet_hosts_choose(struct packet_hosts *hosts, const struct packet *packet, uint16_t *from,
	uint16_t *to, bool *drawn);
