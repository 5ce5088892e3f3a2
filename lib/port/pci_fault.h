/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Explains why DPDK could not open a PCI device and how to fix it, from sysfs, /proc and DPDK's
 * log. Needs no EAL. 'root' is a prefix of /sys and /proc; "" except in tests. */

#include <stdint.h>

#include "base/weft_error.h"

struct pci_failure {
	const char *root;
	const char *port;      /* "s0:1" */
	const char *address;   /* "0000:3b:00.0" */
	const char *log;       /* DPDK's log of the attempt; NULL: none */
	uint64_t memory_bytes; /* that DPDK has to lock for the device; 0: unknown */
};

/* Returns a negative errno: ENODEV, EPERM, EBUSY or ENOMEM. */
int pci_fault(const struct pci_failure *failure, struct error *error);

/* The first line, without a leading "EAL: " or C function name: it is the cause, the following
 * lines are its consequences. 'log' may be NULL. Not terminated; returns the length, 0 for an empty
 * log. */
int log_lines_cause(const char *log, const char **line);
