/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "route_binary.h"
#include "topo/topology.h"
#include "wire/crc.h"
#include "wire/frame.h"

enum { CONTENTS_ROUTES = 1, CONTENTS_TABLES = 2, CONTENTS_ADAPTIVE = 3 };

/* Allocation step for a section, so that a corrupt length does not allocate much memory. */
#define STEP ((size_t)1 << 20)

struct reader {
	const struct topology *topology;
	FILE *in;
	const char *origin;
	struct route_file *file;
	struct error *error;
	uint64_t place; /* offset of the next byte in the file */
	uint64_t start; /* offset of the section in 'room' */
	uint8_t *room;
	uint32_t size;
	size_t length;
	uint32_t contents, classes, steps;
	struct topology_port *peer; /* [switch * TOPOLOGY_PORTS_MAX + port]: peer of the port */
	bool *linked;               /* the same index: the port has a link */
	struct arrays arrays;       /* owns the two arrays above */
};

static int refuse(struct reader *reader, uint64_t place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct reader *reader, uint64_t place, const char *format, ...)
{
	char text[ERROR_TEXT / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return error_set(
		reader->error, EINVAL, "%s: byte %" PRIu64 ": %s", reader->origin, place, text);
}

static int no_memory(const struct reader *reader)
{
	return error_set(
		reader->error, ENOMEM, "%s: not enough memory for the routes", reader->origin);
}

static int read_bytes(struct reader *reader, void *to, size_t bytes)
{
	size_t got = fread(to, 1, bytes, reader->in);

	reader->place += got;
	if (got == bytes)
		return 0;
	if (ferror(reader->in))
		return error_set(reader->error, EIO, "%s: %s", reader->origin, strerror(errno));
	return refuse(reader, reader->place, "the file is truncated; expected %zu more bytes",
		bytes - got);
}

static int read_number(struct reader *reader, uint32_t *number)
{
	int result = read_bytes(reader, number, sizeof(*number));

	*number = le32toh(*number);
	return result;
}

static int read_body(struct reader *reader, size_t length)
{
	int result = 0;

	for (size_t got = 0; got < length && result == 0;) {
		size_t more = length - got < STEP ? length - got : STEP;

		if (!array_reserve(&reader->room, &reader->size, got + more, 1))
			return no_memory(reader);
		result = read_bytes(reader, reader->room + got, more);
		got += more;
	}
	return result;
}

/* Reads the next section into 'room' if its length is in range. */
static int read_section(struct reader *reader, const char *what, size_t min, size_t max)
{
	uint32_t length, sum;
	int result = read_number(reader, &length);

	if (result < 0)
		return result;
	if (length < min || length > max)
		return refuse(reader, reader->place - sizeof(length),
			"%s of %u bytes; expected %zu%s", what, length, min,
			max > min ? " or more" : "");
	reader->start = reader->place;
	reader->length = length;
	result = read_body(reader, length);
	if (result == 0)
		result = read_number(reader, &sum);
	if (result < 0 || sum == crc32c(reader->room, length))
		return result;
	return refuse(reader, reader->start, "%s with a wrong checksum; the file is damaged", what);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static int take_contents(struct reader *reader)
{
	reader->contents = get32(reader->room);
	if (reader->contents < CONTENTS_ROUTES || reader->contents > CONTENTS_ADAPTIVE)
		return refuse(
			reader, reader->start, "contents is %u; expected 1 to 3", reader->contents);
	return 0;
}

/* Checks the numbers in the header that must match the topology. */
static int check_numbers(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	uint32_t switches = get32(reader->room + 4), hosts = get32(reader->room + 8);

	reader->classes = get32(reader->room + 12) & 0xFFFF;
	reader->steps = get32(reader->room + 12) >> 16;
	if (switches != topology->switches || hosts != topology->hosts)
		return refuse(reader, reader->start + 4,
			"%u switches and %u hosts; expected %u and %u", switches, hosts,
			topology->switches, topology->hosts);
	if (reader->classes > VC_RULE_CLASSES_MAX)
		return refuse(reader, reader->start + 12, "%u VC classes; expected at most %u",
			reader->classes, VC_RULE_CLASSES_MAX);
	if (!vc_steps_fit(reader->steps, reader->classes))
		return refuse(reader, reader->start + 14,
			"step layout %u with %u VC classes; expected 0 none, 1 links (3 and more), 2 equal (3 or 6), the ladder of a Dragonfly, 10 halves (2 to 8), 11 layers, 12 omni-war, 13 dal or 14 ugal (2 to 8)",
			reader->steps, reader->classes);
	return 0;
}

static int take_label(struct reader *reader, unsigned i, char label[ROUTE_LABEL_MAX])
{
	size_t at = 24 + (size_t)i * ROUTE_LABEL_MAX;
	const char *text = (const char *)reader->room + at;

	if (memchr(text, '\0', ROUTE_LABEL_MAX) == NULL)
		return refuse(reader, reader->start + at, "an unterminated name");
	for (const char *letter = text; *letter != '\0'; letter++)
		if ((unsigned char)*letter <= ' ')
			return refuse(reader, reader->start + at, "a name with spaces");
	strcpy(label, text);
	return 0;
}

static int make_contents(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	struct route_file *file = reader->file;

	if (reader->contents == CONTENTS_ROUTES)
		file->set = route_set_create(topology->hosts);
	else
		file->table = route_table_create(topology->switches, topology->hosts);
	if ((file->set == NULL && file->table == NULL) ||
		(reader->contents == CONTENTS_ADAPTIVE &&
			route_table_add_alternatives(file->table, ROUTE_TABLE_WORDS(topology)) < 0))
		return no_memory(reader);
	return 0;
}

/* Reads the header. Works without a topology. */
static int take_origin(struct reader *reader, struct route_origin *origin)
{
	int result = read_section(reader, "a header", ROUTE_BINARY_HEADER, ROUTE_BINARY_HEADER);

	if (result == 0)
		result = take_contents(reader);
	if (result == 0)
		result = take_label(reader, 0, origin->topology);
	if (result == 0)
		result = take_label(reader, 1, origin->algorithm);
	if (result == 0)
		result = take_label(reader, 2, origin->root);
	if (result == 0)
		origin->seed = get64(reader->room + 16);
	return result;
}

static int take_header(struct reader *reader)
{
	char label[ROUTE_LABEL_MAX];
	struct route_origin origin;
	int result = take_origin(reader, &origin);

	if (result == 0)
		result = check_numbers(reader);
	if (result < 0)
		return result;
	route_file_label(reader->topology->name, label);
	if (strcmp(origin.topology, label) != 0)
		return refuse(reader, reader->start + 24, "routes of topology '%s'; expected '%s'",
			origin.topology, label);
	result = make_contents(reader);
	if (result == 0)
		*(reader->file->set != NULL ? route_set_origin(reader->file->set)
					    : &reader->file->table->origin) = origin;
	return result;
}

static int take_vc_rule(struct reader *reader)
{
	uint32_t switches = reader->topology->switches;
	size_t each = VC_RULE_PORTS + sizeof(uint64_t);
	struct vc_rule *rule;
	int result;

	if (reader->classes == 0)
		return 0;
	if (topology_max_ports(reader->topology) > VC_RULE_PORTS)
		return refuse(reader, reader->start,
			"VC classes for switches with up to %u ports; expected at most %u",
			topology_max_ports(reader->topology), VC_RULE_PORTS);
	result = read_section(reader, "VC classes", switches * each, switches * each);
	if (result < 0)
		return result;
	rule = vc_rule_create(switches, (uint8_t)reader->classes);
	if (rule == NULL)
		return no_memory(reader);
	rule->steps = (uint8_t)reader->steps;
	for (uint32_t at = 0; at < switches; at++) {
		memcpy(rule->ring + (size_t)at * VC_RULE_PORTS, reader->room + at * each,
			VC_RULE_PORTS);
		rule->dateline[at] = get64(reader->room + at * each + VC_RULE_PORTS);
	}
	if (reader->file->set != NULL)
		route_set_use_vc_rule(reader->file->set, rule);
	else
		reader->file->table->vc_rule = rule;
	return 0;
}

static int index_links(struct reader *reader)
{
	const struct topology *topology = reader->topology;

	ARRAYS_ADD(reader, peer, (size_t)topology->switches * TOPOLOGY_PORTS_MAX);
	ARRAYS_ADD(reader, linked, (size_t)topology->switches * TOPOLOGY_PORTS_MAX);
	if (reader->arrays.failed)
		return no_memory(reader);
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_port end[2] = {
			topology->link_at[i].a, topology->link_at[i].b};

		for (unsigned k = 0; k < 2; k++) {
			if (end[k].kind != DEVICE_SWITCH)
				continue;
			reader->peer[(size_t)end[k].device * TOPOLOGY_PORTS_MAX + end[k].port] =
				end[1 - k];
			reader->linked[(size_t)end[k].device * TOPOLOGY_PORTS_MAX + end[k].port] =
				true;
		}
	}
	return 0;
}

static bool is_linked(const struct reader *reader, uint32_t at, unsigned port)
{
	return port < TOPOLOGY_PORTS_MAX && reader->linked[(size_t)at * TOPOLOGY_PORTS_MAX + port];
}

/* Follows an element of a route from 'at'; a prefix element is processed together with the next
 * element. Returns an error text, or NULL. */
static const char *step(
	const struct reader *reader, const uint8_t *route, unsigned *i, struct topology_port *at)
{
	unsigned port = at->kind == DEVICE_SWITCH ? route_port(route, i) : 0;
	uint8_t element = route[*i];

	if (at->kind == DEVICE_SWITCH) {
		if (element == ROUTE_TYPE_STEP || route_is_layer(element))
			return NULL;
		if ((element & ROUTE_PORT_BIT) == 0)
			return "has an interface element at a switch";
		if ((element & ROUTE_ADAPTIVE) != 0)
			return "lets a switch replace a hop";
		if (!is_linked(reader, at->device, port))
			return "leaves through a port without a link";
		*at = reader->peer[(size_t)at->device * TOPOLOGY_PORTS_MAX + port];
		return NULL;
	}
	if (element != ROUTE_TYPE_ITB)
		return "continues at a host without an ITB";
	return topology_peer(reader->topology, *at, at) ? NULL
							: "continues at a host without a link";
}

/* Checks that all routes from 'source' lead to the destination. */
static int check_routes(struct reader *reader, uint32_t source, uint32_t destination)
{
	const struct topology_port host = {.kind = DEVICE_HOST, .device = source};
	struct topology_port start, at;
	const uint8_t *route;
	unsigned length;

	if (route_set_count(reader->file->set, source, destination) == 0)
		return 0;
	for (unsigned i = 0;
		(route = route_set_get(reader->file->set, source, destination, i, &length)) != NULL;
		i++) {
		const char *wrong =
			topology_peer(reader->topology, host, &start) ? NULL : "has no first link";

		if (wrong == NULL && !frame_steps_ok(route, length))
			wrong = "has too many steps, a step that is not between two ports, or a layer that is not the first element";
		at = start;
		for (unsigned k = 0; k + 1 < length && wrong == NULL; k++)
			wrong = step(reader, route, &k, &at);
		if (wrong == NULL && (at.kind != DEVICE_HOST || at.device != destination ||
					     route[length - 1] != ROUTE_TYPE_HOST))
			wrong = "does not end there";
		if (wrong != NULL)
			return refuse(reader, reader->start, "route %u from %s to %s %s", i,
				reader->topology->host_at[source].name,
				reader->topology->host_at[destination].name, wrong);
	}
	return 0;
}

static int take_routes(struct reader *reader)
{
	uint32_t hosts = reader->topology->hosts;
	size_t max =
		(size_t)hosts * (1 + ROUTE_ALTERNATIVES_MAX * (1 + (size_t)ROUTE_ELEMENTS_MAX));
	int result = 0;

	for (uint32_t to = 0; to < hosts && result == 0; to++) {
		size_t where = 0;

		result = read_section(reader, "the routes to a host", hosts, max);
		if (result < 0)
			return result;
		result = route_set_unpack(
			reader->file->set, to, reader->room, reader->length, &where);
		if (result == -ENOMEM)
			return no_memory(reader);
		if (result < 0)
			return refuse(reader, reader->start + where,
				"invalid routes to %s; expected at most %u from each host, with 1 to %u "
				"elements each",
				reader->topology->host_at[to].name, ROUTE_ALTERNATIVES_MAX,
				ROUTE_ELEMENTS_MAX);
		for (uint32_t source = 0; source < hosts && result == 0; source++)
			result = check_routes(reader, source, to);
	}
	return result;
}

static int check_row(struct reader *reader, uint32_t at)
{
	const struct route_table *table = reader->file->table;
	const uint64_t *sets = route_table_alternatives(table, at);
	const uint8_t *row = route_table_row(table, at);

	for (uint32_t host = 0; host < table->hosts; host++) {
		bool good = row[host] == ROUTE_TABLE_NONE || is_linked(reader, at, row[host]);

		for (unsigned port = 0; sets != NULL && port < 64 * table->words; port++)
			good &= (sets[host * table->words + port / 64] >> port % 64 & 1) == 0 ||
				is_linked(reader, at, port);
		if (good)
			continue;
		return refuse(reader, reader->start + host,
			"%s forwards frames for %s to a port without a link",
			reader->topology->switch_at[at].name, reader->topology->host_at[host].name);
	}
	return 0;
}

static int take_tables(struct reader *reader)
{
	struct route_table *table = reader->file->table;
	size_t words = table->alternatives == NULL ? 0 : table->words;
	size_t each = 1 + words * sizeof(uint64_t);
	int result = 0;

	for (uint32_t at = 0; at < table->switches && result == 0; at++) {
		uint64_t *sets = route_table_alternatives(table, at);

		result = read_section(
			reader, "a switch's table", table->hosts * each, table->hosts * each);
		if (result < 0)
			return result;
		memcpy(route_table_row(table, at), reader->room, table->hosts);
		for (size_t i = 0; i < table->hosts * words; i++)
			sets[i] = get64(reader->room + table->hosts + i * sizeof(uint64_t));
		result = check_row(reader, at);
	}
	return result;
}

int route_binary_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error)
{
	struct reader reader = {.topology = topology,
		.in = in,
		.origin = origin,
		.file = file,
		.error = error,
		.place = strlen(ROUTE_BINARY_MAGIC)};
	int result = take_header(&reader);

	if (result == 0)
		result = take_vc_rule(&reader);
	if (result == 0)
		result = index_links(&reader);
	if (result == 0)
		result = file->set != NULL ? take_routes(&reader) : take_tables(&reader);
	if (result == 0 && fgetc(in) != EOF)
		result = refuse(&reader, reader.place, "extra bytes after the end");
	free(reader.room);
	arrays_free(&reader.arrays);
	if (result < 0)
		route_file_close(file);
	return result;
}

int route_binary_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error)
{
	struct reader reader = {
		.in = in, .origin = origin, .error = error, .place = strlen(ROUTE_BINARY_MAGIC)};
	int result = take_origin(&reader, &header->origin);

	header->tables = reader.contents != CONTENTS_ROUTES;
	free(reader.room);
	return result;
}
