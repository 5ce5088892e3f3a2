/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tables {
	struct opensm_nodes *nodes;
	struct route_table *table;
	bool *seen;             /* by switch: its table was read */
	int32_t current;        /* switch of the current block, or OPENSM_UNKNOWN */
	bool in_block, by_guid; /* by_guid: blocks and entries contain no names */
	uint32_t blocks;
	uint8_t port_at[OPENSM_PORTS]; /* topology ports of 'current' */
};

static int begin_block(struct listing_reader *reader, const struct listing_node *node)
{
	struct tables *tables = reader->context;
	int32_t number;
	int result = opensm_nodes_find(tables->nodes, reader, node, &number);

	tables->blocks++;
	tables->in_block = true;
	tables->current = OPENSM_UNKNOWN;
	if (result < 0 || number == OPENSM_UNKNOWN)
		return result;
	if (tables->seen[number])
		return listing_refuse(reader, "duplicate table of switch %s",
			tables->nodes->topology->switch_at[number].name);
	tables->seen[number] = true;
	tables->current = number;
	opensm_nodes_ports(tables->nodes, (uint32_t)number, tables->port_at);
	return 0;
}

static int set_port(struct listing_reader *reader, int32_t host, uint32_t port)
{
	struct tables *tables = reader->context;
	const struct topology_device *at;
	unsigned number = tables->port_at[port];

	if (tables->current == OPENSM_UNKNOWN || number == 0 || host == OPENSM_UNKNOWN)
		return 0;
	at = &tables->nodes->topology->switch_at[tables->current];
	if (number > at->ports)
		return listing_refuse(reader, "port %u of switch %s, which has only %u ports", port,
			at->name, at->ports);
	route_table_row(tables->table, (uint32_t)tables->current)[host] = (uint8_t)(number - 1);
	return 0;
}

/* --- dump_fts and ibroute ---
 * Unicast lids [0x0-0xe] of switch Lid 6 guid 0x0200000000010003 (leaf 3):
 * 0x0001 003 : (Channel Adapter portguid 0x0200000100000001: 'h0') */

static int read_named_block(struct listing_reader *reader)
{
	struct listing_node node = {.kind = DEVICE_SWITCH};
	struct ib_text ignored;
	int result = 0;

	((struct tables *)reader->context)->by_guid = false;
	if (listing_until(reader, " Lid ", &ignored) == 0) /* else it is a directed route */
		result = listing_number(
			reader, listing_word(reader), 10, OPENSM_LIDS - 1, &node.lid);
	if (result == 0)
		result = listing_until(reader, " guid ", &ignored);
	ib_number(listing_word(reader), 16, UINT64_MAX, &node.guid);
	if (result == 0)
		result = listing_until(reader, "(", &ignored);
	node.name = opensm_description(reader, ')');
	return result == 0 ? begin_block(reader, &node) : result;
}

static int read_named_entry(struct listing_reader *reader, uint32_t lid, uint32_t port)
{
	struct tables *tables = reader->context;
	struct listing_node node = {.kind = DEVICE_HOST, .lid = lid};
	struct ib_text ignored;
	int32_t device;
	int result;

	if (listing_take(reader, "(Switch"))
		node.kind = DEVICE_SWITCH;
	else if (!listing_take(reader, "(Channel Adapter"))
		return 0; /* a router, or a LID that is not in use */
	if (listing_take(reader, "portguid 0x") && listing_until(reader, ":", &ignored) == 0)
		ib_number(ignored, 16, UINT64_MAX, &node.guid);
	result = listing_until(reader, "'", &ignored);
	node.name = opensm_description(reader, '\'');
	if (result == 0)
		result = opensm_nodes_find(tables->nodes, reader, &node, &device);
	return result < 0 || node.kind == DEVICE_SWITCH
		       ? result
		       : set_port(reader, opensm_nodes_host(tables->nodes, lid), port);
}

/* --- opensm.fdbs ---
 * dump_ucast_routes: Switch 0x0200000000010000
 * 0x0001 : 001  : 01   : yes */

static int read_guid_block(struct listing_reader *reader)
{
	struct listing_node node = {.kind = DEVICE_SWITCH};

	((struct tables *)reader->context)->by_guid = true;
	ib_number(listing_word(reader), 16, UINT64_MAX, &node.guid);
	return begin_block(reader, &node);
}

static int read_entry(struct listing_reader *reader)
{
	struct tables *tables = reader->context;
	struct ib_text lid, word;
	uint32_t number, port;
	int result;

	lid = listing_word(reader);
	result = listing_number(reader, lid, 16, OPENSM_LIDS - 1, &number);
	listing_take(reader, ":");
	word = listing_word(reader);
	if (result < 0 || listing_is(word, "UNREACHABLE"))
		return result;
	if (!tables->in_block)
		return listing_refuse(reader, "an entry before the first switch");
	result = listing_number(reader, word, 10, 255, &port);
	listing_take(reader, ":");
	if (result < 0 || port == 255)
		return result;
	if (!tables->by_guid)
		return read_named_entry(reader, number, port);
	return set_port(reader, opensm_nodes_host(tables->nodes, number), port);
}

static int read_line(struct listing_reader *reader)
{
	if (listing_take(reader, "Unicast lids"))
		return read_named_block(reader);
	if (listing_take(reader, "dump_ucast_routes: Switch"))
		return read_guid_block(reader);
	if (listing_take(reader, "0x")) {
		reader->at -= 2;
		return read_entry(reader);
	}
	if (listing_take(reader, "Lid") || listing_take(reader, "LID") ||
		listing_take(reader, "Port") ||
		(reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'))
		return 0; /* column headings, or "14 valid lids dumped" */
	return listing_refuse(reader, "expected a switch table or an entry of one");
}

/* --- opensm-subnet.lst --- */

/* Parses the GUID, name and LID of the first node in a link's line. */
static int read_subnet_line(struct listing_reader *reader)
{
	struct listing_node node = {.lid = 0};
	int32_t device;
	int result = listing_subnet_end(reader, &node);

	if (node.kind == DEVICE_HOST)
		node.guid += node.port; /* usually the port's GUID */
	return result == 0 ? opensm_nodes_find(((struct tables *)reader->context)->nodes, reader,
				     &node, &device)
			   : result;
}

static int read_tables(struct tables *tables, const struct opensm_tables_input *input,
	struct topology_import *import, struct error *error)
{
	struct listing_reader reader = {
		.line = read_line, .context = tables, .origin = input->origin, .import = import};
	struct listing_reader subnet = {.line = read_subnet_line,
		.context = tables,
		.origin = input->subnet_origin,
		.import = import};
	int result = 0;

	if (input->subnet == NULL && !tables->nodes->by_lid &&
		memmem(input->text, input->length, "dump_ucast_routes",
			strlen("dump_ucast_routes")) != NULL)
		return error_set(error, EINVAL,
			"%s: OpenSM's dump has no node names; also give opensm-subnet.lst, or "
			"use the listing as the topology",
			input->origin);
	if (input->subnet != NULL)
		result = listing_reader_lines(&subnet, input->subnet, input->subnet_length, error);
	tables->nodes->unknown = 0;
	if (result == 0)
		result = listing_reader_lines(&reader, input->text, input->length, error);
	if (result == 0 && tables->blocks == 0)
		return error_set(error, EINVAL,
			"%s: contains no switch tables; use the output of dump_fts, ibroute or "
			"OpenSM",
			input->origin);
	return result == 0 ? opensm_nodes_check(tables->nodes, input->origin, import, error)
			   : result;
}

struct route_table *opensm_tables_read(struct opensm_nodes *nodes,
	const struct opensm_tables_input *input, struct topology_import *import,
	struct error *error)
{
	const struct topology *topology = nodes->topology;
	struct tables tables = {.nodes = nodes,
		.table = route_table_create(topology->switches, topology->hosts),
		.seen = calloc(topology->switches + 1u, sizeof(bool)),
		.current = OPENSM_UNKNOWN};
	int result = -ENOMEM;

	if (tables.table != NULL && tables.seen != NULL)
		result = read_tables(&tables, input, import, error);
	else
		error_set(error, ENOMEM, "%s: out of memory", input->origin);
	free(tables.seen);
	if (result < 0) {
		route_table_destroy(tables.table);
		errno = -result;
		return NULL;
	}
	snprintf(tables.table->origin.topology, ROUTE_LABEL_MAX, "%s", topology->name);
	snprintf(tables.table->origin.algorithm, ROUTE_LABEL_MAX, "imported");
	return tables.table;
}
