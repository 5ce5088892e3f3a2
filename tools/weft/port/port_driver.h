/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "fault.h"
#include "pci_device.h"

/*
 * Gives a device to another driver by sysfs: driver_override, unbind, drivers_probe, as
 * dpdk-devbind.py does. 'driver' NULL: to the kernel's own choice. Waits until a driver has it, one
 * second at most, because drivers may probe in the background. Afterwards 'device' says which. 0,
 * or -errno and fault: EPERM, EIO (the kernel refused), ENODEV (no driver took it; the device has
 * none then).
 */
int port_driver_set(struct pci_device *device, const char *driver, struct fault *fault);
