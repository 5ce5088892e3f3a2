/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/adaptive_routing.h"

/* Two choices (Mitzenmacher, The Power of Two Choices in Randomized Load Balancing, IEEE TPDS 12,
 * 2001). Uses the primary port, unless an alternative drawn at random has more credits where the
 * packet would be stored. The cost does not grow with the number of ports. */

static unsigned choose(struct adaptive *adaptive, unsigned primary, port_set others, unsigned vc)
{
	unsigned other = port_set_draw(others, &adaptive->rng);
	uint32_t credits = adaptive_credits(adaptive, other, adaptive_vc(adaptive, vc));

	return credits > adaptive_credits(adaptive, primary, vc) ? other : primary;
}

const struct adaptive_mode adaptive_sampled = {.name = "sampled",
	.summary = "the table's port, or one drawn if that has more credits",
	.compares = true,
	.choose = choose};
