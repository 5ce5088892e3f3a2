/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of a real-clock fabric. */

#include "real_private.h"

/* At 'now', in time since the traffic began. */
void real_totals_read(
	const struct real_fabric *fabric, weft_time now, struct measure_totals *totals);
