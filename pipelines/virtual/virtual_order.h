/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Fabrics where frames can overtake each other (datagram_order.h). */

#include "virtual_private.h"

/* Packets of which there is room beside those in the network and in pools: held at destinations, or
 * about to be sent again. */
uint64_t virtual_order_reserve(const struct virtual_fabric *fabric);
/* There is no room left: no host of such a fabric may send anything new. */
static inline bool virtual_order_is_full(const struct virtual_fabric *fabric)
{
	return fabric->pool.out + fabric->hosts >= fabric->pool.size;
}

/* A frame that came too early starts to wait, or is released; 'complete_ps': when all frames of its
 * message up to this one had arrived. */
void virtual_order_hold(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now);
void virtual_order_release(struct virtual_fabric *fabric, const struct weft_packet *packet,
	weft_time complete_ps, weft_time now);
/* Adds the counts of a part, and clears them there. */
void virtual_order_gather(struct virtual_held *into, struct virtual_held *from);

uint64_t virtual_order_held(const struct virtual_fabric *fabric); /* frames, now */
const char *virtual_order_check(const struct virtual_fabric *fabric);
void virtual_order_result(const struct virtual_fabric *fabric, struct run_result *result);
