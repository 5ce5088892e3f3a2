/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "topo/formats/listing_reader.h"

#define UNKNOWN (-1)
#define LIDS    65536

struct named_guid {
	uint64_t guid;
	int32_t number; /* switch; UNKNOWN */
};

struct tables {
	const struct topology *topology;
	struct route_table *table;
	int32_t *host_of_lid; /* from the subnet file */
	struct named_guid *guid;
	uint32_t guids, guid_room;
	bool *seen;      /* by switch: it has a block already */
	int32_t current; /* switch of the block; UNKNOWN */
	bool in_block;
	uint32_t blocks, unknown;
};

struct ib_text opensm_description(const struct listing_reader *reader, char end)
{
	struct ib_text name = {reader->at, (uint32_t)(reader->end - reader->at)};

	while (name.length > 0 && name.start[name.length - 1] != end)
		name.length--;
	name.length -= name.length > 0;
	return name;
}

int32_t opensm_find_device(
	const struct topology *topology, enum device_kind kind, struct ib_text name)
{
	char text[TOPOLOGY_NAME_MAX];

	unique_names_spell(name.start, name.length, "", text);
	return kind == DEVICE_SWITCH ? topology_find_switch(topology, text)
				     : topology_find_host(topology, text);
}

static int begin_block(struct listing_reader *reader, int32_t number)
{
	struct tables *tables = reader->context;

	tables->blocks++;
	tables->in_block = true;
	tables->current = number;
	tables->unknown += number == UNKNOWN;
	if (number == UNKNOWN)
		return 0;
	if (tables->seen[number]) {
		tables->current = UNKNOWN;
		return listing_refuse(reader, "a second table of switch %s",
			tables->topology->switch_at[number].name);
	}
	tables->seen[number] = true;
	return 0;
}

static int set_port(struct listing_reader *reader, int32_t host, uint32_t port)
{
	struct tables *tables = reader->context;

	if (tables->current == UNKNOWN || port == 0 || host == UNKNOWN)
		return 0;
	if (port > tables->topology->switch_at[tables->current].ports)
		return listing_refuse(reader, "port %u of switch %s, which has %u", port,
			tables->topology->switch_at[tables->current].name,
			tables->topology->switch_at[tables->current].ports);
	route_table_row(tables->table, (uint32_t)tables->current)[host] = (uint8_t)(port - 1);
	return 0;
}

/* --- dump_fts and ibroute ---
 * Unicast lids [0x0-0xe] of switch Lid 6 guid 0x0200000000010003 (leaf 3):
 * 0x0001 003 : (Channel Adapter portguid 0x0200000100000001: 'h0') */

static int read_named_block(struct listing_reader *reader)
{
	struct ib_text ignored;
	int result = listing_until(reader, " guid ", &ignored);

	if (result == 0)
		result = listing_until(reader, "(", &ignored);
	if (result < 0)
		return result;
	return begin_block(reader, opensm_find_device(((struct tables *)reader->context)->topology,
					   DEVICE_SWITCH, opensm_description(reader, ')')));
}

static int read_named_entry(struct listing_reader *reader, uint32_t port)
{
	struct tables *tables = reader->context;
	struct ib_text ignored;
	int32_t host;
	int result;

	if (!listing_take(reader, "(Channel Adapter"))
		return 0; /* a switch, a router, or a LID that is not in use */
	result = listing_until(reader, "'", &ignored);
	if (result < 0)
		return result;
	host = opensm_find_device(tables->topology, DEVICE_HOST, opensm_description(reader, '\''));
	tables->unknown += host == UNKNOWN;
	return set_port(reader, host, port);
}

/* --- opensm.fdbs ---
 * dump_ucast_routes: Switch 0x0200000000010000
 * 0x0001 : 001  : 01   : yes */

static int read_guid_block(struct listing_reader *reader)
{
	struct tables *tables = reader->context;
	char text[32];
	struct ib_text word = listing_word(reader);
	int32_t number = UNKNOWN;
	uint64_t guid;

	snprintf(
		text, sizeof(text), "%.*s", (int)(word.length < 31 ? word.length : 31), word.start);
	guid = strtoull(text, NULL, 16);
	for (uint32_t i = 0; i < tables->guids && number == UNKNOWN; i++)
		if (tables->guid[i].guid == guid)
			number = tables->guid[i].number;
	return begin_block(reader, number);
}

static int read_entry(struct listing_reader *reader)
{
	struct tables *tables = reader->context;
	struct ib_text lid, word;
	uint32_t number, port;
	int result;

	listing_take(reader, "0x");
	lid = listing_word(reader);
	result = listing_number(reader, lid, 16, LIDS - 1, &number);
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
	if (tables->host_of_lid == NULL)
		return read_named_entry(reader, port);
	return set_port(reader, tables->host_of_lid[number], port);
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
		return 0; /* column headings; "14 valid lids dumped" */
	return listing_refuse(reader, "expected a table of a switch or an entry of it");
}

/* --- opensm-subnet.lst --- */

static int add_guid(struct tables *tables, uint64_t guid, int32_t number)
{
	if (!array_reserve(
		    &tables->guid, &tables->guid_room, tables->guids + 1u, sizeof(*tables->guid)))
		return -ENOMEM;
	tables->guid[tables->guids++] = (struct named_guid){guid, number};
	return 0;
}

/* Each link's line has its first node's GUID, name and LID. */
static int read_subnet_line(struct listing_reader *reader)
{
	struct tables *tables = reader->context;
	struct ib_text ignored, guid, name, lid;
	enum device_kind kind;
	int32_t number;
	uint32_t value;
	char text[32];
	int result;

	if (!listing_take(reader, "{"))
		return listing_refuse(reader, "expected '{' before a node");
	kind = listing_take(reader, "SW") ? DEVICE_SWITCH : DEVICE_HOST;
	result = listing_until(reader, "NodeGUID:", &ignored);
	guid = listing_word(reader);
	if (result == 0)
		result = listing_until(reader, "{", &ignored);
	if (result == 0)
		result = listing_until(reader, "} LID:", &name);
	lid = listing_word(reader);
	if (result == 0)
		result = listing_number(reader, lid, 16, LIDS - 1, &value);
	if (result < 0)
		return result;
	number = opensm_find_device(tables->topology, kind, name);
	snprintf(
		text, sizeof(text), "%.*s", (int)(guid.length < 31 ? guid.length : 31), guid.start);
	if (kind == DEVICE_SWITCH)
		return add_guid(tables, strtoull(text, NULL, 16), number);
	tables->host_of_lid[value] = number;
	return 0;
}

static int read_subnet(struct tables *tables, const struct opensm_tables_input *input,
	struct topology_import *import, struct error *error)
{
	struct listing_reader reader = {.line = read_subnet_line,
		.context = tables,
		.origin = input->subnet_origin,
		.import = import};

	tables->host_of_lid = malloc(LIDS * sizeof(*tables->host_of_lid));
	if (tables->host_of_lid == NULL)
		return error_set(error, ENOMEM, "%s: no memory", input->subnet_origin);
	for (uint32_t i = 0; i < LIDS; i++)
		tables->host_of_lid[i] = UNKNOWN;
	return listing_reader_lines(&reader, input->subnet, input->subnet_length, error);
}

static int read_tables(struct tables *tables, const struct opensm_tables_input *input,
	struct topology_import *import, struct error *error)
{
	struct listing_reader reader = {
		.line = read_line, .context = tables, .origin = input->origin, .import = import};
	struct error odd;
	int result = 0;

	if (input->subnet == NULL && memmem(input->text, input->length, "dump_ucast_routes",
					     strlen("dump_ucast_routes")) != NULL)
		return error_set(error, EINVAL,
			"%s: nodes have no names in OpenSM's dump, expected opensm-subnet.lst as "
			"well",
			input->origin);
	if (input->subnet != NULL)
		result = read_subnet(tables, input, import, error);
	if (result == 0)
		result = listing_reader_lines(&reader, input->text, input->length, error);
	if (result == 0 && tables->blocks == 0)
		return error_set(error, EINVAL,
			"%s: no table of a switch is in it, expected what dump_fts, ibroute or "
			"OpenSM writes",
			input->origin);
	if (result == 0 && tables->unknown > 0) {
		error_set(&odd, 0, "%s: %u switches and entries are not in topology %s",
			input->origin, tables->unknown, tables->topology->name);
		result = topology_import_odd(import, &odd, "they are left out", error);
	}
	return result;
}

struct route_table *opensm_tables_read(const struct topology *topology,
	const struct opensm_tables_input *input, struct topology_import *import,
	struct error *error)
{
	struct tables tables = {.topology = topology,
		.table = route_table_create(topology->switches, topology->hosts),
		.seen = calloc(topology->switches + 1u, sizeof(bool)),
		.current = UNKNOWN};
	int result = -ENOMEM;

	if (tables.table != NULL && tables.seen != NULL)
		result = read_tables(&tables, input, import, error);
	else
		error_set(error, ENOMEM, "%s: no memory", input->origin);
	free(tables.seen);
	free(tables.host_of_lid);
	free(tables.guid);
	if (result < 0) {
		route_table_destroy(tables.table);
		errno = -result;
		return NULL;
	}
	snprintf(tables.table->origin.topology, ROUTE_LABEL_MAX, "%s", topology->name);
	snprintf(tables.table->origin.algorithm, ROUTE_LABEL_MAX, "imported");
	return tables.table;
}
