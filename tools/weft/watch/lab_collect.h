/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Everything that a lab tells of itself, in one document: 'weft lab status --json' is this
 * document, and top and metrics are made of it. Blocks for some seconds if processes do not answer;
 * after that long, or a signal, the others are not asked. No loop of the lab waits for it.
 */

#include <jansson.h>

#include "lab.h"
#include "lab_state.h"

/* {"lab", "up", "processes", "switches", "nics", "ports", "congestion", "loops", "links",
 * "clocks_total", "elsewhere", "mapping", "starved" (lab_starved())}; the caller's reference.
 * 'pairs': also "clocks" (lab_clocks.h), which takes more requests. */
json_t *lab_collect(const struct lab *lab, const struct lab_state *state, bool pairs);

/* Entries of the list whose "state" is another one. */
unsigned lab_count_not(const json_t *list, const char *wanted);
