/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Which hosts of a lab write time stamps that mean something here. Clocks of different machines
 * have nothing to do with each other, so no latency can be measured between hosts of two of them.
 */

#include <stdbool.h>

#include "real_fabric.h"

/* [host of the topology]: it has the clock of this fabric. After real_fabric_create(), before the
 * first frame; without it all hosts have. */
void real_clocks_set(struct real_fabric *fabric, const bool *host_has_ours);
