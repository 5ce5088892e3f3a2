/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A permutation file: one pair a line, "SOURCE DESTINATION", names of hosts; empty lines and what
 * follows a '#' are passed over. Each host is source at most once and destination at most once.
 */

#include <stdint.h>

#include "fault.h"
#include "topology.h"

/* '*from' and '*to' are the caller's to free, also after a failure (they may be NULL). 0 or a
 * negative code with fault. */
int permutation_load(const char *path, const struct topology *topology, uint16_t **from,
	uint16_t **to, uint32_t *count, struct fault *fault);

/* One of the seed over all hosts, a single cycle: everybody sends, nobody to itself. -EINVAL with
 * fewer than two hosts; -ENOMEM. */
int permutation_draw(uint64_t seed, uint64_t stream, const char *origin,
	const struct topology *topology, uint16_t **from, uint16_t **to, uint32_t *count,
	struct fault *fault);
