/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs on the virtual clock: of packets, and of flits with wormhole switches. */

#include <stdatomic.h>

#include "options.h"
#include "ranks.h"
#include "run_config.h"
#include "topology.h"

/* As report_result(), of rank 0; 'ranks' NULL: one process. SIGINT and SIGTERM end the program
 * before the run has begun, then the run. */
int virtual_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct ranks *ranks, struct fault *fault);
int wormhole_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct fault *fault);
