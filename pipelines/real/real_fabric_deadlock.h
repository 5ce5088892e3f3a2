/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Deadlocks and starvation in a real-clock fabric (deadlock.h, starvation.h). */

#include "real_private.h"

/* When the switches are there. 0, or -ENOMEM and fault. */
int real_deadlock_open(struct real_fabric *fabric, struct fault *fault);
void real_deadlock_close(struct real_fabric *fabric);
/* Before traffic with this measured time. */
void real_deadlock_begin(struct real_fabric *fabric, weft_time measured_ps);

/* Keeps the first cycle found, and the starved heads, among heads that have waited for 'age_ps' (0:
 * all). While other loops run it sees only the hosts. Without memory it keeps less. */
void real_deadlock_look(struct real_fabric *fabric, weft_time now, weft_time age_ps);
/* In the middle of the measured time; after it: puts the findings into a result. 0 or -ENOMEM. */
void real_deadlock_middle(struct real_fabric *fabric);
int real_deadlock_result(const struct real_fabric *fabric, struct run_result *result);
/* A search during traffic, if one is due. */
void real_deadlock_check(struct real_fabric *fabric, weft_time now);
