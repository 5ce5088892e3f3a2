/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The words that a run file may use: identifier, text in the file. Their order is the order in
 * messages. What is known here need not be built: run_config_supported(). Queuing schemes have
 * their list where they are (queuing.h).
 */

#include "queuing.h"

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
#define RUN_ADAPTIVES(X) \
	X(NONE, "none") X(OBLIVIOUS, "oblivious") X(ADAPTIVE, "adaptive") \
	X(ADAPTIVE_TH, "adaptive-th") X(ARN, "arn")
/* Readings of the ARN+AFI paper (congestion.md). */
#define RUN_RETESTS(X) \
	X(STARTS, "starts") X(HOLDS, "holds") X(NEVER, "never")
#define RUN_OCCUPANCIES(X) \
	X(VC, "vc") X(BUFFER, "buffer")
#define RUN_SPEAKERS(X) \
	X(ALL, "all") X(FIRST, "first")
#define RUN_DOWN_ROOTS(X) \
	X(HOSTS, "hosts") X(STAGE, "stage")
#define RUN_SELECTORS(X) \
	X(FIRST, "first") X(RANDOM, "random") X(ROUND_ROBIN, "round-robin") \
	X(CONTENTION, "contention") X(MESSAGE_LENGTH, "message-length") \
	X(FRACTION, "fraction") X(DETECT, "detect") X(THREE_SETS, "three-sets") \
	X(DETECT_SHORT, "detect-short")
#define RUN_PATTERNS(X) \
	X(UNIFORM, "uniform") X(HOTSPOT, "hotspot") X(PERMUTATION, "permutation") \
	X(LOCAL, "local") X(BIT_REVERSAL, "bit-reversal") X(TRANSPOSE, "transpose") \
	X(SHUFFLE, "shuffle") X(BUTTERFLY, "butterfly") X(COMBINED, "combined") \
	X(ALL_TO_ALL, "all-to-all") X(BURSTY, "bursty") X(GOAL, "goal")
#define RUN_ARRIVALS(X) \
	X(CONSTANT, "constant") X(POISSON, "poisson") X(UNIFORM, "uniform") X(BURSTY, "bursty")
/* Of the routing library; what is built is known to lib/route. */
#define RUN_ALGORITHMS(X) \
	X(MINHOP, "minhop") X(UD, "ud") X(UD_RANDOM, "ud-random") X(UD_RR, "ud-rr") \
	X(UD_DET, "ud-det") X(DFS, "dfs") X(SMART, "smart") X(UD_MITB, "ud-mitb") \
	X(UD_ITB, "ud-itb") X(DFS_ITB, "dfs-itb") X(DFS_ITB_ANY, "dfs-itb-any") X(BSMART_ITB, "bsmart-itb") \
	X(RANDOM_ITB, "random-itb") X(BMIN_ITB, "bmin-itb") X(B33_ITB, "b33-itb") \
	X(B50_ITB, "b50-itb") X(B66_ITB, "b66-itb") X(BMAX_ITB, "bmax-itb") \
	X(DMODK, "dmodk") X(DOR, "dor") X(DISJOINT, "disjoint")
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
#define X(id, name) RUN_QUEUING_##id,
enum run_queuing { QUEUING_SCHEMES(X) };
#undef X
#define X(id, text) RUN_ROUTING_##id,
enum run_routing_mode {
	RUN_ROUTING_MODES(X) RUN_ROUTING_UNSET /* adaptive routing, or the file */
};
#undef X
#define X(id, text) RUN_GRANULARITY_##id,
enum run_granularity { RUN_GRANULARITIES(X) RUN_GRANULARITY_UNSET /* of a route file */ };
#undef X
#define X(id, text) RUN_ADAPTIVE_##id,
enum run_adaptive { RUN_ADAPTIVES(X) };
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
#define X(id, text) RUN_SELECTOR_##id,
enum run_selector { RUN_SELECTORS(X) RUN_SELECTOR_UNSET /* the algorithm's own */ };
#undef X
#define X(id, text) RUN_PATTERN_##id,
enum run_pattern { RUN_PATTERNS(X) };
#undef X
#define X(id, text) RUN_ARRIVALS_##id,
enum run_arrivals { RUN_ARRIVALS(X) RUN_ARRIVALS_UNSET };
#undef X
#define X(id, text) RUN_ALGORITHM_##id,
enum run_algorithm { RUN_ALGORITHMS(X) };
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
