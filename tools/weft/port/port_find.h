/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "fault.h"
#include "pci_device.h"

/* The prefix of /sys, /proc and /dev: WEFT_SYSFS_ROOT for tests, else "". */
const char *port_root(void);

/* "0000:3b:00.0" of "0000:3b:00.0" or "3b:00.0". Returns whether the text is a PCI address. */
bool port_address(const char *text, char out[PCI_ADDRESS_MAX]);

/* Reads the device with this address, or of this network interface. 0, or fault with -EINVAL: this
 * machine has none, or it is no network interface. */
int port_find(const char *text, struct pci_device *device, struct fault *fault);

/* Visits the network interfaces on PCI in the order of their addresses, until one returns true. */
bool port_each(bool (*visit)(void *context, const struct pci_device *device), void *context);
