/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <inttypes.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <stdio.h>

#include "real_pools.h"
#include "real_private.h"
#include "wire/frame.h"

#define DATA_MBUFS_MIN    2048u /* per port: one-block frames that its credits admit */
#define DATA_MBUFS_SMALL  8192u /* four such ports; fabrics with more ports share mbufs */
#define DATA_MBUFS_MAX    65536u
#define CONTROL_MBUFS_MIN 4096u
/* A port's transmitter holds at most two bursts of control frames; some more are in flight. */
#define CONTROL_MBUFS_A_PORT (4u * PORT_BURST)
#define CONTROL_MBUFS_MAX    32768u /* for large fabrics, whose links are in memory */
#define CONTROL_BYTES        256
#define CACHED_MBUFS \
	512u /* mbufs in a loop's cache: one and a half times POOL_CACHE, in either pool */

/* An mbuf's struct and packet data, and the mempool's header and padding. */
#define MBUF_OVERHEAD 384
#define PAGE_BYTES    4096u
#define RING_BYTES    (512u << 10) /* descriptors and software rings of a NIC's queues */
#define DPDK_BYTES    (48u << 20)  /* EAL, telemetry, captures, heap granularity */

void real_pool_add(struct real_pool_request *request, const struct port_ethdev_needs *needs)
{
	request->received_mbufs += needs->received_mbufs;
	request->sent_mbufs += needs->sent_mbufs;
	request->room_bytes = RTE_MAX(request->room_bytes, needs->room_bytes);
	if (needs->socket < 0)
		return;
	if (request->node == 0)
		request->node = (unsigned)needs->socket + 1;
	else if (request->node != (unsigned)needs->socket + 1)
		request->node = REAL_POOL_MIXED;
}

void real_pool_sizes(const struct real_pool_request *request, struct real_pool_sizes *sizes)
{
	/* A slow link may hold only data frames, or only control frames. */
	unsigned held = request->held;
	unsigned data = request->ends * REAL_PORT_MBUFS + request->transit + held;
	unsigned control = request->ends * CONTROL_MBUFS_A_PORT + held;
	unsigned cached = RTE_MAX(request->lcores, 1u) * CACHED_MBUFS;

	data = RTE_MAX(data, RTE_MIN(request->ends * DATA_MBUFS_MIN, DATA_MBUFS_SMALL));
	data = RTE_MIN(RTE_MAX(data, DATA_MBUFS_MIN), DATA_MBUFS_MAX + held);
	control = RTE_MIN(RTE_MAX(control, CONTROL_MBUFS_MIN), CONTROL_MBUFS_MAX + held);
	sizes->data_mbufs = data + request->received_mbufs + request->sent_mbufs + cached;
	/* A port's rings may be full of control frames. */
	sizes->control_mbufs = control + request->sent_mbufs + cached;
	sizes->data_bytes = RTE_MAX(request->room_bytes, frame_room(request->mtu_bytes));
	sizes->control_bytes = CONTROL_BYTES;
	if (!request->ethdevs)
		sizes->socket = PORT_POOL_LAZY;
	else if (request->node == 0 || request->node == REAL_POOL_MIXED)
		sizes->socket = SOCKET_ID_ANY;
	else
		sizes->socket = (int)request->node - 1;
}

/* Without hugepages, a mempool object does not cross pages unless it is larger than a page; it then
 * starts on a page boundary. */
static uint64_t pool_bytes(unsigned mbufs, uint32_t frame_bytes)
{
	uint32_t each = RTE_PKTMBUF_HEADROOM + frame_bytes + MBUF_OVERHEAD;

	if (each <= PAGE_BYTES)
		each = PAGE_BYTES / (PAGE_BYTES / each);
	return (uint64_t)mbufs * (each <= PAGE_BYTES ? each : RTE_ALIGN_CEIL(each, PAGE_BYTES));
}

unsigned real_pool_memory_mib(
	const struct real_pool_request *request, const struct real_pool_sizes *sizes)
{
	uint64_t bytes = DPDK_BYTES + (uint64_t)request->ends * RING_BYTES;

	if (sizes->socket != PORT_POOL_LAZY) {
		bytes += pool_bytes(sizes->data_mbufs, sizes->data_bytes);
		bytes += pool_bytes(sizes->control_mbufs, sizes->control_bytes);
	}
	return (unsigned)((bytes + bytes / 16) >> 20) + 1;
}

#define LOOK_PS (1 * PS_PER_S)

/* Counts the frames without a buffer at local switches; *name is the port most affected. */
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

/* Returns the number of frames for which devices had no buffer. */
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
		"weft: warning: %s: ran out of buffers for %s %" PRIu64
		" times; pool %s has %u of %u in use\n",
		port, what, times, pool->name, rte_mempool_in_use_count(pool), pool->size);
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
		warn(device_port, device, "received frames", fabric->data_pool);
		seen->device = device;
	}
	if (control > 2 * seen->control) {
		warn(port, control, "control frames", fabric->control_pool);
		seen->control = control;
	}
}
