/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Output that a signal can end even if its reader does not read. A write() that a signal interrupts
 * in the middle returns what it wrote, and stdio then writes the rest and waits for ever; and a
 * signal just before a write() interrupts nothing. So this stream first waits until there is room,
 * with signals enabled only there, and then writes no more than fits. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* A stream into a descriptor, which stays open when the stream is closed. Once '*stop', which a
 * signal handler sets, it fails with EINTR. NULL: no memory. */
FILE *stoppable_output_open(int fd, const atomic_bool *stop);
