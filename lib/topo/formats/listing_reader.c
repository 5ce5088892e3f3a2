/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "listing_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"

#define PORTS_MAX 254

int listing_refuse(struct listing_reader *reader, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_at_va(&reader->odd, reader->origin, reader->number,
		(uint32_t)(reader->at - reader->start) + 1, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_space(char letter)
{
	return letter == ' ' || letter == '\t';
}

static void skip_spaces(struct listing_reader *reader)
{
	while (reader->at < reader->end && is_space(*reader->at))
		reader->at++;
}

struct ib_text listing_word(struct listing_reader *reader)
{
	struct ib_text word;

	skip_spaces(reader);
	word.start = reader->at;
	while (reader->at < reader->end && !is_space(*reader->at))
		reader->at++;
	word.length = (uint32_t)(reader->at - word.start);
	return word;
}

bool listing_is(struct ib_text text, const char *word)
{
	return text.length == strlen(word) && memcmp(text.start, word, text.length) == 0;
}

bool listing_take(struct listing_reader *reader, const char *text)
{
	size_t length = strlen(text);

	skip_spaces(reader);
	if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, text, length) != 0)
		return false;
	reader->at += length;
	return true;
}

int listing_until(struct listing_reader *reader, const char *mark, struct ib_text *text)
{
	const char *found =
		memmem(reader->at, (size_t)(reader->end - reader->at), mark, strlen(mark));

	if (found == NULL)
		return listing_refuse(reader, "expected '%s' in the rest of the line", mark);
	*text = (struct ib_text){reader->at, (uint32_t)(found - reader->at)};
	reader->at = found + strlen(mark);
	return 0;
}

bool ib_number(struct ib_text text, unsigned base, uint64_t max, uint64_t *number)
{
	uint32_t i = base == 16 && text.length > 2 && memcmp(text.start, "0x", 2) == 0 ? 2 : 0;
	bool good = text.length > i;
	uint64_t value = 0;

	for (; i < text.length && good; i++) {
		char letter = text.start[i] | ' ';
		unsigned digit = letter >= 'a' ? (unsigned)(letter - 'a') + 10
					       : (unsigned)(text.start[i] - '0');

		good = digit < base && digit <= max && value <= (max - digit) / base;
		value = value * base + digit;
	}
	if (good)
		*number = value;
	return good;
}

int listing_number(struct listing_reader *reader, struct ib_text text, unsigned base, uint32_t max,
	uint32_t *number)
{
	uint64_t value;

	if (!ib_number(text, base, max, &value)) {
		reader->at = text.start;
		return listing_refuse(reader, "expected a number up to %u, found '%.*s'", max,
			ib_shown(text), text.start);
	}
	*number = (uint32_t)value;
	return 0;
}

int listing_keep(struct listing_reader *reader, struct ib_text *text, const char *format, ...)
{
	struct ib_source *source = calloc(1, sizeof(*source) + 1);
	va_list args;
	int length;

	if (source == NULL)
		return -ENOMEM;
	va_start(args, format);
	length = vasprintf(&source->text, format, args);
	va_end(args);
	if (length < 0) {
		free(source);
		return -ENOMEM;
	}
	source->next = reader->listing->sources;
	reader->listing->sources = source;
	*text = (struct ib_text){source->text, (uint32_t)length};
	return 0;
}

static uint32_t hash_of(struct ib_text text)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < text.length; i++)
		hash = (hash ^ (uint8_t)text.start[i]) * 16777619u;
	return hash;
}

static uint32_t slot_of(const struct listing_reader *reader, struct ib_text id)
{
	const struct ib_node *nodes = reader->listing->node_at;
	uint32_t slot = hash_of(id) & (reader->slots - 1);

	for (; reader->slot[slot] != 0; slot = (slot + 1) & (reader->slots - 1)) {
		struct ib_text other = nodes[reader->slot[slot] - 1].id;

		if (other.length == id.length && memcmp(other.start, id.start, id.length) == 0)
			break;
	}
	return slot;
}

uint32_t listing_find(const struct listing_reader *reader, struct ib_text id)
{
	return reader->slots == 0 ? UINT32_MAX : reader->slot[slot_of(reader, id)] - 1;
}

static int grow(struct listing_reader *reader)
{
	uint32_t *before = reader->slot;

	if (2 * (reader->listing->nodes + 1) <= reader->slots)
		return 0;
	reader->slots = reader->slots == 0 ? 64 : 2 * reader->slots;
	reader->slot = calloc(reader->slots, sizeof(*reader->slot));
	free(before);
	if (reader->slot == NULL) {
		reader->slots = 0;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < reader->listing->nodes; i++)
		reader->slot[slot_of(reader, reader->listing->node_at[i].id)] = i + 1;
	return 0;
}

static int check_known(struct listing_reader *reader, const struct ib_node *node,
	enum device_kind kind, struct ib_text name)
{
	if (node->kind != kind)
		return listing_refuse(reader, "'%.*s' is a %s in line %u", ib_shown(node->id),
			node->id.start, kind == DEVICE_HOST ? "switch" : "host", node->line);
	if (node->name.length != name.length ||
		memcmp(node->name.start, name.start, name.length) != 0)
		return listing_refuse(reader, "'%.*s' is called '%.*s' in line %u",
			ib_shown(node->id), node->id.start, ib_shown(node->name), node->name.start,
			node->line);
	return 0;
}

int listing_node(struct listing_reader *reader, enum device_kind kind, struct ib_text id,
	struct ib_text name, uint32_t *node)
{
	struct ib_listing *listing = reader->listing;
	int result;

	if (id.length == 0)
		return listing_refuse(reader, "a node without a name");
	*node = listing_find(reader, id);
	if (*node != UINT32_MAX) {
		result = check_known(reader, &listing->node_at[*node], kind, name);
		listing->node_at[*node].disputed |= result < 0;
		return result;
	}
	if (grow(reader) < 0 || !array_reserve(&listing->node_at, &listing->node_room,
					listing->nodes + 1u, sizeof(*listing->node_at)))
		return -ENOMEM;
	*node = listing->nodes++;
	listing->node_at[*node] = (struct ib_node){.kind = kind,
		.id = id,
		.name = name,
		.origin = reader->origin,
		.line = reader->number,
		.column = (uint32_t)(reader->at - reader->start) + 1,
		.order = reader->number};
	reader->slot[slot_of(reader, id)] = *node + 1;
	return 0;
}

static int choose_port(struct listing_reader *reader, struct listing_end *end)
{
	struct ib_node *node = &reader->listing->node_at[end->node];

	if (end->port == 0)
		end->port = node->ports + 1;
	if (end->port > PORTS_MAX)
		return listing_refuse(reader, "port %u of '%.*s' is above the maximum, %u",
			end->port, ib_shown(node->id), node->id.start, PORTS_MAX);
	node->ports = end->port > node->ports ? end->port : node->ports;
	return 0;
}

int listing_connect(struct listing_reader *reader, struct listing_end a, struct listing_end b,
	uint64_t rate_bps, weft_time delay_ps)
{
	struct ib_listing *listing = reader->listing;

	if (choose_port(reader, &a) < 0 || choose_port(reader, &b) < 0)
		return -EINVAL;
	if (!array_reserve(&listing->port_at, &listing->port_room, listing->ports + 1u,
		    sizeof(*listing->port_at)))
		return -ENOMEM;
	listing->port_at[listing->ports++] = (struct ib_port){.node = a.node,
		.port = a.port,
		.peer = listing->node_at[b.node].id,
		.peer_name = listing->node_at[b.node].name,
		.peer_port = b.port,
		.rate_bps = rate_bps,
		.delay_ps = delay_ps,
		.origin = reader->origin,
		.line = reader->number,
		.column = 1};
	return 0;
}

int listing_reader_lines(
	struct listing_reader *reader, const char *text, size_t length, struct error *error)
{
	const char *end = text + length, *next;
	int result = 0;

	for (; text < end && result == 0; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next == NULL ? end : next;
		reader->start = reader->at = text;
		reader->end = next > text && next[-1] == '\r' ? next - 1 : next;
		reader->number++;
		skip_spaces(reader);
		if (reader->at == reader->end || (*reader->at == '#' && !reader->comments))
			continue;
		result = reader->line(reader);
		if (result == -EINVAL)
			result = topology_import_odd(
				reader->import, &reader->odd, "the line is left out", error);
		else if (result == -ERANGE)
			error_set(error, ERANGE, "%s", reader->odd.text);
		else if (result < 0)
			error_set(error, ENOMEM, "%s: out of memory", reader->origin);
	}
	return result;
}

static int compare_orders(const void *a, const void *b, void *context)
{
	const struct ib_node *nodes = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].order != nodes[y].order)
		return nodes[x].order < nodes[y].order ? -1 : 1;
	return (x > y) - (x < y);
}

/* Sorts the nodes, which invalidates the hash table. */
static int sort_nodes(struct ib_listing *listing)
{
	struct arrays scratch = {0};
	uint32_t *before = arrays_add(&scratch, listing->nodes, sizeof(*before));
	uint32_t *now = arrays_add(&scratch, listing->nodes, sizeof(*now));
	struct ib_node *node = calloc(listing->nodes + 1u, sizeof(*node));

	if (scratch.failed || node == NULL) {
		arrays_free(&scratch);
		free(node);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < listing->nodes; i++)
		before[i] = i;
	qsort_r(before, listing->nodes, sizeof(*before), compare_orders, listing->node_at);
	for (uint32_t i = 0; i < listing->nodes; i++) {
		node[i] = listing->node_at[before[i]];
		now[before[i]] = i;
	}
	for (uint32_t i = 0; i < listing->ports; i++)
		listing->port_at[i].node = now[listing->port_at[i].node];
	free(listing->node_at);
	listing->node_at = node;
	arrays_free(&scratch);
	return 0;
}

struct topology *listing_reader_run(struct listing_reader *reader, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error)
{
	struct ib_listing listing = {.origin = origin, .twice = reader->twice};
	struct topology *topology = NULL;
	int result;

	reader->listing = &listing;
	reader->import = import;
	reader->origin = origin;
	result = listing_reader_lines(reader, text, length, error);
	if (result == 0 && reader->finish != NULL)
		result = reader->finish(reader, error);
	if (result == 0 && sort_nodes(&listing) < 0)
		result = error_set(error, ENOMEM, "%s: out of memory", origin);
	if (result == 0)
		topology = ib_listing_topology(&listing, import, error);
	else
		errno = -result;
	free(reader->slot);
	ib_listing_free(&listing);
	return topology;
}

uint64_t ib_rate_of_lanes(struct ib_text width, struct ib_text lane_gbps)
{
	static const struct {
		const char *gbps; /* leading part to compare */
		const char *name;
	} lanes[] = {{"2.5", "SDR"}, {"5", "DDR"}, {"10", "QDR"}, {"14", "FDR"}, {"25", "EDR"},
		{"50", "HDR"}, {"53", "HDR"}, {"100", "NDR"}, {"106", "NDR"}, {"200", "XDR"},
		{"212", "XDR"}};
	uint64_t rate_bps = 0;
	char text[IB_RATE_TEXT];

	for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		size_t length = strlen(lanes[i].gbps);

		if (lane_gbps.length < length ||
			memcmp(lane_gbps.start, lanes[i].gbps, length) != 0 ||
			(lane_gbps.length > length && lane_gbps.start[length] != '.') ||
			width.length < 2 || width.length > 3)
			continue;
		snprintf(text, sizeof(text), "%.*sx%s", (int)width.length - 1, width.start,
			lanes[i].name);
		ib_rate_parse(text, strlen(text), &rate_bps);
	}
	return rate_bps;
}
