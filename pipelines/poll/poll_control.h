/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The control thread's commands (device_control.h) in the poll loops of switches and hosts. */

#include <rte_mbuf.h>
#include <string.h>

#include "base/weft_time.h"
#include "link/link_end.h"
#include "mapping/device_control.h"
#include "port/port.h"

/* Maximum number of commands per iteration, to limit the delay of the ports. */
#define POLL_CONTROL_ORDERS 16

/* Returns false if this command and the following ones must wait. */
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

/* Copies the frame of a DEVICE_SEND into a buffer. Returns NULL on failure, with '*wait' true if
 * the pool is empty and false if the frame is too long for a buffer. */
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

/* Link-down events caused by a command that cut the cable, which are not faults. */

struct link_falls {
	uint64_t noted;   /* link_end.downs when the link last went down */
	uint64_t ordered; /* number of these that were caused by a command */
};

/* Call when the link has gone down. */
static inline void link_falls_note(
	struct link_falls *falls, const struct link_end *link, const struct port *port)
{
	if (port_is_cut_by(port, PORT_CUT_ORDERED))
		falls->ordered += link->downs - falls->noted;
	falls->noted = link->downs;
}
