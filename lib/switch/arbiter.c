/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arbiter.h"

#include "contention.h"

void arbiter_retry(struct weft_switch *sw, unsigned output)
{
	struct switch_output *out = &sw->port[output].output;

	for (uint64_t left = sw->vcs > 1 ? out->stalled : 0; left != 0; left &= left - 1) {
		struct crosspoint *cross =
			switch_cross(sw, output, (unsigned)__builtin_ctzll(left));

		cross->ready |= cross->stalled;
		cross->stalled = 0;
	}
	out->ready |= out->stalled;
	out->stalled = 0;
	arbiter_update(sw, output);
}

void arbiter_report(struct weft_switch *sw, struct weft_packet *packet, unsigned output,
	const struct voq *queue, weft_time now)
{
	if (sw->signal.departures & CONGESTION_LEFT)
		congestion_control_left(sw->congestion, packet, output, queue);
	if ((sw->signal.departures & CONGESTION_TIMED) &&
		(sw->contention->driven & BIT64(output)) == 0)
		contention_leave(sw, packet, output, now);
}
