/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * An opened lab file: its configuration, topology and plan. 'weft lab' and each process of the lab
 * open the same file and compute the same plan. No EAL.
 */

#include "fault.h"
#include "lab_config.h"
#include "lab_plan.h"
#include "topology.h"

struct lab {
	struct lab_config *config;
	struct topology *topology;
	struct lab_plan *plan;
	char path[512];       /* of the file, absolute */
	uint32_t frame_bytes; /* room for the longest frame (frame_room.h) */
};

/* 'run_dir' NULL: NAME in the folder of labs (runtime_dir.h), as /run/weft/NAME. 0, or -errno and
 * fault. */
int lab_open(struct lab *lab, const char *path, const char *run_dir, struct fault *fault);
void lab_close(struct lab *lab);

/* Warns on standard error if a mapper finds the routes and there is no fabric key. */
void lab_warn_without_key(const struct lab *lab, const char *program);
