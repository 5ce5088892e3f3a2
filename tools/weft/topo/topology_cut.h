/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* '--without WHAT', as often as wanted: a topology as it is after failures (topology_without.h). */

#include "topology.h"

#define TOPOLOGY_CUT_MAX 256

struct topology_cut {
	const char *failed[TOPOLOGY_CUT_MAX];
	unsigned count;
};

/* One more. EXIT_DONE or a complaint in the command's name. */
int topology_cut_add(struct topology_cut *cut, const char *command, const char *failed);

/* Opens file or generator and cuts. The caller destroys; or NULL with the exit code in '*code', and
 * the reason has been said. */
struct topology *topology_cut_open(
	const struct topology_cut *cut, const char *command, const char *spec, int *code);
