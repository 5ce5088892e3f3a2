/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "queuing.h"

/* One queue: what the other schemes are compared with. */

static uint32_t queue(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return 0;
}

const struct queuing_scheme queuing_1q = {
	.name = "1q",
	.summary = "everything in VC 0",
	.queue = queue,
};
