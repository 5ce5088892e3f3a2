/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of the entries of the traffic of a real-clock fabric: hosts count what they generate by
 * source, and what arrives in their sinks. Of an entry that ends, arrivals are counted by sender,
 * too: in a row [hosts] for each loop, which the hosts of the loop share. */

#include "real_private.h"

/* The hosts' sinks tell the entries apart; when the hosts and the number of loops are there.
 * -ENOMEM. */
int real_entries_create(struct real_fabric *fabric);
/* The rows of this work, in work->flows. -ENOMEM. */
int real_flows_create(const struct real_fabric *fabric, struct real_work *work);
/* Clears the loop's rows by sender and has its hosts count there; in that loop. */
void real_flows_begin(struct real_fabric *fabric, unsigned loop);
/* Writes the totals of the window's entries. 'fresh': they are about to begin anew. */
void real_entries_read(struct real_fabric *fabric, bool fresh);
/* Writes the flows of the window's entries, all anew: for a result, since it takes loops x entries
 * x hosts steps. */
void real_flows_read(struct real_fabric *fabric);
/* Of each entry, which the result has. */
void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result);
