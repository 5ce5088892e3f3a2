/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The time of day of machines, which captures of a lab have. Latencies do not depend on it
 * (lib/nic/clock). */

#include "lab_state.h"

/* Whether the time of day of each machine, but those that are 'spare' ([machine]), is within a
 * second of the console's: 0, or -ETIME with fault, which names the first one and what to do. A
 * moment for each machine. One that does not answer is not judged; a signal ends it with 0. */
int console_check_clocks(const struct lab_state *state, const bool *spare, struct fault *fault);
