/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of a virtual fabric (measure_window.h). */

#include "virtual_fabric.h"
#include "virtual_private.h"

void virtual_totals_read(const struct virtual_fabric *fabric, struct measure_totals *totals);

/* Call once the traffic and the schedule are open. Returns 0, or -ENOMEM with error set. */
int virtual_entries_open(struct virtual_fabric *fabric, struct error *error);
/* Like virtual_entries_open(), for a partition (virtual_partitions.h). A partition is a copy of the
 * fabric, so this allocates separate sums. Returns 0 or -ENOMEM. */
int virtual_entries_open_own(struct virtual_fabric *partition);
void virtual_entries_close(struct virtual_fabric *fabric);

/* Discards the latencies so far, of messages from before measuring started. Call between rounds. */
void virtual_measure_forget(struct virtual_fabric *fabric);

/* Updates the counters of the window's entries. Call after counting the sources. */
void virtual_entries_read(struct virtual_fabric *fabric);

/* Starts counting link usage. */
void virtual_links_mark(struct virtual_fabric *fabric);

/* Fabrics where frames can overtake each other (datagram_reorder.h). */

/* Returns the maximum number of packets besides those in the network and in pools: held at
 * destinations, or about to be resent. */
uint64_t virtual_order_reserve(const struct virtual_fabric *fabric);

/* Records that an early frame starts to wait, or is released. 'complete_ps': when all frames of its
 * message up to this one had arrived. */
void virtual_order_hold(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now);
void virtual_order_release(struct virtual_fabric *fabric, const struct weft_packet *packet,
	weft_time complete_ps, weft_time now);
/* Moves a partition's counts to the fabric. */
void virtual_order_gather(struct virtual_held *into, struct virtual_held *from);

uint64_t virtual_order_held(const struct virtual_fabric *fabric); /* frames held now */
const char *virtual_order_check(const struct virtual_fabric *fabric);
void virtual_order_result(const struct virtual_fabric *fabric, struct run_result *result);

/* End of a run in several processes (virtual_ranks.h): rank 0 collects the data for the result. Its
 * copies of other ranks' devices then have the counters and credits of the originals. */

/* Call once in all ranks, when all threads have ended. Returns 0, or -EIO if ranks are lost. */
int partition_gather(struct virtual_fabric *fabric, struct error *error);

/* Deadlocks and starvation in a virtual fabric (deadlock.h, starvation.h). */

/* Searches heads that have waited for 'age_ps' (0: all), and keeps the first cycle and the starved
 * heads. Call between rounds, in all ranks. If memory runs out, the fabric fails. */
void virtual_deadlock_look(struct virtual_fabric *fabric, weft_time age_ps, weft_time measured_ps);
