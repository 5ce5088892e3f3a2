/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "frame_fit.h"

#include "frame.h"

int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, uint32_t extra_bytes, struct fault *fault)
{
	uint32_t least = frame_longest(extra_bytes), most = needs->frame_bytes_max;
	uint32_t frame_bytes = least + mtu_bytes;

	if (most >= frame_bytes)
		return 0;
	if (most <= least)
		return fault_set(fault, EINVAL,
			"%s: %s takes frames of %u bytes at most, too few for any fabric",
			port->name, needs->device, most);
	return fault_set(fault, EINVAL,
		"%s: %s takes frames of %u bytes at most, and those with a payload of %u B have %u: "
		"nic.mtu of %uB fits",
		port->name, needs->device, most, mtu_bytes, frame_bytes, most - least);
}
