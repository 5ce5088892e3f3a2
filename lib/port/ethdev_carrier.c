/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Watches a NIC's carrier and losses. When its cable is pulled, the port counts as cut at once,
 * without waiting for missed hellos. The device is polled: link interrupts are 4 s late with some
 * drivers (ixgbe) and never come with others (vmxnet3 and e1000e in QEMU). All of this runs in
 * DPDK's interrupt thread: some drivers must query their firmware, and a poll loop must not wait
 * for that.
 *
 * Some devices never report their link as up and pass frames all the same: a port counts as dark
 * only after its link has been up. */

#include <rte_alarm.h>

#include "ethdev_private.h"

#define LOOK_US   10000
#define LOSSES_US 1000000

static void note_carrier(struct ethdev_ctx *ctx)
{
	struct rte_eth_link link = {.link_status = RTE_ETH_LINK_DOWN};
	int result;

	pthread_mutex_lock(&ctx->asking);
	result = rte_eth_link_get_nowait(ctx->port->ethdev, &link);
	pthread_mutex_unlock(&ctx->asking);
	if (result != 0)
		return;
	if (link.link_status == RTE_ETH_LINK_UP)
		ctx->was_up = true;
	port_set_cut(
		ctx->port, PORT_CUT_CARRIER, ctx->was_up && link.link_status != RTE_ETH_LINK_UP);
}

static void note_losses(struct ethdev_ctx *ctx)
{
	struct port_losses losses;

	pthread_mutex_lock(&ctx->asking);
	ethdev_read_losses(ctx, &losses);
	pthread_mutex_unlock(&ctx->asking);
#define X(name, text) __atomic_store_n(&ctx->seen.name, losses.name, __ATOMIC_RELAXED);
	PORT_LOSSES(X)
#undef X
}

static void look(void *arg)
{
	struct ethdev_ctx *ctx = arg;

	note_carrier(ctx);
	if (ctx->looks++ % (LOSSES_US / LOOK_US) == 0)
		note_losses(ctx);
	rte_eal_alarm_set(LOOK_US, look, ctx);
}

void port_watch_ethdev(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (port->ethdev >= RTE_MAX_ETHPORTS || ctx->watched || ctx->driver->is_virtual)
		return;
	ctx->watched = rte_eal_alarm_set(1, look, ctx) == 0;
}

void ethdev_forget(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (ctx->watched)
		rte_eal_alarm_cancel(look, ctx);
	ctx->watched = false;
}

void port_unwatch_ethdev(struct port *port)
{
	if (port->ethdev < RTE_MAX_ETHPORTS && port->ctx != NULL)
		ethdev_forget(port);
}
