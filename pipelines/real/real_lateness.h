/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lateness of the arrivals at links that Weft times, from warm-up to the end of traffic: per end of
 * a link, and of all ends that a loop polls. */

#include "real_private.h"

/* The loop's own, for the ends that it polls. Starting clears what was measured before. */
void real_lateness_start(struct real_worker *worker);
void real_lateness_stop(struct real_worker *worker);
/* Of frames that arrive at this port; all 0 where nothing was measured. */
struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at);
