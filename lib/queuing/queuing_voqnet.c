/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>

#include "frame.h"
#include "queuing.h"

/* VOQs at the level of the network (Dally, Carvey, Dennison, "Architecture of the Avici Terabit
 * Switch/Router", Hot Interconnects 1998): a queue for each destination, so no packet ever waits
 * for one to another host. What the other schemes can at best come near to. Frames number 16 VCs,
 * so only networks of so many hosts can have it. */

static int check(const struct queuing *queuing, struct fault *fault)
{
	if (queuing->hosts <= queuing->queues)
		return 0;
	if (queuing->hosts > FRAME_VCS_MAX)
		return fault_set(fault, EINVAL,
			"queuing voqnet: a VC for each of %u hosts, expected a network of at most "
			"%u",
			queuing->hosts, FRAME_VCS_MAX);
	return fault_set(fault, EINVAL,
		"queuing voqnet: %u VCs for %u hosts, expected one for each: switch.vcs of %u",
		queuing->queues, queuing->hosts, queuing->hosts);
}

static uint32_t queue(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination;
}

const struct queuing_scheme queuing_voqnet = {
	.name = "voqnet",
	.summary = "a VC for each destination, up to 16 hosts; the reference",
	.reference = true,
	.check = check,
	.queue = queue,
};
