/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pci_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/pci_device.h"

#define MIB (UINT64_C(1) << 20)

static int fault_busy(const struct pci_failure *failure, const char *device, struct error *error)
{
	char name[64];
	long pid = pci_holder(failure->root, device, name, sizeof(name));

	if (pid == 0)
		return error_set(error, EBUSY,
			"%s: PCI device %s is used by another process (%s is open)", failure->port,
			failure->address, device);
	return error_set(error, EBUSY, "%s: PCI device %s is used by DPDK process %ld (%s)",
		failure->port, failure->address, pid, name);
}

/* Explains the fault of a device that should be bound to vfio-pci. */
static int fault_unbound(const struct pci_failure *failure, const char *driver, struct error *error)
{
	char state[300];

	if (driver[0] == '\0')
		snprintf(state, sizeof(state), "has no driver");
	else
		snprintf(state, sizeof(state), "is bound to the kernel driver %s", driver);
	if (pci_has_iommu(failure->root))
		return error_set(error, ENODEV,
			"%s: PCI device %s %s; bind it to vfio-pci with 'weft port bind %s'",
			failure->port, failure->address, state, failure->address);
	return error_set(error, ENODEV,
		"%s: PCI device %s %s, but vfio-pci cannot use it: this machine's IOMMU is off. "
		"Turn it on in the BIOS (VT-d, AMD-Vi) and with 'intel_iommu=on' on the kernel's "
		"command line, or bind the device to uio_pci_generic and provide hugepages",
		failure->port, failure->address, state);
}

static int fault_memory(const struct pci_failure *failure, struct error *error)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY)
		return error_set(error, ENOMEM,
			"%s: PCI device %s: DPDK needs to lock %" PRIu64
			" MiB, but RLIMIT_MEMLOCK is %" PRIu64
			" MiB; raise it with 'ulimit -l unlimited' or memlock "
			"in /etc/security/limits.conf",
			failure->port, failure->address, failure->memory_bytes / MIB,
			(uint64_t)limit.rlim_cur / MIB);
	return error_set(error, ENOMEM,
		"%s: PCI device %s: the kernel cannot lock the %" PRIu64
		" MiB of memory that DPDK needs for it",
		failure->port, failure->address, failure->memory_bytes / MIB);
}

static bool said(const struct pci_failure *failure, const char *words)
{
	return failure->log != NULL && strstr(failure->log, words) != NULL;
}

/* Ends the message with DPDK's own. */
static int fault_other(const struct pci_failure *failure, const char *driver, struct error *error)
{
	const char *cause;
	int length = log_lines_cause(failure->log, &cause);

	/* EAL's own message, used if no driver has logged anything. */
	if (length == 0 || strncmp(cause, "Driver cannot attach", 20) == 0)
		return error_set(error, ENODEV,
			"%s: PCI device %s (%s) is not usable: DPDK has no driver for it, or '-a %s' is missing before '--'",
			failure->port, failure->address, driver, failure->address);
	return error_set(error, ENODEV, "%s: PCI device %s (%s) is not usable: %.*s", failure->port,
		failure->address, driver, length, cause);
}

static int fault_vfio(
	const struct pci_failure *failure, const struct pci_device *pci, struct error *error)
{
	const char *group = pci->group;
	char device[PCI_FILE_MAX];

	if (!pci_device_file(failure->root, pci, device))
		snprintf(device, sizeof(device), "/dev/vfio");
	if (said(failure, "Device or resource busy"))
		return fault_busy(failure, device, error);
	if (said(failure, "Permission denied") || said(failure, "Operation not permitted"))
		return error_set(error, EPERM,
			"%s: PCI device %s: no permission for %s; run as root, or change its owner ('chown %u %s')",
			failure->port, failure->address, device, geteuid(), device);
	if (said(failure, "Cannot allocate memory") || said(failure, "DMA remapping"))
		return fault_memory(failure, error);
	if (said(failure, "not viable"))
		return error_set(error, ENODEV,
			"%s: PCI device %s shares IOMMU group %s with a device that is still "
			"bound to a kernel driver; bind all of its devices to vfio-pci ('ls "
			"/sys/kernel/iommu_groups/%s/devices')",
			failure->port, failure->address, group, group);
	return fault_other(failure, "vfio-pci", error);
}

static int fault_uio(const struct pci_failure *failure, struct error *error)
{
	if (geteuid() != 0)
		return error_set(error, EPERM,
			"%s: PCI device %s: no permission for uio_pci_generic; run as root",
			failure->port, failure->address);
	if (said(failure, "Expecting 'PA' IOVA mode"))
		return error_set(error, ENODEV,
			"%s: PCI device %s is bound to uio_pci_generic, which requires memory "
			"with known physical addresses; provide hugepages ('echo 256 > "
			"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages'), or bind it to "
			"vfio-pci",
			failure->port, failure->address);
	return fault_other(failure, "uio_pci_generic", error);
}

int pci_fault(const struct pci_failure *failure, struct error *error)
{
	struct pci_device device;

	if (pci_device_read(failure->root, failure->address, &device) < 0)
		return error_set(error, ENODEV,
			"%s: no PCI device %s in this machine; 'weft port list' lists the network interfaces",
			failure->port, failure->address);
	if (device.class >= 0 && !pci_device_is_network(&device))
		return error_set(error, ENODEV,
			"%s: PCI device %s is not a network interface (class 0x%06lx); 'weft port list' lists them",
			failure->port, failure->address, device.class);
	if (strcmp(device.driver, "vfio-pci") == 0)
		return fault_vfio(failure, &device, error);
	if (pci_driver_is_dpdk(device.driver))
		return fault_uio(failure, error);
	/* NVIDIA's devices stay bound to the kernel driver while DPDK uses them. */
	if (pci_driver_is_shared(device.driver))
		return fault_other(failure, device.driver, error);
	return fault_unbound(failure, device.driver, error);
}

int log_lines_cause(const char *log, const char **line)
{
	const char *text = log != NULL ? log : "";
	size_t length = strcspn(text, "\n");
	const char *end = text + length;
	const char *call = strstr(text, "(): ");

	if (strncmp(text, "EAL: ", 5) == 0)
		text += 5;
	else if (call != NULL && call < end)
		text = call + 4;
	text += strspn(text, " ");
	*line = text;
	return text < end ? (int)(end - text) : 0;
}
