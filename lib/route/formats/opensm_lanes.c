/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "topo/formats/listing_reader.h"

#define LEVELS 16 /* number of SLs, and of lanes including lane 15 for management */

struct lanes {
	struct opensm_nodes *nodes;
	const struct topology *topology;
	uint8_t **map;  /* by switch: [(in * (ports + 1) + out) * LEVELS + SL]; NULL: no table */
	uint8_t *level; /* SL by source and destination; NULL: all 0 */
	/* Device of the current block; OPENSM_UNKNOWN before the first. */
	enum device_kind kind;
	int32_t current;
	uint8_t port_at[OPENSM_PORTS]; /* topology ports of the switch */
	struct arrays arrays;
};

static int begin_block(struct listing_reader *reader, const struct listing_node *node)
{
	struct lanes *lanes = reader->context;
	int result = opensm_nodes_find(lanes->nodes, reader, node, &lanes->current);

	lanes->kind = node->kind;
	if (lanes->kind == DEVICE_SWITCH && lanes->current != OPENSM_UNKNOWN)
		opensm_nodes_ports(lanes->nodes, (uint32_t)lanes->current, lanes->port_at);
	return result;
}

/* Parses a heading:
 * Switch 0x0002c902, base LID 5, "leaf 1"
 * Channel Adapter 0x0002c903, base LID 7, "node1 HCA-1", port 1 */
static int read_head(struct listing_reader *reader)
{
	struct lanes *lanes = reader->context;
	struct listing_node node = {.kind = DEVICE_HOST};
	struct ib_text ignored, lid;
	int result;

	if (listing_take(reader, "Switch"))
		node.kind = DEVICE_SWITCH;
	lanes->current = OPENSM_UNKNOWN;
	result = listing_until(reader, "base LID ", &ignored);
	if (result == 0)
		result = listing_until(reader, ",", &lid);
	if (result == 0)
		result = listing_number(reader, lid, 10, OPENSM_LIDS - 1, &node.lid);
	if (result == 0)
		result = listing_until(reader, "\"", &ignored);
	node.name = opensm_description(reader, '"');
	return result == 0 ? begin_block(reader, &node) : result;
}

/* Parses "# SL2VL table: Lid 6". Other lines that start with '#' are comments. */
static int read_comment(struct listing_reader *reader)
{
	struct lanes *lanes = reader->context;
	struct listing_node node = {.kind = DEVICE_SWITCH};
	int result;

	if (!listing_take(reader, "# SL2VL table:"))
		return 0;
	lanes->current = OPENSM_UNKNOWN;
	if (!listing_take(reader, "Lid "))
		return listing_refuse(reader, "expected the LID of a node");
	result = listing_number(reader, listing_word(reader), 10, OPENSM_LIDS - 1, &node.lid);
	if (result == 0 && lanes->nodes->of_lid[DEVICE_HOST][node.lid] != OPENSM_UNKNOWN)
		node.kind = DEVICE_HOST;
	return result == 0 ? begin_block(reader, &node) : result;
}

static bool is_head(const struct listing_reader *reader)
{
	return *reader->at >= 'A' && *reader->at <= 'Z';
}

/* Parses the next number, which ends at one of the characters in 'marks'. */
static int take_number(
	struct listing_reader *reader, const char *marks, uint32_t max, uint32_t *number)
{
	struct ib_text text;

	while (reader->at < reader->end && strchr(marks, *reader->at) != NULL)
		reader->at++;
	text.start = reader->at;
	while (reader->at < reader->end && strchr(marks, *reader->at) == NULL)
		reader->at++;
	text.length = (uint32_t)(reader->at - text.start);
	return listing_number(reader, text, 10, max, number);
}

/* 1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
 * ports: in  1, out  2: | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1| 2| 3| 4| 5| 6| 7| */
static int read_map_line(struct listing_reader *reader)
{
	struct lanes *lanes = reader->context;
	uint32_t ports, in, out, lane;
	uint8_t **map, *row;
	int result;

	if (*reader->at == '#')
		return read_comment(reader);
	if (is_head(reader))
		return read_head(reader);
	if (lanes->kind == DEVICE_HOST || lanes->current == OPENSM_UNKNOWN)
		return 0;
	ports = lanes->topology->switch_at[lanes->current].ports;
	listing_take(reader, "ports: in");
	result = take_number(reader, " \t,", OPENSM_PORTS - 2, &in);
	listing_take(reader, ", out");
	if (result == 0)
		result = take_number(reader, " \t:", OPENSM_PORTS - 2, &out);
	if (result == 0 && !listing_take(reader, ":"))
		return listing_refuse(reader, "expected ':' after two ports");
	if (result < 0 || lanes->port_at[in] > ports || lanes->port_at[out] > ports)
		return result; /* a port without a cable in the topology */
	map = &lanes->map[lanes->current];
	if (*map == NULL) {
		size_t pairs = (size_t)(ports + 1) * (ports + 1);

		*map = arrays_add(&lanes->arrays, pairs, LEVELS);
		if (*map == NULL)
			return -ENOMEM;
		memset(*map, LEVELS, pairs * LEVELS); /* no line yet */
	}
	row = *map + ((size_t)lanes->port_at[in] * (ports + 1) + lanes->port_at[out]) * LEVELS;
	for (unsigned level = 0; level < LEVELS && result == 0; level++) {
		result = take_number(reader, " \t|", LEVELS - 1, &lane);
		row[level] = result == 0 ? (uint8_t)lane : LEVELS;
	}
	return result;
}

/* 0x0004 : 2  : 4   : 3 */
static int read_record_line(struct listing_reader *reader)
{
	struct lanes *lanes = reader->context;
	uint32_t lid, level;
	struct ib_text word;
	int32_t to;
	int result;

	if (is_head(reader))
		return read_head(reader);
	result = listing_number(reader, listing_word(reader), 16, OPENSM_LIDS - 1, &lid);
	listing_take(reader, ":");
	word = listing_word(reader);
	if (result < 0 || listing_is(word, "UNREACHABLE"))
		return result;
	result = listing_number(reader, word, 10, LEVELS - 1, &level);
	to = opensm_nodes_host(lanes->nodes, lid);
	if (result == 0 && lanes->kind == DEVICE_HOST && lanes->current != OPENSM_UNKNOWN &&
		to != OPENSM_UNKNOWN)
		lanes->level[(size_t)lanes->current * lanes->topology->hosts + (uint32_t)to] =
			(uint8_t)level;
	return result;
}

/* Returns the lane of a hop; LEVELS if the dump has no line for it. */
static unsigned lane_of(
	const struct lanes *lanes, uint32_t at, unsigned in, unsigned out, unsigned level)
{
	size_t ports = lanes->topology->switch_at[at].ports + 1u;

	if (lanes->map[at] == NULL)
		return LEVELS;
	return lanes->map[at][((in + 1) * ports + out + 1) * LEVELS + level];
}

static int refuse_path(const struct lanes *lanes, uint32_t from, uint32_t to, uint32_t at,
	unsigned lane, unsigned next, struct error *error)
{
	const struct topology *topology = lanes->topology;

	if (next == LEVELS)
		return error_set(error, EINVAL,
			"%s: switch %s has no SL2VL line for the path from %s to %s",
			topology->name, topology->switch_at[at].name, topology->host_at[from].name,
			topology->host_at[to].name);
	return error_set(error, EINVAL,
		"%s: the path from %s to %s takes VL %u at switch %s after VL %u; expected one VL per path, 0 to %u",
		topology->name, topology->host_at[from].name, topology->host_at[to].name, next,
		topology->switch_at[at].name, lane, VC_RULE_CLASSES_MAX - 1);
}

/* Adds the route along the tables, and raises '*classes' if its lane requires more. */
static int add_route(const struct lanes *lanes, const struct route_table *table,
	struct route_set *set, uint32_t from, uint32_t to, unsigned *classes, struct error *error)
{
	unsigned level = 0, lane = LEVELS, length = 1;
	uint8_t route[ROUTE_ELEMENTS_MAX + 4];
	struct topology_port at;

	if (from == to || !topology_host_switch(lanes->topology, from, &at))
		return 0;
	if (lanes->level != NULL)
		level = lanes->level[(size_t)from * table->hosts + to];
	while (at.kind == DEVICE_SWITCH && length < ROUTE_ELEMENTS_MAX) {
		struct topology_port out = {
			DEVICE_SWITCH, at.device, route_table_port(table, at.device, to)};
		struct topology_port next;
		unsigned taken;

		if (out.port == ROUTE_TABLE_NONE || !topology_peer(lanes->topology, out, &next))
			return 0;
		taken = lane_of(lanes, at.device, at.port, out.port, level);
		if (next.kind == DEVICE_SWITCH && lane == LEVELS)
			lane = taken;
		if (next.kind == DEVICE_SWITCH && (taken != lane || taken >= VC_RULE_CLASSES_MAX))
			return refuse_path(lanes, from, to, at.device, lane, taken, error);
		length += route_put_port(route + length, out.port);
		at = next;
	}
	if (at.kind != DEVICE_HOST || at.device != to)
		return 0;
	lane = lane == LEVELS ? 0 : lane;
	*classes = lane >= *classes ? lane + 1 : *classes;
	route[length++] = ROUTE_TYPE_HOST;
	route[0] = (uint8_t)(ROUTE_TYPE_LAYER | lane);
	return lane > 0 ? route_set_add(set, from, to, route, length)
			: route_set_add(set, from, to, route + 1, length - 1);
}

static int use_rule(const struct topology *topology, struct route_set *set, unsigned classes)
{
	struct vc_rule *rule = vc_rule_create(topology->switches, (uint8_t)classes);

	if (rule == NULL)
		return -ENOMEM;
	rule->steps = VC_STEPS_LAYERS;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
			continue;
		rule->ring[(size_t)link->a.device * VC_RULE_PORTS + link->a.port] = 0;
		rule->ring[(size_t)link->b.device * VC_RULE_PORTS + link->b.port] = 0;
	}
	route_set_use_vc_rule(set, rule);
	return 0;
}

static int read_all(struct lanes *lanes, const struct route_table *table,
	const struct opensm_lanes_input *input, struct topology_import *import,
	struct route_set *set, struct error *error)
{
	struct listing_reader map = {.line = read_map_line,
		.context = lanes,
		.comments = true,
		.origin = input->map_origin,
		.import = import};
	struct listing_reader records = {.line = read_record_line,
		.context = lanes,
		.origin = input->records_origin,
		.import = import};
	unsigned classes = 1;
	int result = topology_check_ports(lanes->topology, VC_RULE_PORTS, "lanes", error);

	if (result == 0)
		result = listing_reader_lines(&map, input->map, input->map_length, error);
	if (result == 0)
		result = opensm_nodes_check(lanes->nodes, input->map_origin, import, error);
	if (result == 0 && input->records != NULL)
		result = listing_reader_lines(
			&records, input->records, input->records_length, error);
	if (result == 0)
		result = opensm_nodes_check(lanes->nodes, input->records_origin, import, error);
	for (uint32_t from = 0; from < table->hosts; from++)
		for (uint32_t to = 0; to < table->hosts && result == 0; to++)
			result = add_route(lanes, table, set, from, to, &classes, error);
	return result == 0 && classes > 1 ? use_rule(lanes->topology, set, classes) : result;
}

struct route_set *opensm_lanes_read(struct opensm_nodes *nodes, const struct route_table *table,
	const struct opensm_lanes_input *input, struct topology_import *import, struct error *error)
{
	const struct topology *topology = nodes->topology;
	struct lanes lanes = {.nodes = nodes, .topology = topology, .current = OPENSM_UNKNOWN};
	struct route_set *set = route_set_create(topology->hosts);
	int result = -ENOMEM;

	ARRAYS_ADD(&lanes, map, topology->switches + 1u);
	if (input->records != NULL)
		ARRAYS_ADD(&lanes, level, (size_t)topology->hosts * topology->hosts + 1);
	error_set(error, ENOMEM, "%s: out of memory", input->map_origin);
	if (set != NULL && !lanes.arrays.failed)
		result = read_all(&lanes, table, input, import, set, error);
	arrays_free(&lanes.arrays);
	if (result < 0) {
		route_set_destroy(set);
		errno = -result;
		return NULL;
	}
	*route_set_origin(set) = table->origin;
	return set;
}
