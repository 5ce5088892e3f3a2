/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The hosts of a topology that stand for addresses of a capture: given by a file with lines of
 * ADDRESS HOST (IPv4, IPv6 or MAC; '#' starts a comment), or dealt round robin to addresses in the
 * order in which they appear. */

#include "packet_file.h"
#include "topo/topology.h"

#define PACKET_MAP_NONE  (-1)
#define PACKET_MAP_GROUP (-2) /* a broadcast or multicast address that the file does not map */

struct packet_map;

/* 'path' NULL: round robin. NULL, errno and error: a bad file, no memory. The topology stays the
 * caller's. */
struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, struct error *error);
void packet_map_destroy(struct packet_map *map);

/* The host of the first address, else of the second one. Round robin gives a host to the first
 * address that is there. PACKET_MAP_NONE, PACKET_MAP_GROUP; -ENOMEM. */
int32_t packet_map_host(struct packet_map *map, const struct packet_address address[2]);
