/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What the poll loops of switches and hosts do alike with the orders of the control thread
 * (device_control.h). */

#include <rte_mbuf.h>
#include <string.h>

#include "device_control.h"
#include "weft_time.h"

/* In a turn, so that orders do not hold up the ports. */
#define POLL_CONTROL_ORDERS 16

/* False: the order has to wait, and those behind it. */
typedef bool (*poll_control_obey_fn)(void *device, struct device_order *order, weft_time now);

static inline void poll_control_orders(
	struct device_control *control, poll_control_obey_fn obey, void *device, weft_time now)
{
	for (unsigned i = 0; i < POLL_CONTROL_ORDERS; i++) {
		struct device_order *order = device_control_next(control);

		if (order == NULL || !obey(device, order, now))
			break;
		device_control_done(control);
	}
}

/* The frame of a DEVICE_SEND in a buffer; NULL with '*wait' if there may be one later, and without
 * if it is too long for any. */
static inline struct rte_mbuf *poll_control_frame(
	struct rte_mempool *pool, const struct device_order *order, bool *wait)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	char *room;

	*wait = mbuf == NULL;
	if (mbuf == NULL)
		return NULL;
	room = rte_pktmbuf_append(mbuf, (uint16_t)order->bytes);
	if (room != NULL) {
		memcpy(room, order->frame, order->bytes);
		return mbuf;
	}
	rte_pktmbuf_free(mbuf);
	return NULL;
}
