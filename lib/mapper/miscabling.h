/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What of a discovered topology differs from the expected one (weft-nic --expect TOPO). Devices are
 * the same if they have the same name; numbers do not matter. */

#include <stdio.h>

#include "topology.h"

/* Writes a line for each difference, unless 'out' is NULL: a device that was not found, one that is
 * not expected, or with another number of ports; a cable that is not there, with what is at its
 * ends instead; a cable between ports that are to be free. Returns how many there are. */
unsigned miscabling_report(
	const struct topology *found, const struct topology *expected, FILE *out);
