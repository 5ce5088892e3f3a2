/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a wormhole network is made of (wormhole.md; thesis 004, section 4.3), in cycles
 * and flits of one byte. The delay of each link is the topology's. */

#include <stdint.h>

#include "itb_pool.h"
#include "stop_go.h"
#include "weft_time.h"

struct wormhole_parameters {
	weft_time cycle_ps;          /* one flit on a link */
	uint32_t routing_cycles;     /* first flit through a switch; the others follow */
	uint32_t detection_cycles;   /* a host knows a message in transit after so many */
	uint32_t programming_cycles; /* and needs so many more to send it */
	uint64_t itb_pool_bytes;     /* per host, for messages in transit */
	struct stop_go_marks marks;
};

#define WORMHOLE_PARAMETERS_DEFAULT                                                            \
	{                                                                                      \
		.cycle_ps = 6250, .routing_cycles = 24, .detection_cycles = 44,                \
		.programming_cycles = 32, .itb_pool_bytes = ITB_POOL_BYTES_DEFAULT, .marks = { \
			.slack = STOP_GO_SLACK,                                                \
			.stop = STOP_GO_STOP,                                                  \
			.go = STOP_GO_GO                                                       \
		}                                                                              \
	}
