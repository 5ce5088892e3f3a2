/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing/queuing.h"

/* Chooses the queue only from the source's position on its leaf. A congested flow of a host
 * therefore delays only hosts that share its queue, and never its neighbours. */

static uint32_t queue(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return source % queuing->queues;
}

const struct queuing_scheme queuing_by_source = {
	.name = "by-source",
	.summary = "by source: S mod Q",
	.queue = queue,
};
