/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The time of day of machines, which captures of a lab have. Latencies do not depend on it
 * (lib/nic/clock). */

#include "lab_state.h"

/* Warns of machines whose time of day is far from the console's, each in a line that says what to
 * do. A moment for each machine; one that does not answer is not judged. */
void console_warn_of_clocks(const struct lab_state *state, const char *command);
