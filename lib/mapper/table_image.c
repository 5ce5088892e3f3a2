/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "table_image.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"

#define IMAGE_VERSION 2
/* Version, kind, number (2), hosts (2), stage of a switch or flag for parts in a host's routes,
 * queues. */
#define HEADER_BYTES 8
#define AT_STAGE     6
#define AT_PARTS     6
#define AT_QUEUES    7
#define RUN_BYTES    10
/* The number of VC classes and the layout of their steps (enum vc_steps) share a byte. */
#define STEPS_SHIFT        4
#define RUN_OF_TABLE_BYTES 3 /* TABLE_IMAGE_BY_TABLE, destinations (2) */

static uint8_t *put_header(uint8_t *at, unsigned kind, uint32_t number, uint32_t hosts,
	uint8_t stage_or_parts, const struct queuing *queuing)
{
	at = image_put(image_put(at, IMAGE_VERSION, 1), kind, 1);
	at = image_put(image_put(at, number, 2), hosts, 2);
	at = image_put(at, stage_or_parts, 1);
	return image_put(at, queuing == NULL ? 0 : queuing->queues, 1);
}

static bool reaches(const struct table_image_source *source, uint32_t host, uint32_t destination)
{
	struct topology_port peer;

	return source->table != NULL && host != destination &&
	       topology_host_switch(source->topology, host, &peer) &&
	       route_table_port(source->table, peer.device, destination) != ROUTE_TABLE_NONE;
}

static unsigned count_routes(
	const struct table_image_source *source, uint32_t host, uint32_t destination)
{
	return source->set == NULL || host == destination
		       ? 0
		       : route_set_count(source->set, host, destination);
}

static const uint8_t *parts_of(const struct table_image_source *source, uint32_t host)
{
	return source->set == NULL ? NULL : route_set_parts(source->set, host);
}

/* Writes the routes to one destination, or only measures them if 'at' is NULL. Returns their
 * length. */
static uint32_t put_routes(
	uint8_t *at, const struct table_image_source *source, uint32_t host, uint32_t destination)
{
	unsigned count = count_routes(source, host, destination);
	const uint8_t *parts = parts_of(source, host);
	uint32_t bytes = 1;

	if (at != NULL)
		at[0] = (uint8_t)count;
	for (unsigned i = 0; i < count; i++) {
		unsigned length;
		const uint8_t *route = route_set_get(source->set, host, destination, i, &length);

		if (parts != NULL && at != NULL)
			at[bytes] = parts[(size_t)destination * ROUTE_ALTERNATIVES_MAX + i];
		bytes += parts != NULL;
		if (at != NULL) {
			at[bytes] = (uint8_t)length;
			memcpy(at + bytes + 1, route, length);
		}
		bytes += 1 + length;
	}
	return bytes;
}

/* Writes or measures the routes to all destinations. A run consists of those reached by table. */
static uint32_t put_destinations(
	uint8_t *at, const struct table_image_source *source, uint32_t host)
{
	uint32_t bytes = 0, hosts = source->topology->hosts;

	for (uint32_t to = 0, run; to < hosts; to += run) {
		for (run = 0; to + run < hosts && count_routes(source, host, to + run) == 0 &&
			      reaches(source, host, to + run);
			run++)
			;
		if (run > 0 && at != NULL)
			image_put(image_put(at + bytes, TABLE_IMAGE_BY_TABLE, 1), run, 2);
		if (run > 0) {
			bytes += RUN_OF_TABLE_BYTES;
			continue;
		}
		bytes += put_routes(at == NULL ? NULL : at + bytes, source, host, to);
		run = 1;
	}
	return bytes;
}

int table_image_of_host(
	struct table_image *image, const struct table_image_source *source, uint32_t host)
{
	const struct queuing *queuing = source->queuing;
	uint32_t length = HEADER_BYTES + image_queuing_put(NULL, queuing) +
			  put_destinations(NULL, source, host);
	uint8_t *at;

	image->bytes = malloc(length);
	if (image->bytes == NULL)
		return -ENOMEM;
	image->length = length;
	at = put_header(image->bytes, 1, host, source->topology->hosts,
		parts_of(source, host) != NULL, queuing);
	at += image_queuing_put(at, queuing);
	put_destinations(at, source, host);
	return 0;
}

/* Writes runs of equal consecutive sets: hosts (2), set (8). Only counts if 'at' is NULL. */
static uint32_t put_runs(uint8_t *at, const uint64_t *sets, uint32_t hosts)
{
	uint32_t runs = 0;

	for (uint32_t i = 0, next; sets != NULL && i < hosts; i = next, runs++) {
		for (next = i + 1; next < hosts && sets[next] == sets[i]; next++)
			;
		if (at != NULL)
			image_put(image_put(at + 2 + RUN_BYTES * runs, next - i, 2), sets[i], 8);
	}
	if (at != NULL)
		image_put(at, runs, 2);
	return 2 + RUN_BYTES * runs;
}

static uint8_t *put_rule(uint8_t *at, const struct vc_rule *rule, uint32_t number, unsigned ports)
{
	if (rule == NULL)
		return image_put(at, 0, 1);
	at = image_put(at, rule->classes | (unsigned)rule->steps << STEPS_SHIFT, 1);
	for (unsigned port = 0; port < ports; port++)
		at = image_put(at, vc_rule_ring(rule, number, port), 1);
	return image_put(at, rule->dateline[number], 8);
}

static const struct vc_rule *rule_of(const struct table_image_source *source)
{
	if (source->table != NULL)
		return source->table->vc_rule;
	return source->set != NULL ? route_set_vc_rule(source->set) : NULL;
}

int table_image_of_switch(
	struct table_image *image, const struct table_image_source *source, uint32_t at)
{
	const struct topology_device *device = &source->topology->switch_at[at];
	const struct route_table *table = source->table;
	uint32_t hosts = table == NULL ? 0 : source->topology->hosts;
	const uint64_t *sets = table == NULL ? NULL : route_table_alternatives(table, at);
	const struct vc_rule *rule = rule_of(source);
	uint8_t *out;

	image->length = HEADER_BYTES + hosts + put_runs(NULL, sets, hosts) + 1 +
			(rule == NULL ? 0 : device->ports + 8u);
	image->bytes = malloc(image->length);
	if (image->bytes == NULL)
		return -ENOMEM;
	out = put_header(image->bytes, 0, at, hosts, device->stage, source->queuing);
	if (hosts > 0)
		memcpy(out, route_table_row(table, at), hosts);
	out += hosts;
	out += put_runs(out, sets, hosts);
	put_rule(out, rule, at, device->ports);
	return 0;
}

/* Returns the size of the routes to one destination, or of a run of '*run' destinations reached by
 * table, in bytes; 0 if invalid. */
static uint32_t check_routes(const uint8_t *at, uint32_t left, bool parts, uint32_t *run)
{
	uint32_t used = 1;

	*run = 1;
	if (left == 0)
		return 0;
	if (at[0] == TABLE_IMAGE_BY_TABLE) {
		if (left < RUN_OF_TABLE_BYTES)
			return 0;
		*run = (uint32_t)image_get(at + 1, 2);
		return *run == 0 ? 0 : RUN_OF_TABLE_BYTES;
	}
	if (at[0] > ROUTE_ALTERNATIVES_MAX)
		return 0;
	for (unsigned i = 0; i < at[0]; i++) {
		used += parts;
		if (left <= used || left - used - 1 < at[used] ||
			!frame_is_host_route(at + used + 1, at[used]))
			return 0;
		used += 1u + at[used];
	}
	return used;
}

static bool check_host(const uint8_t *bytes, uint32_t length)
{
	uint32_t at = HEADER_BYTES, hosts = table_image_hosts(bytes), to = 0, used;

	if (bytes[AT_PARTS] > 1)
		return false;
	if (bytes[AT_QUEUES] > 0) {
		used = image_queuing_check(bytes + at, length - at, hosts, bytes[AT_QUEUES]);
		if (used == 0)
			return false;
		at += used;
	}
	while (to < hosts) {
		uint32_t run;

		used = check_routes(bytes + at, length - at, bytes[AT_PARTS] != 0, &run);
		if (used == 0 || run > hosts - to)
			return false;
		at += used;
		to += run;
	}
	return at == length;
}

static bool check_ports(const uint8_t *port, uint32_t hosts, unsigned ports)
{
	for (uint32_t i = 0; i < hosts; i++)
		if (port[i] >= ports && port[i] != ROUTE_TABLE_NONE)
			return false;
	return true;
}

static uint32_t check_runs(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned ports)
{
	uint32_t runs, covered = 0;

	if (left < 2)
		return 0;
	runs = (uint32_t)image_get(at, 2);
	if ((left - 2) / RUN_BYTES < runs)
		return 0;
	for (uint32_t i = 0; i < runs; i++) {
		uint64_t set = image_get(at + 2 + RUN_BYTES * i + 2, 8);

		covered += (uint32_t)image_get(at + 2 + RUN_BYTES * i, 2);
		if (ports < 64 && set >> ports != 0)
			return 0;
	}
	return runs > 0 && covered != hosts ? 0 : 2 + RUN_BYTES * runs;
}

static bool check_classes(uint8_t byte)
{
	unsigned classes = byte & ((1u << STEPS_SHIFT) - 1), steps = byte >> STEPS_SHIFT;

	return classes <= VC_RULE_CLASSES_MAX && vc_steps_fit(steps, classes);
}

static bool check_switch(const uint8_t *bytes, uint32_t length, unsigned ports)
{
	uint32_t hosts = table_image_hosts(bytes), at = HEADER_BYTES, used;

	if (length - at < hosts || !check_ports(bytes + at, hosts, ports))
		return false;
	at += hosts;
	used = check_runs(bytes + at, length - at, hosts, ports);
	if (used == 0)
		return false;
	at += used;
	if (length - at < 1 || !check_classes(bytes[at]))
		return false;
	return length - at == (bytes[at] == 0 ? 1 : 1 + ports + 8);
}

bool table_image_check(const uint8_t *bytes, uint32_t length, unsigned kind, unsigned ports)
{
	if (length < HEADER_BYTES || bytes[0] != IMAGE_VERSION || bytes[1] != kind ||
		bytes[AT_QUEUES] > FRAME_VCS_MAX)
		return false;
	return kind == 1 ? check_host(bytes, length) : check_switch(bytes, length, ports);
}

uint64_t table_image_digest(const uint8_t *bytes, uint32_t length)
{
	uint8_t hash[crypto_generichash_BYTES_MIN];

	crypto_generichash(hash, sizeof(hash), bytes, length, NULL, 0);
	return image_get(hash, 8);
}

uint16_t table_image_number(const uint8_t *bytes)
{
	return (uint16_t)image_get(bytes + 2, 2);
}

uint16_t table_image_hosts(const uint8_t *bytes)
{
	return (uint16_t)image_get(bytes + 4, 2);
}

uint8_t table_image_queues(const uint8_t *bytes)
{
	return bytes[AT_QUEUES];
}

int table_image_queuing(const uint8_t *bytes, struct queuing **queuing)
{
	*queuing = NULL;
	if (bytes[AT_QUEUES] == 0)
		return 0;
	*queuing = image_queuing_read(
		bytes + HEADER_BYTES, table_image_hosts(bytes), bytes[AT_QUEUES]);
	return *queuing == NULL ? -ENOMEM : 0;
}

/* Calls 'each' for the routes to one destination. Returns the position after them. */
static const uint8_t *each_of_destination(const uint8_t *at, bool parts, uint16_t destination,
	table_image_route_fn each, void *context)
{
	unsigned count = *at++;

	for (unsigned i = 0; i < count; i++) {
		struct table_image_route route = {destination, (uint8_t)i, 0, 0, NULL};

		if (parts)
			route.parts = *at++;
		route.length = *at++;
		route.elements = at;
		each(context, &route);
		at += route.length;
	}
	return at;
}

void table_image_each_route(const uint8_t *bytes, table_image_route_fn each, void *context)
{
	const uint8_t *at = bytes + HEADER_BYTES;
	uint32_t to = 0, hosts = table_image_hosts(bytes);

	if (bytes[AT_QUEUES] > 0)
		at += image_queuing_length(at);
	while (to < hosts) {
		if (*at != TABLE_IMAGE_BY_TABLE) {
			at = each_of_destination(
				at, bytes[AT_PARTS] != 0, (uint16_t)to++, each, context);
			continue;
		}
		for (uint64_t run = image_get(at + 1, 2); run > 0; run--) {
			struct table_image_route route = {(uint16_t)to++, 0, 0, 0, NULL};

			each(context, &route);
		}
		at += RUN_OF_TABLE_BYTES;
	}
}

void table_image_read_switch(const uint8_t *bytes, unsigned ports,
	struct table_image_switch *tables, uint64_t *alternatives)
{
	uint32_t hosts = table_image_hosts(bytes), host = 0;
	const uint8_t *at = bytes + HEADER_BYTES + hosts;
	uint32_t runs = (uint32_t)image_get(at, 2);

	*tables = (struct table_image_switch){
		.primary = bytes + HEADER_BYTES, .stage = bytes[AT_STAGE]};
	if (alternatives != NULL)
		memset(alternatives, 0, hosts * sizeof(*alternatives));
	for (at += 2; runs-- > 0; at += RUN_BYTES)
		for (uint64_t left = image_get(at, 2); left > 0; left--, host++)
			if (alternatives != NULL)
				alternatives[host] = image_get(at + 2, 8);
	tables->vc_steps = *at >> STEPS_SHIFT;
	tables->vc_classes = *at++ & ((1u << STEPS_SHIFT) - 1);
	if (tables->vc_classes == 0)
		return;
	tables->ring = at;
	tables->dateline = image_get(at + ports, 8);
}
