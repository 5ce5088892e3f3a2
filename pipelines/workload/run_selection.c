/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_selection.h"

_Static_assert(ROUTE_CHOICE_ROUTES_MAX == ROUTE_ALTERNATIVES_MAX,
	"the rows of route_set_parts() are those of route_choice_options.sets");
_Static_assert(ROUTE_CHOICE_SETS_MAX == RUN_ALGORITHMS_MORE + 1, "as many sets as algorithms");

/* A route file may have any number of routes for a pair. */
static unsigned most_routes(const struct route_set *set, uint32_t host)
{
	unsigned most = 1;

	for (uint32_t to = 0; set != NULL && to < route_set_hosts(set); to++)
		if (route_set_count(set, host, to) > most)
			most = route_set_count(set, host, to);
	return most;
}

struct route_choice_options run_selection_options(
	const struct run_config *run, const struct route_set *set, uint32_t host, uint64_t rate_bps)
{
	const struct run_config_selection *selection = &run->nic.selection;

	return (struct route_choice_options){
		.rate_bps = rate_bps,
		.forget = selection->forget,
		.threshold = {selection->k, selection->k2},
		.short_bytes = selection->short_bytes,
		.first_set_ppm = selection->first_set_ppm,
		.routes = run->routing.file != NULL
				  ? most_routes(set, host)
				  : run->routing.alternatives * (run->routing.others + 1),
		.sets = set == NULL ? NULL : route_set_parts(set, host),
	};
}
