/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing, AFI and notifications of a switch, on top of its tables. Added after
 * switch_create(), because most switches have none; those pay one branch per packet. The sizes of
 * the buffers behind the outputs are learnt from the credits: each is the maximum that was granted
 * and unused at one time since the link came up.
 *
 * The driver of such a switch calls congestion_control_poll(sw->congestion, now) in each loop, or
 * when sw->signal.alert is set and switch_congestion_is_due(); then, as after each arrival, sends
 * the notifications that congestion_control_take_arn() returns, as link-local control frames,
 * through the ports named in them; and passes arriving notifications to
 * congestion_control_on_arn(). */

#include "congestion_control.h"
#include "switch.h"

struct switch_congestion_config {
	uint64_t seed;
	const struct adaptive_mode *mode;
	bool afi; /* the last VC is the AFC; no SL maps to it */
	/* The neighbours send a credit frame for each packet. False: they withhold credits under
	 * the rule of credit_grant_due(), which the switch allows for (adaptive_routing.h). */
	bool credits_each;
	uint32_t threshold_ppm;
	weft_time flowlet_gap_ps;
	uint8_t stage;     /* 1 next to the hosts; 0: none, entries are never consumed here */
	port_set up_ports; /* set of ports towards higher stages, also for all later tables */
	uint32_t hosts;    /* maximum in later tables; at least the current number */
	/* Either both or none; they need VOQs. switch_congestion() fills in the detector's ports,
	 * VCs and vc_blocks, and congestion_control_create() fills in its part of the table's
	 * config. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
};

/* Returns 0, -ENOMEM, or -EINVAL: a number out of range, a table without alternatives, neither a
 * table nor 'hosts', VC classes, or a detector without VOQs. Call it once in the life of a switch,
 * before it stores anything. */
int switch_congestion(struct weft_switch *sw, const struct switch_congestion_config *config);

/* Frees what switch_congestion() allocated; switch_destroy() calls it. The switch then routes with
 * its tables alone. */
void switch_congestion_end(struct weft_switch *sw);

/* Marks packets according to these thresholds from now on; 'fecn' is owned by the caller. NULL:
 * marks nothing. */
void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn);

/* The driver sends pause frames: sets sw->signal.alert, so that the driver checks each arrival. */
void switch_set_pauses(struct weft_switch *sw, bool pauses);

/* The driver checks each arrival for an in-transit buffer: sets sw->signal.alert. */
void switch_set_itbs(struct weft_switch *sw);

/* True if congestion_control_poll() has something to do. The switch has congestion control. */
static inline bool switch_congestion_is_due(const struct weft_switch *sw, weft_time now)
{
	return now >= sw->congestion->due;
}

/* Derives from VC rule, marks and congestion control which packets are plain; called whenever one
 * of them is exchanged. */
void switch_congestion_note_plain(struct weft_switch *sw);

/* Checks the invariants of congestion control and its view of the VOQs. Returns NULL, or a
 * description of the violation. */
const char *switch_congestion_check(const struct weft_switch *sw);
