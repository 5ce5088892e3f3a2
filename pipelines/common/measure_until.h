/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The end of a run that measures until a value is known well enough (measure.until), from the
 * batches of its window. Call both after each batch. They evaluate only at a few counts of batches,
 * at growing intervals, because testing often enough would find a value that fits by chance.
 */

#include "measure_window.h"

/* The batches since the start of the traffic show where the warm-up ends (MSER-5), so measuring can
 * restart now. */
bool measure_is_warm(const struct measure_window *window);
/* The 95 % confidence interval of the value is narrow enough, and latency is steady. */
bool measure_until_reached(const struct measure_window *window);
