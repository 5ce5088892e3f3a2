/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Finds the device of an ethdev port, or plugs it in. */

#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_malloc.h>
#include <rte_pci.h>

#include "ethdev_private.h"
#include "pci_fault.h"

static bool is_pci(const char *dpdk, char address[PCI_PRI_STR_SIZE])
{
	struct rte_pci_addr pci;

	if (rte_pci_addr_parse(dpdk, &pci) != 0)
		return false;
	rte_pci_device_name(&pci, address, PCI_PRI_STR_SIZE);
	return true;
}

/* DPDK's memory, which a device's IOMMU maps whole. */
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
		return error_set(error, EPERM, "%s: %s: no privilege (%.*s), expected root", name,
			dpdk, length, cause);
	if (length > 0 && strstr(cause, "failed to parse device") == cause)
		return error_set(error, ENODEV,
			"%s: %s: DPDK has no driver of this name, expected a PCI address or "
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
