/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* When a frame that crosses a link counts as arrived, the same on both clocks. */

#include <stdbool.h>

#include "run_config.h"
#include "topology.h"

/* True if device 'to' of a link with this rate forwards a frame as soon as its header has arrived.
 * It waits for the whole frame if it is a host, with store-and-forward, and if it has an output
 * that is faster than the link: cut-through could underrun there. */
bool link_cuts_through(const struct topology *topology, enum run_switching switching,
	uint64_t rate_bps, struct topology_port to);
