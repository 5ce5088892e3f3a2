/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Deadlocks and starvation in a virtual fabric (deadlock.h, starvation.h). */

#include "virtual_fabric.h"

/* Keeps the first cycle found, and the starved heads, among heads that have waited for 'age_ps' (0:
 * all). Between rounds, in all ranks. Without memory the fabric fails. */
void virtual_deadlock_look(struct virtual_fabric *fabric, weft_time age_ps, weft_time measured_ps);
