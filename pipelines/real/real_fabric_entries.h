/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of the entries of the traffic of a real-clock fabric: hosts count what they generate by
 * source, and what arrives in their sinks. */

#include "real_private.h"

/* The host's sink tells the entries apart. -ENOMEM. */
int real_host_set_entries(const struct real_fabric *fabric, struct real_host *host);
/* Writes the counters of the window's entries. 'fresh': they are about to begin anew. */
void real_entries_read(struct real_fabric *fabric, bool fresh);
/* Of each entry, which the result has. */
void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result);
