/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The end of a run in several processes (virtual_ranks.h): what the result is made of comes to rank
 * 0, where the devices of others have their counters and credits then, as if it had run them. */

#include "virtual_private.h"

/* Once, by all ranks, when all threads have ended. 0, or -EIO and fault: other ranks are lost. */
int virtual_mirror(struct virtual_fabric *fabric, struct fault *fault);
