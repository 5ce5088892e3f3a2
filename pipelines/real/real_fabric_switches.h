/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The switches of a real-clock fabric, and circles of waiting among them (deadlock.h). */

#include "real_private.h"

int real_switches_create(struct real_fabric *fabric, struct fault *fault);
void real_switches_destroy(struct real_fabric *fabric);

/* Keeps the first circle of waiting that is found. No other loop may be running. */
void real_deadlock_check(struct real_fabric *fabric, weft_time now);
