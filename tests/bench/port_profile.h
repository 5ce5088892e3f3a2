/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Profile of a poll loop's time: a wrapper around a port that reads the TSC before and after each
 * burst. The time outside receive and transmit is the loop's own, and includes the two TSC readings
 * a burst (some 50 cycles). Without the profile port the loop has no overhead.
 *
 * Only the thread that uses the port writes the sums. */

#include <stdint.h>

#include "port/port.h"

struct port_profile {
	struct port port; /* use it instead of 'behind' */
	struct port *behind;
	uint64_t rx_cycles, rx_frames, rx_bursts; /* bursts with frames */
	uint64_t rx_empty_cycles, rx_empty;       /* bursts without frames */
	uint64_t tx_cycles, tx_frames, tx_bursts;
};

/* The caller owns 'behind' and closes it. */
void port_profile_init(struct port_profile *profile, struct port *behind);
