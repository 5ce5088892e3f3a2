/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Initial frames for a measurement with ports that lead back to themselves (net_ring), where they
 * circulate forever. They take credits like any other frame and are received like external ones.
 */

#include <stdatomic.h>

#include "fault.h"
#include "standalone.h"

/* Waits for the links, a second at most, then sends 'frames' frames of 'bytes' to each port, with
 * destinations in the table's order. 0, or -errno and fault: too few credits, no mbufs, a link that
 * does not come up. */
int seed_ports(struct standalone *standalone, unsigned frames, unsigned bytes,
	const atomic_bool *stop, struct fault *fault);
