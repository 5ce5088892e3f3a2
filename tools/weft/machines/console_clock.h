/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The time of day of machines, which captures of a lab have. Latencies do not depend on it
 * (lib/nic/clock). */

#include "lab_state.h"

/* Refuses a machine whose time of day is more than a second away from the console's: 0, or -ETIME
 * with fault, which names the machine and what to do. A moment for each machine. One that does not
 * answer is not judged. */
int console_check_clocks(const struct lab_state *state, struct fault *fault);
