/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The cables of a process of a lab that 'weft lab apply' changes: from the copy of the lab file in
 * the run directory. One thread, the leading loop's. */

#include "experiment/lab/lab.h"
#include "real/real_fabric.h"

struct lab_applied;

struct lab_cables {
	const char *run_dir;
	struct lab_applied *applied; /* all files since the start, because the fabric reads them */
};

/* real_fabric_options.recable, for a struct lab_cables. */
int lab_cables_load(void *ctx, struct real_cabling *cabling, struct error *error);
void lab_cables_free(struct lab_cables *cables);
