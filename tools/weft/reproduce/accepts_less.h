/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Criteria of reproductions, which are not the saturation of results (files.md, 'Steady and
 * saturated'). */

#include <stdbool.h>
#include <stdint.h>

/* A network accepts less than offered below this share of it. Our choice: sources with random
 * intervals offer a few percent more or less than their load in a short run. */
#define ACCEPTS_LESS 0.97

/* The same for a search, which knows how many messages a run measured: it accepts less than offered
 * by more than 1 / sqrt(messages), or by more than ACCEPTS_LESS allows. The threshold is our
 * choice: short runs end with a greater part of their messages on the way. To accept more than
 * offered, while a backlog drains, shows nothing. */
bool accepts_less(double offered, double accepted, uint64_t messages);
