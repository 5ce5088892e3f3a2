/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a run file tells the selector of one host, in the form of lib/nic. */

#include "route_choice.h"
#include "route_set.h"
#include "run_config.h"

/* rate_bps: of the host's link. set: the routes in use, or NULL; it must last as long as the choice
 * does. */
struct route_choice_options run_selection_options(const struct run_config *run,
	const struct route_set *set, uint32_t host, uint64_t rate_bps);
