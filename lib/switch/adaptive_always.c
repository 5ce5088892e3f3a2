/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

/*
 * Always the port with most credits where the packet would be stored. With AFI an alternative that
 * is only as good as the primary port is not taken (our choice: the papers combine AFI with
 * adaptive-th alone): a packet that leaves its way cannot come back to it.
 */

static unsigned choose(struct adaptive *adaptive, unsigned primary, uint64_t others, unsigned vc)
{
	unsigned best;

	if (!adaptive->afi)
		return adaptive_most_credits(adaptive, others | BIT64(primary), vc);
	best = adaptive_most_credits(adaptive, others, adaptive->channel);
	return adaptive_credits(adaptive, best, adaptive->channel) >
			       adaptive_credits(adaptive, primary, vc)
		       ? best
		       : primary;
}

const struct adaptive_mode adaptive_always = {.name = "adaptive", .choose = choose};
