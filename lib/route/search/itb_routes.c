/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_routes.h"

#include <stdlib.h>
#include <string.h>

/* Separates the draws that assign copies to pairs of hosts from other draws. */
#define SHARE_STREAM ((uint64_t)3 << 32)

enum state { UNDECIDED, USABLE, UNUSABLE };

struct fill {
	const struct route_graph *graph;
	const struct route_options *options;
	const struct itb_rule *rule;
	struct route_set *set;
	struct minimal_paths paths;
	struct balance balance; /* empty if paths are drawn at random */
	uint8_t *share;         /* balanced: first choice of each pair of hosts */
	uint64_t *first_share;  /* by pair of switches */
	uint64_t *itb;          /* by path */
	uint8_t *state;         /* by path */
	uint32_t *found_at;     /* by pair of switches: index in 'found', plus 1 */
	struct route_path *found;
	uint32_t founds, found_room;
	bool others; /* some pair cannot use its first choice */
	struct arrays arrays;
};

struct route_path itb_routes_path(const struct minimal_paths *paths, size_t pair, unsigned i)
{
	const struct minimal_pair *of = &paths->pair[pair];
	struct route_path path;

	path.itb = 0;
	path.links = of->links;
	memcpy(path.arc, of->arc + (size_t)i * of->links, of->links * sizeof(*path.arc));
	return path;
}

/* A pair of hosts. */
struct couple {
	uint32_t source, destination;
	size_t pair; /* index of the pair of their switches */
};

static struct couple couple_of(const struct fill *fill, uint32_t source, uint32_t destination)
{
	const struct route_graph *graph = fill->graph;
	size_t from = fill->paths.place_of[graph->host_switch[source]];

	return (struct couple){source, destination,
		from * fill->paths.places + fill->paths.place_of[graph->host_switch[destination]]};
}

static uint32_t host_place(const struct route_graph *graph, uint32_t host)
{
	const uint32_t *first = graph->host_of + graph->first_host[graph->host_switch[host]];
	uint32_t place = 0;

	while (first[place] != host)
		place++;
	return place;
}

/* Assigns the remaining copies to the pairs of hosts in random order. */
static void share_out(struct fill *fill, size_t number, uint8_t *share)
{
	const struct minimal_pair *pair = &fill->paths.pair[number];
	uint32_t given = 0;
	struct rng rng;

	rng_init(&rng, fill->options->seed, number, SHARE_STREAM);
	for (uint32_t i = 0; i < pair->paths; i++)
		for (uint32_t k = 0; k < fill->balance.copies[pair->first + i]; k++, given++) {
			uint64_t at = rng_below(&rng, given + 1u);

			share[given] = share[at];
			share[at] = (uint8_t)i;
		}
}

static int share_out_all(struct fill *fill)
{
	const struct minimal_paths *paths = &fill->paths;
	size_t pairs = (size_t)paths->places * paths->places;
	uint64_t shares = 0;

	ARRAYS_ADD(fill, first_share, pairs + 1);
	if (fill->arrays.failed)
		return -ENOMEM;
	for (size_t i = 0; i < pairs; i++) {
		fill->first_share[i] = shares;
		shares += minimal_paths_host_pairs(paths, i);
	}
	ARRAYS_ADD(fill, share, shares + 1);
	if (fill->arrays.failed)
		return -ENOMEM;
	for (size_t i = 0; i < pairs; i++)
		share_out(fill, i, fill->share + fill->first_share[i]);
	return 0;
}

static unsigned balanced_choices(
	const struct fill *fill, const struct couple *couple, unsigned wanted, uint64_t *choice)
{
	const struct route_graph *graph = fill->graph;
	const struct minimal_pair *pair = &fill->paths.pair[couple->pair];
	const uint8_t *order = fill->balance.order + pair->first;
	unsigned choices = 0;
	uint64_t place = 0;

	if (pair->paths == 0)
		return 0;
	if (fill->options->granularity == ROUTE_PER_HOST_PAIR)
		place = (uint64_t)host_place(graph, couple->source) *
				route_graph_hosts_at(
					graph, graph->host_switch[couple->destination]) +
			host_place(graph, couple->destination);
	choice[choices++] = fill->share[fill->first_share[couple->pair] + place];
	for (unsigned i = 0; i < pair->paths && choices < wanted; i++)
		if (order[i] != choice[0])
			choice[choices++] = order[i];
	return choices;
}

/* Returns the candidates of a pair of hosts in order of preference, 'wanted' of them or all. */
static unsigned choices_of(
	const struct fill *fill, const struct couple *couple, unsigned wanted, uint64_t *choice)
{
	const struct route_graph *graph = fill->graph;
	bool per_host = fill->options->granularity == ROUTE_PER_HOST_PAIR;
	struct rng rng;

	if (fill->share != NULL)
		return balanced_choices(fill, couple, wanted, choice);
	rng_init(&rng, fill->options->seed,
		per_host ? couple->source : graph->host_switch[couple->source],
		per_host ? couple->destination : graph->host_switch[couple->destination]);
	return rank_draw(&rng, fill->paths.pair[couple->pair].paths, wanted, choice);
}

static void decide(struct fill *fill, size_t pair, unsigned i)
{
	struct route_path path = itb_routes_path(&fill->paths, pair, i);
	uint32_t number = fill->paths.pair[pair].first + i;

	if (fill->state[number] != UNDECIDED)
		return;
	fill->state[number] = fill->rule->place(fill->rule->context, &path) ? USABLE : UNUSABLE;
	fill->itb[number] = path.itb;
}

static int refuse(const struct fill *fill, size_t pair, int result, struct error *error)
{
	const struct topology *topology = fill->graph->topology;
	const struct minimal_paths *paths = &fill->paths;

	if (result == -ENOMEM)
		return route_graph_no_memory(fill->graph, error);
	return error_set(error, EINVAL, "%s: no path from %s to %s has at most %u route elements",
		topology->name, topology->switch_at[paths->switch_of[pair / paths->places]].name,
		topology->switch_at[paths->switch_of[pair % paths->places]].name,
		ROUTE_ELEMENTS_MAX);
}

static int find(struct fill *fill, size_t pair, struct error *error)
{
	int result;

	if (fill->found_at[pair] != 0)
		return 0;
	if (!array_reserve(&fill->found, &fill->found_room, fill->founds + 1, sizeof(*fill->found)))
		return route_graph_no_memory(fill->graph, error);
	result = fill->rule->find(
		fill->rule->context, &fill->paths, pair, &fill->found[fill->founds]);
	if (result < 0)
		return refuse(fill, pair, result, error);
	fill->found_at[pair] = ++fill->founds;
	return 0;
}

/* Decides on the candidates of a pair of hosts until 'wanted' are usable. */
static int decide_couple(
	struct fill *fill, const struct couple *couple, unsigned wanted, struct error *error)
{
	const struct minimal_pair *pair = &fill->paths.pair[couple->pair];
	uint64_t choice[MINIMAL_PATHS_MAX];
	unsigned usable = 0, seen = 0;

	for (unsigned ask = wanted; usable < wanted && seen < pair->paths;
		ask = MINIMAL_PATHS_MAX) {
		unsigned choices = choices_of(fill, couple, ask, choice);

		for (; seen < choices && usable < wanted; seen++) {
			decide(fill, couple->pair, (unsigned)choice[seen]);
			usable += fill->state[pair->first + choice[seen]] == USABLE;
			fill->others |= usable == 0;
		}
	}
	return usable == 0 && pair->paths > 0 ? find(fill, couple->pair, error) : 0;
}

/* Returns true if the host has its own choice. With ROUTE_PER_SWITCH_PAIR, only the first host of a
 * switch has one. */
static bool decides(const struct fill *fill, uint32_t host)
{
	const struct route_graph *graph = fill->graph;
	uint32_t at = graph->host_switch[host];

	return at != ROUTE_GRAPH_NONE && (fill->options->granularity == ROUTE_PER_HOST_PAIR ||
						 graph->host_of[graph->first_host[at]] == host);
}

static int decide_all(struct fill *fill, unsigned wanted, struct error *error)
{
	bool per_host = fill->options->granularity == ROUTE_PER_HOST_PAIR;
	int result = 0;

	for (uint32_t source = 0; source < fill->graph->hosts && result == 0; source++) {
		if (!decides(fill, source))
			continue;
		for (uint32_t to = 0; to < fill->graph->hosts && result == 0; to++) {
			struct couple couple;

			if ((to == source && per_host) || !decides(fill, to))
				continue;
			couple = couple_of(fill, source, to);
			result = decide_couple(fill, &couple, wanted, error);
		}
	}
	return result;
}

/* Returns the usable paths of a pair of hosts, best first, up to options->alternatives. */
static unsigned usable_paths(
	const struct fill *fill, const struct couple *couple, struct route_path *path)
{
	const struct minimal_pair *pair = &fill->paths.pair[couple->pair];
	unsigned wanted = fill->options->alternatives, paths = 0, seen = 0;
	uint64_t choice[MINIMAL_PATHS_MAX];

	if (fill->found_at[couple->pair] != 0) {
		path[0] = fill->found[fill->found_at[couple->pair] - 1];
		return 1;
	}
	for (unsigned ask = wanted; paths < wanted && seen < pair->paths; ask = MINIMAL_PATHS_MAX) {
		unsigned choices = choices_of(fill, couple, ask, choice);

		for (; seen < choices && paths < wanted; seen++) {
			if (fill->state[pair->first + choice[seen]] != USABLE)
				continue;
			path[paths] =
				itb_routes_path(&fill->paths, couple->pair, (unsigned)choice[seen]);
			path[paths++].itb = fill->itb[pair->first + choice[seen]];
		}
	}
	return paths;
}

static int add_couple(const struct fill *fill, const struct couple *couple, struct error *error)
{
	struct route_path path[ROUTE_ALTERNATIVES_MAX];
	unsigned paths = usable_paths(fill, couple, path);
	int result = 0;

	for (unsigned i = 0; i < paths && result == 0; i++)
		result = route_path_add(fill->graph, fill->options, fill->set, couple->source,
			couple->destination, &path[i], error);
	return result;
}

static int add_from_hosts(
	const struct fill *fill, uint32_t from, uint32_t destination, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	int result = 0;

	for (uint32_t i = graph->first_host[from]; i < graph->first_host[from + 1] && result == 0;
		i++) {
		struct couple couple;

		if (graph->host_of[i] == destination)
			continue;
		couple = couple_of(fill, graph->host_of[i], destination);
		result = add_couple(fill, &couple, error);
	}
	return result;
}

/* Adds all routes from the hosts of one switch to the hosts of another; both must have hosts. */
static int add_between(const struct fill *fill, uint32_t from, uint32_t to, struct error *error)
{
	const struct route_graph *graph = fill->graph;
	struct route_path path[ROUTE_ALTERNATIVES_MAX];
	struct couple couple;
	int result = 0;

	if (fill->options->granularity == ROUTE_PER_SWITCH_PAIR) {
		couple = couple_of(fill, graph->host_of[graph->first_host[from]],
			graph->host_of[graph->first_host[to]]);
		return route_path_add_all(graph, fill->options, fill->set, from, to, path,
			usable_paths(fill, &couple, path), error);
	}
	for (uint32_t i = graph->first_host[to]; i < graph->first_host[to + 1] && result == 0; i++)
		result = add_from_hosts(fill, from, graph->host_of[i], error);
	return result;
}

static int add_part(void *context, unsigned job, unsigned jobs, struct error *error)
{
	const struct fill *fill = context;
	const struct minimal_paths *paths = &fill->paths;
	int result = 0;

	for (uint32_t to = job; to < paths->places; to += jobs)
		for (uint32_t from = 0; from < paths->places && result == 0; from++)
			result = add_between(
				fill, paths->switch_of[from], paths->switch_of[to], error);
	return result;
}

static int fill_init(struct fill *fill, bool balanced, struct error *error)
{
	struct minimal_paths *paths = &fill->paths;
	int result = minimal_paths_make(fill->graph, fill->options, paths, error);

	if (result < 0) {
		*paths = (struct minimal_paths){.graph = fill->graph};
		return result;
	}
	ARRAYS_ADD(fill, itb, paths->paths + 1u);
	ARRAYS_ADD(fill, state, paths->paths + 1u);
	ARRAYS_ADD(fill, found_at, (size_t)paths->places * paths->places + 1);
	if (fill->arrays.failed)
		return route_graph_no_memory(fill->graph, error);
	if (!balanced)
		return 0;
	result = balance_make(paths, fill->options->granularity, &fill->balance, error);
	if (result < 0) {
		fill->balance = (struct balance){0};
		return result;
	}
	return share_out_all(fill) < 0 ? route_graph_no_memory(fill->graph, error) : 0;
}

static void fill_fini(struct fill *fill)
{
	minimal_paths_free(&fill->paths);
	balance_free(&fill->balance);
	arrays_free(&fill->arrays);
	free(fill->found);
}

int itb_routes_fill(const struct route_graph *graph, const struct route_options *options,
	bool balanced, const struct itb_rule *rule, struct route_set *set, struct error *error)
{
	struct fill fill = {.graph = graph, .options = options, .rule = rule, .set = set};
	int result = fill_init(&fill, balanced, error);

	for (unsigned wanted = 1; wanted <= options->alternatives && result == 0; wanted++)
		result = decide_all(&fill, wanted, error);
	if (result == 0)
		result = route_jobs_run(options->jobs, add_part, &fill, error);
	if (balanced && !fill.others)
		route_set_note_excess(set, fill.balance.excess);
	fill_fini(&fill);
	return result;
}

/* --- rank draw --- */

/* Generates the first elements of a random permutation of 0 to count - 1 (Fisher and Yates). Stores
 * only the elements that moved. */
unsigned rank_draw(struct rng *rng, uint64_t count, unsigned wanted, uint64_t *ranks)
{
	uint64_t place[ROUTE_ALTERNATIVES_MAX], moved[ROUTE_ALTERNATIVES_MAX];
	unsigned drawn = count < wanted ? (unsigned)count : wanted;

	for (unsigned i = 0; i < drawn; i++) {
		uint64_t at = i + rng_below(rng, count - i), here = i;

		ranks[i] = at;
		for (unsigned k = 0; k < i; k++) {
			if (place[k] == at)
				ranks[i] = moved[k];
			if (place[k] == i)
				here = moved[k];
		}
		place[i] = at;
		moved[i] = here;
	}
	return drawn;
}
