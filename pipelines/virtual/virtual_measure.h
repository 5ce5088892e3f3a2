/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The counters of a virtual fabric (measure_window.h). */

#include "virtual_private.h"

void virtual_totals_read(const struct virtual_fabric *fabric, struct measure_totals *totals);

/* 0, or -ENOMEM and fault. Once the traffic and the schedule are open. */
int virtual_entries_open(struct virtual_fabric *fabric, struct fault *fault);
/* The same for a part of the fabric (virtual_parts.h), of which it is a copy: sums of its own. 0 or
 * -ENOMEM. */
int virtual_entries_open_own(struct virtual_fabric *part);
void virtual_entries_close(struct virtual_fabric *fabric);

/* Discards the latencies so far: their messages came before measuring started. Between rounds. */
void virtual_measure_forget(struct virtual_fabric *fabric);

/* Writes the counters of the window's entries, up to now. Sources have been counted. */
void virtual_entries_read(struct virtual_fabric *fabric);

/* A frame has been delivered; some entries have flows. */
void virtual_flow_deliver(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now);
/* The use of links counts from now on. */
void virtual_links_mark(struct virtual_fabric *fabric);
