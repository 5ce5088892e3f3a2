/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Joins several schedules that run side by side into one: their ranks follow each other, and each
 * keeps its own numbers and labels. */

#include "goal.h"

struct goal_part {
	const struct goal *goal;
	const char *name;
	uint64_t delay_ns; /* its operations start this much later, after a calc 'start' */
};

/* The caller owns the result. NULL and error: EINVAL if ranks, operations or dependencies exceed
 * the limits of a schedule; ENOMEM. */
struct goal *goal_join(const struct goal_part *part, uint32_t parts, struct error *error);
