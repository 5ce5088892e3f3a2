/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared only by the files of 'weft lab apply' (cmd_lab_apply.c, lab_apply_plan.c). */

#include "experiment/lab/lab.h"
#include "experiment/lab/lab_security.h"
#include "lab/lab_up.h"

struct lab_apply {
	const struct lab_arguments *arguments;
	char dir[128];    /* run directory */
	char kept[160];   /* lab file in the run directory */
	struct lab from;  /* the lab before the change */
	struct lab_up up; /* 'lab': the lab after the change; 'ended': processes to start */
	uint16_t fabric;
	bool *restart; /* [process of up.lab]: is running, but lacks ports that its switch gets */
};

/* Finds the run directory of the lab in the file. Returns 0, or -errno with error set. */
int lab_apply_find(struct lab_apply *apply, struct error *error);

/* True if the process with this name is recorded and alive. */
bool lab_apply_runs(const struct lab_apply *apply, const char *process);

/* Fills 'restart'. */
void lab_apply_find_restarts(struct lab_apply *apply);

/* Checks whether the lab can be changed to match the file. Returns 0, or -errno with error set
 * (-EINVAL if not). */
int lab_apply_check(const struct lab_apply *apply, struct error *error);

/* Prints the added and removed devices and cables, and the processes that will be started. */
void lab_apply_print(const struct lab_apply *apply, FILE *out);
