/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Makes one schedule of several that run side by side: their ranks one after the other, each with
 * its own numbers and labels. */

#include "goal.h"

struct goal_part {
	const struct goal *goal;
	const char *name;
	uint64_t delay_ns; /* its operations begin so much later, after a calc 'start' in each rank
			    */
};

/* The caller owns the result. NULL and error: EINVAL for more ranks, operations or dependencies
 * than a schedule may have; ENOMEM. */
struct goal *goal_join(const struct goal_part *part, uint32_t parts, struct error *error);
