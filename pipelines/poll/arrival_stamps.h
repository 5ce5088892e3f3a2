/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arrival times from a NIC's clock, converted to the loop's clock. A loop reads its clock when it
 * processes a frame. The longer a clock-comparison frame (FRAME_CLOCK) waits to be processed, the
 * larger the error bound. A NIC stamps a frame on arrival.
 *
 * The NIC's clock is compared with the loop's like another machine's (clock_offset.h): a reading of
 * the NIC's clock between two readings of the loop's is an exchange. A converted stamp therefore
 * also has an error bound. The latest time within it is used, because the frame cannot have arrived
 * later. As for the TSC, the NIC's clock must not be set or steered. A step is detected at the next
 * reading.
 *
 * A stamp in the future or in the distant past does not come from the clock that the driver reads.
 * It is refused, and the loop's time is used. */

#include <rte_mbuf.h>

#include "nic/clock/clock_offset.h"
#include "port/tsc_clock.h"

#define ARRIVAL_STAMPS_LOOK_PS PS_PER_MS /* minimum time between readings */
#define ARRIVAL_STAMPS_AGE_NS  INT64_C(1000000000)

struct port;

struct arrival_stamps {
	const struct port *port;   /* NULL: no stamps */
	const struct clock *clock; /* the loop's clock */
	struct clock scale;        /* scale of the NIC's clock */
	int64_t tick_ns;           /* upper bound of a tick of the NIC's clock */
	struct clock_offset nic;   /* NIC's clock minus the loop's, in ns */
	weft_time next;            /* time of the next reading */
	weft_time last;            /* last arrival time */
	uint64_t used, refused;    /* stamps; refused: also while the offset is unknown */
};

/* Takes 20 ms if the port has stamps, to measure their frequency. Borrows 'port' and 'clock'. */
void arrival_stamps_begin(
	struct arrival_stamps *stamps, const struct port *port, const struct clock *clock);

/* Returns the latest time at which a frame that port_rx() just returned can have arrived, or the
 * current time without a usable stamp. Never decreases. For the receiving thread. */
weft_time arrival_stamps_time(struct arrival_stamps *stamps, const struct rte_mbuf *mbuf);
