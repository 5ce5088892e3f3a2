/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Holding the interface's own frames (docs/mapper.md, 'Distribution'). While held its timers stand
 * still: the events that they wait for cannot occur, because every device is held, or nothing has
 * been sent. On resumption they restart, so that no interface takes the pause for losses and
 * retransmits. */

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

/* No FIFO has waited for any other reason. */
static void resume(struct nic *nic, weft_time now)
{
	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		nic->backlog_moved[vc] = now;
	flow_rx_resume(nic, now);
	flow_tx_resume(nic, now - nic->held_since, now);
}

void hold_end(struct nic *nic, unsigned reason, weft_time now)
{
	if ((nic->held & reason) == 0)
		return;
	nic->held &= ~reason;
	if (nic->held == 0)
		resume(nic, now);
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
