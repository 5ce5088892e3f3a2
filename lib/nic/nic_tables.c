/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Replaces the routes and the queuing scheme of an interface, for a mapper. */

#include <errno.h>

#include "flow_rx.h"
#include "flow_tx.h"
#include "nic_control.h"

bool nic_has_routes(const struct nic *nic)
{
	return nic->config.routes != NULL;
}

_Static_assert(NIC_ROUTES_MAX == ROUTE_CHOICE_ROUTES_MAX, "sets have rows of the same length");

/* False: the choice has no room for so many alternatives. */
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

	if (!same) {
		route_choice_forget(&nic->choice, peer);
		nic_control_rerouted(nic, peer);
	}
	flow_tx_reroute(nic, peer, same, now);
	if (!reached && nic->tx[peer].window != 0)
		flow_rx_acknowledge_again(nic, peer);
}

int nic_set_routes(struct nic *nic, const struct nic_routes *routes, weft_time now)
{
	const struct nic_routes *former = nic->config.routes;

	if (!fits(nic, routes))
		return -EINVAL;
	nic->config.routes = routes;
	nic->choice.options.sets = routes->sets;
	for (uint16_t peer = 0; peer < nic->config.hosts; peer++)
		reroute(nic, former, peer, now);
	nic->count[NIC_ROUTE_CHANGES]++;
	hold_end(nic, NIC_HELD_ROUTES, now);
	return 0;
}

/* The VCs of service levels are fixed at creation; another scheme may only assign messages to
 * others of them. */
int nic_set_queuing(struct nic *nic, const struct queuing *queuing)
{
	if (queuing != NULL && queuing->hosts < nic->config.hosts)
		return -EINVAL;
	for (unsigned sl = 0; queuing != NULL && sl < queuing->queues; sl++)
		if (nic->config.sl_to_vc[sl] != sl)
			return -EINVAL;
	nic->config.queuing = queuing;
	return 0;
}
