/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* rte_eth_read_clock() is not in the stable ABI of DPDK 22.11, but has not changed since 19.08. */
#define ALLOW_EXPERIMENTAL_API

#include "ethdev_private.h"

#include <rte_alarm.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf_dyn.h>
#include <rte_pci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Room for everything that a driver may add to a frame in its buffer: two VLAN tags, a CRC,
 * virtio's header. The known maximum is 12 + 4 bytes (virtio) and 2 * 4 + 4 (Intel). */
#define BUFFER_SPARE 64
/* Granularity of NIC buffers: 1 KiB (ixgbe, igb), 128 B (i40e, ice), or none. */
#define BUFFER_STEP 1024

#define PCI_VENDOR_INTEL 0x8086

static const struct ethdev_driver drivers[] = {
	{.name = "net_memif",
		.is_virtual = true,
		.ring_argument = "rsize",
		.ring_is_log2 = true,
		.ring_slots = 1024,
		.buffer_argument = "bsize",
		.buffer_bytes = 2048},
	{.name = "net_ring", .is_virtual = true, .ring_slots = 1023, .keeps_sent = true},
	{.name = "net_tap",
		.is_virtual = true,
		.ring_slots = 500, /* TUN_READQ_SIZE */
		.is_ethernet = true},
	{.name = "net_pcap", .is_virtual = true},
	{.name = "net_null", .is_virtual = true},
	{.name = "net_virtio_user", .ring_argument = "queue_size", .ring_slots = 256},
	/* Accepts any number of descriptors, but uses as many as its queue has, usually 256. */
	{.name = "net_virtio", .ring_slots = 256},
	{.name = "net_e1000_em", .buffers_are_powers = true},
	/* Their clean-up frees mbufs that vector transmission has already freed. */
	{.name = "net_iavf", .unsafe_cleanup = true},
	{.name = "net_ice_dcf", .unsafe_cleanup = true},
};

static const struct ethdev_driver other = {.name = ""};

const struct ethdev_driver *ethdev_driver_find(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(drivers); i++)
		if (strncmp(name, drivers[i].name, strlen(drivers[i].name)) == 0)
			return &drivers[i];
	return &other;
}

/* Returns the vendor of a PCI device, from sysfs; 0 if unknown. */
static unsigned pci_vendor(const char *root, const char *dpdk)
{
	char path[512], address[PCI_PRI_STR_SIZE];
	struct rte_pci_addr pci;
	unsigned vendor = 0;
	FILE *file;

	if (rte_pci_addr_parse(dpdk, &pci) != 0)
		return 0;
	rte_pci_device_name(&pci, address, sizeof(address));
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/vendor", root, address);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%x", &vendor) != 1)
		vendor = 0;
	fclose(file);
	return vendor;
}

const struct ethdev_driver *ethdev_driver_guess(const char *root, const char *dpdk)
{
	const struct ethdev_driver *driver = ethdev_driver_find(dpdk);
	unsigned vendor;

	if (driver->is_virtual)
		return driver;
	vendor = pci_vendor(root, dpdk);
	return vendor == 0 || vendor == PCI_VENDOR_INTEL ? ethdev_driver_find("net_e1000_em")
							 : driver;
}

/* Returns the number in "…,key=number,…", or 'fallback'. */
static uint32_t argument_number(const char *arguments, const char *key, uint32_t fallback)
{
	size_t length = strlen(key);

	for (const char *at = arguments; at != NULL && *at != '\0'; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) == 0 && at[length] == '=')
			return (uint32_t)strtoul(at + length + 1, NULL, 0);
	}
	return fallback;
}

static uint32_t ring_slots(
	const struct ethdev_driver *driver, const char *arguments, uint32_t descriptors)
{
	uint32_t slots = driver->ring_slots != 0 ? driver->ring_slots : descriptors;
	uint32_t given;

	if (driver->ring_argument == NULL)
		return driver->is_virtual ? slots : RTE_MIN(slots, descriptors);
	given = argument_number(arguments, driver->ring_argument, 0);
	if (driver->ring_is_log2)
		return given != 0 && given < 31 ? 1u << given : slots;
	slots = given != 0 ? given : slots;
	return driver->is_virtual ? slots : RTE_MIN(slots, descriptors);
}

uint32_t ethdev_driver_slots(const struct ethdev_driver *driver, const char *arguments,
	uint32_t descriptors, uint32_t frame_bytes)
{
	uint32_t slots = ring_slots(driver, arguments, descriptors);
	uint32_t buffer_bytes = frame_bytes;

	if (driver->buffer_argument != NULL)
		buffer_bytes =
			argument_number(arguments, driver->buffer_argument, driver->buffer_bytes);
	if (buffer_bytes == 0 || buffer_bytes >= frame_bytes)
		return slots;
	return slots / ((frame_bytes + buffer_bytes - 1) / buffer_bytes);
}

uint32_t ethdev_driver_room(const struct ethdev_driver *driver, uint32_t frame_bytes,
	uint32_t min_mtu, uint32_t min_bytes)
{
	/* Devices keep an MTU of 1,500 if less suffices; drivers need buffers of that size. */
	uint32_t longest = RTE_MAX(min_mtu, (uint32_t)RTE_ETHER_MTU) + RTE_ETHER_HDR_LEN;
	uint32_t room = RTE_MAX(RTE_MAX(frame_bytes, longest) + BUFFER_SPARE, min_bytes);

	if (driver->is_virtual)
		return frame_bytes;
	return driver->buffers_are_powers ? rte_align32pow2(room)
					  : RTE_ALIGN_CEIL(room, BUFFER_STEP);
}

/* Watches a NIC's carrier and losses. When its cable is pulled, the port counts as cut immediately,
 * without waiting for missed hellos. The device is polled, because link interrupts are 4 s
 * late with some drivers (ixgbe) and never arrive with others (vmxnet3 and e1000e in QEMU). After
 * the first look, all of this runs in DPDK's interrupt thread: some drivers must query their
 * firmware, for which a poll loop must not wait.
 *
 * Some devices pass frames but never report their link as up. A port therefore counts as dark only
 * after its link has been up. */

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
	/* DPDK's thread may start late and miss a carrier lost before its first look. */
	note_carrier(ctx);
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

/* Arrival stamps from the NIC's own clock. A driver implements one of two calls that read it. */

static int read_ticks(uint16_t ethdev, uint64_t *ticks)
{
	return rte_eth_read_clock(ethdev, ticks);
}

/* For IEEE 1588 drivers, whose stamps are in nanoseconds. */
static int read_nanoseconds(uint16_t ethdev, uint64_t *ticks)
{
	struct timespec now;
	int result = rte_eth_timesync_read_time(ethdev, &now);

	*ticks = result < 0 ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return result;
}

/* Returns the call that reads the device's clock, or NULL if neither works. */
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
