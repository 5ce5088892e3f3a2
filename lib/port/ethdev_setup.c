/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Sets up an attached ethdev: its MTU and one queue per direction; then starts it. Multi-segment
 * frames are requested only if the driver does not start without them. */

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_pci.h>
#include <string.h>
#include <unistd.h>

#include "ethdev_private.h"
#include "pci_fault.h"

/* An attempt to start a device, with the step that failed, for the error message. */
struct attempt {
	const char *step;
	struct log_capture log;
};

static uint32_t frame_overhead(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

uint32_t ethdev_mtu_max(const struct ethdev_ctx *ctx)
{
	const struct rte_eth_dev_info *info = &ctx->info;
	uint32_t by_length =
		info->max_rx_pktlen - RTE_MIN(frame_overhead(info), info->max_rx_pktlen);

	if (ctx->driver->is_virtual)
		return UINT16_MAX;
	return info->max_mtu != 0 ? RTE_MIN(info->max_mtu, by_length) : by_length;
}

/* Returns the MTU to set; 0: the device keeps its own. Virtual devices report limits that they do
 * not have, and pass longer frames. */
static uint32_t choose_mtu(const struct ethdev_ctx *ctx, uint32_t frame_bytes)
{
	uint32_t wanted = frame_bytes - RTE_ETHER_HDR_LEN, max = ethdev_mtu_max(ctx);
	uint32_t reported = RTE_MIN((uint32_t)ctx->info.max_mtu,
		ctx->info.max_rx_pktlen -
			RTE_MIN(frame_overhead(&ctx->info), ctx->info.max_rx_pktlen));

	if (wanted < ctx->info.min_mtu && !ctx->driver->is_virtual)
		return ctx->info.min_mtu;
	if (wanted <= RTE_ETHER_MTU)
		return max < RTE_ETHER_MTU && !ctx->driver->is_virtual ? wanted : 0;
	return wanted <= reported ? wanted : 0;
}

/* Returns enough descriptors to keep the link busy while the loop serves other ports. */
static uint16_t choose_tx(const struct ethdev_ctx *ctx)
{
	uint32_t speeds = ctx->info.speed_capa;
	const uint32_t slow = RTE_ETH_LINK_SPEED_10M_HD | RTE_ETH_LINK_SPEED_10M |
			      RTE_ETH_LINK_SPEED_100M_HD | RTE_ETH_LINK_SPEED_100M |
			      RTE_ETH_LINK_SPEED_1G | RTE_ETH_LINK_SPEED_FIXED;
	const uint32_t medium =
		slow | RTE_ETH_LINK_SPEED_2_5G | RTE_ETH_LINK_SPEED_5G | RTE_ETH_LINK_SPEED_10G;

	if (speeds != 0 && (speeds & ~slow) == 0)
		return 256;
	return speeds != 0 && (speeds & ~medium) == 0 ? 512 : ETHDEV_TX_MOST;
}

void ethdev_choose_rings(struct ethdev_ctx *ctx, const struct port_ethdev_config *config)
{
	uint16_t rx = config->rx_descriptors, tx = config->tx_descriptors;

	rx = rx != 0 ? rx : PORT_RX_DESCRIPTORS;
	if (tx == 0)
		tx = ctx->driver->is_virtual ? rx : choose_tx(ctx);
	/* Fails only for values that a later step would also refuse. */
	if (rte_eth_dev_adjust_nb_rx_tx_desc(ctx->port->ethdev, &rx, &tx) == 0) {
		ctx->rx_descriptors = rx;
		ctx->tx_descriptors = tx;
	}
}

static int set_up_queues(struct ethdev_ctx *ctx, uint64_t rx_offloads, struct rte_mempool *pool,
	struct attempt *attempt)
{
	uint16_t ethdev = ctx->port->ethdev;
	struct rte_eth_rxconf rx_conf = ctx->info.default_rxconf;
	struct rte_eth_txconf tx_conf = ctx->info.default_txconf;
	int socket = rte_eth_dev_socket_id(ethdev);
	int result;

	if (socket < 0)
		socket = SOCKET_ID_ANY;
	rx_conf.offloads = rx_offloads;
	tx_conf.offloads = 0;
	attempt->step = "set up its receive queue";
	result = rte_eth_rx_queue_setup(
		ethdev, 0, ctx->rx_descriptors, (unsigned)socket, &rx_conf, pool);
	if (result < 0)
		return result;
	attempt->step = "set up its transmit queue";
	return rte_eth_tx_queue_setup(ethdev, 0, ctx->tx_descriptors, (unsigned)socket, &tx_conf);
}

static int attempt_start(struct ethdev_ctx *ctx, uint64_t rx_offloads, uint32_t mtu,
	struct rte_mempool *pool, struct attempt *attempt)
{
	struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE, .mtu = mtu, .offloads = rx_offloads},
	};
	int result;

	attempt->step = "be configured";
	result = rte_eth_dev_configure(ctx->port->ethdev, 1, 1, &conf);
	if (result == 0)
		result = set_up_queues(ctx, rx_offloads, pool, attempt);
	if (result < 0)
		return result;
	attempt->step = "start";
	return rte_eth_dev_start(ctx->port->ethdev);
}

/* Appends the driver's own message, from the first attempt that failed. */
static int fault_attempt(const struct ethdev_ctx *ctx, const struct attempt *attempt, int result,
	struct error *error)
{
	const char *cause;
	int length = log_lines_cause(attempt->log.text, &cause);

	if (length == 0)
		return error_set(error, -result, "%s: %s: cannot %s: %s", ctx->port->name,
			ctx->dpdk, attempt->step, rte_strerror(-result));
	return error_set(error, -result, "%s: %s: cannot %s: %s (%s: %.*s)", ctx->port->name,
		ctx->dpdk, attempt->step, rte_strerror(-result), ctx->info.driver_name, length,
		cause);
}

/* Returns whether the device started. */
static bool starts_with(
	struct ethdev_ctx *ctx, uint64_t rx_offloads, uint32_t mtu, struct rte_mempool *pool)
{
	struct attempt attempt = {.step = ""};
	int result;

	if ((ctx->info.rx_offload_capa & rx_offloads) != rx_offloads)
		return false;
	log_capture_begin(&attempt.log);
	result = attempt_start(ctx, rx_offloads, mtu, pool, &attempt);
	log_capture_end(&attempt.log);
	log_capture_free(&attempt.log);
	return result == 0;
}

/* Starts with buffers that hold a frame, or else with scattering if the driver requires it. */
static int start_somehow(
	struct ethdev_ctx *ctx, uint32_t mtu, struct rte_mempool *pool, struct error *error)
{
	struct attempt attempt = {.step = ""};
	int result;

	log_capture_begin(&attempt.log);
	result = attempt_start(ctx, 0, mtu, pool, &attempt);
	log_capture_end(&attempt.log);
	if (result < 0)
		result = fault_attempt(ctx, &attempt, result, error);
	log_capture_free(&attempt.log);
	return result < 0 && starts_with(ctx, RTE_ETH_RX_OFFLOAD_SCATTER, mtu, pool) ? 0 : result;
}

/* Uses arrival stamps if they are requested, the driver starts with them, and their clock can be
 * read. They are not combined with scattering. */
static int start_device(struct ethdev_ctx *ctx, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error)
{
	uint32_t mtu = choose_mtu(ctx, config->frame_bytes);

	if (config->stamps && starts_with(ctx, RTE_ETH_RX_OFFLOAD_TIMESTAMP, mtu, pool)) {
		ethdev_stamps_begin(ctx);
		if (ctx->stamps.read != NULL)
			return 0;
		rte_eth_dev_stop(ctx->port->ethdev);
	}
	return start_somehow(ctx, mtu, pool, error);
}

/* Makes the device promiscuous, because frames carry the addresses of emulated hosts. Rings and
 * memif accept all frames and lack the call. */
static int hear_all(struct ethdev_ctx *ctx, struct error *error)
{
	struct attempt attempt = {.step = "be made promiscuous"};
	int result;

	log_capture_begin(&attempt.log);
	result = rte_eth_promiscuous_enable(ctx->port->ethdev);
	log_capture_end(&attempt.log);
	if (result == -ENOTSUP || result >= 0)
		result = 0;
	else
		result = fault_attempt(ctx, &attempt, result, error);
	log_capture_free(&attempt.log);
	return result;
}

int ethdev_set_up(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error)
{
	struct ethdev_ctx *ctx = port->ctx;
	const struct rte_devargs *devargs = rte_dev_devargs(ctx->device);
	uint32_t max = ethdev_mtu_max(ctx) + RTE_ETHER_HDR_LEN;
	int result;

	if (config->frame_bytes > max)
		return error_set(error, EMSGSIZE,
			"%s: %s (%s) accepts frames of at most %u bytes, but %u are needed",
			port->name, ctx->dpdk, ctx->info.driver_name, max, config->frame_bytes);
	ethdev_choose_rings(ctx, config);
	result = start_device(ctx, config, pool, error);
	if (result < 0)
		return result;
	ctx->running = true;
	port->slots = ethdev_driver_slots(ctx->driver, devargs != NULL ? devargs->args : NULL,
		ctx->rx_descriptors, config->frame_bytes);
	return hear_all(ctx, error);
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

/* Returns the size of DPDK's memory, all of which the IOMMU maps for a device. */
static uint64_t memory_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t bytes = 0;

	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		if (rte_malloc_get_socket_stats(socket, &stats) == 0)
			bytes += stats.heap_totalsz_bytes;
	return bytes;
}

static int fault_pci(
	const char *name, const char *address, const struct log_capture *log, struct error *error)
{
	const struct pci_failure failure = {
		.root = "",
		.port = name,
		.address = address,
		.log = log->text,
		.memory_bytes = memory_bytes(),
	};

	return pci_fault(&failure, error);
}

static int fault_vdev(const char *name, const char *dpdk, int result, const struct log_capture *log,
	struct error *error)
{
	const char *cause;
	int length = log_lines_cause(log->text, &cause);

	if (geteuid() != 0 && strncmp(dpdk, "net_tap", 7) == 0)
		return error_set(error, EPERM,
			"%s: %s: insufficient privileges (%.*s); run as root", name, dpdk, length,
			cause);
	if (length > 0 && strstr(cause, "failed to parse device") == cause)
		return error_set(error, ENODEV,
			"%s: %s: DPDK has no driver with this name; use a PCI address or "
			"net_memif…, net_af_packet…, net_tap…, net_pcap…, net_ring…",
			name, dpdk);
	return error_set(error, ENODEV, "%s: %s cannot be opened: %.*s", name, dpdk,
		length > 0 ? length : (int)strlen(strerror(-result)),
		length > 0 ? cause : strerror(-result));
}

int ethdev_find(struct port *port, const char *dpdk, struct error *error)
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
		result = fault_pci(port->name, address, &log, error);
	else
		result = fault_vdev(port->name, dpdk, result, &log, error);
	log_capture_free(&log);
	return result;
}
