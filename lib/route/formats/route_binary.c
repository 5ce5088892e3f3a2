/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_binary.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "wire/crc.h"

enum { CONTENTS_ROUTES = 1, CONTENTS_TABLES = 2, CONTENTS_ADAPTIVE = 3 };

struct writer {
	FILE *out;
	uint8_t *room; /* one section */
	uint32_t size;
};

static int reserve(struct writer *writer, size_t size)
{
	return array_reserve(&writer->room, &writer->size, size, 1) ? 0 : -ENOMEM;
}

static int write_section(struct writer *writer, size_t length)
{
	uint32_t first = htole32((uint32_t)length);
	uint32_t last = htole32(crc32c(writer->room, length));

	return fwrite(&first, sizeof(first), 1, writer->out) == 1 &&
			       fwrite(writer->room, 1, length, writer->out) == length &&
			       fwrite(&last, sizeof(last), 1, writer->out) == 1
		       ? 0
		       : -EIO;
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static int write_header(
	struct writer *writer, const struct topology *topology, const struct route_file *file)
{
	const struct route_origin *origin = route_file_origin(file);
	const struct vc_rule *rule = route_file_vc_rule(file);
	uint8_t *at;

	if (reserve(writer, ROUTE_BINARY_HEADER) < 0)
		return -ENOMEM;
	at = writer->room;
	memset(at, 0, ROUTE_BINARY_HEADER);
	put32(at, file->set != NULL                   ? CONTENTS_ROUTES
		  : file->table->alternatives == NULL ? CONTENTS_TABLES
						      : CONTENTS_ADAPTIVE);
	put32(at + 4, topology->switches);
	put32(at + 8, topology->hosts);
	put32(at + 12, rule == NULL ? 0 : rule->classes | (uint32_t)rule->steps << 16);
	put64(at + 16, origin->seed);
	route_file_label(topology->name, (char *)at + 24);
	strcpy((char *)at + 24 + ROUTE_LABEL_MAX, origin->algorithm);
	strcpy((char *)at + 24 + 2 * ROUTE_LABEL_MAX, origin->root);
	return write_section(writer, ROUTE_BINARY_HEADER);
}

static int write_vc_rule(struct writer *writer, const struct vc_rule *rule)
{
	size_t each = VC_RULE_PORTS + sizeof(uint64_t);

	if (reserve(writer, rule->switches * each) < 0)
		return -ENOMEM;
	for (uint32_t at = 0; at < rule->switches; at++) {
		memcpy(writer->room + at * each, rule->ring + (size_t)at * VC_RULE_PORTS,
			VC_RULE_PORTS);
		put64(writer->room + at * each + VC_RULE_PORTS, rule->dateline[at]);
	}
	return write_section(writer, rule->switches * each);
}

static int write_routes(struct writer *writer, const struct route_set *set)
{
	int result = 0;

	for (uint32_t host = 0; host < route_set_hosts(set) && result == 0; host++) {
		size_t size = route_set_pack(set, host, NULL);

		result = reserve(writer, size);
		if (result < 0)
			return result;
		route_set_pack(set, host, writer->room);
		result = write_section(writer, size);
	}
	return result;
}

static int write_tables(struct writer *writer, const struct route_table *table)
{
	size_t words = table->alternatives == NULL ? 0 : table->words;
	size_t each = 1 + words * sizeof(uint64_t);
	int result = reserve(writer, table->hosts * each);

	for (uint32_t at = 0; at < table->switches && result == 0; at++) {
		const uint64_t *sets = route_table_alternatives(table, at);

		memcpy(writer->room, route_table_row(table, at), table->hosts);
		for (size_t i = 0; i < table->hosts * words; i++)
			put64(writer->room + table->hosts + i * sizeof(uint64_t), sets[i]);
		result = write_section(writer, table->hosts * each);
	}
	return result;
}

int route_binary_write(const struct topology *topology, const struct route_file *file, FILE *out,
	struct error *error)
{
	const struct vc_rule *rule = route_file_vc_rule(file);
	struct writer writer = {.out = out};
	int result = fputs(ROUTE_BINARY_MAGIC, out) == EOF ? -EIO : 0;

	if (result == 0)
		result = write_header(&writer, topology, file);
	if (result == 0 && rule != NULL)
		result = write_vc_rule(&writer, rule);
	if (result == 0)
		result = file->set != NULL ? write_routes(&writer, file->set)
					   : write_tables(&writer, file->table);
	free(writer.room);
	if (result == -ENOMEM)
		return error_set(
			error, ENOMEM, "%s: not enough memory to write the routes", topology->name);
	if (result < 0 || fflush(out) != 0 || ferror(out))
		return error_set(error, EIO, "%s: cannot write the routes: %s", topology->name,
			strerror(errno));
	return 0;
}
