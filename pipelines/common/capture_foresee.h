/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a capture says about a data frame that has come into a switch, at either clock: what is
 * about to happen to it. Credits are those that its sender has left in its VC after it; depth is
 * what waits before it in the queue that it is to join.
 */

#include "capture_state.h"
#include "switch.h"

/* 'packet' is as switch_receive() will get it, with in_port, and nothing has been done with it yet.
 * Sets what can be known. */
void capture_foresee(const struct weft_switch *sw, const struct weft_packet *packet, weft_time now,
	struct capture_state *state);
