/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * When nothing of the interface's own may leave, and other routes (docs/mapper.md, 'Distribution').
 *
 * While it is held its timers stand still: what they wait for cannot come, because everybody is
 * held, or nothing has been sent. When it goes on they begin anew, so that no interface takes the
 * time for losses and sends again what is there.
 */

#include <errno.h>

#include "flow_rx.h"
#include "flow_tx.h"
#include "nic_state.h"

/* Stalls for want of credits end here; what follows is another reason to wait. */
static void end_stalls(struct nic *nic, weft_time now)
{
	for (; nic->stalled_vcs != 0; nic->stalled_vcs &= nic->stalled_vcs - 1)
		nic->stalled_ps += now - nic->stalled_since[__builtin_ctz(nic->stalled_vcs)];
}

void hold_begin(struct nic *nic, unsigned reason, weft_time now)
{
	if (nic->held == 0) {
		nic->held_since = now;
		end_stalls(nic, now);
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

bool nic_has_routes(const struct nic *nic)
{
	return nic->config.routes != NULL;
}

uint16_t nic_reached(const struct nic *nic)
{
	uint16_t reached = 0;

	for (uint16_t to = 0; to < nic->config.hosts; to++)
		reached += to != nic->config.host && nic->tx[to].window != 0;
	return reached;
}

bool nic_is_idle(const struct nic *nic)
{
	return nic_is_paused(nic) && (nic->itb == NULL || nic->itb->frames == 0);
}

/* False: the choice has no place for so many alternatives. */
static bool fits(const struct nic *nic, const struct nic_routes *routes)
{
	if (routes == NULL || routes->hosts != nic->config.hosts)
		return false;
	if (!route_choice_learns(&nic->choice))
		return true;
	for (uint16_t to = 0; to < routes->hosts; to++)
		if (routes->to[to].count > nic->choice.options.routes)
			return false;
	return true;
}

static void reroute(struct nic *nic, const struct nic_routes *former, uint16_t peer, weft_time now)
{
	bool same = former != NULL && nic_routes_equal(former, nic->config.routes, peer);
	bool reached = nic->tx[peer].window != 0;

	if (!same)
		route_choice_forget(&nic->choice, peer);
	flow_tx_reroute(nic, peer, same, now);
	if (!reached && nic->tx[peer].window != 0)
		flow_rx_tell(nic, peer);
}

int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now)
{
	const struct nic_routes *former = nic->config.routes;

	if (!fits(nic, routes))
		return -EINVAL;
	nic->config.routes = routes;
	nic->choice.options.sets = NULL;
	for (uint16_t peer = 0; peer < nic->config.hosts; peer++)
		reroute(nic, former, peer, now);
	nic->count[NIC_ROUTE_CHANGES]++;
	hold_end(nic, NIC_HELD_ROUTES, now);
	return 0;
}
