/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reports and commands of a running program on DPDK's telemetry socket:
 *
 *     /weft/switch/list[,FROM]                         a page of names from number FROM on
 *     /weft/switch/stats,NAME                          both also with nic, port and congestion
 *     /weft/links[,FROM]                               a page of links from number FROM on
 *     /weft/clocks[,FROM]                              a page of what is known about other clocks
 *     /weft/clocks/total                               totals over all clocks, and the least
 * precisely known one /weft/capture/start,PORT,PATH                    /weft/capture/stop,PORT
 *     /weft/capture/filter,FILTER,PORT,PATH            (capture_filter_write())
 *     /weft/control,TEXT                               a command for the program's own loop
 *
 * stats is an object of counters; list an array of names; links an object of numbered links, empty
 * past the last one; clocks the same, whose numbers have gaps (their total is one object); the
 * answer to a command is "ok …" or "error: …".
 *
 * Callbacks run in threads of DPDK, one per connected client. The data plane writes the values
 * concurrently: snapshots use relaxed atomic loads where needed and are not consistent in time.
 *
 * One object per process (DPDK's commands have no context pointer). Any thread may call its
 * functions. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "capture/capture.h"

#define TELEMETRY_CONTROL_MAX       256
#define TELEMETRY_COUNTERS_MAX      200 /* DPDK's objects hold 256 members */
#define TELEMETRY_LINK_COUNTERS_MAX 32
#define TELEMETRY_LIST_MAX          500 /* names per page; DPDK's arrays hold 512 */

#define TELEMETRY_CLASSES(X) \
	X(SWITCH, "switch")  \
	X(NIC, "nic") X(PORT, "port") X(CONGESTION, "congestion") X(LOOP, "loop")

enum telemetry_class {
#define X(name, text) TELEMETRY_##name,
	TELEMETRY_CLASSES(X)
#undef X
		TELEMETRY_CLASS_COUNT
};

/* Fills in the values of all counters, in the order of their names. */
typedef void telemetry_snapshot_fn(const void *ctx, uint64_t *values);

/* Strings, arrays and ctx live until the device is removed. */
struct telemetry_device {
	enum telemetry_class class;
	const char *name;
	const char *const *counter; /* names: letters, digits, '_' and '/' */
	unsigned counters;          /* up to TELEMETRY_COUNTERS_MAX */
	telemetry_snapshot_fn *snapshot;
	const void *ctx;
};

struct telemetry_link {
	char port[64], peer[64]; /* "s0:1", "s1:2"; peer "" if unknown */
	const char *state;       /* "up", … */
	char neighbour[64]; /* port cabled instead of 'peer' if state is "wrong port", else "" */
	const char *const *counter;
	unsigned counters;
	uint64_t value[TELEMETRY_LINK_COUNTERS_MAX];
};

/* Fills in link number 'index'; returns false past the last one. */
typedef bool telemetry_link_fn(const void *ctx, unsigned index, struct telemetry_link *link);

/* The clock of a host on another machine (clock_offset.h). */
struct telemetry_clock {
	const char *at, *of; /* hosts */
	bool known;          /* currently known; if not, the next three are 0 */
	uint64_t local_ns, remote_ns, bound_ns;
	int drift_ppb, drift_bound_ppb; /* remote against local */
	uint64_t samples, steps;
};

/* Fills in the next clock, from number '*at' on, and sets '*at' to its number. Returns false if
 * there is none. */
typedef bool telemetry_clock_fn(const void *ctx, uint64_t *at, struct telemetry_clock *clock);

struct telemetry;

/* EAL is running. 'captures' (may be NULL) must outlive it. Returns NULL with error set: EEXIST if
 * one exists. */
struct telemetry *telemetry_create(struct capture_manager *captures, struct error *error);
/* After it returns, no callback accesses a registered object. */
void telemetry_destroy(struct telemetry *telemetry);

/* Returns 0, or with fault set: -EINVAL for too many counters, -EEXIST for a duplicate class and
 * name, -ENOMEM. */
int telemetry_add_device(
	struct telemetry *telemetry, const struct telemetry_device *device, struct error *error);
void telemetry_set_links(struct telemetry *telemetry, telemetry_link_fn *link, const void *ctx);
void telemetry_set_clocks(struct telemetry *telemetry, telemetry_clock_fn *clock, const void *ctx);

/* Calls 'wake', in a thread of DPDK, when a command arrives: for a loop that sleeps. NULL ends
 * this; afterwards no call is in progress. */
typedef void telemetry_wake_fn(void *ctx);
void telemetry_set_wake(struct telemetry *telemetry, telemetry_wake_fn *wake, void *ctx);

/* Takes the pending command; returns false if there is none. Called from the program's loop; costs
 * one load. */
bool telemetry_control_poll(struct telemetry *telemetry, char text[TELEMETRY_CONTROL_MAX]);
