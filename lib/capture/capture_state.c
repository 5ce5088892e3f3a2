/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_state.h"

static char *put(char *at, const char *end, const char *text)
{
	while (*text != '\0' && at < end)
		*at++ = *text++;
	return at;
}

static char *put_number(char *at, const char *end, const char *label, uint32_t number)
{
	char digits[12], *first = digits + sizeof(digits) - 1;

	*first = '\0';
	do
		*--first = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	return put(put(at, end, label), end, first);
}

/* Avoids snprintf(), which would take most of the writer's time. */
void capture_state_format(
	const struct capture_state *state, capture_reason_fn *reason, char *text, size_t size)
{
	const char *why = reason != NULL && state->reason != 0 ? reason(state->reason) : NULL;
	const char *end = text + size - 1;
	char *at = put_number(text, end, "vc ", state->vc);

	if (state->credits_blocks != CAPTURE_UNKNOWN)
		at = put_number(at, end, ", credits ", state->credits_blocks);
	if (state->voq_depth_blocks != CAPTURE_UNKNOWN)
		at = put_number(at, end, ", voq ", state->voq_depth_blocks);
	if (state->waited_ns != 0)
		at = put_number(at, end, ", waited ", state->waited_ns);
	if (why != NULL)
		at = put(put(at, end, ", "), end, why);
	*at = '\0';
}
