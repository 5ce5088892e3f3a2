/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The end of a run that measures until a value is known well enough (measure.until), from the
 * batches of its window. Both questions are asked after each batch, and answered at a few counts of
 * batches, each a step longer than the last, so that a value is not looked at until it fits.
 */

#include "measure_window.h"

/* Measuring, begun at the start of the traffic, has shown where the warm-up ends (MSER-5): it can
 * begin anew now. */
bool measure_is_warm(const struct measure_window *window);
/* The 95 % confidence interval of the value is narrow enough, and latency is steady. */
bool measure_until_reached(const struct measure_window *window);
