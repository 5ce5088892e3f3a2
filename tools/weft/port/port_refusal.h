/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "fault.h"
#include "pci_device.h"

/*
 * The reasons for which a device cannot be bound, or a lab cannot use it. Each is one line that
 * begins with the address and has the command that mends it. 0: no reason; else -errno and fault.
 */

/* EBUSY: the machine's own network uses it, or may use it out of sight. 'command' is the command
 * line that does it all the same. */
int port_refuse_own_network(
	const struct pci_device *device, const char *command, struct fault *fault);

/* EBUSY: a process has it open. */
int port_refuse_open(const struct pci_device *device, struct fault *fault);

/* ENODEV: the driver is not loaded, or wants an IOMMU that is off. */
int port_refuse_driver(const struct pci_device *device, const char *driver, struct fault *fault);

/* ENODEV: vfio does not take one device of an IOMMU group while the kernel drives another one.
 * 'others' are the devices that are bound with it; their number may be 0. */
int port_refuse_group(const struct pci_device *device, const char (*others)[PCI_ADDRESS_MAX],
	unsigned count, struct fault *fault);
