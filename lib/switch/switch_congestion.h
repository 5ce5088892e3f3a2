/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing, AFI and notifications of a switch, on top of its tables. Added after
 * switch_create(), because most switches have none; those pay one branch per packet. The size of
 * the buffers behind its outputs is learnt from the credits: the maximum that was granted and
 * unused since the link came up.
 *
 * The driver of such a switch calls congestion_control_poll(sw->congestion, now) in each loop, or
 * when sw->signal.alert is set and switch_congestion_is_due(); then, as after each arrival, sends
 * what congestion_control_take_arn() returns through the ports named there as link-local control
 * frames; and passes notifications that arrive to congestion_control_on_arn(). */

#include "congestion_control.h"
#include "switch.h"

struct switch_congestion_config {
	uint64_t seed;
	const struct adaptive_mode *mode;
	bool afi; /* the last VC is the AFC; no SL maps to it */
	/* The neighbours send a credit frame for each packet. False: they withhold credits under
	 * the rule of credit_grant_due(), which the switch allows for (peer_buffer.h). */
	bool credits_each;
	uint32_t threshold_ppm;
	weft_time flowlet_gap_ps;
	uint8_t stage;     /* 1 next to the hosts; 0: none, entries are never consumed here */
	port_set up_ports; /* set: towards higher stages, also with all later tables */
	uint32_t hosts;    /* maximum in later tables; not below the present number */
	/* Both or none; they need VOQs. switch_congestion() fills in ports, VCs and vc_blocks of
	 * the detector, and congestion_control_create() its part of the table. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
};

/* 0; -EINVAL: a number out of range, a table without alternatives, or none and no 'hosts', VC
 * classes, a detector without VOQs; -ENOMEM. Once in the life of a switch, before it stores
 * anything. */
int switch_congestion(struct weft_switch *sw, const struct switch_congestion_config *config);

/* Frees what switch_congestion() allocated; switch_destroy() calls it. The switch then routes with
 * its tables alone. */
void switch_congestion_end(struct weft_switch *sw);

/* Marks packets by these thresholds from now on; 'fecn' is the caller's. NULL: marks nothing. */
void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn);

/* The driver sends pause frames: sw->signal.alert is set, and it looks at each arrival. */
void switch_set_pauses(struct weft_switch *sw, bool pauses);

/* The driver looks at each arrival at an in-transit buffer: sw->signal.alert is set. */
void switch_set_itbs(struct weft_switch *sw);

/* True if congestion_control_poll() has something to do. The switch has congestion control. */
static inline bool switch_congestion_is_due(const struct weft_switch *sw, weft_time now)
{
	return now >= sw->congestion->due;
}

/* Derives from VC rule, marks and congestion control which packets are plain: called where one of
 * them is exchanged. */
void switch_congestion_note_plain(struct weft_switch *sw);

/* Checks the invariants of congestion control and its view of the VOQs. NULL, or a description of
 * the violation. */
const char *switch_congestion_check(const struct weft_switch *sw);
