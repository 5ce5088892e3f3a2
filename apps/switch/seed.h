/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The first frames of a measurement with ports that lead back to themselves (net_ring): they go
 * round for ever. They are sent under credits like any other, and once they have come back nothing
 * tells them from frames that came from outside.
 */

#include <stdatomic.h>

#include "fault.h"
#include "standalone.h"

/* Waits for the links, a second at most, then sends 'frames' frames of 'bytes' into each port,
 * destinations in the table's order. 0, or -errno and fault: too few credits, no mbufs, a link that
 * does not come up. */
int seed_ports(struct standalone *standalone, unsigned frames, unsigned bytes,
	const atomic_bool *stop, struct fault *fault);
