/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Starts and stops DPDK's environment for a Weft program, with the user's arguments before '--' and
 * otherwise with defaults that work anywhere: no PCI, every lcore allowed on every CPU of the
 * process (several programs of a lab share a machine; '-l' pins), a file prefix of its own,
 * telemetry on, only warnings and errors. Memory for PCI devices comes from hugepages if enough are
 * free; all other memory is ordinary and allocated on first use.
 *
 * Once per process (EAL cannot start twice), from the main thread, which becomes the main lcore. */

#include "base/weft_error.h"

#define EAL_PREFIX_MAX 64

struct eal_options {
	const char *prefix;     /* file prefix; NULL: "weft-PID" */
	unsigned lcores;        /* including the main lcore; 0: 1 */
	unsigned memory_mib;    /* 0: 256. PCI devices behind an IOMMU lock all of it */
	unsigned files;         /* descriptors for ports, captures and TAPs, in addition to EAL's */
	const char *const *pci; /* PCI addresses from a lab file; NULL-terminated */
};

/* Arguments from argv[1] up to "--" are passed to EAL (none without "--"). Returns the index of the
 * first argument after them (1, or the one after "--"), or -errno with 'error' set. */
int eal_start(int argc, char **argv, const struct eal_options *options, struct error *error);

/* Returns the current prefix, which is the name of the runtime directory. */
const char *eal_prefix(void);

/* Removes the runtime directory, sockets and hugepage files. Call with ports closed and lcores
 * idle. */
void eal_stop(void);
