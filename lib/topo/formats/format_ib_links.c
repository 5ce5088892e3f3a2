/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Listings of InfiniBand networks with one line per link and direction: the output of iblinkinfo,
 * with and without -l; the output of ibnetdiscover -p; and opensm-subnet.lst, which OpenSM writes
 * to its dump folder. (infiniband-diags 44, OpenSM 3.3.23.) */

#include <string.h>

#include "listing_reader.h"

static const struct ib_text nothing = {"", 0};

static struct ib_text quoted_name(struct ib_text text)
{
	while (text.length > 0 && *text.start == ' ') {
		text.start++;
		text.length--;
	}
	while (text.length > 0 && text.start[text.length - 1] == ' ')
		text.length--;
	return text;
}

/* --- ibnetdiscover -p ---
 * SW    21  4 0x0002c902 4x QDR - CA    32  1 0x0002c903 ( 'leaf 1' - 'node1 HCA-1' ) */

static int take_kind(struct listing_reader *reader, enum device_kind *kind)
{
	struct ib_text word = listing_word(reader);

	*kind = listing_is(word, "SW") ? DEVICE_SWITCH : DEVICE_HOST;
	if (listing_is(word, "SW") || listing_is(word, "CA") || listing_is(word, "CA-SM") ||
		listing_is(word, "RT"))
		return 0;
	reader->at = word.start;
	return listing_refuse(reader, "expected SW, CA or RT");
}

static int connect(struct listing_reader *reader, const struct listing_node *a,
	const struct listing_node *b, uint64_t rate_bps)
{
	struct listing_end near = {.port = a->port}, far = {.port = b->port};
	int result = listing_node(reader, a->kind, a->id, a->name, &near.node);

	if (result == 0)
		result = listing_node(reader, b->kind, b->id, b->name, &far.node);
	if (result == 0 && (a->port == 0 || b->port == 0))
		return listing_refuse(reader, "port numbers must be 1 or higher");
	if (result == 0)
		result = listing_connect(reader, near, far, rate_bps, WEFT_TIME_NEVER);
	if (result == 0) {
		struct ib_port *line = &reader->listing->port_at[reader->listing->ports - 1];

		line->guid = a->guid;
		line->lid = a->lid;
	}
	return result;
}

static int take_ports_end(struct listing_reader *reader, struct listing_node *end)
{
	int result = take_kind(reader, &end->kind);

	if (result == 0)
		result = listing_number(reader, listing_word(reader), 10, UINT16_MAX, &end->lid);
	if (result == 0)
		result = listing_number(reader, listing_word(reader), 10, 254, &end->port);
	end->id = listing_word(reader);
	ib_number(end->id, 16, UINT64_MAX, &end->guid);
	return result;
}

static int read_ports_line(struct listing_reader *reader)
{
	struct listing_node a = {0}, b = {0};
	struct ib_text width, lane;
	uint64_t rate_bps = 0;
	char rate[IB_RATE_TEXT];
	int result = take_ports_end(reader, &a);

	width = listing_word(reader);
	lane = listing_word(reader);
	if (result < 0 || !listing_take(reader, "-"))
		return result; /* a missing far end is valid: the port has no cable */
	result = take_ports_end(reader, &b);
	if (result == 0 && !listing_take(reader, "( '"))
		return listing_refuse(
			reader, "expected the names of both nodes, such as ( 'a' - 'b' )");
	if (result == 0)
		result = listing_until(reader, "' - '", &a.name);
	if (result == 0)
		result = listing_until(reader, "' )", &b.name);
	if (result < 0)
		return result;
	snprintf(rate, sizeof(rate), "%.*s%.*s", (int)(width.length < 4 ? width.length : 4),
		width.start, (int)(lane.length < 8 ? lane.length : 8), lane.start);
	if (!ib_rate_parse(rate, strlen(rate), &rate_bps)) {
		reader->at = width.start;
		return listing_refuse(reader, "expected a rate such as 4x EDR, found '%s'", rate);
	}
	return connect(reader, &a, &b, rate_bps);
}

/* --- opensm-subnet.lst ---
 * { SW Ports:24 SystemGUID:… NodeGUID:… PortGUID:… VenID:… {leaf 1} LID:0002 PN:15 } { CA … }
 * PHY=4x LOG=ACT SPD=10 */

int listing_subnet_end(struct listing_reader *reader, struct listing_node *end)
{
	struct ib_text ignored, port;
	int result;

	if (!listing_take(reader, "{"))
		return listing_refuse(reader, "expected '{' before a node");
	result = take_kind(reader, &end->kind);
	if (result == 0)
		result = listing_until(reader, "NodeGUID:", &ignored);
	if (result == 0)
		end->id = listing_word(reader);
	if (result == 0)
		ib_number(end->id, 16, UINT64_MAX, &end->guid);
	if (result == 0)
		result = listing_until(reader, "{", &ignored);
	if (result == 0)
		result = listing_until(reader, "} LID:", &end->name);
	if (result == 0)
		result = listing_number(reader, listing_word(reader), 16, UINT16_MAX, &end->lid);
	if (result == 0)
		result = listing_until(reader, "PN:", &ignored);
	port = listing_word(reader);
	if (result == 0)
		result = listing_number(reader, port, 16, 254, &end->port);
	if (result == 0 && !listing_take(reader, "}"))
		return listing_refuse(reader, "expected '}' after a node");
	return result;
}

static int read_subnet_line(struct listing_reader *reader)
{
	struct ib_text ignored, width;
	struct listing_node a = {0}, b = {0};
	int result = listing_subnet_end(reader, &a);

	if (result == 0)
		result = listing_subnet_end(reader, &b);
	if (result == 0)
		result = listing_until(reader, "PHY=", &ignored);
	width = listing_word(reader);
	if (result == 0)
		result = listing_until(reader, "SPD=", &ignored);
	if (result < 0)
		return result;
	return connect(reader, &a, &b, ib_rate_of_lanes(width, listing_word(reader)));
}

/* --- iblinkinfo ---
 * Switch: 0x0002c902 leaf 1:
 *       21    4[  ] ==( 4X       25.78125 Gbps Active/  LinkUp)==>      32    1[  ] "node1" ( )
 * Nodes are identified by LID or, if the subnet manager assigned none (0), by name. The line of an
 * adapter starts with the GUID of its port. (With -l, adapters and switches look the same.) */

struct block {
	bool known;
	enum device_kind kind;
	struct ib_text name;
	uint64_t guid;     /* for a switch */
	struct ib_text id; /* for a switch, the same in all lines; empty before the first */
};

static int read_block_head(struct listing_reader *reader, struct block *block)
{
	struct ib_text rest = {reader->at, (uint32_t)(reader->end - reader->at)};

	block->known = false;
	block->id = nothing;
	if (rest.length == 0 || rest.start[rest.length - 1] != ':')
		return listing_refuse(reader, "expected ':' at the end of a node's line");
	rest.length--;
	block->known = true;
	block->name = quoted_name(rest);
	return 0;
}

static int take_lid_port(struct listing_reader *reader, struct listing_node *end)
{
	struct ib_text port;
	int result;

	end->id = listing_word(reader);
	result = listing_number(reader, end->id, 10, UINT16_MAX, &end->lid);
	if (result == 0)
		result = listing_until(reader, "[", &port);
	if (result == 0)
		result = listing_number(reader, quoted_name(port), 10, 254, &end->port);
	if (result == 0)
		result = listing_until(reader, "]", &port);
	if (end->lid == 0)
		end->id = nothing;
	return result;
}

/* Treats a far end as a host until its block shows that it is a switch. */
static void agree_on_kinds(
	struct listing_reader *reader, const struct listing_node *a, struct listing_node *b)
{
	uint32_t node = listing_find(reader, a->id);

	if (node != UINT32_MAX && a->kind == DEVICE_SWITCH)
		reader->listing->node_at[node].kind = DEVICE_SWITCH;
	node = listing_find(reader, b->id);
	if (node != UINT32_MAX)
		b->kind = reader->listing->node_at[node].kind;
}

/* Refuses a line with a LID other than in the switch's earlier lines: one is in the wrong block. */
static int refuse_lid(struct listing_reader *reader, const struct block *block, struct ib_text lid)
{
	const struct ib_text both[] = {block->id, lid};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = listing_find(reader, both[i]);

		if (node != UINT32_MAX)
			reader->listing->node_at[node].disputed = true;
	}
	return listing_refuse(reader, "the LID differs from the lines above");
}

static int read_link_line(struct listing_reader *reader)
{
	struct block *block = reader->context;
	struct listing_node a, b = {.kind = DEVICE_HOST};
	struct ib_text width, lane, state;
	int result;

	if (listing_take(reader, "Switch:")) {
		block->kind = DEVICE_SWITCH;
		ib_number(listing_word(reader), 16, UINT64_MAX, &block->guid);
		return read_block_head(reader, block);
	}
	if (listing_take(reader, "CA:") || listing_take(reader, "RT:")) {
		block->kind = DEVICE_HOST;
		block->guid = 0;
		return read_block_head(reader, block);
	}
	if (!block->known)
		return listing_refuse(reader, "expected 'Switch:' or 'CA:' before this line");
	a = (struct listing_node){.kind = block->kind, .name = block->name, .guid = block->guid};
	result = listing_take(reader, "0x");
	if (result != (block->kind == DEVICE_HOST))
		return listing_refuse(reader, "a line of a%s in the block of a%s",
			result ? "n adapter" : " switch", result ? " switch" : "n adapter");
	if (result)
		ib_number(listing_word(reader), 16, UINT64_MAX, &a.guid);
	result = take_lid_port(reader, &a);
	if (result == 0 && block->kind == DEVICE_SWITCH) {
		if (block->id.length == 0)
			block->id = a.id;
		if (block->id.length != a.id.length ||
			memcmp(block->id.start, a.id.start, a.id.length) != 0)
			return refuse_lid(reader, block, a.id);
	}
	if (result == 0 && !listing_take(reader, "==("))
		return listing_refuse(reader, "expected '==(' after the port");
	width = listing_word(reader);
	if (result < 0 || width.length == 0 || *width.start < '0' || *width.start > '9')
		return result; /* no cable, or the link is down */
	lane = listing_word(reader);
	result = listing_until(reader, ")==>", &state);
	result = take_lid_port(reader, &b);
	if (result == 0 && !listing_take(reader, "\""))
		return listing_refuse(reader, "expected the name of the far end in quotes");
	if (result == 0)
		result = listing_until(reader, "\"", &b.name);
	if (result < 0)
		return result;
	a.id = a.id.length > 0 ? a.id : a.name;
	b.id = b.id.length > 0 ? b.id : b.name;
	agree_on_kinds(reader, &a, &b);
	return connect(reader, &a, &b, ib_rate_of_lanes(width, lane));
}

LISTING_READER(read_ports, char, .line = read_ports_line, .twice = true)

LISTING_READER(read_subnet, char, .line = read_subnet_line, .twice = true)

LISTING_READER(read_links, struct block, .line = read_link_line, .twice = true)

const struct topology_format format_ibnetdiscover_p = {
	.name = "ibnetdiscover-p",
	.help = "output of ibnetdiscover -p",
	.read = read_ports,
};

const struct topology_format format_opensm = {
	.name = "opensm",
	.help = "OpenSM's link dump, opensm-subnet.lst",
	.read = read_subnet,
};

const struct topology_format format_iblinkinfo = {
	.name = "iblinkinfo",
	.help = "output of iblinkinfo",
	.read = read_links,
};
