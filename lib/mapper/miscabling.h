/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Differences between the discovered and the expected topology (weft-nic --expect TOPO). Devices
 * are the same if they have the same name; numbers do not matter. */

#include <stdio.h>

#include "topo/topology.h"

/* Writes a line for each difference, unless 'out' is NULL: a device that is missing, unexpected or
 * has another number of ports; a missing cable, with the actual peers of its ends; a cable between
 * ports that should be free. Returns the number of differences. */
unsigned miscabling_report(
	const struct topology *found, const struct topology *expected, FILE *out);
