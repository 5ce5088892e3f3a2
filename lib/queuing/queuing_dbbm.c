/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing.h"

/* Destination-based buffer management (Nachiondo, Flich, Duato, "Buffer Management Strategies to
 * Reduce HoL Blocking", IEEE TPDS 21, 2010): packets for D in queue D mod Q, whatever the network.
 */

static uint32_t queue(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination % queuing->queues;
}

const struct queuing_scheme queuing_dbbm = {
	.name = "dbbm",
	.summary = "by destination: D mod Q",
	.queue = queue,
};
