/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A traffic pattern: where the messages of a host go. For lib/nic/traffic*.c. */

#include <stddef.h>

#include "traffic.h"

struct traffic_pattern {
	const char *name;
	/* Checks and keeps what it needs of the configuration in '*state', which 'fini' frees; both
	 * may leave it NULL. 0 or -errno with fault. */
	int (*init)(void **state, const struct traffic_config *config, struct fault *fault);
	void (*fini)(void *state);
	/* False: this host sends nothing, and 'destination' is never called. NULL: all send. */
	bool (*sends)(const void *state, const struct traffic_config *config);
	uint16_t (*destination)(void *state, const struct traffic_config *config, struct rng *rng);
};

static inline bool traffic_pattern_sends(const struct traffic_pattern *pattern, const void *state,
	const struct traffic_config *config)
{
	return pattern->sends == NULL || pattern->sends(state, config);
}

extern const struct traffic_pattern traffic_uniform;
extern const struct traffic_pattern traffic_hotspot;
extern const struct traffic_pattern traffic_permutation;
extern const struct traffic_pattern traffic_local;
extern const struct traffic_pattern traffic_bit_reversal;
extern const struct traffic_pattern traffic_transpose;
extern const struct traffic_pattern traffic_shuffle;
extern const struct traffic_pattern traffic_butterfly;
extern const struct traffic_pattern traffic_combined;
extern const struct traffic_pattern traffic_all_to_all;
