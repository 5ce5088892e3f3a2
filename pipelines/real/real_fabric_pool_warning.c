/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <inttypes.h>
#include <rte_mempool.h>
#include <stdio.h>

#define LOOK_PS (1 * PS_PER_S)

/* Frames that the switches here had no buffer for; '*name' is the port that lacked it most often.
 */
static uint64_t sum_switches(const struct real_fabric *fabric, const char **name)
{
	uint64_t sum = 0, worst = 0;

	for (unsigned i = 0; i < fabric->switch_count; i++) {
		const struct real_switch *device = &fabric->switches[i];

		for (unsigned at = 0; at < device->sw->ports; at++) {
			const struct poll_switch_port *port =
				&real_switch_loop(device, at)->port[at];

			sum += port->no_mbuf;
			if (port->no_mbuf <= worst)
				continue;
			worst = port->no_mbuf;
			*name = port->port->name;
		}
	}
	return sum;
}

/* Frames that the devices had no buffer for. */
static uint64_t sum_devices(const struct real_fabric *fabric, const char **name)
{
	struct port_losses losses;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < fabric->ends; i++) {
		if (!fabric->end[i].open)
			continue;
		port_losses_seen(&fabric->end[i].port, &losses);
		if (losses.rx_no_buffer > 0)
			*name = fabric->end[i].port.name;
		sum += losses.rx_no_buffer;
	}
	return sum;
}

static void warn(const char *port, uint64_t times, const char *what, const struct rte_mempool *pool)
{
	fprintf(stderr,
		"weft: warning: %s: no buffer for %s, %" PRIu64
		" times in all: %u of the %u in pool %s are in use\n",
		port, what, times, rte_mempool_in_use_count(pool), pool->size, pool->name);
}

void real_pool_warning_check(struct real_fabric *fabric, weft_time now)
{
	struct real_pool_warning *seen = &fabric->shortage;
	const char *port = "", *device_port = "";
	uint64_t control, device;

	if (now < seen->due)
		return;
	seen->due = now + LOOK_PS;
	control = sum_switches(fabric, &port);
	device = sum_devices(fabric, &device_port);
	if (device > 2 * seen->device) {
		warn(device_port, device, "frames that come", fabric->data_pool);
		seen->device = device;
	}
	if (control > 2 * seen->control) {
		warn(port, control, "control frames", fabric->control_pool);
		seen->control = control;
	}
}
