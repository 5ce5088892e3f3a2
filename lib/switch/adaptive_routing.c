/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

#include <stddef.h>
#include <string.h>

static const struct adaptive_mode *const modes[] = {
#define X(name) &adaptive_##name,
	ADAPTIVE_MODES(X)
#undef X
		NULL,
};

const struct adaptive_mode *adaptive_mode_at(unsigned i)
{
	return i < sizeof(modes) / sizeof(modes[0]) ? modes[i] : NULL;
}

const struct adaptive_mode *adaptive_mode_find(const char *name)
{
	for (unsigned i = 0; modes[i] != NULL; i++)
		if (strcmp(modes[i]->name, name) == 0)
			return modes[i];
	return NULL;
}

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
