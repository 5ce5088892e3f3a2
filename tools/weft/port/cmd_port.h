/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared only by the subcommands of 'weft port'. */

#include "base/weft_error.h"
#include "common/commands.h"
#include "os/pci_device.h"

#define PORT_DEVICES_MAX 64

struct port_arguments {
	const char *device[PORT_DEVICES_MAX]; /* addresses or interface names; for check: the lab
						 file */
	unsigned devices;
	const char *driver; /* for bind; NULL: vfio-pci */
	/* For check: processes, each named by one of its devices. */
	const char *process[PORT_DEVICES_MAX];
	unsigned processes;
	bool force, json;
};

enum weft_exit cmd_port_list(const struct port_arguments *arguments);
enum weft_exit cmd_port_bind(const struct port_arguments *arguments);
enum weft_exit cmd_port_release(const struct port_arguments *arguments);
enum weft_exit cmd_port_check(const struct port_arguments *arguments);

/* Accepts "0000:3b:00.0" or "3b:00.0", and writes "0000:3b:00.0". Returns false if the text is not
 * a PCI address. */
bool port_address(const char *text, char out[PCI_ADDRESS_MAX]);

/* Reads the device that has this PCI address or network interface name. Returns 0, or -EINVAL with
 * error set if there is no such device or it is not a network interface. */
int port_find(const char *text, struct pci_device *device, struct error *error);

/* Visits the network interfaces on PCI in order of their addresses, until a visit returns true. */
bool port_each(bool (*visit)(void *context, const struct pci_device *device), void *context);

/* Checks that find reasons why a device cannot be bound or used by a lab. They return 0, or -errno
 * with error set. The error is one line that starts with the address and names the command that
 * fixes the problem. */

/* Returns -EBUSY if the machine's own network uses the device, or may use it in another namespace.
 * 'command' is the command line that binds the device anyway. */
int port_refuse_own_network(
	const struct pci_device *device, const char *command, struct error *error);

/* Returns -EBUSY if a process has the device open. */
int port_refuse_open(const struct pci_device *device, struct error *error);

/* Returns -ENODEV if the driver is not loaded, or needs an IOMMU that is off. */
int port_refuse_driver(const struct pci_device *device, const char *driver, struct error *error);

/* Returns -ENODEV if a kernel driver uses another device in the same IOMMU group, because vfio then
 * refuses the group. 'others' are 'count' devices that will be bound together with this one. */
int port_refuse_group(const struct pci_device *device, const char (*others)[PCI_ADDRESS_MAX],
	unsigned count, struct error *error);
