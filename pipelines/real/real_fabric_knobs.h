/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Rate, delay and faults of links, changed while the fabric runs. */

#include "real_private.h"

/* "s0:2 RATE DELAY CORRUPT CREDIT-LOSS" in bps, ps and ppm: for frames that leave at this port, if
 * it is here. A link with its far end in another process keeps rate and delay of its device. Only
 * the leader. */
void real_links_set(struct real_fabric *fabric, const char *text);

/* Rate and delay of what leaves here now; 0: those of the device. */
uint64_t real_end_rate_bps(const struct real_fabric *fabric, const struct real_end *end);
weft_time real_end_delay_ps(const struct real_fabric *fabric, const struct real_end *end);
