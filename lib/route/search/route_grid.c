/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_grid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topology.h"

#define EXPECTED_PORTS                                                                                \
	"a mesh, torus or ring (port 2d of dimension d leads to port 2d + 1) or a hypercube (port d " \
	"to port d)"
#define EXPECTED_PLACE "the switch that the other ports imply"

struct survey {
	struct route_grid *grid;
	const struct route_graph *graph;
	struct error *error;
	bool cube;                   /* ports are numbered as in a hypercube */
	bool whole[ROUTE_GRID_DIMS]; /* by dimension: a complete ring was found */
	uint32_t *queue;             /* switches in positioning order, component by component */
	uint32_t *mark;
	struct arrays arrays;
};

static int refuse_arc(const struct survey *survey, uint32_t arc, const char *expected)
{
	const struct route_graph *graph = survey->graph;
	const struct route_arc *out = &graph->arc[arc], *in = &graph->arc[out->back];
	const struct topology *topology = graph->topology;

	return error_set(survey->error, EINVAL, "%s: %s:%u leads to %s:%u; expected %s",
		topology->name, topology->switch_at[in->to].name, out->port,
		topology->switch_at[out->to].name, in->port, expected);
}

/* Determines the kind of grid: hypercube links have equal ports at both ends, others partners. */
static int check_ports(struct survey *survey)
{
	const struct route_graph *graph = survey->graph;
	unsigned ports = 0;

	survey->cube = graph->arcs > 0 && graph->arc[0].port == graph->arc[graph->arc[0].back].port;
	for (uint32_t arc = 0; arc < graph->arcs; arc++) {
		unsigned out = graph->arc[arc].port, in = graph->arc[graph->arc[arc].back].port;

		if ((survey->cube ? out : out ^ 1) != in)
			return refuse_arc(survey, arc, EXPECTED_PORTS);
		ports = out + 1 > ports ? out + 1 : ports;
	}
	survey->grid->dims = survey->cube ? ports : (ports + 1) / 2;
	return 0;
}

/* Returns the dimension of an arc. 'back' may depend on the position of the switch that it leaves.
 */
static unsigned arc_dim(const struct survey *survey, uint32_t at, uint32_t arc, unsigned *back)
{
	unsigned port = survey->graph->arc[arc].port;

	if (survey->cube) {
		*back = route_grid_place(survey->grid, at, port) != 0;
		return port;
	}
	*back = port & 1;
	return port / 2;
}

static void list_arcs(struct survey *survey)
{
	const struct route_graph *graph = survey->graph;
	struct route_grid *grid = survey->grid;

	memset(grid->arc, 0xFF, (size_t)graph->switches * grid->dims * 2 * sizeof(*grid->arc));
	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			unsigned back, dim = arc_dim(survey, at, arc, &back);

			grid->arc[((size_t)at * grid->dims + dim) * 2 + back] = arc;
		}
}

/* Follows one dimension until the path ends or closes, and marks the visited switches. Each switch
 * has at most one link forward and one back, so the path is a ring or a row. Returns the number of
 * links of a ring, or 0. */
static uint32_t walk_ring(struct survey *survey, unsigned dim, uint32_t start)
{
	uint32_t at = start, links = 0;

	do {
		uint32_t arc = route_grid_arc(survey->grid, at, dim, 0);

		survey->mark[at] = dim + 1;
		if (arc == ROUTE_GRAPH_NONE)
			return 0;
		at = survey->graph->arc[arc].to;
		links++;
	} while (survey->mark[at] != dim + 1);
	return at == start ? links : 0;
}

/* Sets the periods. Complete rings determine the number of switches of incomplete ones. */
static int find_periods(struct survey *survey)
{
	const struct route_graph *graph = survey->graph;
	struct route_grid *grid = survey->grid;

	for (unsigned dim = 0; dim < grid->dims; dim++)
		for (uint32_t at = 0; at < graph->switches; at++) {
			uint32_t links;

			if (survey->mark[at] == dim + 1)
				continue;
			links = walk_ring(survey, dim, at);
			if (links != 0 && grid->period[dim] != 0 && links != grid->period[dim])
				return error_set(survey->error, EINVAL,
					"%s: the ring of dimension %u through %s has %u "
					"switches, but the others have %u",
					graph->topology->name, dim,
					graph->topology->switch_at[at].name, links,
					grid->period[dim]);
			if (links != 0)
				grid->period[dim] = links;
			survey->whole[dim] |= links != 0;
		}
	return 0;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Checks an arc to a switch that already has a position. The positions must match, or differ by a
 * multiple of the ring size. If no ring is complete, the difference determines that size. */
static int compare_places(
	struct survey *survey, uint32_t at, uint32_t arc, unsigned dim, int32_t step)
{
	struct route_grid *grid = survey->grid;
	uint32_t to = survey->graph->arc[arc].to, rest = 0;
	unsigned open = 0, which = 0;

	for (unsigned i = 0; i < grid->dims; i++) {
		int32_t delta = route_grid_place(grid, at, i) + (i == dim ? step : 0) -
				route_grid_place(grid, to, i);
		uint32_t distance = (uint32_t)abs(delta);

		if (distance == 0 || (grid->period[i] != 0 && distance % grid->period[i] == 0))
			continue;
		if (survey->whole[i])
			return refuse_arc(survey, arc, EXPECTED_PLACE);
		open++;
		which = i;
		rest = distance;
	}
	if (open == 0)
		return 0;
	if (open > 1 || survey->cube)
		return refuse_arc(survey, arc, EXPECTED_PLACE);
	grid->period[which] = common_divisor(rest, grid->period[which]);
	return 0;
}

static void set_place(struct survey *survey, uint32_t at, uint32_t to, unsigned dim, int32_t step)
{
	struct route_grid *grid = survey->grid;
	int32_t *place = grid->place + (size_t)to * grid->dims;

	memcpy(place, grid->place + (size_t)at * grid->dims, grid->dims * sizeof(*place));
	place[dim] += step;
	grid->piece[to] = grid->piece[at];
}

static int place_piece(struct survey *survey, uint32_t start, uint32_t *tail)
{
	const struct route_graph *graph = survey->graph;
	uint32_t head = *tail;

	survey->grid->piece[start] = start;
	for (survey->queue[(*tail)++] = start; head < *tail; head++) {
		uint32_t at = survey->queue[head];

		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++) {
			uint32_t to = graph->arc[arc].to;
			unsigned back, dim = arc_dim(survey, at, arc, &back);
			int32_t step = back ? -1 : 1;
			int result;

			if (survey->grid->piece[to] == ROUTE_GRAPH_NONE) {
				set_place(survey, at, to, dim, step);
				survey->queue[(*tail)++] = to;
				continue;
			}
			result = compare_places(survey, at, arc, dim, step);
			if (result < 0)
				return result;
		}
	}
	return 0;
}

/* Converts the positions of a component, switches queue[first] to queue[end - 1], to final form. */
static void settle_piece(struct survey *survey, uint32_t first, uint32_t end, uint32_t *extent)
{
	struct route_grid *grid = survey->grid;

	for (unsigned dim = 0; dim < grid->dims; dim++) {
		int32_t period = (int32_t)grid->period[dim], min = 0, max = 0;

		for (uint32_t i = first; i < end; i++) {
			int32_t *place = &grid->place[(size_t)survey->queue[i] * grid->dims + dim];

			if (period != 0)
				*place = (*place % period + period) % period;
			min = *place < min ? *place : min;
			max = *place > max ? *place : max;
		}
		for (uint32_t i = first; i < end; i++)
			grid->place[(size_t)survey->queue[i] * grid->dims + dim] -= min;
		extent[dim] = (uint32_t)(max - min) + 1;
	}
}

static int refuse_piece(const struct survey *survey, uint32_t at)
{
	const struct topology *topology = survey->graph->topology;

	return error_set(survey->error, EINVAL,
		"%s: the port numbers around %s do not match a grid; use a mesh, torus, ring or "
		"hypercube",
		topology->name, topology->switch_at[at].name);
}

/* Fails if two switches of a component have the same position. 'mark' is indexed by position, and
 * holds the component. */
static int check_piece(struct survey *survey, uint32_t first, uint32_t end, const uint32_t *extent)
{
	struct route_grid *grid = survey->grid;
	uint64_t cells = 1;

	for (unsigned dim = 0; dim < grid->dims; dim++) {
		cells *= extent[dim];
		if (cells > TOPOLOGY_SWITCHES_MAX)
			return refuse_piece(survey, survey->queue[first]);
	}
	for (uint32_t i = first; i < end; i++) {
		uint32_t at = survey->queue[i], cell = 0;

		for (unsigned dim = grid->dims; dim-- > 0;)
			cell = cell * extent[dim] + (uint32_t)route_grid_place(grid, at, dim);
		if (survey->mark[cell] == grid->piece[at])
			return refuse_piece(survey, at);
		survey->mark[cell] = grid->piece[at];
	}
	return 0;
}

static int place_all(struct survey *survey)
{
	const struct route_graph *graph = survey->graph;
	uint32_t extent[ROUTE_GRID_DIMS], tail = 0, first = 0;
	int result = 0;

	for (uint32_t at = 0; at < graph->switches && result == 0; at++)
		if (survey->grid->piece[at] == ROUTE_GRAPH_NONE)
			result = place_piece(survey, at, &tail);
	memset(survey->mark, 0xFF, (TOPOLOGY_SWITCHES_MAX + 1u) * sizeof(*survey->mark));
	while (first < tail && result == 0) {
		uint32_t end = first;

		while (end < tail && survey->grid->piece[survey->queue[end]] ==
					     survey->grid->piece[survey->queue[first]])
			end++;
		settle_piece(survey, first, end, extent);
		result = check_piece(survey, first, end, extent);
		first = end;
	}
	return result;
}

static int make(struct survey *survey)
{
	struct route_grid *grid = survey->grid;
	size_t entries = (size_t)survey->graph->switches * grid->dims + 1;

	ARRAYS_ADD(grid, place, entries);
	ARRAYS_ADD(grid, arc, 2 * entries);
	ARRAYS_ADD(grid, piece, survey->graph->switches);
	ARRAYS_ADD(survey, queue, survey->graph->switches + 1u);
	ARRAYS_ADD(survey, mark, TOPOLOGY_SWITCHES_MAX + 1u);
	if (survey->arrays.failed || grid->arrays.failed)
		return route_graph_no_memory(survey->graph, survey->error);
	memset(grid->piece, 0xFF, survey->graph->switches * sizeof(*grid->piece));
	if (!survey->cube) {
		int result;

		list_arcs(survey);
		result = find_periods(survey);
		if (result < 0)
			return result;
	}
	return place_all(survey);
}

int route_grid_make(struct route_grid *grid, const struct route_graph *graph, struct error *error)
{
	struct survey survey = {.grid = grid, .graph = graph, .error = error};
	int result;

	*grid = (struct route_grid){.graph = graph};
	result =
		topology_check_ports(graph->topology, TOPOLOGY_PORTS_RUN, "dimension order", error);
	if (result == 0)
		result = check_ports(&survey);
	if (result == 0)
		result = make(&survey);
	if (result == 0)
		list_arcs(&survey); /* only now is the direction of a hypercube's arcs known */
	else
		route_grid_free(grid);
	arrays_free(&survey.arrays);
	return result;
}

void route_grid_free(struct route_grid *grid)
{
	arrays_free(&grid->arrays);
}
