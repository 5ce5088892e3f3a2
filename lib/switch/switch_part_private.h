/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Between the checks of a switch and of its parts. */

#include "switch_part.h"

/* Blocks that an own input's account has and that its own queues have not: in other parts, on the
 * way there, or gone without having been heard of. 0 for a foreign input. */
uint32_t switch_part_elsewhere(const struct switch_part *part, unsigned input, unsigned vc);
