/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mod_k.h"

static unsigned nth_port(uint64_t set, uint32_t n)
{
	while (n-- > 0)
		set &= set - 1;
	return (unsigned)__builtin_ctzll(set);
}

static uint32_t quotient(const struct fat_tree *tree, uint32_t at, uint32_t host)
{
	return host / tree->divisor[fat_tree_stage(tree, at)];
}

unsigned mod_k_up(
	const struct fat_tree *tree, uint32_t at, uint64_t set, uint32_t host, uint32_t shift)
{
	uint32_t count = (uint32_t)__builtin_popcountll(set);

	return nth_port(set, (quotient(tree, at, host) + shift) % count);
}

unsigned mod_k_down(const struct fat_tree *tree, uint32_t at, uint64_t set, uint32_t host)
{
	const struct route_arc *arc = tree->graph->arc;
	uint32_t below = 0;

	if ((set & (set - 1)) == 0)
		return (unsigned)__builtin_ctzll(set);
	for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
		unsigned port = (unsigned)__builtin_ctzll(rest);
		uint32_t down = route_graph_arc_of_port(tree->graph, at, port);

		below = arc[down].to;
		if (mod_k_up(tree, below, tree->up[below], host, 0) == arc[arc[down].back].port)
			return port;
	}
	return nth_port(set, quotient(tree, below, host) % (uint32_t)__builtin_popcountll(set));
}
