/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares balancing with figure 54 of the thesis, executed step by step. */

#include "route/search/itb_routes.h"

#include "itb_networks.h"
#include "route/search/balance_lane.h"

#define NETWORKS 30

struct fixture {
	struct topology *topology;
	struct route_graph *graph;
	struct minimal_paths paths;
	size_t pairs;
};

static void begin(struct fixture *fixture, struct topology *topology, uint64_t seed)
{
	struct route_options options = {.seed = seed};

	fixture->topology = topology;
	fixture->graph = route_graph_create(topology);
	assert_non_null(fixture->graph);
	assert_int_equal(0, minimal_paths_make(fixture->graph, &options, &fixture->paths, NULL));
	fixture->pairs = (size_t)fixture->paths.places * fixture->paths.places;
}

static void end(struct fixture *fixture)
{
	minimal_paths_free(&fixture->paths);
	route_graph_destroy(fixture->graph);
	topology_destroy(fixture->topology);
}
#define fixture_out_of_scope end

/* The table of routes of figures 53 and 54. A row can be deleted while its owner has others. */
struct row {
	uint32_t path, owner;
	const uint32_t *arc;
	unsigned links;
	size_t gone; /* the round of deletion; 0: none */
};

struct table {
	struct row *row;
	size_t rows;
	unsigned *left; /* by owner: number of rows */
	unsigned *min;  /* by owner: number of rows that it keeps */
	int64_t *map;   /* by arc */
	uint32_t arcs;
	size_t rounds;
};

static void weigh(struct table *table, const struct row *row, int64_t by)
{
	for (unsigned i = 0; i < row->links; i++)
		table->map[row->arc[i]] += by;
}

/* The squared standard deviation of the map, times the square of the number of channels. */
static int64_t deviation(const struct table *table)
{
	int64_t sum = 0, squares = 0;

	for (uint32_t i = 0; i < table->arcs; i++) {
		sum += table->map[i];
		squares += table->map[i] * table->map[i];
	}
	return squares * table->arcs - sum * sum;
}

/* In the table, which is in random order. */
static bool comes_first(const struct row *a, const struct row *b)
{
	return balance_place(a->path) < balance_place(b->path);
}

/* One round of 'repetir' in figure 54. Returns false if nothing is left to delete. */
static bool delete_one(struct table *table)
{
	struct row *best = NULL;
	int64_t min = INT64_MAX;

	for (size_t i = 0; i < table->rows; i++) {
		struct row *row = &table->row[i];
		int64_t without;

		if (row->gone > 0 || table->left[row->owner] <= table->min[row->owner])
			continue;
		weigh(table, row, -1);
		without = deviation(table);
		weigh(table, row, 1);
		if (best == NULL || without < min || (without == min && comes_first(row, best))) {
			min = without;
			best = row;
		}
	}
	if (best == NULL)
		return false;
	weigh(table, best, -1);
	best->gone = ++table->rounds;
	table->left[best->owner]--;
	return true;
}

/* Rows in the order of the paths, with 'copies' of each; 0: as many as pairs of hosts. The
 * copies of a path belong to the pair of switches or, with 'apart', one to each pair of hosts. */
static void table_begin(
	struct table *table, const struct fixture *fixture, uint32_t copies, bool apart)
{
	const struct minimal_paths *paths = &fixture->paths;
	uint32_t owners = 0;
	size_t room = 0;

	for (size_t i = 0; i < fixture->pairs; i++)
		room += (size_t)paths->pair[i].paths * minimal_paths_host_pairs(paths, i);
	*table = (struct table){
		.row = calloc(room + 1, sizeof(*table->row)),
		.left = calloc(room + 1, sizeof(*table->left)),
		.min = calloc(room + 1, sizeof(*table->min)),
		.map = calloc(fixture->graph->arcs + 1u, sizeof(*table->map)),
		.arcs = fixture->graph->arcs,
	};
	assert_non_null(table->row);
	assert_non_null(table->left);
	assert_non_null(table->min);
	assert_non_null(table->map);
	for (size_t i = 0; i < fixture->pairs; i++) {
		const struct minimal_pair *pair = &paths->pair[i];
		uint32_t each = copies == 0 ? minimal_paths_host_pairs(paths, i) : copies;

		if (pair->links == 0 || pair->paths == 0)
			continue;
		for (uint32_t k = 0; k < pair->paths; k++)
			for (uint32_t copy = 0; copy < each; copy++) {
				struct row *row = &table->row[table->rows++];

				*row = (struct row){.path = pair->first + k,
					.owner = owners + (apart ? copy : 0),
					.arc = pair->arc + (size_t)k * pair->links,
					.links = pair->links};
				table->left[row->owner]++;
				weigh(table, row, 1);
			}
		for (uint32_t owner = 0; owner < (apart ? each : 1); owner++)
			table->min[owners + owner] = apart ? 1 : each;
		owners += apart ? each : 1;
	}
}

static void table_end(struct table *table)
{
	free(table->row);
	free(table->left);
	free(table->min);
	free(table->map);
}

static int64_t deviation_of(const struct fixture *fixture, const struct balance *balance)
{
	struct table table = {.arcs = fixture->graph->arcs};
	int64_t result;

	table.map = calloc(table.arcs + 1u, sizeof(*table.map));
	assert_non_null(table.map);
	for (size_t i = 0; i < fixture->pairs; i++) {
		const struct minimal_pair *pair = &fixture->paths.pair[i];

		for (uint32_t k = 0; k < (uint32_t)pair->paths * pair->links; k++)
			table.map[pair->arc[k]] += balance->copies[pair->first + k / pair->links];
	}
	result = deviation(&table);
	free(table.map);
	return result;
}

/* Returns the round in which the path lost its last copy, or a later one than all if it did not. */
static size_t last_round(const struct table *table, uint32_t path)
{
	size_t last = 0;

	for (size_t i = 0; i < table->rows; i++) {
		const struct row *row = &table->row[i];

		if (row->path == path && row->gone == 0)
			return SIZE_MAX;
		if (row->path == path && row->gone > last)
			last = row->gone;
	}
	return last;
}

static void expect_order(
	const struct fixture *fixture, const struct table *table, const struct balance *balance)
{
	for (size_t i = 0; i < fixture->pairs; i++) {
		const struct minimal_pair *pair = &fixture->paths.pair[i];
		const uint8_t *order = balance->order + pair->first;

		for (uint32_t k = 1; k < pair->paths && pair->links > 0; k++)
			assert_true(last_round(table, pair->first + order[k - 1]) >=
				    last_round(table, pair->first + order[k]));
	}
}

static void expect_as_figure_54(const struct fixture *fixture, enum route_granularity granularity)
{
	uint32_t copies = granularity == ROUTE_PER_SWITCH_PAIR ? 1 : 0;
	uint32_t *left = calloc(fixture->paths.paths + 1u, sizeof(*left));
	struct balance balance;
	struct table table;

	assert_non_null(left);
	table_begin(&table, fixture, copies, false);
	while (delete_one(&table))
		continue;
	for (size_t i = 0; i < table.rows; i++)
		left[table.row[i].path] += table.row[i].gone == 0;
	assert_int_equal(0, balance_make(&fixture->paths, granularity, &balance, NULL));
	assert_memory_equal(left, balance.copies, fixture->paths.paths * sizeof(*left));
	assert_true(deviation(&table) == deviation_of(fixture, &balance));
	expect_order(fixture, &table, &balance);
	balance_free(&balance);
	table_end(&table);
	free(left);
}

UNIT_TEST(what_remains_is_what_figure_54_leaves)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;

		begin(&fixture, network_random(seed, seed % 4 != 0), seed);
		expect_as_figure_54(&fixture, ROUTE_PER_SWITCH_PAIR);
		expect_as_figure_54(&fixture, ROUTE_PER_HOST_PAIR);
	}
	for (uint32_t k = 3; k < 5; k++) {
		OWNED(fixture) fixture;

		begin(&fixture, network_torus(k, 1), k);
		expect_as_figure_54(&fixture, ROUTE_PER_SWITCH_PAIR);
	}
}

/* Figure 54 has a row for each pair of hosts and candidate, so a copy cannot change its owner. */
UNIT_TEST(copies_balance_as_well_as_pairs_of_hosts_one_by_one)
{
	double ours = 0, theirs = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		struct balance balance;
		struct table table;

		begin(&fixture, network_random(seed, true), seed);
		table_begin(&table, &fixture, 0, true);
		while (delete_one(&table))
			continue;
		assert_int_equal(
			0, balance_make(&fixture.paths, ROUTE_PER_HOST_PAIR, &balance, NULL));
		ours += (double)deviation_of(&fixture, &balance);
		theirs += (double)deviation(&table);
		balance_free(&balance);
		table_end(&table);
	}
	assert_true(theirs > 0);
	assert_true(ours < 1.01 * theirs);
}

UNIT_TEST(every_pair_of_hosts_keeps_one_route)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		struct balance balance;

		begin(&fixture, itb_network(seed, seed % 2 == 0), seed);
		assert_int_equal(
			0, balance_make(&fixture.paths, ROUTE_PER_HOST_PAIR, &balance, NULL));
		for (size_t i = 0; i < fixture.pairs; i++) {
			const struct minimal_pair *pair = &fixture.paths.pair[i];
			uint32_t copies = 0;

			for (uint32_t k = 0; k < pair->paths; k++)
				copies += balance.copies[pair->first + k];
			if (pair->links > 0)
				assert_int_equal(
					copies, minimal_paths_host_pairs(&fixture.paths, i));
		}
		balance_free(&balance);
	}
}

UNIT_TEST(the_order_names_every_candidate_once_those_that_remained_first)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		struct balance balance;

		begin(&fixture, itb_network(seed, true), seed);
		assert_int_equal(
			0, balance_make(&fixture.paths, ROUTE_PER_HOST_PAIR, &balance, NULL));
		for (size_t i = 0; i < fixture.pairs; i++) {
			const struct minimal_pair *pair = &fixture.paths.pair[i];
			bool gone = pair->links == 0;
			unsigned seen = 0;

			for (uint32_t k = 0; k < pair->paths; k++) {
				uint8_t at = balance.order[pair->first + k];

				seen |= 1u << at;
				assert_false(gone && balance.copies[pair->first + at] > 0);
				gone |= balance.copies[pair->first + at] == 0;
			}
			assert_int_equal(seen, (1u << pair->paths) - 1);
		}
		balance_free(&balance);
	}
}
