/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Schemes that know the destination alone, or nothing. */

#include <errno.h>

#include "frame.h"
#include "queuing.h"

/* One queue: what the other schemes are compared with. */

static uint32_t queue_zero(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return 0;
}

const struct queuing_scheme queuing_1q = {
	.name = "1q",
	.summary = "everything in VC 0",
	.queue = queue_zero,
};

/* Destination-based buffer management (Nachiondo, Flich, Duato, "Buffer Management Strategies to
 * Reduce HoL Blocking", IEEE TPDS 21, 2010): packets for D in queue D mod Q, whatever the network.
 */

static uint32_t queue_of_destination(
	const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination % queuing->queues;
}

const struct queuing_scheme queuing_dbbm = {
	.name = "dbbm",
	.summary = "by destination: D mod Q",
	.queue = queue_of_destination,
};

/* VOQs at the level of the network (Dally, Carvey, Dennison, "Architecture of the Avici Terabit
 * Switch/Router", Hot Interconnects 1998): a queue for each destination, so no packet ever waits
 * for one to another host: the bound that other schemes approach. Frames number 16 VCs,
 * so only networks of so many hosts can have it. */

static int check_hosts(const struct queuing *queuing, struct fault *fault)
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

/* Without the remainder: there are as many queues as hosts. */
static uint32_t queue_of_host(const struct queuing *queuing, uint32_t source, uint32_t destination)
{
	return destination;
}

const struct queuing_scheme queuing_voqnet = {
	.name = "voqnet",
	.summary = "a VC for each destination, up to 16 hosts; the reference",
	.reference = true,
	.check = check_hosts,
	.queue = queue_of_host,
};
