/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The network file of the ns-3 backends of SimAI and ASTRA-sim:
 *
 *     NODES [GPUS_PER_SERVER NVSWITCHES] SWITCHES LINKS [GPU_TYPE]
 *     numbers of the switches, NVSwitches first
 *     SOURCE DESTINATION RATE DELAY ERROR_RATE      one line per link
 *
 * Nodes that are not switches are hosts, with a port per link. The format has neither names nor
 * ports. Error rates are ignored. */

#include "base/quantity.h"
#include "listing_reader.h"

#define NODES_MAX (TOPOLOGY_SWITCHES_MAX + TOPOLOGY_HOSTS_MAX)

struct network {
	bool headed;
	uint32_t nodes;
	uint32_t awaited; /* switch numbers not read yet */
	uint32_t links, read;
};

static int read_head(struct listing_reader *reader, struct network *network)
{
	struct ib_text word[6];
	uint32_t switches = 0, more = 0;
	unsigned words = 0;
	int result;

	while (words < 6 && reader->at < reader->end)
		word[words++] = listing_word(reader);
	if (words < 3 || words == 4)
		return listing_refuse(reader, "expected the numbers of nodes, switches and links");
	result = listing_number(reader, word[0], 10, NODES_MAX, &network->nodes);
	if (result == 0)
		result = listing_number(
			reader, word[words == 3 ? 1 : 2], 10, TOPOLOGY_SWITCHES_MAX, &switches);
	if (result == 0 && words > 3)
		result = listing_number(reader, word[3], 10, TOPOLOGY_SWITCHES_MAX, &more);
	if (result == 0)
		result = listing_number(
			reader, word[words == 3 ? 2 : 4], 10, UINT32_MAX, &network->links);
	network->awaited = switches + more;
	if (result == 0 && network->awaited > network->nodes)
		result = listing_refuse(
			reader, "%u switches, but only %u nodes", network->awaited, network->nodes);
	network->headed = result == 0;
	return result;
}

static int add_node(struct listing_reader *reader, struct ib_text id, enum device_kind kind,
	uint32_t nodes, uint32_t *node)
{
	struct ib_text name;
	uint32_t number;
	int result = listing_number(reader, id, 10, nodes - (nodes > 0), &number);

	*node = result == 0 ? listing_find(reader, id) : UINT32_MAX;
	if (result < 0 || *node != UINT32_MAX)
		return result;
	result = listing_keep(reader, &name, "%c%u", kind == DEVICE_SWITCH ? 's' : 'h', number);
	if (result == 0)
		result = listing_node(reader, kind, id, name, node);
	if (result == 0)
		reader->listing->node_at[*node].order = number;
	return result;
}

static int read_switches(struct listing_reader *reader, struct network *network)
{
	uint32_t node;
	int result = 0;

	for (struct ib_text id = listing_word(reader); id.length > 0 && result == 0;
		id = listing_word(reader)) {
		if (network->awaited == 0)
			return listing_refuse(
				reader, "more switches than the first line specifies");
		result = add_node(reader, id, DEVICE_SWITCH, network->nodes, &node);
		network->awaited -= result == 0;
	}
	return result;
}

static int take_quantity(struct listing_reader *reader, enum quantity_kind kind, uint64_t max,
	const char *range, uint64_t *value)
{
	struct ib_text word = listing_word(reader);
	char text[QUANTITY_TEXT];

	snprintf(
		text, sizeof(text), "%.*s", (int)(word.length < 31 ? word.length : 31), word.start);
	if (quantity_parse(kind, text, value) == 0 && *value <= max)
		return 0;
	reader->at = word.start;
	return listing_refuse(
		reader, "'%s': expected %s, %s", text, quantity_expected(kind), range);
}

static int read_link(struct listing_reader *reader, struct network *network)
{
	struct listing_end a = {.port = 0}, b = {.port = 0};
	uint64_t rate_bps, delay_ps;
	int result = add_node(reader, listing_word(reader), DEVICE_HOST, network->nodes, &a.node);

	if (result == 0)
		result = add_node(
			reader, listing_word(reader), DEVICE_HOST, network->nodes, &b.node);
	if (result == 0)
		result = take_quantity(reader, QUANTITY_RATE, TOPOLOGY_RATE_MAX_BPS,
			TOPOLOGY_RATE_RANGE, &rate_bps);
	if (result == 0 && rate_bps < TOPOLOGY_RATE_MIN_BPS)
		result = listing_refuse(reader, "expected a rate of " TOPOLOGY_RATE_RANGE);
	if (result == 0)
		result = take_quantity(reader, QUANTITY_TIME, TOPOLOGY_DELAY_MAX_PS,
			TOPOLOGY_DELAY_RANGE, &delay_ps);
	if (result == 0)
		result = listing_connect(reader, a, b, rate_bps, delay_ps);
	network->read += result == 0;
	return result;
}

static int read_line(struct listing_reader *reader)
{
	struct network *network = reader->context;

	if (!network->headed)
		return read_head(reader, network);
	if (network->awaited > 0)
		return read_switches(reader, network);
	return read_link(reader, network);
}

static int check_links(struct listing_reader *reader, struct error *error)
{
	const struct network *network = reader->context;
	struct error odd;

	if (network->links == network->read)
		return 0;
	error_set(&odd, 0, "%s: the first line specifies %u links, but the file has %u",
		reader->origin, network->links, network->read);
	return topology_import_odd(reader->import, &odd, "those in the file are used", error);
}

LISTING_READER(read_ns3, struct network, .line = read_line, .finish = check_links)

static uint32_t number_of(const struct topology *topology, struct topology_port port)
{
	return port.kind == DEVICE_HOST ? topology->host_at[port.device].owner
					: topology->nodes + port.device;
}

static int write_ns3(const struct topology *topology, FILE *out, struct error *error)
{
	char rate[QUANTITY_TEXT], delay[QUANTITY_TEXT];

	fprintf(out, "%u %u %u\n", topology->nodes + topology->switches, topology->switches,
		topology->links);
	for (uint32_t s = 0; s < topology->switches; s++)
		fprintf(out, "%u%s", topology->nodes + s, s + 1 < topology->switches ? " " : "\n");
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		quantity_format(QUANTITY_RATE, link->rate_bps, rate);
		quantity_format(QUANTITY_TIME, link->delay_ps, delay);
		fprintf(out, "%u %u %s %s 0\n", number_of(topology, link->a),
			number_of(topology, link->b), rate, delay);
	}
	return 0;
}

const struct topology_format format_ns3 = {
	.name = "ns3",
	.help = "network of SimAI and ASTRA-sim (ns-3)",
	.write = write_ns3,
	.read = read_ns3,
};
