/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port_profile.h"

#include <string.h>

#include <rte_cycles.h>

/* Only the port behind knows the device's carrier. */
static void copy_carrier(struct port *port, const struct port *behind)
{
	bool dark = port_is_cut_by(behind, PORT_CUT_CARRIER);

	if (dark != port_is_cut_by(port, PORT_CUT_CARRIER))
		port_set_cut(port, PORT_CUT_CARRIER, dark);
}

static uint16_t profile_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct port_profile *profile = port->ctx;
	uint64_t before = rte_rdtsc();
	uint16_t received = port_rx(profile->behind, mbufs, count, now);
	uint64_t cycles = rte_rdtsc() - before;

	copy_carrier(port, profile->behind);
	if (received == 0) {
		profile->rx_empty_cycles += cycles;
		profile->rx_empty++;
		return 0;
	}
	profile->rx_cycles += cycles;
	profile->rx_frames += received;
	profile->rx_bursts++;
	return received;
}

static uint16_t profile_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct port_profile *profile = port->ctx;
	uint64_t before = rte_rdtsc();
	uint16_t sent = port_tx(profile->behind, mbufs, count, now);

	profile->tx_cycles += rte_rdtsc() - before;
	profile->tx_frames += sent;
	profile->tx_bursts++;
	return sent;
}

static void profile_idle(struct port *port, weft_time now)
{
	struct port_profile *profile = port->ctx;

	port_idle(profile->behind, now);
}

void port_profile_init(struct port_profile *profile, struct port *behind)
{
	memset(profile, 0, sizeof(*profile));
	profile->behind = behind;
	profile->port = *behind;
	profile->port.rx = profile_rx;
	profile->port.tx = profile_tx;
	profile->port.idle = profile_idle;
	profile->port.close = NULL;
	profile->port.ctx = profile;
	profile->port.capture = NULL;
}
