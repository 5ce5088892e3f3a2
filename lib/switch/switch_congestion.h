/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing, AFI and notifications of a switch, in addition to its tables. Added after
 * switch_create(), because most switches do not use them; those pay one branch per packet. The
 * sizes of the buffers behind the outputs are learnt from the credits: each is the maximum of
 * unused credits since the link came up.
 *
 * The driver of such a switch calls congestion_control_poll(sw->congestion, now) in each loop, or
 * when sw->signal.alert is set and switch_congestion_is_due(). Then, and after each arrival, it
 * sends the notifications that congestion_control_take_arn() returns, as link-local control frames
 * through the ports named in them. It passes received notifications to congestion_control_on_arn().
 */

#include "congestion_control.h"
#include "switch.h"

struct switch_congestion_config {
	uint64_t seed;
	const struct adaptive_mode *mode;
	bool afi; /* the last VC is the AFC; no SL maps to it */
	/* The neighbours send a credit frame for each packet. If false, they withhold credits
	 * according to credit_grant_due(), and the switch allows for that (adaptive_routing.h). */
	bool credits_each;
	uint32_t threshold_ppm;
	weft_time flowlet_gap_ps;
	uint8_t stage;     /* 1 next to the hosts; 0: none, entries are never consumed here */
	port_set up_ports; /* ports towards higher stages, also for all later tables */
	uint32_t hosts;    /* maximum number in later tables; at least the current number */
	/* Both or neither; they require VOQs. switch_congestion() fills in the detector's ports,
	 * VCs and vc_blocks. congestion_control_create() fills in its part of the table's config.
	 */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
};

/* Adds congestion control. Returns 0, -ENOMEM, or -EINVAL: a number out of range, a table without
 * alternatives, neither a table nor 'hosts', VC classes, or a detector without VOQs. Call at most
 * once per switch, before it stores any packet. */
int switch_congestion(struct weft_switch *sw, const struct switch_congestion_config *config);

/* Frees what switch_congestion() allocated; switch_destroy() calls it. The switch then routes by
 * its tables alone. */
void switch_congestion_end(struct weft_switch *sw);

/* Starts marking packets according to 'fecn', which is borrowed; NULL: marks no packets. */
void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn);

/* Sets whether the driver sends pause frames and so checks each arrival (sw->signal.alert). */
void switch_set_pauses(struct weft_switch *sw, bool pauses);

/* Makes the driver check each arrival for an in-transit buffer (sw->signal.alert). */
void switch_set_itbs(struct weft_switch *sw);

/* Returns true if congestion_control_poll() is due. The switch must have congestion control. */
static inline bool switch_congestion_is_due(const struct weft_switch *sw, weft_time now)
{
	return now >= sw->congestion->due;
}

/* Derives from VC rule, marks and congestion control which packets are plain. Call after changing
 * any of them. */
void switch_congestion_note_plain(struct weft_switch *sw);

/* Checks the invariants of congestion control and its view of the VOQs. Returns NULL or a
 * description of the violation. */
const char *switch_congestion_check(const struct weft_switch *sw);
