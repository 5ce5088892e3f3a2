/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Circles of waiting and starvation in a real-clock fabric (deadlock.h, starvation.h). */

#include "real_private.h"

/* When the switches are there. 0, or -ENOMEM and fault. */
int real_deadlock_open(struct real_fabric *fabric, struct fault *fault);
void real_deadlock_close(struct real_fabric *fabric);
/* Before traffic that is to be measured for so long. */
void real_deadlock_begin(struct real_fabric *fabric, weft_time measured_ps);

/* Keeps the first circle that is found, and what is starved, among heads that have waited for
 * 'age_ps'; 0: all. With other loops running it sees the hosts only. Without memory it keeps less.
 */
void real_deadlock_look(struct real_fabric *fabric, weft_time now, weft_time age_ps);
/* At the middle of the measuring, and after it: puts what was found into a result. 0 or -ENOMEM. */
void real_deadlock_middle(struct real_fabric *fabric);
int real_deadlock_result(const struct real_fabric *fabric, struct run_result *result);
/* A look while traffic is on, if one is due. */
void real_deadlock_check(struct real_fabric *fabric, weft_time now);
