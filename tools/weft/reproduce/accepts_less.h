/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Criteria of reproductions, which differ from the saturation of results (files.md, 'Steady and
 * saturated'). */

#include <stdbool.h>
#include <stdint.h>

/* A network accepts less than offered if it accepts less than this share. The value is Weft's:
 * sources with random intervals offer a few percent more or less than their load in a short run. */
#define ACCEPTS_LESS 0.97

/* The same for a search, which knows how many messages a run measured: the network accepts less
 * than offered by more than 1 / sqrt(messages), or by more than ACCEPTS_LESS allows. The threshold
 * is Weft's: short runs end with a larger part of their messages in flight. Accepting more than
 * offered, while a backlog drains, shows nothing. */
bool accepts_less(double offered, double accepted, uint64_t messages);
