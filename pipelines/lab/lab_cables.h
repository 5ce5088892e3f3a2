/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cables of a process of a lab that 'weft lab apply' changes: from the copy of the lab file in
 * the run directory. One thread, the leading loop's. */

#include "lab.h"
#include "real_fabric.h"

struct lab_applied;

struct lab_cables {
	const struct lab *lab;               /* with which the process started */
	const bool *switch_here, *host_here; /* [device] */
	const char *name;                    /* of the process in the plan */
	struct lab_applied *applied;         /* all files since, because the fabric reads them */
};

/* real_fabric_options.recable, for a struct lab_cables. */
int lab_cables_load(void *ctx, struct real_cabling *cabling, struct fault *fault);
void lab_cables_free(struct lab_cables *cables);
