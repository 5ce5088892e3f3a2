/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads schedules in the binary format of LogGOPSim's txt2bin. For goal_parse.c. */

#include <stdbool.h>

#include "goal.h"

/* True if the bytes are not GOAL text but start like that format. */
bool goal_binary_is(const char *bytes, size_t length);
/* Fills a zeroed schedule; call goal_destroy() even after an error. 0, -ENOMEM, or -EINVAL and
 * error. */
int goal_binary_read(struct goal *goal, const char *bytes, size_t length, const char *origin,
	struct error *error);
