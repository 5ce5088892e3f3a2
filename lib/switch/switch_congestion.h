/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Adaptive routing, AFI and notifications of a switch, on top of its tables:
 *made after the switch, because most switches have none and then pay one branch a packet. What the
 * buffers behind its outputs hold is learnt from the credits: the most that was ever granted and
 *not used, since the link came up.
 *
 * Who drives such a switch
 *	calls congestion_control_poll(sw->adaptation, now) when switch_congestion_is_due(), or at
 *each loop; after arrivals takes what is to be sent, congestion_control_take_arn(), while there is
 *any, and sends each by its port, as link-local control frames; hands over what comes in:
 *congestion_control_on_arn().
 */

#include "congestion_control.h"
#include "switch.h"

struct switch_congestion_config {
	uint64_t seed;
	const struct adaptive_mode *mode;
	bool afi; /* the last VC is the AFC; sl_to_vc leaves it out */
	uint32_t threshold_ppm;
	uint8_t stage;     /* 1 next to the hosts; 0: none, nothing is consumed here */
	uint64_t up_ports; /* set: towards higher stages. Stays, whatever tables come */
	uint32_t hosts;    /* at most, in tables that come later; no fewer than there are now */
	/* Both or none. Of the detector ports, VCs and vc_blocks are filled in, of the table all
	 * that congestion_control_create() fills in. They need VOQs. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
};

/* 0; -EINVAL: a number out of range, a table without alternatives, or none and no 'hosts', VC
 * classes, a detector without VOQs; -ENOMEM. Once in the life of a switch, before it stores
 * anything. */
int switch_congestion(struct weft_switch *sw, const struct switch_congestion_config *config);

/* Gives back what switch_congestion() took; switch_destroy() does so, too. Then the switch routes
 * as its tables say. */
void switch_congestion_end(struct weft_switch *sw);

/* Marks what is stored above its threshold, from now on; the caller's. NULL: nothing is marked. */
void switch_set_fecn(struct weft_switch *sw, struct fecn *fecn);

/* Something waits for congestion_control_poll(). The switch has an adaptation. */
static inline bool switch_congestion_is_due(const struct weft_switch *sw, weft_time now)
{
	return now >= congestion_control_next_due(sw->congestion);
}

/*
 * For a driver that lets packets pass the queues by (forward_direct()), once a loop and after
 * congestion_control_on_arn(). As long as nothing is known of any root and the mode is none, a
 * packet goes by its table and its SL, as in a switch without an adaptation; one that passes is in
 * no VOQ, so the detector misses nothing. Adapted packets are stored in the AFC, the last VC: they
 * are left out. The switch has an adaptation.
 */
static inline void switch_congestion_note_quiet(struct weft_switch *sw)
{
	const struct congestion_control *congestion = sw->congestion;
	bool quiet = congestion->adaptive.mode == &adaptive_none && sw->fecn == NULL &&
		     (congestion->table == NULL || congestion->table->count == 0);
	uint8_t vcs = congestion->adaptive.afi ? congestion->adaptive.channel : sw->vcs;

	sw->direct_vcs = quiet ? vcs : 0;
}

/* Packets in the VOQs against what the detector takes them for. NULL, or what is wrong. */
const char *switch_congestion_check(const struct weft_switch *sw);
