/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Whether the machine is the cause of what a lab counts. */

#include <jansson.h>

#include "weft_time.h"

/* "s3's loop was away 410 ms": a loop was away for more than three hellos, and links went down or
 * messages were refused, other than by a cable that is or was cut by order. "" if not. Of a
 * document of lab_collect(); the caller's reference. */
json_t *lab_starved(const json_t *all, weft_time hello_ps);
