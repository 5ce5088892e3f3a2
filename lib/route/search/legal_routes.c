/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "legal_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "itb_routes.h"
#include "route/route_set.h"

/* States. A message at switch s may still go up (state 2s), or has gone down (2s + 1).
 *     an up arc s -> t leads from (s, up) to (t, up);
 *     a down arc s -> t leads from (s, up) and from (s, down) to (t, down);
 *     with in-transit buffers, an up arc s -> t also leads from (s, down) to (t, up) if s has
 *         hosts. */
#define STATE(at, down) (2u * (at) + (down))
#define NO_WAY          UINT32_MAX

struct legal_search {
	const struct route_graph *graph;
	const bool *up;
	bool absorb;          /* allow up after down at switches with hosts */
	uint32_t *links;      /* by state: remaining links, or NO_WAY */
	uint64_t *count;      /* by state: number of routes of that length */
	uint32_t *queue;      /* states to visit */
	uint32_t *first_step; /* state i has step[first_step[i]] to step[first_step[i + 1] - 1] */
	uint32_t *step;       /* arcs that start a shortest remaining path; NULL in a copy */
	struct arrays arrays;
};

static struct legal_search *create(const struct route_graph *graph, const bool *up, bool absorb)
{
	struct legal_search *search = calloc(1, sizeof(*search));
	size_t states = 2u * graph->switches;

	if (search == NULL)
		return NULL;
	search->graph = graph;
	search->up = up;
	search->absorb = absorb;
	ARRAYS_ADD(search, links, states + 1);
	ARRAYS_ADD(search, count, states + 1);
	ARRAYS_ADD(search, queue, states + 1);
	ARRAYS_ADD(search, first_step, states + 1);
	ARRAYS_ADD(search, step, 2u * graph->arcs + 1u);
	if (!search->arrays.failed)
		return search;
	legal_search_destroy(search);
	errno = ENOMEM;
	return NULL;
}

struct legal_search *legal_search_create(const struct route_graph *graph, const bool *up)
{
	return create(graph, up, false);
}

struct legal_search *legal_search_create_itb(const struct route_graph *graph, const bool *up)
{
	return create(graph, up, true);
}

/* Copies the results of the last search to a smaller object that any thread may read. Returns NULL
 * with errno ENOMEM if out of memory. */
static struct legal_search *legal_search_copy(const struct legal_search *search)
{
	struct legal_search *copy = calloc(1, sizeof(*copy));
	size_t states = 2u * search->graph->switches;

	if (copy == NULL)
		return NULL;
	copy->graph = search->graph;
	copy->up = search->up;
	copy->absorb = search->absorb;
	ARRAYS_ADD(copy, links, states + 1);
	ARRAYS_ADD(copy, count, states + 1);
	if (copy->arrays.failed) {
		legal_search_destroy(copy);
		errno = ENOMEM;
		return NULL;
	}
	memcpy(copy->links, search->links, states * sizeof(*copy->links));
	memcpy(copy->count, search->count, states * sizeof(*copy->count));
	return copy;
}

static size_t legal_search_copy_bytes(const struct route_graph *graph)
{
	return 2u * graph->switches * (sizeof(uint32_t) + sizeof(uint64_t));
}

void legal_search_destroy(struct legal_search *search)
{
	ARRAYS_DESTROY(search);
}

/* Returns true if a message that arrived at the switch going down may take an arc of this label. */
static bool may_follow_down(const struct legal_search *search, uint32_t at, bool up)
{
	return !up || (search->absorb && route_graph_hosts_at(search->graph, at) > 0);
}

/* Adds what 'after' reaches to state 'before', with one more link. */
static void meet(struct legal_search *search, uint32_t before, uint32_t after, uint32_t *tail)
{
	if (search->links[before] == NO_WAY) {
		search->links[before] = search->links[after] + 1;
		search->queue[(*tail)++] = before;
	}
	if (search->links[before] == search->links[after] + 1) {
		uint64_t sum = search->count[before] + search->count[after];

		search->count[before] = sum < LEGAL_ROUTES_COUNT_MAX ? sum : LEGAL_ROUTES_COUNT_MAX;
	}
}

/* Expands all states from which one arc leads to 'state'. */
static void meet_all_before(struct legal_search *search, uint32_t state, uint32_t *tail)
{
	const struct route_graph *graph = search->graph;
	uint32_t at = state / 2, down = state % 2;

	for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
		uint32_t from = graph->arc[out].to;
		bool up = search->up[graph->arc[out].back];

		if (up != (down == 0))
			continue;
		meet(search, STATE(from, 0), state, tail);
		if (may_follow_down(search, from, up))
			meet(search, STATE(from, 1), state, tail);
	}
}

static uint32_t state_after(const struct legal_search *search, uint32_t arc)
{
	return STATE(search->graph->arc[arc].to, search->up[arc] ? 0u : 1u);
}

/* Returns true if the arc, which leaves the state's switch, starts a shortest remaining path. */
static bool is_step(const struct legal_search *search, uint32_t state, uint32_t arc)
{
	return (state % 2 == 0 || may_follow_down(search, state / 2, search->up[arc])) &&
	       search->links[state_after(search, arc)] + 1 == search->links[state];
}

/* Lists the arcs that start a shortest remaining path, for every state. */
static void list_steps(struct legal_search *search)
{
	const struct route_graph *graph = search->graph;
	uint32_t steps = 0;

	for (uint32_t state = 0; state < 2 * graph->switches; state++) {
		uint32_t at = state / 2;

		search->first_step[state] = steps;
		if (search->links[state] == NO_WAY || search->links[state] == 0)
			continue;
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (is_step(search, state, arc))
				search->step[steps++] = arc;
	}
	search->first_step[2 * graph->switches] = steps;
}

void legal_search_run(struct legal_search *search, uint32_t destination)
{
	uint32_t states = 2 * search->graph->switches, tail = 0;

	memset(search->links, 0xFF, states * sizeof(*search->links));
	memset(search->count, 0, states * sizeof(*search->count));
	for (uint32_t down = 0; down < 2; down++) {
		search->links[STATE(destination, down)] = 0;
		search->count[STATE(destination, down)] = 1;
		search->queue[tail++] = STATE(destination, down);
	}
	for (uint32_t head = 0; head < tail; head++)
		meet_all_before(search, search->queue[head], &tail);
	list_steps(search);
}

uint64_t legal_search_count(const struct legal_search *search, uint32_t source)
{
	return search->count[STATE(source, 0)];
}

unsigned legal_search_links(const struct legal_search *search, uint32_t source)
{
	return search->links[STATE(source, 0)];
}

/* Returns the next arc of route '*rank', and sets '*rank' to the route's rank in the next state. */
static uint32_t choose_step(const struct legal_search *search, uint32_t state, uint64_t *rank)
{
	const uint32_t *step;
	uint32_t arc;

	if (search->step != NULL) {
		step = search->step + search->first_step[state];
		while (*rank >= search->count[state_after(search, *step)])
			*rank -= search->count[state_after(search, *step++)];
		return *step;
	}
	for (arc = search->graph->first_arc[state / 2];; arc++) {
		if (!is_step(search, state, arc))
			continue;
		if (*rank < search->count[state_after(search, arc)])
			return arc;
		*rank -= search->count[state_after(search, arc)];
	}
}

void legal_search_arcs(
	const struct legal_search *search, uint32_t source, uint64_t rank, uint32_t *arcs)
{
	uint32_t state = STATE(source, 0);

	while (search->links[state] > 0) {
		*arcs = choose_step(search, state, &rank);
		state = state_after(search, *arcs++);
	}
}

/* Memory limit of the searches to all switches. */
#define PAIRS_BYTES_MAX ((size_t)256 << 20)

struct fill {
	const struct route_graph *graph;
	const bool *up;
	const struct route_options *options;
	struct route_set *set;
};

static int add_pair(const struct fill *fill, const struct legal_search *search, uint32_t source,
	uint32_t destination, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	const struct route_options *options = fill->options;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct route_path path = {.links = legal_search_links(search, at)};
	uint64_t ranks[ROUTE_ALTERNATIVES_MAX];
	struct rng rng;
	unsigned drawn;
	int result = 0;

	rng_init(&rng, options->seed, per_host ? source : at, per_host ? destination : to);
	drawn = rank_draw(&rng, legal_search_count(search, at), options->alternatives, ranks);
	for (unsigned i = 0; i < drawn && result == 0; i++) {
		if (path.links <= ROUTE_LINKS_MAX) /* else route_path_add() refuses the path */
			legal_search_arcs(search, at, ranks[i], path.arc);
		result = route_path_add(
			graph, options, fill->set, source, destination, &path, error);
	}
	return result;
}

static int add_destination(const struct fill *fill, const struct legal_search *search,
	uint32_t destination, struct error *error)
{
	for (uint32_t source = 0; source < fill->graph->hosts; source++) {
		uint32_t at = fill->graph->host_switch[source];
		int result;

		if (source == destination || at == ROUTE_GRAPH_NONE ||
			legal_search_count(search, at) == 0)
			continue;
		result = add_pair(fill, search, source, destination, error);
		if (result < 0)
			return result;
	}
	return 0;
}

static int fill_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct legal_search *search = legal_search_create(graph, fill->up);
	int result = 0;

	if (search == NULL)
		return route_graph_no_memory(graph, error);
	for (uint32_t at = job; at < graph->switches && result == 0; at += jobs) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(search, at);
		for (uint32_t i = graph->first_host[at];
			i < graph->first_host[at + 1] && result == 0; i++)
			result = add_destination(fill, search, graph->host_of[i], error);
	}
	legal_search_destroy(search);
	return result;
}

int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	struct fill fill = {graph, up, options, set};

	return route_jobs_run(options->jobs, fill_part, &fill, error);
}

int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error)
{
	bool *up = calloc(graph->arcs + 1u, sizeof(*up));
	int result;

	if (up == NULL)
		return route_graph_no_memory(graph, error);
	result = label(graph, options->root, up, error);
	if (result == 0)
		result = legal_routes_fill(graph, up, options, set, error);
	free(up);
	return result;
}

/* --- pair by pair --- */

struct pairs {
	struct route_maker maker;
	bool *up;
	struct legal_search **toward; /* by switch with hosts; else NULL */
};

static int add(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct pairs *pairs = (const struct pairs *)maker;
	const struct fill fill = {maker->graph, pairs->up, maker->options, set};

	return add_pair(&fill, pairs->toward[maker->graph->host_switch[destination]], source,
		destination, error);
}

static uint32_t row(const struct route_maker *maker, uint32_t host)
{
	return maker->options->granularity == ROUTE_PER_HOST_PAIR ? host
								  : maker->graph->host_switch[host];
}

static unsigned elements(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return legal_search_links(((const struct pairs *)maker)->toward[to], from) + 2;
}

static void destroy(struct route_maker *maker)
{
	struct pairs *pairs = (struct pairs *)maker;

	for (uint32_t at = 0; pairs->toward != NULL && at < maker->graph->switches; at++)
		legal_search_destroy(pairs->toward[at]);
	free(pairs->toward);
	free(pairs->up);
	free(pairs);
}

/* Returns true if every switch with hosts has a path that fits into a frame. */
static bool reached_by_all(const struct route_graph *graph, const struct legal_search *search)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		if (route_graph_hosts_at(graph, at) > 0 &&
			(legal_search_count(search, at) == 0 ||
				legal_search_links(search, at) > ROUTE_LINKS_MAX))
			return false;
	return true;
}

static int search_all(struct pairs *pairs)
{
	const struct route_graph *graph = pairs->maker.graph;
	struct legal_search *search = legal_search_create(graph, pairs->up);
	int result = search == NULL ? -ENOMEM : 0;
	uint32_t searches = 0;

	for (uint32_t at = 0; at < graph->switches; at++)
		searches += route_graph_hosts_at(graph, at) > 0;
	pairs->maker.complete = searches * legal_search_copy_bytes(graph) <= PAIRS_BYTES_MAX;
	for (uint32_t at = 0; at < graph->switches && pairs->maker.complete && result == 0; at++) {
		if (route_graph_hosts_at(graph, at) == 0)
			continue;
		legal_search_run(search, at);
		pairs->maker.complete = reached_by_all(graph, search);
		pairs->toward[at] = legal_search_copy(search);
		result = pairs->toward[at] == NULL ? -ENOMEM : 0;
	}
	legal_search_destroy(search);
	return result;
}

int legal_routes_pairs(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_maker **maker, struct error *error)
{
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	int result;

	*maker = NULL;
	if (pairs == NULL)
		return route_graph_no_memory(graph, error);
	pairs->maker = (struct route_maker){
		.graph = graph,
		.options = options,
		.add = add,
		.row = row,
		.elements = elements,
		.destroy = destroy,
	};
	pairs->up = calloc(graph->arcs + 1u, sizeof(*pairs->up));
	pairs->toward = calloc(graph->switches + 1u, sizeof(struct legal_search *));
	result = pairs->up == NULL || pairs->toward == NULL ? -ENOMEM : 0;
	if (result == 0 && label != NULL)
		result = label(graph, options->root, pairs->up, error);
	if (result == 0)
		result = search_all(pairs);
	if (result == -ENOMEM)
		route_graph_no_memory(graph, error);
	if (result == 0)
		*maker = &pairs->maker;
	else
		destroy(&pairs->maker);
	return result;
}
