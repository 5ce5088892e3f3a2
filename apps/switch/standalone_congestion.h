/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing of a stand-alone switch (--adaptive), to measure its cost per packet: each port
 * leads to all hosts. */

#include <stdint.h>

#include "fault.h"
#include "options.h"
#include "switch.h"

/* VCs for service levels: with --adaptive and several VCs the last is the adapted-flow channel. */
uint8_t standalone_queues(const struct switch_options *options);

/* Port sets for 'hosts' destinations; the caller frees them. NULL: no memory. */
uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports);

/* Applies --adaptive to the switch. 0, or -errno and fault. */
int standalone_congestion(
	struct weft_switch *sw, const struct switch_options *options, struct fault *fault);
