/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Where a poll loop's time goes: a port put in front of another one that reads the TSC before and
 * after each burst that goes through it. What is neither in receive nor in transmit is the loop's
 * own. Two TSC readings a burst (some 50 cycles) are booked to the loop. The loop itself is the
 * same code as without; nothing of this is in its way unless the port is there.
 *
 * The thread that uses the port writes the sums.
 */

#include <stdint.h>

#include "port.h"

struct port_profile {
	struct port port; /* to be used instead of 'behind' */
	struct port *behind;
	uint64_t rx_cycles, rx_frames, rx_bursts; /* bursts that brought something */
	uint64_t rx_empty_cycles, rx_empty;       /* looks that found nothing */
	uint64_t tx_cycles, tx_frames, tx_bursts;
};

/* 'behind' stays the caller's, to close. */
void port_profile_init(struct port_profile *profile, struct port *behind);
