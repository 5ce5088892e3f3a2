/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pci_fault.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The upper byte of a PCI class code: network controllers. */
#define PCI_CLASS_NETWORK 0x02

#define MIB (UINT64_C(1) << 20)

static void device_path(const struct pci_failure *failure, const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s/sys/bus/pci/devices/%s%s%s", failure->root, failure->address,
		name[0] != '\0' ? "/" : "", name);
}

/* The last component of a symbolic link in the device's folder; "" if there is none. */
static void link_name(const struct pci_failure *failure, const char *name, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t length;

	device_path(failure, name, path, sizeof(path));
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(out, size, "%s", slash != NULL ? slash + 1 : target);
}

/* 0xCCSSPP, or -1. */
static long device_class(const struct pci_failure *failure)
{
	char path[PATH_MAX], text[32] = "";
	FILE *file;

	device_path(failure, "class", path, sizeof(path));
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	fclose(file);
	return text[0] != '\0' ? strtol(text, NULL, 16) : -1;
}

static bool is_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (folder == NULL)
		return true;
	while (empty && (entry = readdir(folder)) != NULL)
		empty = entry->d_name[0] == '.';
	closedir(folder);
	return empty;
}

static bool has_iommu(const struct pci_failure *failure)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/kernel/iommu_groups", failure->root);
	return !is_empty_folder(path);
}

static bool has_open(const struct pci_failure *failure, const char *pid, const char *device)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/proc/%s/fd", failure->root, pid);
	folder = opendir(path);
	while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
		ssize_t length =
			readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

		target[length > 0 ? length : 0] = '\0';
		found = strcmp(target, device) == 0;
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

/* The id of another process that has 'device' open; 0: none visible. */
static long find_holder(const struct pci_failure *failure, const char *device)
{
	char path[PATH_MAX];
	struct dirent *entry;
	long holder = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/proc", failure->root);
	folder = opendir(path);
	while (folder != NULL && holder == 0 && (entry = readdir(folder)) != NULL) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != (long)getpid() && has_open(failure, entry->d_name, device))
			holder = pid;
	}
	if (folder != NULL)
		closedir(folder);
	return holder;
}

static void process_name(const struct pci_failure *failure, long pid, char *out, size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%ld/comm", failure->root, pid);
	snprintf(out, size, "?");
	file = fopen(path, "r");
	if (file == NULL)
		return;
	if (fgets(out, (int)size, file) != NULL)
		out[strcspn(out, "\n")] = '\0';
	fclose(file);
}

static int fault_busy(const struct pci_failure *failure, const char *device, struct fault *fault)
{
	long pid = find_holder(failure, device);
	char name[64];

	if (pid == 0)
		return fault_set(fault, EBUSY,
			"%s: PCI device %s belongs to another process (%s is in use)",
			failure->port, failure->address, device);
	process_name(failure, pid, name, sizeof(name));
	return fault_set(fault, EBUSY, "%s: PCI device %s belongs to DPDK process %ld (%s)",
		failure->port, failure->address, pid, name);
}

/* A device that should be bound to vfio-pci. */
static int fault_unbound(const struct pci_failure *failure, const char *driver, struct fault *fault)
{
	char state[300];

	if (driver[0] == '\0')
		snprintf(state, sizeof(state), "has no driver");
	else
		snprintf(state, sizeof(state), "belongs to the kernel driver %s", driver);
	if (has_iommu(failure))
		return fault_set(fault, ENODEV,
			"%s: PCI device %s %s, expected vfio-pci ('dpdk-devbind.py -b vfio-pci "
			"%s')",
			failure->port, failure->address, state, failure->address);
	return fault_set(fault, ENODEV,
		"%s: PCI device %s %s, and vfio-pci cannot take it: this machine's IOMMU is off. "
		"Turn it on in the BIOS (VT-d, AMD-Vi) and with 'intel_iommu=on' on the kernel's "
		"command line, or bind the device to uio_pci_generic and provide hugepages",
		failure->port, failure->address, state);
}

static int fault_memory(const struct pci_failure *failure, struct fault *fault)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (geteuid() != 0 && limit.rlim_cur != RLIM_INFINITY)
		return fault_set(fault, ENOMEM,
			"%s: PCI device %s: DPDK has to lock %" PRIu64 " MiB of memory, and "
			"RLIMIT_MEMLOCK allows %" PRIu64 " MiB ('ulimit -l unlimited', or memlock "
			"in /etc/security/limits.conf)",
			failure->port, failure->address, failure->memory_bytes / MIB,
			(uint64_t)limit.rlim_cur / MIB);
	return fault_set(fault, ENOMEM,
		"%s: PCI device %s: the kernel cannot lock the %" PRIu64
		" MiB of memory that DPDK has for it",
		failure->port, failure->address, failure->memory_bytes / MIB);
}

static bool said(const struct pci_failure *failure, const char *words)
{
	return failure->log != NULL && strstr(failure->log, words) != NULL;
}

/* Ends the message with DPDK's own. */
static int fault_other(const struct pci_failure *failure, const char *driver, struct fault *fault)
{
	const char *cause;
	int length = log_lines_cause(failure->log, &cause);

	if (length == 0)
		return fault_set(fault, ENODEV,
			"%s: PCI device %s (%s) is not usable: DPDK has no driver for it, or it "
			"was not given with '-a %s' before '--'",
			failure->port, failure->address, driver, failure->address);
	return fault_set(fault, ENODEV, "%s: PCI device %s (%s) is not usable: %.*s", failure->port,
		failure->address, driver, length, cause);
}

static int fault_vfio(const struct pci_failure *failure, struct fault *fault)
{
	char group[32], device[64];

	link_name(failure, "iommu_group", group, sizeof(group));
	snprintf(device, sizeof(device), "/dev/vfio/%s", group);
	if (said(failure, "Device or resource busy"))
		return fault_busy(failure, device, fault);
	if (said(failure, "Permission denied") || said(failure, "Operation not permitted"))
		return fault_set(fault, EPERM,
			"%s: PCI device %s: no permission for %s, expected root or an owner who "
			"may write it ('chown %u %s')",
			failure->port, failure->address, device, geteuid(), device);
	if (said(failure, "Cannot allocate memory") || said(failure, "DMA remapping"))
		return fault_memory(failure, fault);
	if (said(failure, "not viable"))
		return fault_set(fault, ENODEV,
			"%s: PCI device %s shares IOMMU group %s with a device that the kernel "
			"still drives: bind all of them to vfio-pci ('ls "
			"/sys/kernel/iommu_groups/%s/devices')",
			failure->port, failure->address, group, group);
	return fault_other(failure, "vfio-pci", fault);
}

static int fault_uio(const struct pci_failure *failure, struct fault *fault)
{
	if (geteuid() != 0)
		return fault_set(fault, EPERM,
			"%s: PCI device %s: no permission for uio_pci_generic, expected root",
			failure->port, failure->address);
	if (said(failure, "Expecting 'PA' IOVA mode"))
		return fault_set(fault, ENODEV,
			"%s: PCI device %s is bound to uio_pci_generic, which wants memory with "
			"known physical addresses: provide hugepages ('echo 256 > "
			"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages'), or bind it to "
			"vfio-pci",
			failure->port, failure->address);
	return fault_other(failure, "uio_pci_generic", fault);
}

int pci_fault(const struct pci_failure *failure, struct fault *fault)
{
	char path[PATH_MAX], driver[256];
	long class = device_class(failure);

	device_path(failure, "", path, sizeof(path));
	if (access(path, F_OK) != 0)
		return fault_set(fault, ENODEV, "%s: no PCI device %s in this machine",
			failure->port, failure->address);
	if (class >= 0 && class >> 16 != PCI_CLASS_NETWORK)
		return fault_set(fault, ENODEV,
			"%s: PCI device %s is no network interface (class 0x%06lx), expected "
			"one ('lspci -nn -d ::0200')",
			failure->port, failure->address, class);
	link_name(failure, "driver", driver, sizeof(driver));
	if (strcmp(driver, "vfio-pci") == 0)
		return fault_vfio(failure, fault);
	if (strcmp(driver, "uio_pci_generic") == 0 || strcmp(driver, "igb_uio") == 0)
		return fault_uio(failure, fault);
	/* NVIDIA's devices stay bound to the kernel driver while DPDK uses them. */
	if (strcmp(driver, "mlx5_core") == 0 || strcmp(driver, "mlx4_core") == 0)
		return fault_other(failure, driver, fault);
	return fault_unbound(failure, driver, fault);
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
