/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* PCI devices of this machine as described by sysfs: driver, IOMMU group, network interfaces, and
 * their use by the machine's own network. Does not need EAL and changes nothing. 'root' is a prefix
 * of /sys, /proc and /dev, "" except in tests. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_ADDRESS_MAX    16
#define PCI_INTERFACES_MAX 8
#define PCI_NAME_MAX       64

/* Upper byte of a PCI class code: network controllers. */
#define PCI_CLASS_NETWORK 0x02

struct pci_interface {
	char name[16];
	bool up;       /* administratively up */
	int carrier;   /* 1, 0, or -1 if unknown, for example when the interface is down */
	long speed;    /* Mbps; -1: unknown */
	char use[128]; /* by the machine's own network, such as "default route"; "": none */
};

struct pci_device {
	char address[PCI_ADDRESS_MAX]; /* "0000:3b:00.0" */
	long class;                    /* 0xCCSSPP; -1: unknown */
	unsigned vendor, device;
	char driver[PCI_NAME_MAX]; /* "": none */
	char group[16];            /* IOMMU group; "": none */
	long numa;                 /* NUMA node; -1: unknown, or the machine has no NUMA nodes */
	unsigned interfaces;
	struct pci_interface interface[PCI_INTERFACES_MAX];
};

/* Reads a device. Returns 0, or -ENODEV if the machine has no device with this address. */
int pci_device_read(const char *root, const char *address, struct pci_device *device);

bool pci_device_is_network(const struct pci_device *device);

/* Returns the first interface that the machine's own network uses, or NULL. */
const struct pci_interface *pci_device_used(const struct pci_device *device);

/* Returns whether the driver is one of DPDK's: vfio-pci, uio_pci_generic or igb_uio. */
bool pci_driver_is_dpdk(const char *driver);
/* Returns true if DPDK drives the device alongside this kernel driver (as for NVIDIA devices). */
bool pci_driver_is_shared(const char *driver);
bool pci_driver_loaded(const char *root, const char *driver);

/* Returns whether the machine has an active IOMMU. */
bool pci_has_iommu(const char *root);
/* Returns whether vfio-pci accepts devices without an IOMMU (enable_unsafe_noiommu_mode). */
bool pci_vfio_without_iommu(const char *root);

/* Finds a device in the IOMMU group, other than 'address' and bridges, that is bound to a kernel
 * driver. Returns false if there is none. */
bool pci_group_blocker(
	const char *root, const char *group, const char *address, char *out, size_t size);

#define PCI_FILE_MAX 80

/* Finds the file through which a process drives a device bound to a DPDK driver: "/dev/vfio/7",
 * "/dev/vfio/noiommu-0" or "/dev/uio1", without 'root'. Returns false if there is none. */
bool pci_device_file(const char *root, const struct pci_device *device, char file[PCI_FILE_MAX]);

/* Returns the id of another process that has the file 'device', such as /dev/vfio/7, open, and
 * stores its name in 'name'. Returns 0 if none is visible. */
long pci_holder(const char *root, const char *device, char *name, size_t size);
