/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_reason.h"

#include <stddef.h>

const char *capture_reason_text(uint8_t reason)
{
	static const char *const text[CAPTURE_REASON_END] = {
#define X(id, name) [CAPTURE_REASON_FAULT + FRAME_FAULT_##id] = "refused: " name,
		FRAME_FAULTS(X)
#undef X
#define X(id, name) [CAPTURE_REASON_SWITCH + SWITCH_##id] = name,
			SWITCH_COUNTERS(X)
#undef X
#define X(id, name) [CAPTURE_REASON_##id] = name,
				CAPTURE_REASONS(X)
#undef X
	};

	return reason < CAPTURE_REASON_END ? text[reason] : NULL;
}

bool capture_reason_drops(uint8_t reason)
{
	return reason != CAPTURE_REASON_NONE && reason != CAPTURE_REASON_DEFLECTED &&
	       reason != CAPTURE_REASON_ADAPTED &&
	       reason != capture_reason_switch(SWITCH_STALL_CREDIT);
}

_Static_assert((int)CAPTURE_REASON_FAULT + (int)FRAME_FAULT_COUNT <= CAPTURE_REASON_SWITCH,
	"the numbers of frame faults end before the counters'");
_Static_assert((int)CAPTURE_REASON_SWITCH + (int)SWITCH_COUNTER_COUNT <= CAPTURE_REASON_OTHER,
	"the numbers of the counters end before the others");

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
	primary = switch_table_port(sw, packet->destination);
	if (output != primary)
		state->reason = port_set_has(sw->usable, primary) ? CAPTURE_REASON_ADAPTED
								  : CAPTURE_REASON_DEFLECTED;
}
