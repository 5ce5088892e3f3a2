/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dependencies accepted one by one, compared with a complete search for each of them. */

#include "route/search/cycle_break.h"

#include "itb_networks.h"

#define NETWORKS 40
#define ARCS_MAX 512

/* All accepted dependencies, and whether one arc leads to another. */
struct definition {
	unsigned arcs;
	bool follows[ARCS_MAX][ARCS_MAX], seen[ARCS_MAX];
};

static bool leads_to(struct definition *definition, uint32_t from, uint32_t to)
{
	if (from == to)
		return true;
	if (definition->seen[from])
		return false;
	definition->seen[from] = true;
	for (uint32_t next = 0; next < definition->arcs; next++)
		if (definition->follows[from][next] && leads_to(definition, next, to))
			return true;
	return false;
}

static bool define(struct definition *definition, uint32_t before, uint32_t after)
{
	memset(definition->seen, 0, sizeof(definition->seen));
	if (leads_to(definition, after, before))
		return false;
	definition->follows[before][after] = true;
	return true;
}

struct fixture {
	struct topology *topology;
	struct route_graph *graph;
	struct acyclic *acyclic;
	struct definition *definition;
	struct rng rng;
};

static void begin(struct fixture *fixture, uint64_t seed)
{
	fixture->topology = itb_network(2 * seed + 1, true);
	fixture->graph = route_graph_create(fixture->topology);
	assert_non_null(fixture->graph);
	fixture->acyclic = acyclic_create(fixture->graph);
	fixture->definition = calloc(1, sizeof(*fixture->definition));
	assert_non_null(fixture->acyclic);
	assert_non_null(fixture->definition);
	assert_true(fixture->graph->arcs <= ARCS_MAX);
	fixture->definition->arcs = fixture->graph->arcs;
	rng_init(&fixture->rng, seed, 0, 0);
}

static void end(struct fixture *fixture)
{
	acyclic_destroy(fixture->acyclic);
	route_graph_destroy(fixture->graph);
	topology_destroy(fixture->topology);
	free(fixture->definition);
}
#define fixture_out_of_scope end

static void draw(struct fixture *fixture, uint32_t *before, uint32_t *after)
{
	const struct route_graph *graph = fixture->graph;
	uint32_t at;

	*before = (uint32_t)rng_below(&fixture->rng, graph->arcs);
	at = graph->arc[*before].to;
	*after = graph->first_arc[at] + (uint32_t)rng_below(&fixture->rng,
						graph->first_arc[at + 1] - graph->first_arc[at]);
}

UNIT_TEST(a_dependency_is_refused_exactly_if_it_would_close_a_cycle)
{
	unsigned refused = 0, accepted = 0;

	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		uint32_t before, after;

		begin(&fixture, seed);
		for (unsigned i = 0; i < 8 * fixture.graph->arcs; i++) {
			bool good;

			draw(&fixture, &before, &after);
			good = define(fixture.definition, before, after);
			assert_int_equal(acyclic_add(fixture.acyclic, before, after), good);
			refused += !good;
			accepted += good;
		}
	}
	assert_true(refused > 1000);
	assert_true(accepted > 1000);
}

UNIT_TEST(every_accepted_dependency_agrees_with_the_order)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		uint32_t before, after;

		begin(&fixture, seed);
		for (unsigned i = 0; i < 4 * fixture.graph->arcs; i++) {
			draw(&fixture, &before, &after);
			fixture.definition->follows[before][after] =
				acyclic_add(fixture.acyclic, before, after);
		}
		for (before = 0; before < fixture.graph->arcs; before++)
			for (after = 0; after < fixture.graph->arcs; after++)
				if (fixture.definition->follows[before][after])
					assert_true(acyclic_agrees(fixture.acyclic, before, after));
	}
}

UNIT_TEST(dependencies_that_agree_with_the_order_are_accepted_all_together)
{
	for (uint64_t seed = 0; seed < NETWORKS; seed++) {
		OWNED(fixture) fixture;
		uint32_t before, after;

		begin(&fixture, seed);
		for (unsigned i = 0; i < fixture.graph->arcs; i++) {
			draw(&fixture, &before, &after);
			acyclic_add(fixture.acyclic, before, after);
		}
		for (unsigned i = 0; i < 8 * fixture.graph->arcs; i++) {
			draw(&fixture, &before, &after);
			if (acyclic_agrees(fixture.acyclic, before, after))
				assert_true(acyclic_add(fixture.acyclic, before, after));
		}
	}
}
