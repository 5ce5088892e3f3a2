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
	char kept[160];   /* the lab file in it */
	struct lab from;  /* the lab as it is */
	struct lab_up up; /* the future lab is in 'lab'; 'ended': processes to start */
	uint16_t fabric;
	bool *restart; /* [process of up.lab]: it runs, but lacks a port that its switch will get */
};

/* Finds the run directory of the lab in the file. Returns 0, or -errno with error set. */
int lab_apply_find(struct lab_apply *apply, struct error *error);

/* True if the process with this name is recorded and alive. */
bool lab_apply_runs(const struct lab_apply *apply, const char *process);

/* Fills 'restart'. */
void lab_apply_find_restarts(struct lab_apply *apply);

/* Checks whether the lab can be changed to what the file describes. Returns 0, or -errno with error
 * set (-EINVAL: it cannot). */
int lab_apply_check(const struct lab_apply *apply, struct error *error);

/* Prints the added and removed devices and cables, and the processes that are started. */
void lab_apply_print(const struct lab_apply *apply, FILE *out);
