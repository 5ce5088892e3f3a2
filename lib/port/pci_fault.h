/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Explains why DPDK could not open a PCI device and how to fix it, based on sysfs, /proc and DPDK's
 * log. Does not need EAL. 'root' is a prefix of /sys and /proc, "" except in tests. */

#include <stdint.h>

#include "base/weft_error.h"

struct pci_failure {
	const char *root;
	const char *port;      /* "s0:1" */
	const char *address;   /* "0000:3b:00.0" */
	const char *log;       /* DPDK's log of the attempt; NULL: none */
	uint64_t memory_bytes; /* to be locked for the device; 0: unknown */
};

/* Returns -ENODEV, -EPERM, -EBUSY or -ENOMEM with 'error' set. */
int pci_fault(const struct pci_failure *failure, struct error *error);

/* Finds the first line of the log, without a leading "EAL: " or C function name. It is the cause;
 * the following lines are consequences. 'log' may be NULL. The line is not terminated. Returns its
 * length, or 0 for an empty log. */
int log_lines_cause(const char *log, const char **line);
