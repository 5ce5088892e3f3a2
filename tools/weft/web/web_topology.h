/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The fabric of a lab, for the page that draws it. */

#include <jansson.h>

#include "lab.h"

/* {"lab", "name", "vcs", "switches", "hosts", "links"}; the caller's reference, NULL without
 * memory. "name" is the topology's ("dragonfly-4-2-2", or that of a file). Switches are [name,
 * stage] (0: none), hosts names, links [port a, port b, bit/s], all in the order of their numbers.
 */
json_t *web_topology(const struct lab *lab);
