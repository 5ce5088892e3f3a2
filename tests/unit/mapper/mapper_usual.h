/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The default mapper in tests of small fabrics. */

#include "mapper/mapper.h"

static inline struct mapper_config mapper_usual(const char *algorithm, bool tables)
{
	return (struct mapper_config){
		.algorithm = route_algorithm_find(algorithm),
		.fallback = route_algorithm_find("ud"),
		.tables = tables,
		.listen_ps = 2 * PS_PER_MS,
		.heartbeat_ps = 10 * PS_PER_MS,
		.takeover_ps = 60 * PS_PER_MS,
		.standbys = 4,
		.gather_ps = 200 * PS_PER_US,
		.linger_ps = 20 * PS_PER_MS,
		.sweep_ps = 20 * PS_PER_MS,
		.discovery = {.outstanding = 32, .retry_ps = 200 * PS_PER_US, .tries = 20},
		.distribution = {.outstanding = 32,
			.retry_ps = 200 * PS_PER_US,
			.tries = 20,
			.part_bytes = 1024,
			.drain_ps = 5 * PS_PER_MS,
			.settle_ps = 10 * PS_PER_US},
	};
}
