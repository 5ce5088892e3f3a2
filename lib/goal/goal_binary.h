/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads schedules in the binary form of LogGOPSim's txt2bin. For goal_parse.c. */

#include <stdbool.h>

#include "goal.h"

/* True if the text is not GOAL, but begins as that form does. */
bool goal_binary_is(const char *bytes, size_t length);
/* Fills a zeroed schedule, which goal_destroy() frees in every case. 0, -ENOMEM, or -EINVAL and
 * error. */
int goal_binary_read(struct goal *goal, const char *bytes, size_t length, const char *origin,
	struct error *error);
