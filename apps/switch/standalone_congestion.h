/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adaptive routing of a switch that no lab file tells about its neighbours (--adaptive), for
 * measurements: what it costs a packet. Each port leads everywhere. */

#include <stdint.h>

#include "fault.h"
#include "options.h"
#include "switch.h"

/* What is known by 'options' of the service levels: with --adaptive and more than one VC the last
 * one is the adapted-flow channel. */
uint8_t standalone_queues(const struct switch_options *options);

/* Sets of ports for 'hosts' destinations; the caller's to free. NULL: no memory. */
uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports);

/* Gives the switch what --adaptive asks for. 0, or -errno and fault. */
int standalone_congestion(
	struct weft_switch *sw, const struct switch_options *options, struct fault *fault);
