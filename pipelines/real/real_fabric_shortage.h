/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Pools that run dry. A switch without buffers for control frames falls silent and its neighbours
 * take it for dead, so the process says it, with the cause that can be seen: once when it happens,
 * and again each time the count has doubled. The counters are in telemetry (no_mbuf,
 * device_rx_no_buffer).
 */

#include "real_private.h"

/* Warns on standard error of pools that ran dry. */
void real_shortage_check(struct real_fabric *fabric, weft_time now);
