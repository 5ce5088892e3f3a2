/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * The carrier of a NIC: when its cable is pulled, the port counts as cut at once, and no hello has
 * to be missed first. The driver's interrupt tells where there is one; else the link is looked at
 * from time to time. Both happen in DPDK's interrupt thread, never in a poll loop.
 *
 * Some devices never say that their link is up and pass frames all the same: a port is taken for
 * dark only after its link has been up.
 */

#include <rte_alarm.h>

#include "ethdev_private.h"

#define LOOK_US 5000

static void note(struct ethdev_ctx *ctx)
{
	struct rte_eth_link link = {.link_status = RTE_ETH_LINK_DOWN};

	if (rte_eth_link_get_nowait(ctx->port->ethdev, &link) != 0)
		return;
	if (link.link_status == RTE_ETH_LINK_UP)
		ctx->was_up = true;
	port_set_cut(
		ctx->port, PORT_CUT_CARRIER, ctx->was_up && link.link_status != RTE_ETH_LINK_UP);
}

static void look(void *arg)
{
	struct ethdev_ctx *ctx = arg;

	note(ctx);
	rte_eal_alarm_set(LOOK_US, look, ctx);
}

static int on_interrupt(uint16_t ethdev, enum rte_eth_event_type event, void *arg, void *out)
{
	(void)ethdev;
	(void)event;
	(void)out;
	note(arg);
	return 0;
}

void ethdev_carrier_watch(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (ctx->driver->is_virtual)
		return;
	ctx->watched = true;
	if (ctx->lsc)
		ctx->lsc = rte_eth_dev_callback_register(
				   port->ethdev, RTE_ETH_EVENT_INTR_LSC, on_interrupt, ctx) == 0;
	if (ctx->lsc)
		note(ctx);
	else
		look(ctx);
}

void ethdev_carrier_forget(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (!ctx->watched)
		return;
	if (ctx->lsc)
		/* -EAGAIN: it is running. */
		while (rte_eth_dev_callback_unregister(
			       port->ethdev, RTE_ETH_EVENT_INTR_LSC, on_interrupt, ctx) == -EAGAIN)
			;
	else
		rte_eal_alarm_cancel(look, ctx);
	ctx->watched = false;
}
