/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reports and commands of a running program on DPDK's telemetry socket:
 *
 *     /weft/switch/list[,FROM]               a page of names, from number FROM
 *     /weft/switch/stats,NAME                counters; both also with nic, port, congestion, loop
 *     /weft/links[,FROM]                     a page of links, from number FROM
 *     /weft/clocks[,FROM]                    a page of other clocks, from number FROM
 *     /weft/clocks/total                     totals over all clocks, and the largest bound
 *     /weft/capture/start,PORT,PATH
 *     /weft/capture/filter,FILTER,PORT,PATH  (capture_filter_write())
 *     /weft/capture/stop,PORT
 *     /weft/control,TEXT                     a command for the program's own loop
 *
 * stats returns an object of counters, and list an array of names. links returns an object of
 * numbered links, which is empty past the last one. clocks is similar, but its numbers have gaps;
 * the total is one object. The reply to a command is "ok …" or "error: …".
 *
 * Callbacks run in DPDK's threads, one per connected client. The data plane writes the values
 * concurrently: snapshots use relaxed atomic loads where needed and are not consistent in time.
 *
 * One object per process, because DPDK's commands have no context pointer. Thread-safe. */

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

/* Strings, arrays and ctx must stay valid until telemetry_destroy(). */
struct telemetry_device {
	enum telemetry_class class;
	const char *name;
	const char *const *counter; /* names: letters, digits, '_' and '/' */
	unsigned counters;          /* at most TELEMETRY_COUNTERS_MAX */
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

/* Fills in link number 'index'. Returns false past the last one. */
typedef bool telemetry_link_fn(const void *ctx, unsigned index, struct telemetry_link *link);

/* The clock of a host on another machine (clock_offset.h). */
struct telemetry_clock {
	const char *at, *of; /* observing host, host of the clock */
	bool known;          /* currently known; otherwise the next three are 0 */
	uint64_t local_ns, remote_ns, bound_ns;
	int drift_ppb, drift_bound_ppb; /* remote clock against local clock */
	uint64_t samples, steps;
};

/* Fills in the next clock, from number '*at', and updates '*at'. Returns false if there is none. */
typedef bool telemetry_clock_fn(const void *ctx, uint64_t *at, struct telemetry_clock *clock);

struct telemetry;

/* EAL must be running. 'captures' (may be NULL) must outlive the result. Returns NULL with 'error'
 * set; EEXIST if there is one already. */
struct telemetry *telemetry_create(struct capture_manager *captures, struct error *error);
/* After this returns, no callback accesses a registered object. */
void telemetry_destroy(struct telemetry *telemetry);

/* Returns 0, or an error with 'error' set: -EINVAL for too many counters, -EEXIST for a duplicate
 * class and name, -ENOMEM. */
int telemetry_add_device(
	struct telemetry *telemetry, const struct telemetry_device *device, struct error *error);
void telemetry_set_links(struct telemetry *telemetry, telemetry_link_fn *link, const void *ctx);
void telemetry_set_clocks(struct telemetry *telemetry, telemetry_clock_fn *clock, const void *ctx);

/* Calls 'wake' in a DPDK thread when a command arrives, for a loop that sleeps. NULL ends this; no
 * call is in progress afterwards. */
typedef void telemetry_wake_fn(void *ctx);
void telemetry_set_wake(struct telemetry *telemetry, telemetry_wake_fn *wake, void *ctx);

/* Takes the pending command, or returns false. Call from the program's loop; costs one load. */
bool telemetry_control_poll(struct telemetry *telemetry, char text[TELEMETRY_CONTROL_MAX]);
