/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * When the messages of each source are whole, in the order in which they were sent, where their
 * frames may overtake each other (adaptive routing, several VCs). For hosts that only count frames
 * and keep none (datagram.h): a frame leaves one mark until all before it have arrived. One for
 * each receiving host.
 */

#include <stdbool.h>
#include <stdint.h>

struct arrival_order;

/* For sources 0 to sources - 1, whose frames are numbered from 0. NULL without memory. */
struct arrival_order *arrival_order_create(uint32_t sources);
void arrival_order_destroy(struct arrival_order *order);

/* A frame has arrived; 'last' if it is the last of its message. The messages that are whole now and
 * were not before, -ENOMEM, or -EEXIST for a frame that was there already. Allocates where a frame
 * is farther ahead of a missing one than any before from its source. */
int arrival_order_take(struct arrival_order *order, uint32_t source, uint32_t sequence, bool last);
