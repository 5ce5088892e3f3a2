/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

#define X(name) &adaptive_##name,
static const void *const modes[] = {ADAPTIVE_MODES(X)};
#undef X

const struct word_list adaptive_modes = WORD_LIST(modes);

unsigned adaptive_most_credits(struct adaptive *adaptive, uint64_t set, unsigned vc)
{
	uint32_t most = 0;
	uint64_t best = 0;

	for (; set != 0; set &= set - 1) {
		unsigned port = (unsigned)__builtin_ctzll(set);
		uint32_t credits = adaptive_credits(adaptive, port, vc);

		if (best != 0 && credits < most)
			continue;
		best = credits > most ? BIT64(port) : best | BIT64(port);
		most = credits;
	}
	return bits_draw(best, &adaptive->rng);
}
