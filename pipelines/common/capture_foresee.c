/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_foresee.h"

#include "capture_reason.h"
#include "forward.h"

void capture_foresee(const struct weft_switch *sw, const struct weft_packet *packet, weft_time now,
	struct capture_state *state)
{
	unsigned output = SWITCH_PORT_NONE;
	enum switch_counter discard = forward_foresee(sw, packet, now, &output);

	if (packet->vc < sw->vcs)
		state->credits_blocks = credit_expected(
			&sw->port[packet->in_port].link.rx[packet->vc], packet->blocks);
	if (discard != SWITCH_COUNTER_COUNT) {
		state->reason = capture_reason_switch(discard);
		return;
	}
	state->voq_depth_blocks = switch_queues(sw, output, packet->in_port)[packet->vc].blocks;
	if (packet->route_length == 0 && output != sw->table_port[packet->destination])
		state->reason = forward_usable(sw, sw->table_port[packet->destination])
					? CAPTURE_REASON_ADAPTED
					: CAPTURE_REASON_DEFLECTED;
}
