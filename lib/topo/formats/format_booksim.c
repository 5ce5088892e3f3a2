/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The network_file of BookSim 2's topology 'anynet' (read by its src/networks/anynet.cpp) has a
 * line for each switch, "router A node N … router B LATENCY …". Hosts are nodes with the same
 * number. Latencies are in cycles, one for each direction. The link with the shortest delay has one
 * cycle, the others in proportion. BookSim has neither ports nor rates, gives links to nodes one
 * cycle, and allows one link between two routers. A cycle is read as the default delay. */

#include "listing_reader.h"

/* Returns the shortest nonzero delay between switches; 1 if there is none. */
static weft_time shortest_delay(const struct topology *topology)
{
	weft_time shortest = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (topology_link_is_inner(link) && link->delay_ps != 0 &&
			link->delay_ps < shortest)
			shortest = link->delay_ps;
	}
	return shortest == WEFT_TIME_NEVER ? 1 : shortest;
}

static void write_router(
	const struct topology *topology, uint32_t number, weft_time shortest, FILE *out)
{
	struct topology_port port = {DEVICE_SWITCH, number, 0}, peer;

	fprintf(out, "router %u", number);
	for (; port.port < TOPOLOGY_PORTS_MAX; port.port++)
		if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_HOST)
			fprintf(out, " node %u", peer.device);
	for (port.port = 0; port.port < TOPOLOGY_PORTS_MAX; port.port++)
		if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_SWITCH) {
			weft_time delay = topology_link_at(topology, port)->delay_ps;
			uint64_t cycles = (delay + shortest / 2) / shortest;

			fprintf(out, " router %u %llu", peer.device,
				(unsigned long long)(cycles == 0 ? 1 : cycles));
		}
	fputc('\n', out);
}

static int write_booksim(const struct topology *topology, FILE *out, struct error *error)
{
	weft_time shortest = shortest_delay(topology);
	int result = topology_check_parallel(topology, "BookSim", error);

	if (result == 0)
		result = topology_check_single_ports(topology, "BookSim", error);
	for (uint32_t s = 0; s < topology->switches && result == 0; s++)
		write_router(topology, s, shortest, out);
	return result;
}

/* Returns true if a link between the two devices, which both ends may list, is known. */
static bool is_connected(const struct listing_reader *reader, uint32_t a, uint32_t b)
{
	const struct ib_listing *listing = reader->listing;

	for (uint32_t i = 0; i < listing->ports; i++)
		if ((listing->port_at[i].node == a &&
			    listing->port_at[i].peer.start == listing->node_at[b].id.start) ||
			(listing->port_at[i].node == b &&
				listing->port_at[i].peer.start == listing->node_at[a].id.start))
			return true;
	return false;
}

/* Reads "node 5" or "router 3" as a node with the id and name "h5" or "s3". */
static int take_device(struct listing_reader *reader, enum device_kind *kind, uint32_t *node)
{
	struct ib_text word = listing_word(reader), number, name;
	uint32_t value;
	int result;

	*kind = listing_is(word, "router") ? DEVICE_SWITCH : DEVICE_HOST;
	if (*kind == DEVICE_HOST && !listing_is(word, "node")) {
		reader->at = word.start;
		return listing_refuse(reader, "expected 'router' or 'node'");
	}
	number = listing_word(reader);
	result = listing_number(reader, number, 10, UINT16_MAX, &value);
	if (result == 0)
		result = listing_keep(
			reader, &name, "%c%u", *kind == DEVICE_SWITCH ? 's' : 'h', value);
	if (result == 0)
		result = listing_node(reader, *kind, name, name, node);
	if (result == 0)
		reader->listing->node_at[*node].order = value;
	return result;
}

/* Reads the cycles after a link, or sets 1 if there are none. */
static int take_cycles(struct listing_reader *reader, uint32_t *cycles)
{
	const char *before = reader->at;
	struct ib_text word = listing_word(reader);

	*cycles = 1;
	if (word.length > 0 && *word.start >= '0' && *word.start <= '9')
		return listing_number(reader, word, 10, 1000000, cycles);
	reader->at = before;
	return 0;
}

static int read_line(struct listing_reader *reader)
{
	struct listing_end a = {.port = 0}, b = {.port = 0};
	enum device_kind kind, other;
	uint32_t cycles;
	int result = take_device(reader, &kind, &a.node);

	if (result == 0 && kind == DEVICE_HOST)
		return listing_refuse(reader, "expected 'router' at the start of the line");
	while (result == 0 && reader->at < reader->end) {
		result = take_device(reader, &other, &b.node);
		if (result == 0)
			result = take_cycles(reader, &cycles);
		if (result == 0 && !is_connected(reader, a.node, b.node))
			result = listing_connect(
				reader, a, b, 0, cycles * (weft_time)TOPOLOGY_DELAY_PS);
		listing_take(reader, " ");
	}
	return result;
}

LISTING_READER(read_booksim, char, .line = read_line)

const struct topology_format format_booksim = {
	.name = "booksim",
	.help = "network_file of BookSim 2's anynet",
	.write = write_booksim,
	.read = read_booksim,
};
