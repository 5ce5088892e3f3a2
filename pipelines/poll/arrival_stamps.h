/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arrival times from a NIC's clock, converted to the loop's clock. A loop reads its clock when it
 * gets to a frame. The longer a frame that compares the clocks of machines (FRAME_CLOCK) waits for
 * that, the wider is the bound. A NIC stamps a frame when it arrives.
 *
 * The NIC's clock is compared with the loop's in the same way as another machine's
 * (clock_offset.h): a reading of it, between two of the loop's clock, is an exchange. So the time
 * of a stamp also has a bound, and the latest time within it is used: a frame arrived no later.
 * Nothing may set or steer the NIC's clock, as for the TSC: a step is noticed at the next reading.
 *
 * A stamp that lies in the future, or far in the past, does not come from the clock that the driver
 * reads: it is refused, and the loop's time is used. */

#include <rte_mbuf.h>

#include "nic/clock/clock_offset.h"
#include "port/tsc_clock.h"

#define ARRIVAL_STAMPS_LOOK_PS PS_PER_MS /* minimum between readings */
#define ARRIVAL_STAMPS_AGE_NS  INT64_C(1000000000)

struct port;

struct arrival_stamps {
	const struct port *port;   /* NULL: there are none */
	const struct clock *clock; /* the loop's clock */
	struct clock scale;        /* scale of the NIC's clock */
	int64_t tick_ns;           /* upper bound on that clock's tick */
	struct clock_offset nic;   /* that clock minus the loop's, in ns */
	weft_time next;            /* reading */
	weft_time last;            /* time of arrival */
	uint64_t used, refused;    /* stamps; refused: also while the clock is unknown */
};

/* Takes 20 ms if the port has stamps, to measure their frequency. The caller owns both. */
void arrival_stamps_begin(
	struct arrival_stamps *stamps, const struct port *port, const struct clock *clock);

/* The latest time at which a frame that port_rx() just returned can have arrived: the present time
 * if it has no usable stamp. Never decreases. For the receiving thread. */
weft_time arrival_stamps_time(struct arrival_stamps *stamps, const struct rte_mbuf *mbuf);
