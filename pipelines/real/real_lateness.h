/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lateness of the arrivals at links that Weft times, from warm-up to the end of traffic: per end of
 * a link, and for all ends that a loop polls. */

#include "real_private.h"

/* Call in the loop, for the ends that it polls. Starting clears earlier measurements. */
void real_lateness_start(struct real_worker *worker);
void real_lateness_stop(struct real_worker *worker);
/* For frames that arrive at this port; all 0 if nothing was measured. */
struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at);
