/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Unique random ranks of the switches, by which the thesis' section 3.2.3 places ITBs.
 *
 * Switches without hosts, of which the thesis knows none, rank below all others: those that hang
 * together without passing a switch with hosts breadth first from one of them. So a route need
 * never pass a switch without hosts that outranks the ones before and behind it: it comes down to
 * such a group, within the group down to the first switch and up again, and goes up when it leaves.
 */

#include <stdint.h>

#include "route_graph.h"

/* The ranks 0 .. switches - 1 under 'seed'; the caller frees. NULL with errno ENOMEM. */
uint32_t *switch_rank_make(const struct route_graph *graph, uint64_t seed);
