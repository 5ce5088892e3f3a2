/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "frame_fit.h"

#include "wire/frame.h"

int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, uint32_t extra_bytes, struct error *error)
{
	uint32_t min = frame_longest(extra_bytes), max = needs->frame_bytes_max;
	uint32_t frame_bytes = min + mtu_bytes;

	if (max >= frame_bytes)
		return 0;
	if (max <= min)
		return error_set(error, EINVAL,
			"%s: %s takes frames of %u bytes at most, too few for any fabric",
			port->name, needs->device, max);
	return error_set(error, EINVAL,
		"%s: %s takes frames of %u bytes at most, and those with a payload of %u B have %u: "
		"nic.mtu of %uB fits",
		port->name, needs->device, max, mtu_bytes, frame_bytes, max - min);
}
