/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Slurm's topology.conf (topology/tree), which NVIDIA's topograph also writes. It has a line for
 * each switch with the hosts or switches below it:
 *
 *     SwitchName=leaf1 Nodes=node[01-16,20],login
 *     SwitchName=spine Switches=leaf[1-8] LinkSpeed=100
 *
 * A switch that several others list has a cable to each of them. The format has neither ports nor
 * rates, and cannot express parallel cables. */

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "listing_reader.h"
#include "topo/topology_levels.h"

#define NAMES_MAX 65536 /* names per list */

/* Reads "KEY=VALUE". Keys are case-insensitive. */
static bool take_key(struct ib_text word, const char *key, struct ib_text *value)
{
	size_t length = strlen(key);

	if (word.length <= length || strncasecmp(word.start, key, length) != 0 ||
		word.start[length] != '=')
		return false;
	*value = (struct ib_text){word.start + length + 1, word.length - (uint32_t)length - 1};
	return true;
}

struct list {
	struct listing_reader *reader;
	enum device_kind kind; /* kind of the named devices */
	uint32_t parent, names;
};

static int add_name(struct list *list, struct ib_text name)
{
	struct listing_end a = {list->parent, 0}, b = {.port = 0};
	int result;

	if (list->names++ == NAMES_MAX)
		return listing_refuse(list->reader, "expected at most %u names", NAMES_MAX);
	result = listing_node(list->reader, list->kind, name, name, &b.node);
	if (result < 0)
		return result;
	return listing_connect(list->reader, a, b, 0, WEFT_TIME_NEVER);
}

/* Expands PREFIX[FIRST-LAST]REST and adds the names. Numbers keep their leading zeros. */
static int add_range(
	struct list *list, struct ib_text prefix, struct ib_text range, struct ib_text rest)
{
	const char *dash = memchr(range.start, '-', range.length);
	struct ib_text from = range, to = range, name;
	uint32_t first, last;
	int result;

	if (dash != NULL) {
		from.length = (uint32_t)(dash - range.start);
		to = (struct ib_text){dash + 1, range.length - from.length - 1};
	}
	result = listing_number(list->reader, from, 10, 999999999, &first);
	if (result == 0)
		result = listing_number(list->reader, to, 10, 999999999, &last);
	if (result == 0 && (last < first || last - first >= NAMES_MAX || from.length > 9))
		result = listing_refuse(
			list->reader, "expected a range, found %u to %u", first, last);
	for (uint32_t i = first; result == 0 && i <= last; i++) {
		result = listing_keep(list->reader, &name, "%.*s%0*u%.*s", (int)prefix.length,
			prefix.start, (int)from.length, i, (int)rest.length, rest.start);
		if (result == 0)
			result = add_name(list, name);
	}
	return result;
}

/* Adds an item: a name, or PREFIX[A-B,C]REST. */
static int add_item(struct list *list, struct ib_text item)
{
	const char *open = memchr(item.start, '[', item.length), *close, *at;
	struct ib_text prefix, rest;
	int result = 0;

	if (open == NULL)
		return add_name(list, item);
	close = memchr(open, ']', (size_t)(item.start + item.length - open));
	if (close == NULL)
		return listing_refuse(list->reader, "the closing ']' is missing");
	prefix = (struct ib_text){item.start, (uint32_t)(open - item.start)};
	rest = (struct ib_text){close + 1, (uint32_t)(item.start + item.length - close - 1)};
	if (memchr(rest.start, '[', rest.length) != NULL)
		return listing_refuse(list->reader, "a second '[' in a name");
	for (at = open + 1; at <= close && result == 0;) {
		const char *end = memchr(at, ',', (size_t)(close - at));

		end = end == NULL ? close : end;
		result = add_range(list, prefix, (struct ib_text){at, (uint32_t)(end - at)}, rest);
		at = end + 1;
	}
	return result;
}

/* Adds all items, which are separated by commas outside brackets. */
static int add_items(struct list *list, struct ib_text text)
{
	const char *end = text.start + text.length, *item = text.start;
	bool inside = false;
	int result = 0;

	for (const char *at = text.start; at <= end && result == 0; at++) {
		if (at < end && (inside || *at != ',')) {
			inside = *at == '[' || (inside && *at != ']');
			continue;
		}
		if (at == end || *at == ',')
			result = add_item(list, (struct ib_text){item, (uint32_t)(at - item)});
		item = at + 1;
	}
	return result;
}

/* Detects files that specify which hosts are near each other but not how they are cabled. Their
 * lines must not be skipped. */
static int check_kind(struct listing_reader *reader)
{
	static const char *const other[][2] = {{"BlockName=", "topology/block"},
		{"BlockSizes=", "topology/block"}, {"- topology:", "topology.yaml"}};

	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		size_t length = strlen(other[i][0]);

		if ((size_t)(reader->end - reader->at) < length ||
			strncasecmp(reader->at, other[i][0], length) != 0)
			continue;
		listing_refuse(reader,
			"Slurm's %s has no cables; use a topology.conf with SwitchName= "
			"(topology/tree)",
			other[i][1]);
		return -ERANGE;
	}
	return 0;
}

static int read_line(struct listing_reader *reader)
{
	struct ib_text name = {"", 0}, nodes = {"", 0}, switches = {"", 0}, ignored;
	struct list list = {.reader = reader};
	int result = check_kind(reader);

	if (result < 0)
		return result;
	for (struct ib_text word = listing_word(reader); word.length > 0 && *word.start != '#';
		word = listing_word(reader))
		if (!take_key(word, "SwitchName", &name) && !take_key(word, "Nodes", &nodes) &&
			!take_key(word, "Switches", &switches) &&
			!take_key(word, "LinkSpeed", &ignored)) {
			reader->at = word.start;
			return listing_refuse(reader,
				"expected SwitchName=, Nodes=, Switches= or LinkSpeed=, found "
				"'%.*s'",
				ib_shown(word), word.start);
		}
	if (name.length == 0)
		return listing_refuse(reader, "expected SwitchName=");
	result = listing_node(reader, DEVICE_SWITCH, name, name, &list.parent);
	if (result == 0 && reader->listing->node_at[list.parent].described)
		result = listing_refuse(
			reader, "switch '%.*s' has a second line", ib_shown(name), name.start);
	if (result < 0)
		return result;
	reader->listing->node_at[list.parent].order = reader->number;
	reader->listing->node_at[list.parent].described = true;
	list.kind = DEVICE_HOST;
	if (nodes.length > 0)
		result = add_items(&list, nodes);
	list.kind = DEVICE_SWITCH;
	if (result == 0 && switches.length > 0)
		result = add_items(&list, switches);
	return result;
}

LISTING_READER(read_slurm, char, .line = read_line)

/* Writes the neighbours of one kind below the switch. */
static void write_below(
	const struct topology *topology, uint32_t at, enum device_kind kind, FILE *out)
{
	const char *before = kind == DEVICE_HOST ? " Nodes=" : " Switches=";
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;

	for (; port.port < topology->switch_at[at].ports; port.port++) {
		if (!topology_peer(topology, port, &peer) || peer.kind != kind ||
			(kind == DEVICE_SWITCH && topology->switch_at[peer.device].stage >
							  topology->switch_at[at].stage))
			continue;
		fprintf(out, "%s%s", before, topology_device_name(topology, peer));
		before = ",";
	}
}

static int write_slurm(const struct topology *topology, FILE *out, struct error *error)
{
	int result = topology_has_levels(topology)
			     ? topology_check_parallel(topology, "Slurm", error)
			     : error_set(error, EINVAL,
				       "%s: there are no levels, and Slurm's topology.conf only "
				       "describes trees",
				       topology->name);

	if (result == 0)
		result = topology_check_single_ports(topology, "Slurm", error);
	for (uint32_t s = 0; s < topology->switches && result == 0; s++) {
		fprintf(out, "SwitchName=%s", topology->switch_at[s].name);
		write_below(topology, s, DEVICE_HOST, out);
		write_below(topology, s, DEVICE_SWITCH, out);
		fputc('\n', out);
	}
	return result;
}

const struct topology_format format_slurm = {
	.name = "slurm",
	.help = "Slurm's topology.conf",
	.write = write_slurm,
	.read = read_slurm,
};
