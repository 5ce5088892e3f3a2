/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route/route_algorithm.h"

/* Dimensionally-adaptive, load-balanced routing in a HyperX (Ahn, Binkert, Davis, McLaren,
 * Schreiber, SC 2009), with the tables of omni_war.c: at each hop a minimal link, or a detour in a
 * row that needs a link, once in each row. In the paper a header has a bit for each dimension, and
 * an escape channel in dimension order breaks cycles. Here a packet completes a row directly after
 * its detour there, so the switch knows from the input port, and each hop takes the next rung of
 * the ladder (vc_ladder.h), as with omni-war; the proof is the same. */

static int dal_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error)
{
	int result = route_omni_war.tables(graph, options, table, error);

	if (result == 0)
		table->vc_rule->steps = VC_STEPS_DAL;
	return result;
}

const struct route_algorithm route_dal = {
	.name = "dal",
	.summary =
		"HyperX: as omni-war, with at most one detour per dimension; 2 VCs per dimension",
	.deadlock_free = true,
	.vc_classes = true,
	.ladder = VC_STEPS_DAL,
	.tables = dal_tables,
};
