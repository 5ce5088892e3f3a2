/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A sample of a lab: an event of the page. */

#include <jansson.h>

#include "lab.h"

/*
 * Of two documents of lab_collect(); the same one twice: without rates ("seconds" 0). The caller's
 * reference. Each direction of a link is a way: 2 i of link i is from its port a to b, 2 i + 1 from
 * b to a.
 *
 * {"seconds", "up", "utilisation": [a way each, null: unknown], "state", "blocked", "stalls",
 * "drops", "retransmissions", "late" (ns, mean), "fill": [a VC each], "roots": [ports], "switches",
 * "hosts", "mapper", "processes", "errors", "errors_count"}
 *
 * "state" to "fill" are objects by the number of the way, with only those that are not "up" or not
 * 0. "fill" is of the buffers that the way fills. "switches" and "hosts" have, by name, what
 * adaptive routing did there if it did anything.
 */
json_t *web_sample(const struct lab *lab, const json_t *before, const json_t *now, double seconds);
