/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Words of run files for which the code has a case each: identifier, text in the file. Messages
 * list them in this order. Routing algorithms, selectors, traffic patterns, arrivals, adaptive
 * modes and queuing schemes are defined in lib next to their functions. */

/* Formatted manually, with several words per line. */
/* clang-format off */
#define RUN_CLOCKS(X) \
	X(RUN_CLOCK_VIRTUAL, "virtual") X(RUN_CLOCK_REAL, "real")
#define RUN_SWITCHINGS(X) \
	X(RUN_SWITCHING_CUT_THROUGH, "cut-through") \
	X(RUN_SWITCHING_STORE_AND_FORWARD, "store-and-forward") \
	X(RUN_SWITCHING_WORMHOLE, "wormhole")
#define RUN_FLOW_CONTROLS(X) \
	X(RUN_FLOW_CONTROL_CREDIT, "credit") X(RUN_FLOW_CONTROL_STOP_GO, "stop-go") \
	X(RUN_FLOW_CONTROL_PFC, "pfc") X(RUN_FLOW_CONTROL_LOSSY, "lossy")
/* How hosts recover frames that switches discarded. */
#define RUN_RECOVERIES(X) \
	X(RUN_RECOVERY_SELECTIVE, "selective-repeat") X(RUN_RECOVERY_GO_BACK, "go-back-n")
#define RUN_CREDITS(X) \
	X(RUN_CREDITS_COALESCED, "coalesced") X(RUN_CREDITS_EACH, "each")
/* Interpretations of the thesis on wormhole switches (docs/explanation/wormhole.md). */
#define RUN_ROUTING_STARTS(X) \
	X(RUN_ROUTING_STARTS_GRANT, "grant") X(RUN_ROUTING_STARTS_HEADER, "header")
/* Which flows count as contending with a packet (contention.h). */
#define RUN_CONTENDINGS(X) \
	X(RUN_CONTENDING_OUTPUT, "output") X(RUN_CONTENDING_BUFFER, "buffer")
#define RUN_RECORDINGS(X)                                                  \
	X(RUN_RECORDING_AUTO, "auto") X(RUN_RECORDING_FIRST, "first") \
	X(RUN_RECORDING_LAST, "last")
#define RUN_ROUTING_MODES(X) \
	X(RUN_ROUTING_SOURCE, "source") X(RUN_ROUTING_TABLE, "table")
#define RUN_UGAL_QUEUES(X) X(RUN_UGAL_VC, "vc") X(RUN_UGAL_PORT, "port") X(RUN_UGAL_HYBRID, "hybrid")
#define RUN_TIES(X)  X(RUN_TIES_PORT, "port") X(RUN_TIES_SEED, "seed")
#define RUN_STEPS(X) X(RUN_STEPS_NEXT, "next") X(RUN_STEPS_ITB, "itb")
#define RUN_GRANULARITIES(X) \
	X(RUN_GRANULARITY_HOST, "host") X(RUN_GRANULARITY_SWITCH, "switch")
#define RUN_ITB_HOSTS(X) X(RUN_ITB_HOSTS_RANDOM, "random") X(RUN_ITB_HOSTS_BALANCED, "balanced")
#define RUN_ITB_ABSORBS(X) X(RUN_ITB_ABSORB_ALWAYS, "always") X(RUN_ITB_ABSORB_CONTENTION, "contention")
#define RUN_RECONFIGURES(X)                                             \
	X(RUN_RECONFIGURE_AUTO, "auto") X(RUN_RECONFIGURE_DRAIN, "drain") \
	X(RUN_RECONFIGURE_IMMEDIATE, "immediate") X(RUN_RECONFIGURE_ITB, "itb")
/* Readings of the ARN+AFI paper (docs/explanation/congestion.md). */
#define RUN_RETESTS(X) \
	X(RUN_RETEST_STARTS, "starts") X(RUN_RETEST_HOLDS, "holds") X(RUN_RETEST_NEVER, "never")
#define RUN_OCCUPANCIES(X) \
	X(RUN_OCCUPANCY_VC, "vc") X(RUN_OCCUPANCY_BUFFER, "buffer")
#define RUN_NOTIFIERS(X) \
	X(RUN_NOTIFIERS_ALL, "all") X(RUN_NOTIFIERS_FIRST, "first")
#define RUN_DOWN_ROOTS(X) \
	X(RUN_DOWN_ROOTS_HOSTS, "hosts") X(RUN_DOWN_ROOTS_STAGE, "stage")
/* The source of routes, and which hosts may be the mapper (docs/explanation/the-mapper.md). */
#define RUN_MAPPER_ROUTES(X) \
	X(RUN_ROUTES_MAPPER, "mapper") X(RUN_ROUTES_STATIC, "static")
#define RUN_MAPPER_MODES(X) \
	X(RUN_MAPPER_AUTO, "auto") X(RUN_MAPPER_ALWAYS, "always") X(RUN_MAPPER_NEVER, "never")
/* Interpretations of InfiniBand congestion control, DRB and PR-DRB
 * (docs/explanation/source-control.md). */
#define RUN_CC_PERS(X) \
	X(RUN_CC_PER_DESTINATION, "destination") X(RUN_CC_PER_HOST, "host")
#define RUN_DRB_ACKS(X) \
	X(RUN_DRB_ACK_FRAME, "frame") X(RUN_DRB_ACK_MESSAGE, "message")
#define RUN_DRB_MEASURES(X) \
	X(RUN_DRB_MEASURE_METAPATH, "metapath") X(RUN_DRB_MEASURE_MEAN, "mean")
#define RUN_DRB_NEW_PATHS(X) \
	X(RUN_DRB_NEW_INHERIT, "inherit") X(RUN_DRB_NEW_ZERO, "zero")
/* Values for which measure.until requires a precision. */
#define RUN_UNTILS(X) \
	X(RUN_UNTIL_LATENCY, "latency.mean") X(RUN_UNTIL_ACCEPTED, "accepted")
#define RUN_SIMILARITIES(X) \
	X(RUN_SIMILARITY_SEEN, "seen") X(RUN_SIMILARITY_UNION, "union")
#define RUN_PR_DRB_SAVES(X) \
	X(RUN_PR_DRB_STABLE, "stable") X(RUN_PR_DRB_BELOW, "below")
/* Forms of 'from' and 'to'. */
#define RUN_HOST_SETS(X) \
	X(RUN_HOSTS_UNSET, "") X(RUN_HOSTS_ALL, "all") X(RUN_HOSTS_REST, "rest") \
	X(RUN_HOSTS_SHARE, "%") X(RUN_HOSTS_LIST, "[]")
/* clang-format on */

#define X(id, text) id,
enum run_clock { RUN_CLOCKS(X) };
enum run_switching { RUN_SWITCHINGS(X) };
enum run_flow_control { RUN_FLOW_CONTROLS(X) };
enum run_recovery { RUN_RECOVERIES(X) };
enum run_credits { RUN_CREDITS(X) RUN_CREDITS_UNSET /* determined by the adaptive mode */ };
enum run_routing_start { RUN_ROUTING_STARTS(X) };
enum run_contending { RUN_CONTENDINGS(X) };
enum run_recording { RUN_RECORDINGS(X) };
enum run_routing_mode {
	RUN_ROUTING_MODES(X)
		RUN_ROUTING_UNSET /* determined by adaptive routing, or by the route file */
};
enum run_ugal_queues { RUN_UGAL_QUEUES(X) }; /* same order as enum detour_queues */
enum run_ties { RUN_TIES(X) RUN_TIES_UNSET /* means 'port' */ };
enum run_steps { RUN_STEPS(X) RUN_STEPS_UNSET /* means 'next' */ };
enum run_granularity { RUN_GRANULARITIES(X) RUN_GRANULARITY_UNSET /* only with a route file */ };
enum run_itb_hosts { RUN_ITB_HOSTS(X) };
enum run_itb_absorb { RUN_ITB_ABSORBS(X) };
enum run_reconfigure { RUN_RECONFIGURES(X) };
enum run_retest { RUN_RETESTS(X) };
enum run_occupancy { RUN_OCCUPANCIES(X) };
enum run_notifiers { RUN_NOTIFIERS(X) };
enum run_down_roots { RUN_DOWN_ROOTS(X) };
enum run_cc_per { RUN_CC_PERS(X) };
enum run_drb_ack { RUN_DRB_ACKS(X) };
enum run_drb_measure { RUN_DRB_MEASURES(X) };
enum run_drb_new_path { RUN_DRB_NEW_PATHS(X) };
enum run_similarity_of { RUN_SIMILARITIES(X) };
enum run_until_value { RUN_UNTILS(X) };
enum run_pr_drb_save { RUN_PR_DRB_SAVES(X) };
enum run_mapper_routes { RUN_MAPPER_ROUTES(X) };
enum run_mapper_mode { RUN_MAPPER_MODES(X) };
enum run_hosts_kind { RUN_HOST_SETS(X) };
#undef X
