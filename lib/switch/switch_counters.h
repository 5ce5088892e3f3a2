/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The counters of a switch, per port. Enum and names are generated from one list; telemetry, 'weft
 * lab status' and the results use these names. The departure counters are last, so that they are
 * next to the output in memory (struct switch_port).
 *
 * Accounting: at any time data_in = data_out + stored + the sum of the data discards, which
 * switch_check() verifies. Likewise control_in = control_out + control_agent + waiting + the
 * control discards. Arrivals and discards are counted at a frame's input port, departures and
 * stalls at its output port. */

#define SWITCH_COUNTERS(X)                                                                       \
	X(DATA_IN, "data_in")                                                                    \
	X(BYTES_IN, "bytes_in")                                                                  \
	X(CONTROL_IN, "control_in")                                                              \
	X(CONTROL_OUT, "control_out")                                                            \
	X(CONTROL_AGENT, "control_agent") /* arrived for the agent of this device */             \
	/* Discards of data frames. */                                                           \
	X(DISCARD_ROUTING_ERROR,                                                                 \
		"discard_routing_error") /* cursor at an interface element or past the end, or a \
					    port that does not exist */                          \
	X(DISCARD_NO_ROUTE, "discard_no_route") /* destination not in the table */               \
	X(DISCARD_VC, "discard_vc")             /* VC that this switch does not have */          \
	X(DISCARD_CREDIT_VIOLATION,                                                              \
		"discard_credit_violation") /* neighbour sent without credits */                 \
	X(DISCARD_LINK_DOWN, "discard_link_down")                                                \
	X(DISCARD_WATCHDOG, "discard_watchdog") /* head did not move for watchdog_ps */          \
	X(DISCARD_PURGED, "discard_purged")     /* stored when the mapper ordered a purge */     \
	/* Discards of control frames. */                                                        \
	X(CONTROL_DISCARD_ROUTE, "control_discard_route")                                        \
	X(CONTROL_DISCARD_FULL, "control_discard_full") /* control reserve is full */            \
	X(CONTROL_DISCARD_DOWN, "control_discard_link_down")                                     \
	/* Times that a head was found without credits. */                                       \
	X(STALL_CREDIT, "stall_credit")                                                          \
	X(DATA_OUT, "data_out")                                                                  \
	X(BYTES_OUT, "bytes_out")

enum switch_counter {
#define X(id, text) SWITCH_##id,
	SWITCH_COUNTERS(X)
#undef X
		SWITCH_COUNTER_COUNT
};

/* Returns the name, such as "data_in", or NULL if out of range. */
const char *switch_counter_name(unsigned counter);
