/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Why DPDK could not open a PCI device, and what to do about it, from what sysfs, /proc and DPDK's
 * log say. Needs no EAL. 'root' is put in front of /sys and /proc; "" but in tests.
 */

#include <stdint.h>

#include "fault.h"

struct pci_failure {
	const char *root;
	const char *port;      /* "s0:1" */
	const char *address;   /* "0000:3b:00.0" */
	const char *log;       /* what DPDK logged while it tried; NULL: nothing */
	uint64_t memory_bytes; /* that DPDK has to lock for the device; 0: unknown */
};

/* Returns a negative errno: ENODEV, EPERM, EBUSY or ENOMEM. */
int pci_fault(const struct pci_failure *failure, struct fault *fault);
