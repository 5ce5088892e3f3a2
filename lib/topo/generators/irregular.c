/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Random networks as evaluated in the thesis (section 4.4, after Silla et al.): every switch has
 * the same number of hosts and of links to other switches, no two switches have more than one link,
 * and the network is connected.
 *
 * A random walk over such graphs starts from a circulant graph. Each step replaces two links (a,
 * b), (c, d) with (a, d), (c, b) unless that creates a loop or a duplicate link. The walk reaches
 * every graph, and in the limit each equally often (Cooper, Dyer, Greenhill, "Sampling Regular
 * Graphs and a Peer-to-Peer Network", Combinatorics, Probability and Computing 2007).
 * STEPS_PER_LINK steps per link are far more than are needed to make the result independent of the
 * first graph. The walk continues until the graph is connected, so connected graphs are also
 * equally likely.
 *
 * Ports 0 .. degree-1 lead to the neighbours in the order of their numbers; host ports follow. */

#include <errno.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/rng.h"
#include "topo/generator.h"

enum { SWITCHES, DEGREE, HOSTS, PORTS, SEED };

#define STEPS_PER_LINK 50
/* Maximum number of walks until one ends in a connected graph. Only degree 2 needs more than a few:
 * one walk in sqrt(n) / 2.6, in the worst case one in 98, ends in a ring of all n switches. */
#define WALKS_MAX 10000

struct edge {
	uint32_t a, b;
	uint8_t place_a, place_b;
};

struct graph {
	uint32_t switches, degree, edges;
	uint32_t *neighbour; /* neighbours of switch s start at s * degree */
	struct edge *edge;
	bool *seen;
	uint32_t *queue;
	struct arrays arrays;
};

static bool graph_allocate(struct graph *graph)
{
	size_t ends = (size_t)graph->switches * graph->degree;

	ARRAYS_ADD(graph, neighbour, ends + 1);
	ARRAYS_ADD(graph, edge, ends / 2 + 1);
	ARRAYS_ADD(graph, seen, graph->switches);
	ARRAYS_ADD(graph, queue, graph->switches);
	return !graph->arrays.failed;
}

/* Links every switch to the next degree / 2 switches on a ring and, if the degree is odd, to the
 * opposite one. */
static void graph_begin(struct graph *graph)
{
	uint32_t n = graph->switches, half = graph->degree / 2;

	graph->edges = 0;
	for (uint32_t at = 0; at < n; at++) {
		uint32_t *neighbour = &graph->neighbour[(size_t)at * graph->degree];

		for (uint32_t step = 1; step <= half; step++) {
			uint8_t place = (uint8_t)(2 * (step - 1));

			*neighbour++ = (at + step) % n;
			*neighbour++ = (at + n - step) % n;
			graph->edge[graph->edges++] =
				(struct edge){at, (at + step) % n, place, (uint8_t)(place + 1)};
		}
		if (graph->degree % 2 == 0)
			continue;
		*neighbour = (at + n / 2) % n;
		if (at < n / 2)
			graph->edge[graph->edges++] = (struct edge){at, at + n / 2,
				(uint8_t)(graph->degree - 1), (uint8_t)(graph->degree - 1)};
	}
}

/* Returns the position of 'to' in the list of 'from'; NULL if absent. */
static uint32_t *find(const struct graph *graph, uint32_t from, uint32_t to)
{
	uint32_t *neighbour = &graph->neighbour[(size_t)from * graph->degree];

	for (uint32_t i = 0; i < graph->degree; i++)
		if (neighbour[i] == to)
			return &neighbour[i];
	return NULL;
}

static bool linked(const struct graph *graph, uint32_t from, uint32_t to)
{
	return find(graph, from, to) != NULL;
}

static void set_neighbour(struct graph *graph, uint32_t at, uint8_t place, uint32_t to)
{
	graph->neighbour[(size_t)at * graph->degree + place] = to;
}

static void exchange(struct graph *graph, struct rng *rng)
{
	struct edge *first = &graph->edge[rng_below(rng, graph->edges)];
	struct edge *second = &graph->edge[rng_below(rng, graph->edges)];
	struct edge ab = *first, cd = *second;

	if (rng_below(rng, 2) != 0)
		cd = (struct edge){second->b, second->a, second->place_b, second->place_a};
	if (ab.a == cd.a || ab.a == cd.b || ab.b == cd.a || ab.b == cd.b ||
		linked(graph, ab.a, cd.b) || linked(graph, cd.a, ab.b))
		return;
	*first = (struct edge){ab.a, cd.b, ab.place_a, cd.place_b};
	*second = (struct edge){cd.a, ab.b, cd.place_a, ab.place_b};
	set_neighbour(graph, ab.a, ab.place_a, cd.b);
	set_neighbour(graph, cd.b, cd.place_b, ab.a);
	set_neighbour(graph, cd.a, cd.place_a, ab.b);
	set_neighbour(graph, ab.b, ab.place_b, cd.a);
}

static bool connected(struct graph *graph)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < graph->switches; i++)
		graph->seen[i] = false;
	graph->seen[0] = true;
	graph->queue[tail++] = 0;
	while (head < tail) {
		uint32_t *neighbour =
			&graph->neighbour[(size_t)graph->queue[head++] * graph->degree];

		for (uint32_t i = 0; i < graph->degree; i++)
			if (!graph->seen[neighbour[i]]) {
				graph->seen[neighbour[i]] = true;
				graph->queue[tail++] = neighbour[i];
			}
	}
	return tail == graph->switches;
}

static bool walk(struct graph *graph, struct rng *rng)
{
	uint64_t steps = (uint64_t)graph->edges * STEPS_PER_LINK;

	for (unsigned tries = 0; tries < WALKS_MAX; tries++) {
		for (uint64_t step = 0; step < steps; step++)
			exchange(graph, rng);
		if (connected(graph))
			return true;
		steps = (uint64_t)graph->edges * 2;
	}
	return false;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int link_graph(const struct generator_request *request, const struct graph *graph,
	struct topology *topology)
{
	int result = 0;

	for (uint32_t at = 0; at < graph->switches; at++)
		for (unsigned port = 0; port < graph->degree && result == 0; port++) {
			uint32_t to = graph->neighbour[(size_t)at * graph->degree + port];
			size_t first = (size_t)to * graph->degree;

			if (at < to)
				result = generator_link_switches(request, topology, at, port, to,
					(unsigned)(find(graph, to, at) - &graph->neighbour[first]));
		}
	return result;
}

static int check_request(const struct generator_request *request, const struct graph *graph,
	uint64_t needed, uint64_t ports)
{
	uint64_t n = graph->switches, degree = graph->degree;

	if (ports < needed)
		return error_set(request->error, EINVAL,
			"%s: %u links and %u hosts need %u ports per switch, but there are %u",
			request->spec, graph->degree, (unsigned)(needed - degree), (unsigned)needed,
			(unsigned)ports);
	if (degree >= n)
		return error_set(request->error, EINVAL,
			"%s: %u links per switch need as many other switches, but there are %u",
			request->spec, graph->degree, graph->switches - 1);
	if (n * degree % 2 != 0)
		return error_set(request->error, EINVAL,
			"%s: switches or degree must be even, because each link has two ends",
			request->spec);
	if ((degree == 0 && n > 1) || (degree == 1 && n > 2))
		return error_set(request->error, EINVAL,
			"%s: %u switches cannot be connected with %u link%s each", request->spec,
			graph->switches, graph->degree, degree == 1 ? "" : "s");
	return 0;
}

static int make_graph(const struct generator_request *request, struct graph *graph)
{
	struct rng rng;

	if (!graph_allocate(graph))
		return error_set(request->error, ENOMEM, "%s: not enough memory for %u switches",
			request->spec, graph->switches);
	rng_init(&rng, request->values[SEED].number, 0, 0);
	graph_begin(graph);
	if (!walk(graph, &rng))
		return error_set(request->error, EINVAL,
			"%s: found no connected network; try another seed", request->spec);
	for (uint32_t at = 0; at < graph->switches; at++)
		qsort(&graph->neighbour[(size_t)at * graph->degree], graph->degree,
			sizeof(*graph->neighbour), compare_numbers);
	return 0;
}

static int build(const struct generator_request *request, struct topology **topology)
{
	uint64_t switches = request->values[SWITCHES].number;
	uint64_t hosts = request->values[HOSTS].number, ports = request->values[PORTS].number;
	uint64_t degree = request->values[DEGREE].number;
	struct graph graph = {.switches = (uint32_t)switches, .degree = (uint32_t)degree};
	int result;

	if (ports == 0)
		ports = degree + hosts;
	result = check_request(request, &graph, degree + hosts, ports);
	if (result == 0)
		result = generator_create(request, switches, switches * hosts, ports, topology);
	if (result == 0)
		result = make_graph(request, &graph);
	if (result == 0)
		result =
			generator_link_hosts(request, *topology, (uint32_t)hosts, (unsigned)degree);
	if (result == 0)
		result = link_graph(request, &graph, *topology);
	arrays_free(&graph.arrays);
	return result;
}

const struct generator generator_irregular = {
	.name = "irregular",
	.help = "random connected network in which every switch has the same number of links",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_SWITCHES_MAX, 0, "switches"},
		{"degree", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 4,
			"links per switch to others"},
		{"hosts", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 4, "hosts per switch"},
		{"ports", GENERATOR_NUMBER, false, 0, TOPOLOGY_PORTS_MAX, 0,
			"ports per switch; degree + hosts by default"},
		{"seed", GENERATOR_NUMBER, false, 0, UINT64_MAX, 1, "seed of the random numbers"}},
	.build = build,
};

/* The same random graphs, with the options of Jellyfish (Singla, Hong, Popa, Godfrey, "Jellyfish:
 * Networking Data Centers Randomly", NSDI 2012), whose construction approximates them. */
static int build_jellyfish(const struct generator_request *request, struct topology **topology)
{
	struct generator_request irregular = *request;

	irregular.values[SEED] = request->values[PORTS];
	irregular.values[PORTS].number = 0;
	return build(&irregular, topology);
}

const struct generator generator_jellyfish = {
	.name = "jellyfish",
	.help = "random regular graph of switches",
	.options = {{"switches", GENERATOR_NUMBER, true, 1, TOPOLOGY_SWITCHES_MAX, 0, "switches"},
		{"degree", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0,
			"links per switch to others"},
		{"hosts", GENERATOR_NUMBER, true, 0, TOPOLOGY_PORTS_MAX, 0, "hosts per switch"},
		{"seed", GENERATOR_NUMBER, false, 0, UINT64_MAX, 1, "seed of the random numbers"}},
	.build = build_jellyfish,
};
