/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Metrics of a port of a running switch, with one order and one set of names: counters of the state
 * machine, frames that the driver refused ("bad_header_crc"), counters of the link protocol, and
 * gauges of the current state. Telemetry and 'weft lab status' show them.
 *
 * Any thread may read them. The values from one call need not be from the same instant. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "poll_switch.h"
#include "switch/congestion_control.h"
#include "telemetry/telemetry.h"

/* Metrics after the counters and faults, and before the VCs. Gauges show the current state. */
#define SWITCH_METRICS_LINK(X)                                                                    \
	X(CONTROL_BAD, "control_bad", ps->port[at].control_bad)                                   \
	X(SPOOFED, "discard_source_spoofed", ps->port[at].source.spoofed)                         \
	X(CONTROL_SPOOFED, "control_discard_source_spoofed", ps->port[at].source.control_spoofed) \
	X(BAD_TAG, "bad_tag", ps->port[at].guard.seal.count.bad_tag)                              \
	X(REPLAYED, "replayed", ps->port[at].guard.seal.count.replayed)                           \
	X(UNPROVEN, "unproven", ps->port[at].guard.seal.count.unproven)                           \
	X(NO_MBUF, "no_mbuf", ps->port[at].no_mbuf)                                               \
	X(CREDITS_SENT, "credit_frames_sent", link->credit_frames_sent)                           \
	X(CREDITS_RECEIVED, "credit_frames_received", link->credit_frames_received)               \
	X(HEALED, "blocks_healed", link->blocks_healed)                                           \
	X(SESSIONS, "sessions_seen", link->sessions_seen)                                         \
	X(DOWNS, "link_downs", link->downs)                                                       \
	X(ARNS_SENT, "arn_frames_sent", ps->port[at].arns_out)                                    \
	X(ARNS_RECEIVED, "arn_frames_received", ps->port[at].arns_in)                             \
	X(ARNS_REFUSED, "arn_frames_refused", ps->port[at].arns_refused)                          \
	X(AGENT_SENT, "agent_frames_sent", ps->port[at].agent_sent)                               \
	X(AGENT_LOST, "agent_frames_lost", ps->port[at].agent_lost)                               \
	X(TRANSMIT_LOST, "transmit_lost", ps->port[at].tx.lost)                                   \
	X(BLOCKED, "blocked_ns", ps->port[at].blocked_ps / PS_PER_NS)                             \
	X(MOVED, "transmissions_moved", ps->port[at].tx.pacer.moved)                              \
	X(MOVED_NS, "transmissions_moved_ns", ps->port[at].tx.pacer.moved_ps / PS_PER_NS)         \
	X(ARRIVALS, "arrivals_timed", port_arrivals(ps->port[at].port))                           \
	X(LATE, "late_ns", port_late_ns(ps->port[at].port))                                       \
	X(UP, "link_up", link->state == LINK_UP)                /* gauge */                       \
	X(STORED, "stored_blocks", stored_blocks(link))         /* gauge: input buffer */         \
	X(WAITING, "transmit_waiting", ps->port[at].tx.waiting) /* gauge: frames */               \
	X(ROOT, "congestion_root",                                                                \
		congestion_control_is_root(ps->sw->congestion, at)) /* gauge: 1: root */

enum switch_metric {
	SWITCH_METRIC_COUNTERS = 0,
	SWITCH_METRIC_FAULTS = SWITCH_COUNTER_COUNT, /* starts with FRAME_FAULT_SHORT */
	SWITCH_METRIC_LINK = SWITCH_METRIC_FAULTS + FRAME_FAULT_COUNT - 1,
	SWITCH_METRIC_LAST = SWITCH_METRIC_LINK - 1,
#define X(id, name, value) SWITCH_METRIC_##id,
	SWITCH_METRICS_LINK(X)
#undef X
		SWITCH_METRIC_VCS, /* gauges: blocks in the input buffer, per VC */
	SWITCH_METRIC_COUNT = SWITCH_METRIC_VCS + FRAME_VCS_MAX
};

/* The first gauge; all metrics after it are also gauges. */
#define SWITCH_METRIC_GAUGES SWITCH_METRIC_UP

/* Returns the number of metrics of a switch with 'vcs' VCs. */
static inline unsigned switch_metrics_of(unsigned vcs)
{
	return SWITCH_METRIC_VCS + vcs;
}

/* Returns NULL if out of range. */
const char *switch_metric_name(unsigned metric);

/* For a port without a cable all values are 0. */
void switch_metrics_read(
	const struct poll_switch *ps, unsigned at, uint64_t value[SWITCH_METRIC_COUNT]);
void switch_metrics_sum(const struct poll_switch *ps, uint64_t value[SWITCH_METRIC_COUNT]);

struct switch_metrics_port {
	const struct poll_switch *ps;
	unsigned at;
};

/* Referenced by telemetry, so it must stay in place until telemetry_destroy(). */
struct switch_metrics_shown {
	const char *metric[SWITCH_METRIC_COUNT];
	struct switch_metrics_port port[SWITCH_PORTS_MAX];
};

/* Registers switch 'name' as /weft/switch/stats,NAME and its ports as /weft/port/stats,NAME:PORT.
 * Returns 0, or -errno with 'error' set. */
int switch_metrics_show(struct switch_metrics_shown *shown, struct telemetry *telemetry,
	const char *name, const struct poll_switch *ps, struct error *error);

/* Metrics of congestion control in a running switch: the counters of congestion_control_counters()
 * and gauges of the current state. /weft/congestion/stats,NAME and 'weft lab status' show them;
 * /weft/port/stats shows which ports are roots.
 *
 * Any thread may read them. The values from one call need not be from the same instant. */

#define CONGESTION_METRICS_MAX 32

/* Referenced by telemetry, so it must stay in place until telemetry_destroy(). */
struct congestion_metrics {
	const struct congestion_control *congestion;
	const char *name[CONGESTION_METRICS_MAX];
};

/* Registers switch 'name', which has congestion control, as /weft/congestion/stats,NAME.
 * 'congestion' must outlive telemetry. Returns 0, or -errno with 'error' set. */
int congestion_metrics_show(struct congestion_metrics *metrics, struct telemetry *telemetry,
	const char *name, const struct congestion_control *congestion, struct error *error);
