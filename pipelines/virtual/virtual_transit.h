/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Packets in transit at hosts with in-transit buffers. */

#include "virtual_private.h"

/* The packet in transit that the host sends next. NULL: none can go, or the host's own come first.
 */
struct weft_packet *virtual_transit_next(
	struct virtual_fabric *fabric, uint32_t host, weft_time now);
uint64_t virtual_transit_held(const struct virtual_fabric *fabric);     /* frames, now */
uint64_t virtual_transit_absorbed(const struct virtual_fabric *fabric); /* frames, ever */
const char *virtual_transit_check(const struct virtual_fabric *fabric); /* NULL, or what is wrong */
void virtual_transit_result(const struct virtual_fabric *fabric, struct run_result *result);
/* In the middle of the measured time, and at its end: names the hosts whose buffers fill up
 * (starvation.h). 0 or -ENOMEM. */
void virtual_transit_middle(struct virtual_fabric *fabric);
int virtual_transit_judge(const struct virtual_fabric *fabric, struct run_result *result);
