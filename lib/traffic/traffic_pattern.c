/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic_pattern.h"

/* Messages between ranks, in the order of their schedule (lib/goal). */
const struct traffic_pattern traffic_goal = {.name = "goal",
	.summary =
		"as in a [schedule](schedule-file.md), with `file`, `ranks` or `ranks-per-host`, and `start`",
	.keys = TRAFFIC_FILE | TRAFFIC_RANKS,
	.schedule = true};

/* Flows, from a list or drawn, which become a separate schedule (run_flows.h). */
const struct traffic_pattern traffic_flows = {.name = "flows",
	.summary =
		"as in a [list of flows](schedule-file.md#lists-of-flows), or [drawn](schedule-file.md#drawn-flows) with `sizes`, `load`, `stop` and perhaps `matrix`. No `message`, no `arrivals`",
	.keys = TRAFFIC_FROM | TRAFFIC_TO | TRAFFIC_FILE | TRAFFIC_SIZES,
	.schedule = true};

#define X(name) &traffic_##name,
static const void *const patterns[] = {TRAFFIC_PATTERNS(X)};
#undef X

const struct name_table traffic_patterns = WORD_LIST(patterns);
