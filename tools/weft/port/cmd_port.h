/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared only by the subcommands of 'weft port'. */

#include "base/weft_error.h"
#include "common/commands.h"
#include "os/pci_device.h"

#define PORT_DEVICES_MAX 64

struct port_arguments {
	const char *device[PORT_DEVICES_MAX]; /* addresses or interfaces; for check: the lab file */
	unsigned devices;
	const char *driver; /* bind; NULL: vfio-pci */
	/* For check: processes, each named by one of its devices. */
	const char *process[PORT_DEVICES_MAX];
	unsigned processes;
	bool force, json;
};

enum weft_exit cmd_port_list(const struct port_arguments *arguments);
enum weft_exit cmd_port_bind(const struct port_arguments *arguments);
enum weft_exit cmd_port_release(const struct port_arguments *arguments);
enum weft_exit cmd_port_check(const struct port_arguments *arguments);

/* "0000:3b:00.0" of "0000:3b:00.0" or "3b:00.0". Returns whether the text is a PCI address. */
bool port_address(const char *text, char out[PCI_ADDRESS_MAX]);

/* Reads the device with this address, or of this network interface. Returns 0, or fault with
 * -EINVAL: this machine has none, or it is not a network interface. */
int port_find(const char *text, struct pci_device *device, struct error *error);

/* Visits the network interfaces on PCI in order of their addresses, until a visit returns true. */
bool port_each(bool (*visit)(void *context, const struct pci_device *device), void *context);

/* Reasons why a device cannot be bound, or a lab cannot use it. Each is one line that starts with
 * the address and names the command that fixes it. 0 means no reason; otherwise -errno with error
 * set. */

/* EBUSY: the machine's own network uses it, or may use it invisibly. 'command' is the command line
 * that binds it anyway. */
int port_refuse_own_network(
	const struct pci_device *device, const char *command, struct error *error);

/* EBUSY: a process has it open. */
int port_refuse_open(const struct pci_device *device, struct error *error);

/* ENODEV: the driver is not loaded, or needs an IOMMU that is off. */
int port_refuse_driver(const struct pci_device *device, const char *driver, struct error *error);

/* ENODEV: vfio does not accept a device while the kernel drives another one in its IOMMU group.
 * 'others' are the devices that must be bound with it; their number may be 0. */
int port_refuse_group(const struct pci_device *device, const char (*others)[PCI_ADDRESS_MAX],
	unsigned count, struct error *error);
