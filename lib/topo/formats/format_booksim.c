/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The network_file of BookSim 2's topology 'anynet' (read by its src/networks/anynet.cpp): a line
 * for each switch, "router A node N … router B LATENCY …". Hosts are nodes with the same number.
 * Latencies are cycles, one for each direction; the link with the shortest delay has one cycle, the
 * others are proportional. BookSim has neither ports nor rates, gives nodes one cycle, and allows
 * one link between two routers. */

#include <errno.h>
#include <stdlib.h>

#include "topology_format.h"

static bool between_switches(const struct topology_link *link)
{
	return link->a.kind == DEVICE_SWITCH && link->b.kind == DEVICE_SWITCH;
}

/* The shortest nonzero delay between switches; 1 if none. */
static weft_time shortest_delay(const struct topology *topology)
{
	weft_time shortest = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (between_switches(link) && link->delay_ps != 0 && link->delay_ps < shortest)
			shortest = link->delay_ps;
	}
	return shortest == WEFT_TIME_NEVER ? 1 : shortest;
}

/* Refuses a second link between two switches; 'mark' has room for one number per switch. */
static int check_parallel(const struct topology *topology, uint32_t *mark, struct fault *fault)
{
	struct topology_port peer;

	for (uint32_t s = 0; s < topology->switches; s++) {
		struct topology_port port = {DEVICE_SWITCH, s, 0};

		for (; port.port < TOPOLOGY_PORTS_MAX; port.port++) {
			if (!topology_peer(topology, port, &peer) || peer.kind != DEVICE_SWITCH)
				continue;
			if (mark[peer.device] == s + 1)
				return fault_set(fault, EINVAL,
					"%s: switches %s and %s have more than one link, BookSim "
					"can have one between two routers",
					topology->name, topology->switch_at[s].name,
					topology->switch_at[peer.device].name);
			mark[peer.device] = s + 1;
		}
	}
	return 0;
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

static int write_booksim(const struct topology *topology, FILE *out, struct fault *fault)
{
	uint32_t *mark = calloc((size_t)topology->switches + 1, sizeof(*mark));
	weft_time shortest = shortest_delay(topology);
	int result;

	if (mark == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", topology->name);
	result = check_parallel(topology, mark, fault);
	free(mark);
	for (uint32_t s = 0; s < topology->switches && result == 0; s++)
		write_router(topology, s, shortest, out);
	return result;
}

const struct topology_format format_booksim = {
	.name = "booksim",
	.help = "network_file of BookSim 2's anynet",
	.write = write_booksim,
};
