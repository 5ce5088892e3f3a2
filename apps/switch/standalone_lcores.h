/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A stand-alone switch of several cores: part 0 is the main lcore's, the others are those of EAL's
 * further lcores, in order. */

#include "standalone.h"

/* Divides the ports, and makes each part on its lcore. 0, or -errno and fault. */
int standalone_divide(
	struct standalone *standalone, const struct switch_config *config, struct fault *fault);

/* Runs the loops until one of them has reached 'end' or all together --frames, or '*stop'. */
void standalone_run_lcores(struct standalone *standalone, weft_time end, const atomic_bool *stop);
