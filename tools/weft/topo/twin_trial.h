/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* 'weft twin': trial runs of a tree with a hot spot, with D-mod-K alone and with ARN and AFI. They
 * last as long as it takes ARN and AFI to isolate a hot spot (their paper's H10), 12 ms at 100
 * Gbps, on the virtual clock. */

#include <jansson.h>
#include <stdio.h>

#include "topo/topology.h"

/* The accepted share of the other hosts' uniform traffic in both runs. Returns NULL if no run is
 * made: no tree, too few or too many hosts, or a failure, which is reported on standard error. */
json_t *twin_trial_run(const struct topology *topology);
/* The same as text. */
void twin_trial_print(const json_t *trial, FILE *out);
