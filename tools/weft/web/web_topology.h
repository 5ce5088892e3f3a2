/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The fabric of a lab or a run, for the page that draws it. */

#include <jansson.h>

#include "topology.h"

/* 'lab': its name, or that of the result. {"lab", "name", "vcs", "switches", "hosts", "links"}; the
 * caller's reference, NULL without memory. "name" is the topology's ("dragonfly-4-2-2", or that of
 * a file). Switches are [name, stage] (0: none), hosts names, links [port a, port b, bit/s], all in
 * the order of their numbers.
 */
json_t *web_topology(const struct topology *topology, const char *lab, unsigned vcs);

/* The number of the way that begins at the port: 2i of link i from its end a, 2i + 1 from b; -1:
 * none does. */
int64_t web_way_at(const struct topology *topology, const char *port);
