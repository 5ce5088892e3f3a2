/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_measure.h"

#include "frame.h"
#include "starvation.h"
#include "virtual_parts.h"
#include "virtual_private.h"
#include "virtual_ranks.h"

/* VCs in which a host has something to send. */
static uint32_t waiting_vcs(const struct datagram *nic)
{
	uint32_t vcs = nic->waiting;

	if (nic->stream.left_bytes > 0)
		vcs |= UINT32_C(1) << nic->stream.frame.vc_next;
	return nic->itb != NULL ? vcs | nic->itb->waiting : vcs;
}

static int collect_hosts(const struct virtual_fabric *fabric, const struct deadlock_view *view,
	weft_time age_ps, struct deadlock_heads *heads)
{
	uint32_t needs =
		frame_blocks((unsigned)virtual_min_payload(fabric) + (unsigned)FRAME_HEADER_BYTES);
	int result = 0;

	for (uint32_t i = 0; i < fabric->hosts && result == 0; i++) {
		weft_time since = virtual_host_channel(fabric, i)->blocked_since;

		if (virtual_is_ours(fabric, fabric->switches + i) && since != WEFT_TIME_NEVER &&
			view->now - since >= age_ps)
			result = deadlock_collect_host(
				view, i, waiting_vcs(&fabric->host[i].nic), needs, since, heads);
	}
	return result;
}

void virtual_deadlock_look(struct virtual_fabric *fabric, weft_time age_ps, weft_time measured_ps)
{
	const struct deadlock_view view = {fabric->topology, fabric->sw, fabric->now};
	struct deadlock_heads heads = {0};
	struct deadlock_circle circle;
	int channels;

	if (deadlock_collect(&view, age_ps, &heads) < 0 ||
		collect_hosts(fabric, &view, age_ps, &heads) < 0)
		fabric->failed = true;
	virtual_ranks_collect(fabric, &heads);
	channels = deadlock_search(&heads, fabric->topology, circle.port, DEADLOCK_CIRCLE_MAX);
	circle.channels = channels > 0 ? (unsigned)channels : 0;
	/* A rank that saw no cycle here would diverge from the others. */
	if (channels < 0 ||
		starvation_keep(&fabric->starved, &heads,
			run_result_minus(fabric->now, fabric->window.from.at_ps),
			starvation_patience(fabric->topology, fabric->run, measured_ps)) < 0)
		fabric->failed = true;
	if (fabric->circle.channels == 0)
		fabric->circle = circle;
	deadlock_heads_free(&heads);
}
