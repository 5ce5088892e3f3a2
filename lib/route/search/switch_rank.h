/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Unique random ranks of the switches, by which the thesis' section 3.2.3 places ITBs.
 *
 * Switches without hosts, which the thesis does not consider, rank below all others: connected
 * groups of them are ranked breadth first from one of their switches. So a route never needs to
 * pass a switch without hosts that outranks the ones before and after it: it goes down into such a
 * group, within the group down to the first switch and up again, and up when it leaves.
 */

#include <stdint.h>

#include "route_graph.h"

/* The ranks 0 .. switches - 1 under 'seed'; the caller frees. NULL with errno ENOMEM. */
uint32_t *switch_rank_make(const struct route_graph *graph, uint64_t seed);
