/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

/*
 * Adaptive-Th (Rocher-Gonzalez et al., JPDC 147, 2021): the primary port, unless the VC in which
 * the packet would be stored there is fuller than the threshold; then the alternative with most
 * credits. Without AFI only one that has more credits than the primary port; with AFI it is the AFC
 * of the alternatives that counts, and the packet goes there in any case (a reading:
 * congestion.md).
 */

static bool is_congested(const struct adaptive *adaptive, unsigned port, unsigned vc)
{
	uint64_t blocks = adaptive->output[port].vc_blocks;
	uint64_t left = adaptive_credits(adaptive, port, vc);

	return left < blocks && (blocks - left) * 1000000 > blocks * adaptive->threshold_ppm;
}

static unsigned choose(struct adaptive *adaptive, unsigned primary, uint64_t others, unsigned vc)
{
	unsigned best;

	if (!is_congested(adaptive, primary, vc))
		return primary;
	best = adaptive_most_credits(adaptive, others, adaptive_vc(adaptive, vc));
	if (!adaptive->afi &&
		adaptive_credits(adaptive, best, vc) <= adaptive_credits(adaptive, primary, vc))
		return primary;
	return best;
}

const struct adaptive_mode adaptive_threshold = {.name = "adaptive-th", .choose = choose};
