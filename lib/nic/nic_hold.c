/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * When nothing of the interface's own may leave (docs/mapper.md, 'Distribution'). While it is held
 * its timers stand still: what they wait for cannot come, because everybody is held, or nothing has
 * been sent. When it goes on they begin anew, so that no interface takes the time for losses and
 * sends again what is there.
 */

#include "flow_rx.h"
#include "flow_tx.h"
#include "nic_private.h"

void hold_begin(struct nic *nic, unsigned reason, weft_time now)
{
	if (nic->held == 0) {
		nic->held_since = now;
		nic->stalled_vcs = 0; /* what follows is another reason to wait */
	}
	nic->held |= reason;
}

/* No FIFO has waited for anything else than this. */
static void go_on(struct nic *nic, weft_time now)
{
	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		nic->backlog_moved[vc] = now;
	flow_rx_go_on(nic, now);
	flow_tx_go_on(nic, now - nic->held_since, now);
}

void hold_end(struct nic *nic, unsigned reason, weft_time now)
{
	if ((nic->held & reason) == 0)
		return;
	nic->held &= ~reason;
	if (nic->held == 0)
		go_on(nic, now);
}

void nic_pause(struct nic *nic, weft_time now)
{
	hold_begin(nic, NIC_HELD_PAUSED, now);
}

void nic_resume(struct nic *nic, weft_time now)
{
	hold_end(nic, NIC_HELD_PAUSED, now);
}

bool nic_is_paused(const struct nic *nic)
{
	return (nic->held & NIC_HELD_PAUSED) != 0;
}

bool nic_is_idle(const struct nic *nic)
{
	return nic_is_paused(nic) && (nic->itb == NULL || nic->itb->frames == 0);
}
