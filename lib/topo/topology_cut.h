/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Cuts a topology into parts of about the same number of links, with few links between them, using
 * METIS (Karypis, Kumar: "A Fast and High Quality Multilevel Scheme for Partitioning Irregular
 * Graphs", SIAM J. Sci. Comput. 1998). A host belongs to the part of its switch. */

#include <stdint.h>

#include "topology.h"

/* Fills part[switches + hosts], hosts after switches, with numbers below 'parts', which is 1 to the
 * number of switches. The same topology is always cut in the same way; a part may be empty. 0,
 * -ENOMEM, or -EINVAL if METIS cannot cut it. */
int topology_cut(const struct topology *topology, unsigned parts, uint16_t *part);

/* The minimum delay of a link whose ends are in different parts, or WEFT_TIME_NEVER. */
weft_time topology_cut_delay(const struct topology *topology, const uint16_t *part);
