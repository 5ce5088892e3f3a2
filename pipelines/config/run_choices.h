/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Words of run files for which the code has fixed cases: identifier, text in the file. Their order
 * is the order in messages. Routing algorithms, selectors, traffic patterns, arrivals, adaptive
 * modes and queuing schemes are not here: their lists are in lib, beside their functions.
 */

/* By hand: several words a line. */
/* clang-format off */
#define RUN_CLOCKS(X) \
	X(VIRTUAL, "virtual") X(REAL, "real")
#define RUN_SWITCHINGS(X) \
	X(CUT_THROUGH, "cut-through") X(STORE_AND_FORWARD, "store-and-forward") \
	X(WORMHOLE, "wormhole")
#define RUN_FLOW_CONTROLS(X) \
	X(CREDIT, "credit") X(STOP_GO, "stop-go")
#define RUN_CREDITS(X) \
	X(COALESCED, "coalesced") X(EACH, "each")
#define RUN_ROUTING_MODES(X) \
	X(SOURCE, "source") X(TABLE, "table")
#define RUN_GRANULARITIES(X) \
	X(HOST, "host") X(SWITCH, "switch")
/* Readings of the ARN+AFI paper (congestion.md). */
#define RUN_RETESTS(X) \
	X(STARTS, "starts") X(HOLDS, "holds") X(NEVER, "never")
#define RUN_OCCUPANCIES(X) \
	X(VC, "vc") X(BUFFER, "buffer")
#define RUN_SPEAKERS(X) \
	X(ALL, "all") X(FIRST, "first")
#define RUN_DOWN_ROOTS(X) \
	X(HOSTS, "hosts") X(STAGE, "stage")
/* Where routes come from, and which hosts may be the mapper (docs/mapper.md). */
#define RUN_MAPPER_ROUTES(X) \
	X(MAPPER, "mapper") X(STATIC, "static")
#define RUN_MAPPER_MODES(X) \
	X(AUTO, "auto") X(ALWAYS, "always") X(NEVER, "never")
/* Forms of 'from' and 'to'. */
#define RUN_HOST_SETS(X) \
	X(UNSET, "") X(ALL, "all") X(REST, "rest") X(SHARE, "%") X(LIST, "[]")
/* clang-format on */

#define X(id, text) RUN_CLOCK_##id,
enum run_clock { RUN_CLOCKS(X) };
#undef X
#define X(id, text) RUN_SWITCHING_##id,
enum run_switching { RUN_SWITCHINGS(X) };
#undef X
#define X(id, text) RUN_FLOW_CONTROL_##id,
enum run_flow_control { RUN_FLOW_CONTROLS(X) };
#undef X
#define X(id, text) RUN_CREDITS_##id,
enum run_credits { RUN_CREDITS(X) };
#undef X
#define X(id, text) RUN_ROUTING_##id,
enum run_routing_mode {
	RUN_ROUTING_MODES(X) RUN_ROUTING_UNSET /* adaptive routing, or the file */
};
#undef X
#define X(id, text) RUN_GRANULARITY_##id,
enum run_granularity { RUN_GRANULARITIES(X) RUN_GRANULARITY_UNSET /* of a route file */ };
#undef X
#define X(id, text) RUN_RETEST_##id,
enum run_retest { RUN_RETESTS(X) };
#undef X
#define X(id, text) RUN_OCCUPANCY_##id,
enum run_occupancy { RUN_OCCUPANCIES(X) };
#undef X
#define X(id, text) RUN_SPEAKERS_##id,
enum run_speakers { RUN_SPEAKERS(X) };
#undef X
#define X(id, text) RUN_DOWN_ROOTS_##id,
enum run_down_roots { RUN_DOWN_ROOTS(X) };
#undef X
#define X(id, text) RUN_ROUTES_##id,
enum run_mapper_routes { RUN_MAPPER_ROUTES(X) };
#undef X
#define X(id, text) RUN_MAPPER_##id,
enum run_mapper_mode { RUN_MAPPER_MODES(X) };
#undef X
#define X(id, text) RUN_HOSTS_##id,
enum run_hosts_kind { RUN_HOST_SETS(X) };
#undef X
