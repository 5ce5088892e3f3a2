/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Arrival stamps from the NIC's own clock. A driver implements one of the two calls that read that
 * clock. */

/* rte_eth_read_clock() is not in the stable ABI of DPDK 22.11, and has not changed since 19.08. */
#define ALLOW_EXPERIMENTAL_API

#include <rte_mbuf_dyn.h>
#include <time.h>

#include "ethdev_private.h"

static int read_ticks(uint16_t ethdev, uint64_t *ticks)
{
	return rte_eth_read_clock(ethdev, ticks);
}

/* For IEEE 1588 drivers, whose stamps are nanoseconds. */
static int read_nanoseconds(uint16_t ethdev, uint64_t *ticks)
{
	struct timespec now;
	int result = rte_eth_timesync_read_time(ethdev, &now);

	*ticks = result < 0 ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return result;
}

/* The call that reads the device's clock; NULL: neither does. */
static ethdev_clock_fn *find_clock(uint16_t ethdev)
{
	uint64_t ticks;

	if (read_ticks(ethdev, &ticks) == 0)
		return read_ticks;
	if (rte_eth_timesync_enable(ethdev) < 0)
		return NULL;
	if (read_nanoseconds(ethdev, &ticks) == 0)
		return read_nanoseconds;
	rte_eth_timesync_disable(ethdev);
	return NULL;
}

void ethdev_stamps_begin(struct ethdev_ctx *ctx)
{
	struct ethdev_stamps stamps = {.read = NULL};
	uint16_t ethdev = ctx->port->ethdev;
	struct log_capture log;

	log_capture_begin(&log);
	if (rte_mbuf_dyn_rx_timestamp_register(&stamps.offset, &stamps.flag) == 0)
		stamps.read = find_clock(ethdev);
	log_capture_end(&log);
	log_capture_free(&log);
	ctx->stamps = stamps;
}

bool port_has_stamps(const struct port *port)
{
	const struct ethdev_ctx *ctx = port->ctx;

	return port->ethdev < RTE_MAX_ETHPORTS && ctx->stamps.read != NULL;
}

bool port_stamp_of(const struct port *port, const struct rte_mbuf *mbuf, uint64_t *ticks)
{
	const struct ethdev_ctx *ctx = port->ctx;

	if ((mbuf->ol_flags & ctx->stamps.flag) == 0)
		return false;
	*ticks = *RTE_MBUF_DYNFIELD(mbuf, ctx->stamps.offset, const rte_mbuf_timestamp_t *);
	return true;
}

bool port_stamps_now(const struct port *port, uint64_t *ticks)
{
	struct ethdev_ctx *ctx = port->ctx;
	bool good;

	if (pthread_mutex_trylock(&ctx->asking) != 0)
		return false;
	good = ctx->stamps.read(port->ethdev, ticks) == 0;
	pthread_mutex_unlock(&ctx->asking);
	return good;
}
