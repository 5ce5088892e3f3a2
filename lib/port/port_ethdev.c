/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "port_ethdev.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_pci.h>

#include "log_capture.h"

struct ethdev_ctx {
	uint64_t rx_segmented; /* writer: the thread that receives */
	struct rte_device *device;
	bool ours; /* plugged in by us: taken out when the port is closed */
	bool running;
};

/* --- data plane --- */

/* Makes one segment of a frame of several, or drops it. */
static bool linearise(struct port *port, struct rte_mbuf *mbuf)
{
	struct ethdev_ctx *ctx = port->ctx;

	if (rte_pktmbuf_linearize(mbuf) == 0)
		return true;
	__atomic_store_n(&ctx->rx_segmented, ctx->rx_segmented + 1, __ATOMIC_RELAXED);
	rte_pktmbuf_free(mbuf);
	return false;
}

static uint16_t keep_linear(struct port *port, struct rte_mbuf **mbufs, uint16_t count)
{
	unsigned segments = 1;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++)
		segments |= mbufs[i]->nb_segs;
	if (likely(segments == 1))
		return count;
	for (uint16_t i = 0; i < count; i++)
		if (likely(mbufs[i]->nb_segs == 1) || linearise(port, mbufs[i]))
			mbufs[kept++] = mbufs[i];
	return kept;
}

static uint16_t ethdev_rx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	(void)now;
	return rte_eth_rx_burst(port->ethdev, 0, mbufs, count);
}

/* For drivers that chain mbufs without having been asked to. */
static uint16_t ethdev_rx_chained(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	return keep_linear(port, mbufs, ethdev_rx(port, mbufs, count, now));
}

static uint16_t ethdev_tx(struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	(void)now;
	return rte_eth_tx_burst(port->ethdev, 0, mbufs, count);
}

/* --- what the drivers are like --- */

/* Virtual devices whose receive ring has nothing to do with the descriptors asked for. */
struct driver {
	const char *name;
	const char *ring_argument; /* devargs key of the ring's size, NULL: fixed */
	bool ring_is_log2;         /* the argument is the logarithm of the size */
	uint32_t ring_slots;       /* without the argument; 0: the descriptors */
	const char
		*buffer_argument; /* devargs key of a slot's bytes: greater frames take several */
	uint32_t buffer_bytes;
	bool chains;    /* may deliver several segments */
	bool overhears; /* hears every interface of its namespace until it is bound to its own */
};

static const struct driver drivers[] = {
	{.name = "net_memif",
		.ring_argument = "rsize",
		.ring_is_log2 = true,
		.ring_slots = 1024,
		.buffer_argument = "bsize",
		.buffer_bytes = 2048,
		.chains = true},
	{.name = "net_af_packet",
		.ring_argument = "framecnt",
		.ring_slots = 512,
		.overhears = true},
	{.name = "net_ring", .ring_slots = 1023},
	{.name = "net_tap", .ring_slots = 500, .chains = true}, /* TUN_READQ_SIZE */
	{.name = "net_pcap", .chains = true},
	{.name = "net_null"},
};

static const struct driver *driver_find(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(drivers); i++)
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	return NULL;
}

unsigned port_ethdev_held(const char *dpdk, unsigned descriptors)
{
	for (unsigned i = 0; i < RTE_DIM(drivers); i++)
		if (strncmp(dpdk, drivers[i].name, strlen(drivers[i].name)) == 0)
			return 0;
	return 2 * descriptors;
}

/* The number in "…,key=number,…", or 'fallback'. */
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

static uint32_t driver_slots(const struct driver *driver, const char *arguments,
	uint32_t descriptors, uint32_t frame_bytes)
{
	uint32_t slots = driver->ring_slots != 0 ? driver->ring_slots : descriptors;
	uint32_t buffer_bytes = frame_bytes;

	if (driver->ring_argument != NULL) {
		uint32_t given = argument_number(arguments, driver->ring_argument, 0);

		if (given != 0 && given < 31)
			slots = driver->ring_is_log2 ? 1u << given : given;
		else if (given != 0 && !driver->ring_is_log2)
			slots = given;
	}
	if (driver->buffer_argument != NULL)
		buffer_bytes =
			argument_number(arguments, driver->buffer_argument, driver->buffer_bytes);
	if (buffer_bytes == 0 || buffer_bytes >= frame_bytes)
		return slots;
	return slots / ((frame_bytes + buffer_bytes - 1) / buffer_bytes);
}

/* --- finding the device --- */

static bool is_pci(const char *dpdk, char address[PCI_PRI_STR_SIZE])
{
	struct rte_pci_addr pci;

	if (rte_pci_addr_parse(dpdk, &pci) != 0)
		return false;
	rte_pci_device_name(&pci, address, PCI_PRI_STR_SIZE);
	return true;
}

static int fault_pci(
	const char *name, const char *address, const struct log_capture *log, struct fault *fault)
{
	char path[64 + PCI_PRI_STR_SIZE], driver[256];
	const char *base, *cause;
	ssize_t length;
	int said = log_capture_cause(log, &cause);

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", address);
	if (access(path, F_OK) != 0)
		return fault_set(
			fault, ENODEV, "%s: no PCI device %s in this machine", name, address);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
	length = readlink(path, driver, sizeof(driver) - 1);
	driver[length > 0 ? length : 0] = '\0';
	base = strrchr(driver, '/') != NULL ? strrchr(driver, '/') + 1 : driver;
	if (length <= 0)
		return fault_set(fault, ENODEV,
			"%s: PCI device %s has no driver, expected vfio-pci "
			"('dpdk-devbind.py -b vfio-pci %s')",
			name, address, address);
	if (strcmp(base, "vfio-pci") != 0 && strcmp(base, "uio_pci_generic") != 0)
		return fault_set(fault, ENODEV,
			"%s: PCI device %s belongs to the kernel driver %s, expected vfio-pci "
			"('dpdk-devbind.py -b vfio-pci %s')",
			name, address, base, address);
	if (geteuid() != 0)
		return fault_set(fault, EPERM,
			"%s: PCI device %s: no privilege for %s, expected root or access to "
			"/dev/vfio",
			name, address, base);
	return fault_set(fault, ENODEV,
		"%s: PCI device %s is not usable: %.*s; was it given with '-a %s' before '--'?",
		name, address, said, cause, address);
}

static int fault_vdev(const char *name, const char *dpdk, int result, const struct log_capture *log,
	struct fault *fault)
{
	const char *cause;
	int length = log_capture_cause(log, &cause);

	if (geteuid() != 0 &&
		(strncmp(dpdk, "net_tap", 7) == 0 || strncmp(dpdk, "net_af_packet", 13) == 0))
		return fault_set(fault, EPERM, "%s: %s: no privilege (%.*s), expected root", name,
			dpdk, length, cause);
	if (length > 0 && strstr(cause, "failed to parse device") == cause)
		return fault_set(fault, ENODEV,
			"%s: %s: DPDK has no driver of this name, expected a PCI address or "
			"net_memif…, net_af_packet…, net_tap…, net_pcap…, net_ring…",
			name, dpdk);
	return fault_set(fault, ENODEV, "%s: %s cannot be opened: %.*s", name, dpdk,
		length > 0 ? length : (int)strlen(strerror(-result)),
		length > 0 ? cause : strerror(-result));
}

/* Finds the ethdev called 'dpdk', plugs it in if it is not there. */
static int find(struct port *port, const char *name, const char *dpdk, struct fault *fault)
{
	struct ethdev_ctx *ctx = port->ctx;
	char device[RTE_ETH_NAME_MAX_LEN], address[PCI_PRI_STR_SIZE];
	bool pci = is_pci(dpdk, address);
	struct log_capture log;
	int result;

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(dpdk, ","), pci ? address : dpdk);
	if (rte_eth_dev_get_port_by_name(device, &port->ethdev) == 0)
		return 0;
	log_capture_begin(&log);
	result = rte_dev_probe(pci ? address : dpdk);
	log_capture_end(&log);
	if (result == 0)
		result = rte_eth_dev_get_port_by_name(device, &port->ethdev);
	if (result == 0)
		ctx->ours = true;
	else if (pci)
		result = fault_pci(name, address, &log, fault);
	else
		result = fault_vdev(name, dpdk, result, &log, fault);
	log_capture_free(&log);
	return result;
}

/* --- setting it up --- */

static int fault_step(
	const char *name, const char *dpdk, const char *step, int result, struct fault *fault)
{
	return fault_set(
		fault, -result, "%s: %s: cannot %s: %s", name, dpdk, step, rte_strerror(-result));
}

/* MTU to ask for so that frames of 'frame_bytes' pass; 0: leave it. Virtual drivers report limits
 * that they do not have, so only a NIC's limit is one. */
static int choose_mtu(const struct rte_eth_dev_info *info, uint32_t frame_bytes, uint32_t *mtu)
{
	uint32_t wanted = frame_bytes - RTE_ETHER_HDR_LEN;
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		overhead = info->max_rx_pktlen - info->max_mtu;
	*mtu = 0;
	if (frame_bytes <= RTE_ETHER_MTU + RTE_ETHER_HDR_LEN)
		return 0;
	if (wanted <= info->max_mtu && wanted + overhead <= info->max_rx_pktlen) {
		*mtu = wanted;
		return 0;
	}
	return driver_find(info->driver_name) != NULL ? 0 : -EMSGSIZE;
}

static int setup_queues(uint16_t ethdev, const struct rte_eth_dev_info *info, unsigned *descriptors,
	struct rte_mempool *pool)
{
	uint16_t rx = (uint16_t)*descriptors, tx = (uint16_t)*descriptors;
	struct rte_eth_rxconf rx_conf = info->default_rxconf;
	struct rte_eth_txconf tx_conf = info->default_txconf;
	int socket = rte_eth_dev_socket_id(ethdev);
	int result = rte_eth_dev_adjust_nb_rx_tx_desc(ethdev, &rx, &tx);

	if (socket < 0)
		socket = SOCKET_ID_ANY;
	rx_conf.offloads = 0;
	tx_conf.offloads = 0;
	if (result == 0)
		result = rte_eth_rx_queue_setup(ethdev, 0, rx, (unsigned)socket, &rx_conf, pool);
	if (result == 0)
		result = rte_eth_tx_queue_setup(ethdev, 0, tx, (unsigned)socket, &tx_conf);
	*descriptors = rx;
	return result;
}

static int configure(struct port *port, const char *dpdk, const struct rte_eth_dev_info *info,
	uint32_t frame_bytes, struct fault *fault)
{
	struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	uint32_t mtu;
	int result;

	if (choose_mtu(info, frame_bytes, &mtu) < 0)
		return fault_set(fault, EMSGSIZE,
			"%s: %s: frames of %u bytes, the device takes %u at most", port->name, dpdk,
			frame_bytes, info->max_rx_pktlen);
	conf.rxmode.mtu = mtu;
	result = rte_eth_dev_configure(port->ethdev, 1, 1, &conf);
	return result < 0 ? fault_step(port->name, dpdk, "be configured", result, fault) : 0;
}

static int start(struct port *port, const char *dpdk, struct fault *fault)
{
	struct ethdev_ctx *ctx = port->ctx;
	int result = rte_eth_dev_start(port->ethdev);

	if (result < 0)
		return fault_step(port->name, dpdk, "start", result, fault);
	ctx->running = true;
	/* Frames carry the addresses of emulated hosts. Rings and memif take all frames and do not
	 * know the call. */
	result = rte_eth_promiscuous_enable(port->ethdev);
	if (result < 0 && result != -ENOTSUP)
		return fault_step(port->name, dpdk, "be made promiscuous", result, fault);
	return 0;
}

/* What a packet socket has heard before it was bound: hellos of other links, among others, which
 * would be taken for a neighbour's. */
static void forget_overheard(const struct port *port)
{
	struct rte_mbuf *mbufs[PORT_BURST];
	uint32_t taken = 0;
	uint16_t count;

	do {
		count = rte_eth_rx_burst(port->ethdev, 0, mbufs, PORT_BURST);
		rte_pktmbuf_free_bulk(mbufs, count);
		taken += count;
	} while (count > 0 && taken < port->slots);
}

static int set_up(struct port *port, const char *dpdk, unsigned descriptors,
	struct rte_mempool *pool, struct fault *fault)
{
	uint32_t frame_bytes = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	struct ethdev_ctx *ctx = port->ctx;
	const struct rte_devargs *devargs;
	const struct driver *driver;
	struct rte_eth_dev_info info;
	int result = rte_eth_dev_info_get(port->ethdev, &info);

	if (result < 0)
		return fault_step(port->name, dpdk, "tell what it is", result, fault);
	ctx->device = info.device;
	driver = driver_find(info.driver_name);
	devargs = rte_dev_devargs(info.device);
	result = configure(port, dpdk, &info, frame_bytes, fault);
	if (result < 0)
		return result;
	result = setup_queues(port->ethdev, &info, &descriptors, pool);
	if (result < 0)
		return fault_step(port->name, dpdk, "set up its queues", result, fault);
	port->rx = driver != NULL && driver->chains ? ethdev_rx_chained : ethdev_rx;
	port->slots = driver == NULL ? descriptors
				     : driver_slots(driver, devargs != NULL ? devargs->args : NULL,
					       descriptors, frame_bytes);
	result = start(port, dpdk, fault);
	if (result == 0 && driver != NULL && driver->overhears)
		forget_overheard(port);
	return result;
}

static void ethdev_close(struct port *port)
{
	struct ethdev_ctx *ctx = port->ctx;
	struct log_capture log;

	log_capture_begin(&log);
	if (ctx->running)
		rte_eth_dev_stop(port->ethdev);
	rte_eth_dev_close(port->ethdev);
	if (ctx->ours && ctx->device != NULL)
		rte_dev_remove(ctx->device);
	log_capture_end(&log);
	log_capture_free(&log);
	free(ctx);
}

int port_open_ethdev(struct port *port, const char *name, const char *dpdk, unsigned descriptors,
	struct rte_mempool *pool, struct fault *fault)
{
	struct ethdev_ctx *ctx = calloc(1, sizeof(*ctx));
	struct log_capture log;
	int result;

	if (ctx == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", name);
	*port = (struct port){.tx = ethdev_tx, .close = ethdev_close, .ctx = ctx};
	snprintf(port->name, sizeof(port->name), "%s", name);
	result = find(port, name, dpdk, fault);
	if (result < 0) {
		free(ctx);
		port->ctx = NULL;
		port->close = NULL;
		return result;
	}
	log_capture_begin(&log);
	result = set_up(port, dpdk, descriptors, pool, fault);
	log_capture_end(&log);
	log_capture_free(&log);
	if (result < 0)
		port_close(port);
	return result;
}

void port_losses_read(const struct port *port, struct port_losses *losses)
{
	const struct ethdev_ctx *ctx = port->ctx;
	struct rte_eth_stats stats;

	*losses = (struct port_losses){.rx_missed = 0};
	if (port->ethdev >= RTE_MAX_ETHPORTS || rte_eth_stats_get(port->ethdev, &stats) != 0)
		return;
	*losses = (struct port_losses){
		.rx_missed = stats.imissed,
		.rx_no_buffer = stats.rx_nombuf,
		.rx_errors = stats.ierrors,
		.rx_segmented = __atomic_load_n(&ctx->rx_segmented, __ATOMIC_RELAXED),
		.tx_errors = stats.oerrors,
	};
}
