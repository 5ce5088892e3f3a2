/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "rng.h"

void rng_init(struct rng *rng, uint64_t seed, uint64_t device, uint64_t stream)
{
	/* Three rounds decorrelate neighbouring seeds, devices and streams. */
	rng->key = rng_mix(rng_mix(rng_mix(seed + 0x9e3779b97f4a7c15u) ^ device) ^
			   (stream + 0xd1b54a32d192ed03u));
	rng->counter = 0;
}
