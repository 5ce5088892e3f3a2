/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_decision.h"

#include "capture_reason.h"

void capture_decision(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned output, struct capture_state *state)
{
	unsigned primary;

	if (packet->vc < sw->vcs)
		state->credits_blocks =
			credit_expected(&sw->port[packet->in_port].link.rx[packet->vc], 0);
	if (output == SWITCH_PORT_NONE) {
		state->reason = capture_reason_switch(packet->discard);
		return;
	}
	state->voq_depth_blocks = switch_queues(sw, output, packet->in_port)[packet->vc].blocks;
	if (packet->route_length != 0)
		return;
	primary = sw->table_port[packet->destination];
	if (output != primary)
		state->reason = (sw->usable >> primary & 1) != 0 ? CAPTURE_REASON_ADAPTED
								 : CAPTURE_REASON_DEFLECTED;
}
