/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "packet_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "run_hosts.h"

#define SLOTS_FIRST 64

struct slot {
	struct packet_address address; /* kind NONE: the slot is empty */
	uint16_t host;
};

/* A hash table with linear probing, at most half full. */
struct packet_map {
	const struct topology *topology;
	const bool *usable; /* [hosts], or NULL */
	struct slot *slot;
	size_t slots; /* a power of 2 */
	size_t count;
	bool dealt;
	uint32_t next; /* round robin: number after the last host used */
};

static struct slot *find(struct slot *slot, size_t slots, const struct packet_address *address)
{
	size_t at = byte_hash(0, address, sizeof(*address)) & (slots - 1);

	while (slot[at].address.kind != PACKET_ADDRESS_NONE &&
		memcmp(&slot[at].address, address, sizeof(*address)) != 0)
		at = (at + 1) & (slots - 1);
	return &slot[at];
}

static bool grow(struct packet_map *map)
{
	size_t slots = map->slots == 0 ? SLOTS_FIRST : 2 * map->slots;
	struct slot *made = calloc(slots, sizeof(*made));

	if (made == NULL)
		return false;
	for (size_t i = 0; i < map->slots; i++)
		if (map->slot[i].address.kind != PACKET_ADDRESS_NONE)
			*find(made, slots, &map->slot[i].address) = map->slot[i];
	free(map->slot);
	map->slot = made;
	map->slots = slots;
	return true;
}

/* Returns false if out of memory. */
static bool add(struct packet_map *map, const struct packet_address *address, uint16_t host)
{
	if (2 * (map->count + 1) > map->slots && !grow(map))
		return false;
	*find(map->slot, map->slots, address) = (struct slot){*address, host};
	map->count++;
	return true;
}

int packet_map_add(struct packet_map *map, const struct packet_address *address, uint16_t host)
{
	if (find(map->slot, map->slots, address)->address.kind != PACKET_ADDRESS_NONE)
		return 0;
	return add(map, address, host) ? 0 : -ENOMEM;
}

static bool is_usable(const struct packet_map *map, uint32_t host)
{
	return !map->topology->host_at[host].absent && (map->usable == NULL || map->usable[host]);
}

struct reading {
	struct pair_file file;
	struct packet_map *map;
};

static int take_pair(void *ctx, char *text, char *name)
{
	struct reading *reading = ctx;
	const struct topology *topology = reading->map->topology;
	int32_t host = topology_find_host(topology, name);
	struct packet_address address;

	if (!packet_address_parse(text, &address))
		return error_at(reading->file.error, reading->file.path, reading->file.line, 0,
			"'%s': expected an IPv4, IPv6 or Ethernet address", text);
	if (host < 0)
		return error_at(reading->file.error, reading->file.path, reading->file.line, 0,
			"topology %s has no host '%s'", topology->name, name);
	if (!is_usable(reading->map, (uint32_t)host))
		return error_at(reading->file.error, reading->file.path, reading->file.line, 0,
			"host %s has no edge", name);
	if (find(reading->map->slot, reading->map->slots, &address)->address.kind !=
		PACKET_ADDRESS_NONE)
		return error_at(reading->file.error, reading->file.path, reading->file.line, 0,
			"address %s is already in an earlier line", text);
	return add(reading->map, &address, (uint16_t)host)
		       ? 0
		       : error_set(reading->file.error, ENOMEM, "%s: out of memory",
				 reading->file.path);
}

static int load(struct packet_map *map, const char *path, struct error *error)
{
	struct reading reading = {
		.file = {path, "ADDRESS HOST", take_pair, &reading, error}, .map = map};
	int result = pair_file_read(&reading.file);

	return result == 0 && map->count == 0
		       ? error_set(error, EINVAL,
				 "%s: contains no line with an ADDRESS and a "
				 "HOST",
				 path)
		       : result;
}

struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, const bool *usable, struct error *error)
{
	struct packet_map *map = calloc(1, sizeof(*map));
	int result = map != NULL && grow(map) ? 0 : error_set(error, ENOMEM, "out of memory");

	if (result == 0) {
		map->topology = topology;
		map->usable = usable;
		map->dealt = path == NULL;
		if (path != NULL)
			result = load(map, path, error);
	}
	if (result == 0)
		return map;
	packet_map_destroy(map);
	errno = -result;
	return NULL;
}

void packet_map_destroy(struct packet_map *map)
{
	if (map == NULL)
		return;
	free(map->slot);
	free(map);
}

/* Assigns the next usable host to an address. Hosts that were removed from a lab leave gaps. */
static int32_t deal(struct packet_map *map, const struct packet_address *address)
{
	uint32_t hosts = map->topology->hosts;

	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t host = (map->next + i) % hosts;

		if (!is_usable(map, host))
			continue;
		map->next = host + 1;
		return add(map, address, (uint16_t)host) ? (int32_t)host : -ENOMEM;
	}
	return PACKET_MAP_NONE;
}

/* Returns the host of the first address, or else of the second. With round robin, the first address
 * that exists gets a host. Otherwise returns PACKET_MAP_NONE, PACKET_MAP_GROUP or -ENOMEM. */
static int32_t packet_map_host(struct packet_map *map, const struct packet_address address[2])
{
	for (unsigned i = 0; i < 2; i++) {
		const struct slot *slot;

		if (address[i].kind == PACKET_ADDRESS_NONE)
			continue;
		slot = find(map->slot, map->slots, &address[i]);
		if (slot->address.kind != PACKET_ADDRESS_NONE)
			return slot->host;
		if (map->dealt && !packet_address_is_group(&address[i]))
			return deal(map, &address[i]);
	}
	return packet_address_is_group(&address[0]) || packet_address_is_group(&address[1])
		       ? PACKET_MAP_GROUP
		       : PACKET_MAP_NONE;
}

/* Returns true if the list has a host other than 'from'. */
static bool may_be_drawn(const struct packet_hosts *hosts, uint16_t from)
{
	return hosts->to_count > 1 || (hosts->to_count == 1 && hosts->to[0] != from);
}

int packet_hosts_choose(struct packet_hosts *hosts, const struct packet *packet, uint16_t *from,
	uint16_t *to, bool *drawn)
{
	int32_t source = hosts->sender, destination = PACKET_MAP_NONE;

	hosts->count.read++;
	if (hosts->map != NULL) {
		source = packet_map_host(hosts->map, packet->source);
		destination = packet_map_host(hosts->map, packet->destination);
	}
	if (source == -ENOMEM || destination == -ENOMEM)
		return -ENOMEM;
	*from = (uint16_t)source;
	*to = (uint16_t)destination;
	*drawn = destination < 0;
	if (source < 0)
		hosts->count.no_source++;
	else if (source == destination)
		hosts->count.same_host++;
	else if (destination < 0 && !may_be_drawn(hosts, *from))
		hosts->count.no_destination++;
	else
		return 1;
	return 0;
}
