/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A traffic pattern: where the messages of a host go. For lib/nic/traffic*.c. */

#include "traffic.h"

struct traffic_pattern {
	const char *name;
	/* Checks and keeps what it needs of the configuration in '*state', which 'fini' frees. 0 or
	 * -errno with fault. */
	int (*init)(void **state, const struct traffic_config *config, struct fault *fault);
	void (*fini)(void *state);
	/* The next destination; TRAFFIC_NOWHERE, then always, if this host sends nothing. */
	uint16_t (*destination)(void *state, const struct traffic_config *config, struct rng *rng);
};

extern const struct traffic_pattern traffic_uniform;
extern const struct traffic_pattern traffic_hotspot;
extern const struct traffic_pattern traffic_permutation;
