/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reproduce_plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce_curves.h"
#include "route_grid.h"

#define NS_PER_US 1e3
#define PER_CENT  100.0

static int begin_curves(struct figure *curves, const struct experiment *experiment)
{
	curves->curve = calloc(experiment->algorithms.count, sizeof(*curves->curve));
	return curves->curve == NULL ? -ENOMEM : 0;
}

/* The next curve with room for so many points; NULL without memory. */
static struct figure_curve *next_curve(
	struct figure *curves, const struct reproduce_bundle *bundle, unsigned points)
{
	struct figure_curve *curve = &curves->curve[curves->curves];

	curve->point = calloc(points + 1, sizeof(*curve->point));
	if (curve->point == NULL)
		return NULL;
	reproduce_label(bundle, bundle->count, curve->label);
	curves->curves++;
	curves->intervals = curves->intervals || bundle->count > 1;
	return curve;
}

/* The number of the link between switches that is used most, of those not yet chosen. */
static int max_used(const struct reproduce_bundle *bundle, const unsigned *chosen, unsigned count)
{
	const json_t *links = reproduce_list(bundle, "links");
	double max = -1;
	int found = -1;

	for (unsigned i = 0; i < json_array_size(links); i++) {
		double use = reproduce_entry(bundle, "links", i, "utilisation", 1).mean;
		bool known = !trial_link_counts(json_array_get(links, i));

		for (unsigned c = 0; c < count; c++)
			known = known || chosen[c] == i;
		if (known || use <= max)
			continue;
		max = use;
		found = (int)i;
	}
	return found;
}

/* Chooses the links; their count. */
static unsigned choose_links(const struct reproduce_bundle *bundle, struct reproduce_names *names,
	unsigned chosen[REPRODUCE_LINKS])
{
	unsigned count = 0;

	while (count < REPRODUCE_LINKS) {
		int at = max_used(bundle, chosen, count);
		const json_t *link;

		if (at < 0)
			break;
		link = json_array_get(reproduce_list(bundle, "links"), (size_t)at);
		snprintf(names->text[count], sizeof(names->text[count]), "%s to %s",
			json_string_value(json_object_get(link, "from")),
			json_string_value(json_object_get(link, "to")));
		names->group[count] = names->text[count];
		chosen[count++] = (unsigned)at;
	}
	return count;
}

int reproduce_link_bars(struct figure *curves, struct reproduce_names *names,
	const struct trial *trial, unsigned trials, unsigned network, unsigned case_at)
{
	const struct experiment *experiment = trial[0].experiment;
	unsigned chosen[REPRODUCE_LINKS];
	struct reproduce_bundle bundle;

	if (begin_curves(curves, experiment) < 0)
		return -ENOMEM;
	curves->group = names->group;
	for (unsigned i = 0; i < experiment->algorithms.count; i++) {
		struct figure_curve *curve;

		reproduce_bundle_find(&bundle, trial, trials, network, case_at, i);
		if (bundle.count == 0)
			continue;
		if (curves->groups == 0)
			curves->groups = choose_links(&bundle, names, chosen);
		curve = next_curve(curves, &bundle, curves->groups);
		if (curve == NULL)
			return -ENOMEM;
		for (unsigned at = 0; at < curves->groups; at++)
			curve->point[curve->points++] = (struct figure_point){.x = {1, at, NAN},
				.y = reproduce_entry(
					&bundle, "links", chosen[at], "utilisation", PER_CENT)};
	}
	return 0;
}

/* The topology of a trial; NULL and errno. */
static struct topology *open_topology(const struct trial *trial)
{
	struct run_config *config = NULL;
	struct topology *topology = NULL;
	struct run_sets sets;
	struct fault fault;

	if (trial_sets_init(&sets, trial) == 0)
		config = run_config_load(trial->experiment->run_file, sets.set, sets.count, &fault);
	if (config != NULL)
		topology = run_config_open_topology(config, &fault);
	run_config_destroy(config);
	run_sets_fini(&sets);
	return topology;
}

static void add_squares(struct figure_curve *curve, const struct reproduce_bundle *bundle,
	const struct route_grid *grid, const struct topology *topology)
{
	const json_t *entry;
	size_t i;

	json_array_foreach((json_t *)reproduce_list(bundle, "switches"), i, entry)
	{
		const char *name = json_string_value(json_object_get(entry, "switch"));
		int32_t at = name == NULL ? -1 : topology_find_switch(topology, name);

		if (at < 0)
			continue;
		curve->point[curve->points++] = (struct figure_point){
			.x = {1, route_grid_place(grid, (uint32_t)at, 0), NAN},
			.y = {1, route_grid_place(grid, (uint32_t)at, 1), NAN},
			.y2 = reproduce_entry(
				bundle, "switches", (unsigned)i, "waiting_ns", 1 / NS_PER_US)};
	}
}

static int add_maps(struct figure *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned case_at, const struct route_grid *grid)
{
	const struct experiment *experiment = trial[0].experiment;
	const struct topology *topology = grid->graph->topology;
	struct reproduce_bundle bundle;

	for (unsigned i = 0; i < experiment->algorithms.count; i++) {
		struct figure_curve *curve;

		reproduce_bundle_find(&bundle, trial, trials, network, case_at, i);
		if (bundle.count == 0)
			continue;
		curve = next_curve(curves, &bundle, topology->switches);
		if (curve == NULL)
			return -ENOMEM;
		add_squares(curve, &bundle, grid, topology);
	}
	return 0;
}

/* The first trial of the network and case that has a result; NULL: none. */
static const struct trial *any_trial(
	const struct trial *trial, unsigned trials, unsigned network, unsigned case_at)
{
	for (unsigned i = 0; i < trials; i++)
		if (trial[i].network == network && trial[i].case_at == case_at &&
			trial[i].points > 0)
			return &trial[i];
	return NULL;
}

int reproduce_map(struct figure *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned case_at)
{
	const struct trial *any = any_trial(trial, trials, network, case_at);
	struct topology *topology = any == NULL ? NULL : open_topology(any);
	struct route_graph *graph = topology == NULL ? NULL : route_graph_create(topology);
	struct route_grid grid;
	struct fault fault;
	int result = begin_curves(curves, trial[0].experiment);

	if (result == 0 && graph != NULL && route_grid_make(&grid, graph, &fault) == 0) {
		if (grid.dims == 2)
			result = add_maps(curves, trial, trials, network, case_at, &grid);
		route_grid_free(&grid);
	}
	route_graph_destroy(graph);
	topology_destroy(topology);
	return result;
}
