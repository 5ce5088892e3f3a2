/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_state.h"

#include <stdio.h>

void capture_state_format(
	const struct capture_state *state, capture_reason_fn *reason, char *text, size_t size)
{
	const char *why = reason != NULL && state->reason != 0 ? reason(state->reason) : NULL;
	char credits[32] = "", depth[32] = "", waited[32] = "";

	if (state->credits_blocks != CAPTURE_UNKNOWN)
		snprintf(credits, sizeof(credits), ", credits %u", state->credits_blocks);
	if (state->voq_depth_blocks != CAPTURE_UNKNOWN)
		snprintf(depth, sizeof(depth), ", voq %u", state->voq_depth_blocks);
	if (state->waited_ns != 0)
		snprintf(waited, sizeof(waited), ", waited %u", state->waited_ns);
	snprintf(text, size, "vc %u%s%s%s%s%s", state->vc, credits, depth, waited,
		why != NULL ? ", " : "", why != NULL ? why : "");
}
